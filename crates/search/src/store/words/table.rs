//! The files and chunks of a snapshot by number, with their sizes in words.
//!
//! A number stays what it is when other files change, so that the table of the next snapshot is this one with a few rows
//! changed. What grows with the repository is added up here once and not by every search.

use std::collections::HashMap;
use std::sync::Arc;

use super::file_name::{FileName, PathKind};

/// The files and chunks of a snapshot.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct WordTable {
    /// The files' paths. A file that is gone keeps its number and has no chunks.
    pub paths: Vec<Arc<str>>,
    /// What sort of file each is.
    pub kinds: Vec<PathKind>,
    /// What the name of each says.
    pub names: Vec<FileName>,
    /// The sizes of each.
    pub files: Vec<FileWords>,
    /// The chunks; one that is gone belongs to no file.
    pub chunks: Chunks,
    numbers: HashMap<Arc<str>, u32>,
    folders: HashMap<Box<str>, u32>,
}

/// A file's sizes, added up over its chunks.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct FileWords {
    /// How many chunks it has.
    pub n_chunks: u32,
    /// The number of its folder.
    pub folder: u32,
    /// Words of its labels.
    pub symbol: u32,
    /// Words of its path.
    pub path: u32,
    /// Words of its text.
    pub content: u32,
    /// Stems of its text.
    pub stem: u32,
}

/// Chunks by number, a list for each thing that is known of them: to look where a word stands that most chunks have is a
/// walk over these lists, and what is not asked for does not pass through the processor's caches.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Chunks {
    files: Vec<u32>,
    symbol: Vec<u16>,
    path: Vec<u16>,
    content: Vec<u16>,
    stem: Vec<u16>,
    /// Where chunks of another file begin, and of which; those that are gone by now included.
    runs: Vec<(u32, u32)>,
}

impl Chunks {
    /// The file of a chunk that is gone.
    pub const NO_FILE: u32 = u32::MAX;

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Says whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The number of a chunk's file, if it is there.
    pub fn file(&self, chunk: u32) -> Option<u32> {
        self.files.get(chunk as usize).copied().filter(|file| *file != Self::NO_FILE)
    }

    /// The number of each one's file, or [`Chunks::NO_FILE`].
    pub fn files(&self) -> &[u32] {
        &self.files
    }

    /// Chunks that follow each other and have one file, or had: their numbers and the file's. Most files have one such run.
    pub fn runs(&self) -> impl Iterator<Item = (std::ops::Range<u32>, u32)> + '_ {
        let ends = self.runs.iter().skip(1).map(|(first, _)| *first);
        let runs = self.runs.iter().zip(ends.chain(std::iter::once(next(self.files.len()))));
        runs.map(|((first, file), end)| (*first..end, *file))
    }

    /// How many words the path of each has.
    pub fn path(&self) -> &[u16] {
        &self.path
    }

    /// How many words the text of each has.
    pub fn content(&self) -> &[u16] {
        &self.content
    }

    /// How many stems the text of each has.
    pub fn stem(&self) -> &[u16] {
        &self.stem
    }

    fn push(&mut self, chunk: ChunkWords) {
        let file = chunk.file.unwrap_or(Self::NO_FILE);
        if self.runs.last().is_none_or(|(_, last)| *last != file) {
            self.runs.push((next(self.files.len()), file));
        }
        self.files.push(file);
        self.symbol.push(chunk.symbol);
        self.path.push(chunk.path);
        self.content.push(chunk.content);
        self.stem.push(chunk.stem);
    }

    /// Leaves nothing but the number.
    fn take(&mut self, chunk: u32) -> Option<ChunkWords> {
        let at = chunk as usize;
        let file = self.files.get_mut(at).map(|file| std::mem::replace(file, Self::NO_FILE))?;
        let [symbol, path, content, stem] =
            [&mut self.symbol, &mut self.path, &mut self.content, &mut self.stem]
                .map(|list| list.get_mut(at).map_or(0, std::mem::take));
        Some(ChunkWords {
            file: Some(file).filter(|file| *file != Self::NO_FILE),
            symbol,
            path,
            content,
            stem,
        })
    }
}

/// One chunk's sizes. A chunk is a few thousand letters: what is longer counts as the most that there is room for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ChunkWords {
    /// The number of its file.
    pub file: Option<u32>,
    /// Words of its labels.
    pub symbol: u16,
    /// Words of its path.
    pub path: u16,
    /// Words of its text.
    pub content: u16,
    /// Stems of its text.
    pub stem: u16,
}

impl WordTable {
    /// The number of the file at a path, if it has chunks.
    pub fn number(&self, path: &str) -> Option<u32> {
        let number = *self.numbers.get(path)?;
        self.is_there(number).then_some(number)
    }

    /// Says whether a file has chunks.
    pub fn is_there(&self, file: u32) -> bool {
        self.files.get(file as usize).is_some_and(|file| file.n_chunks > 0)
    }

    /// How many folders have files.
    pub fn n_folders(&self) -> usize {
        self.folders.len()
    }

    /// The number of the file at a path; a new one when it has none.
    pub fn add_file(&mut self, path: &str) -> u32 {
        self.number_of(path, || path.into())
    }

    /// The same of a path that somebody else keeps as well.
    pub fn add_shared_file(&mut self, path: &Arc<str>) -> u32 {
        self.number_of(path, || Arc::clone(path))
    }

    /// Makes room for so many chunks at once, not by doubling what is there over and over.
    pub fn reserve_chunks(&mut self, n_chunks: usize) {
        let Chunks { files, symbol, path, content, stem, runs: _ } = &mut self.chunks;
        files.reserve_exact(n_chunks);
        for sizes in [symbol, path, content, stem] {
            sizes.reserve_exact(n_chunks);
        }
    }

    fn number_of(&mut self, path: &str, kept: impl FnOnce() -> Arc<str>) -> u32 {
        if let Some(number) = self.numbers.get(path) {
            return *number;
        }
        let number = next(self.paths.len());
        let path = kept();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let n_folders = next(self.folders.len());
        let folder = match self.folders.get(folder) {
            Some(folder) => *folder,
            None => *self.folders.entry(folder.into()).or_insert(n_folders),
        };
        self.kinds.push(PathKind::of(&path));
        self.names.push(FileName::of(&path));
        self.files.push(FileWords { folder, ..FileWords::default() });
        self.paths.push(Arc::clone(&path));
        self.numbers.insert(path, number);
        number
    }

    /// Adds a chunk with the next number.
    pub fn add_chunk(&mut self, chunk: ChunkWords) {
        if let Some(file) = chunk.file.and_then(|file| self.files.get_mut(file as usize)) {
            file.n_chunks += 1;
            file.symbol += u32::from(chunk.symbol);
            file.path = u32::from(chunk.path);
            file.content += u32::from(chunk.content);
            file.stem += u32::from(chunk.stem);
        }
        self.chunks.push(chunk);
    }

    /// Takes a chunk away from its file; its number stays.
    pub fn remove_chunk(&mut self, chunk: u32) {
        let Some(gone) = self.chunks.take(chunk) else { return };
        if let Some(file) = gone.file.and_then(|file| self.files.get_mut(file as usize)) {
            file.n_chunks -= 1;
            file.symbol -= u32::from(gone.symbol);
            file.content -= u32::from(gone.content);
            file.stem -= u32::from(gone.stem);
        }
    }
}

fn next(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_one_file_that_follow_each_other_are_one_run() {
        let mut table = WordTable::default();
        assert_eq!(table.chunks.runs().count(), 0);
        let files: Vec<u32> = ["a.rs", "b.rs"].map(|path| table.add_file(path)).into();
        for file in [Some(0), Some(0), Some(1), None, Some(1), Some(0)] {
            let file = file.map(|at: usize| files[at]);
            table.add_chunk(ChunkWords { file, ..ChunkWords::default() });
        }
        table.remove_chunk(0);
        let runs: Vec<_> = table.chunks.runs().collect();
        let none = Chunks::NO_FILE;
        assert_eq!(runs, [(0..2, 0), (2..3, 1), (3..4, none), (4..5, 1), (5..6, 0)]);
    }

    #[test]
    fn a_file_that_comes_back_has_its_number_and_only_its_new_words() {
        let mut table = WordTable::default();
        let chunk = |file: u32, content: u16| ChunkWords {
            file: Some(file),
            symbol: 1,
            path: 2,
            content,
            stem: content,
        };
        let (first, second) = (table.add_file("a/x.rs"), table.add_file("a/y.rs"));
        for (file, content) in [(first, 10), (first, 5), (second, 7)] {
            table.add_chunk(chunk(file, content));
        }
        assert_eq!(
            table.files[0],
            FileWords { n_chunks: 2, folder: 0, symbol: 2, path: 2, content: 15, stem: 15 }
        );
        table.remove_chunk(0);
        table.remove_chunk(1);
        table.remove_chunk(1);
        assert_eq!((table.number("a/x.rs"), table.number("a/y.rs")), (None, Some(second)));
        assert_eq!(table.add_file("a/x.rs"), first);
        table.add_chunk(chunk(first, 3));
        assert_eq!(
            table.files[0],
            FileWords { n_chunks: 1, folder: 0, symbol: 1, path: 2, content: 3, stem: 3 }
        );
        assert_eq!((table.number("a/x.rs"), table.n_folders()), (Some(first), 1));
    }
}
