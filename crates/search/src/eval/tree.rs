//! The tree of a commit as a folder with an index, moved from commit to commit by what differs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use crate::embed::Embedder;
use crate::intake::{IntakeError, changes_of};
use crate::parser::Parser;
use crate::scan::scan;
use crate::scan::{ScanError, ScanOptions};
use crate::sqlite::SqliteStore;
use crate::store::{FileChange, GenerationReader, Manifest, StoreError, VectorStore};

/// Why a tree cannot be searched.
#[derive(Debug, Error)]
pub enum TreeError {
    /// The folder could not be written or read.
    #[error("{0}")]
    Folder(#[from] std::io::Error),
    /// It could not be scanned.
    #[error("{0}")]
    Scan(#[from] ScanError),
    /// Its files could not be taken in.
    #[error("{0}")]
    Intake(#[from] IntakeError),
    /// The index failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The index is not there after it was made.
    #[error("the index of the tree is not there")]
    NoIndex,
}

/// Files parsed at once.
const BATCH: usize = 256;

/// A folder and its index below a temporary folder.
pub struct Tree {
    folder: PathBuf,
    /// Where the index is.
    data: PathBuf,
    store: SqliteStore,
    parser: Arc<dyn Parser>,
    embedder: Arc<dyn Embedder>,
    /// What the folder holds, by path, with the name of each file's content.
    files: BTreeMap<String, String>,
}

impl Tree {
    /// An empty one below this folder.
    pub fn below(
        folder: &Path,
        parser: Arc<dyn Parser>,
        embedder: Arc<dyn Embedder>,
    ) -> Result<Self, TreeError> {
        let tree = folder.join("tree");
        fs::create_dir_all(&tree)?;
        let data = folder.join("data");
        let store = SqliteStore::open(&data)?;
        Ok(Self { folder: tree, data, store, parser, embedder, files: BTreeMap::new() })
    }

    /// Where its files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The paths whose content is not what `wanted` names: those have to be given to [`Tree::move_to`].
    pub fn missing<'a>(&self, wanted: &'a BTreeMap<String, String>) -> Vec<(&'a str, &'a str)> {
        let differs = |(path, content): &(&'a String, &'a String)| self.files.get(*path) != Some(*content);
        wanted.iter().filter(differs).map(|(path, content)| (path.as_str(), content.as_str())).collect()
    }

    /// Makes the folder hold what `wanted` names and brings the index up to it. `contents` has what was missing; what it
    /// has not is left out of the tree.
    pub fn move_to(
        &mut self,
        wanted: &BTreeMap<String, String>,
        contents: &BTreeMap<String, Vec<u8>>,
    ) -> Result<(), TreeError> {
        let gone: Vec<String> =
            self.files.keys().filter(|path| !wanted.contains_key(*path)).cloned().collect();
        for path in gone {
            fs::remove_file(self.folder.join(&path)).or_else(absent_is_fine)?;
            self.files.remove(&path);
        }
        for (path, name) in wanted {
            let Some(content) = contents.get(path).filter(|_| stays_inside(path)) else { continue };
            let file = self.folder.join(path);
            // A folder where a file was, or the other way round.
            if let Some(parent) = file.parent() {
                if parent.is_file() {
                    fs::remove_file(parent)?;
                }
                fs::create_dir_all(parent)?;
            }
            if file.is_dir() {
                fs::remove_dir_all(&file)?;
            }
            fs::write(&file, content)?;
            self.files.insert(path.clone(), name.clone());
        }
        self.index()
    }

    /// Changes files in place; the next move puts them back.
    pub fn replace(&mut self, files: BTreeMap<String, Vec<u8>>) -> Result<(), TreeError> {
        for (path, content) in files {
            // It stays known, by no content's name: a tree that has no such file must lose it.
            if let Some(name) = self.files.get_mut(&path) {
                name.clear();
                fs::write(self.folder.join(path), content)?;
            }
        }
        self.index()
    }

    /// Opens the index.
    pub fn reader(&self) -> Result<Box<dyn GenerationReader>, TreeError> {
        self.store.open_reader(&self.key())?.ok_or(TreeError::NoIndex)
    }

    /// Where the index is.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// What the store knows the index by.
    pub fn key(&self) -> String {
        self.folder.to_string_lossy().into_owned()
    }

    fn index(&self) -> Result<(), TreeError> {
        let embedder = &*self.embedder;
        let key = self.key();
        let published = self.store.open_writer(&key)?;
        let is_new = published.is_none();
        let mut writer = match published {
            Some(writer) => writer,
            None => self.store.begin_generation(&key)?,
        };
        let known = if is_new { Manifest::default() } else { writer.manifest()? };
        let found = scan(&self.folder, &known, &ScanOptions::default())?;
        if !found.removed.is_empty() {
            writer.apply(found.removed.into_iter().map(FileChange::Remove).collect())?;
        }
        let changed: Vec<_> = found.added.into_iter().chain(found.modified).collect();
        for files in changed.chunks(BATCH) {
            let batch = changes_of(&*self.parser, embedder, &self.folder, files, &[])?;
            writer.apply(batch.changes)?;
        }
        let id = writer.id();
        drop(writer);
        if is_new {
            self.store.publish(&key, id)?;
        }
        Ok(())
    }
}

fn absent_is_fine(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// Paths come from a repository.
fn stays_inside(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(name) if name != ".git"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::NoEmbedder;
    use crate::parser::InProcess;

    fn names(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        files.iter().map(|(path, content)| ((*path).to_owned(), (*content).to_owned())).collect()
    }

    /// Here a file's content is its own name.
    fn moved(tree: &mut Tree, files: &[(&str, &str)]) -> Vec<String> {
        let wanted = names(files);
        let contents = tree
            .missing(&wanted)
            .into_iter()
            .map(|(path, content)| (path.to_owned(), content.as_bytes().to_vec()))
            .collect();
        tree.move_to(&wanted, &contents).unwrap();
        let manifest = tree.reader().unwrap().manifest().unwrap();
        manifest.files.into_keys().collect()
    }

    #[test]
    fn a_tree_moves_from_commit_to_commit() {
        let folder = tempfile::tempdir().unwrap();
        let mut tree =
            Tree::below(folder.path(), Arc::new(InProcess::default()), Arc::new(NoEmbedder)).unwrap();
        assert_eq!(moved(&mut tree, &[("a.rs", "fn a() {}"), ("b.rs", "fn b() {}")]), ["a.rs", "b.rs"]);
        assert_eq!(
            moved(&mut tree, &[("a.rs", "fn other() {}"), ("c/d.rs", "fn d() {}")]),
            ["a.rs", "c/d.rs"]
        );
        assert_eq!(tree.reader().unwrap().symbols_named("other").unwrap().len(), 1);
        assert_eq!(
            moved(&mut tree, &[("c", "text"), ("c.rs", "fn c() {}")]),
            ["c.rs"],
            "a file where a folder was"
        );
    }

    #[test]
    fn a_file_that_was_replaced_is_put_back_or_goes_with_its_tree() {
        let folder = tempfile::tempdir().unwrap();
        let mut tree =
            Tree::below(folder.path(), Arc::new(InProcess::default()), Arc::new(NoEmbedder)).unwrap();
        let (a, b) = (("a.rs", "fn a() {}"), ("b.rs", "fn b() {}"));
        moved(&mut tree, &[a, b]);
        let replaced = |name: &str| (name.to_owned(), b"fn replaced() {}".to_vec());
        tree.replace(BTreeMap::from([replaced("a.rs"), replaced("b.rs")])).unwrap();
        assert_eq!(tree.reader().unwrap().symbols_named("replaced").unwrap().len(), 2);
        assert_eq!(moved(&mut tree, &[a]), ["a.rs"]);
        assert_eq!(tree.reader().unwrap().symbols_named("replaced").unwrap().len(), 0);
    }

    #[test]
    fn no_path_leads_out_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let mut tree =
            Tree::below(folder.path(), Arc::new(InProcess::default()), Arc::new(NoEmbedder)).unwrap();
        let wanted = [
            ("../out.rs", "fn a() {}"),
            ("/tmp/out.rs", "fn a() {}"),
            (".git/config", "x"),
            ("in.rs", "fn a() {}"),
        ];
        assert_eq!(moved(&mut tree, &wanted), ["in.rs"]);
        assert!(!folder.path().join("out.rs").exists());
    }
}
