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
    symbol: Vec<u32>,
    path: Vec<u32>,
    content: Vec<u32>,
    stem: Vec<u32>,
    /// The lowest and the highest file of each so many chunks, those that are gone by now included.
    ranges: Vec<(u32, u32)>,
}

impl Chunks {
    /// How many chunks that follow each other have one entry in `ranges`.
    const RANGE: usize = 128;

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

    /// The lowest and the highest number that the files of these chunks and of their neighbours have; none where they are
    /// many.
    pub fn files_between(&self, first: u32, last: u32) -> Option<(u32, u32)> {
        const MOST: usize = 8;
        let ranges = self.ranges.get(first as usize / Self::RANGE..=last as usize / Self::RANGE)?;
        let widest = |left: (u32, u32), right: &(u32, u32)| (left.0.min(right.0), left.1.max(right.1));
        (ranges.len() <= MOST).then(|| ranges.iter().fold((u32::MAX, 0), widest))
    }

    /// How many words the path of each has.
    pub fn path(&self) -> &[u32] {
        &self.path
    }

    /// How many words the text of each has.
    pub fn content(&self) -> &[u32] {
        &self.content
    }

    /// How many stems the text of each has.
    pub fn stem(&self) -> &[u32] {
        &self.stem
    }

    fn push(&mut self, chunk: ChunkWords) {
        if self.files.len().is_multiple_of(Self::RANGE) {
            self.ranges.push((u32::MAX, 0));
        }
        if let (Some(file), Some(range)) = (chunk.file, self.ranges.last_mut()) {
            *range = (range.0.min(file), range.1.max(file));
        }
        self.files.push(chunk.file.unwrap_or(Self::NO_FILE));
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

/// One chunk's sizes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ChunkWords {
    /// The number of its file.
    pub file: Option<u32>,
    /// Words of its labels.
    pub symbol: u32,
    /// Words of its path.
    pub path: u32,
    /// Words of its text.
    pub content: u32,
    /// Stems of its text.
    pub stem: u32,
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
        if let Some(number) = self.numbers.get(path) {
            return *number;
        }
        let number = next(self.paths.len());
        let path: Arc<str> = path.into();
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
            file.symbol += chunk.symbol;
            file.path = chunk.path;
            file.content += chunk.content;
            file.stem += chunk.stem;
        }
        self.chunks.push(chunk);
    }

    /// Takes a chunk away from its file; its number stays.
    pub fn remove_chunk(&mut self, chunk: u32) {
        let Some(gone) = self.chunks.take(chunk) else { return };
        if let Some(file) = gone.file.and_then(|file| self.files.get_mut(file as usize)) {
            file.n_chunks -= 1;
            file.symbol -= gone.symbol;
            file.content -= gone.content;
            file.stem -= gone.stem;
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
    fn the_files_of_neighbouring_chunks_lie_between_two() {
        let mut table = WordTable::default();
        assert_eq!(table.chunks.files_between(0, 0), None);
        for at in 0..2000_u32 {
            let file = table.add_file(&format!("{}.rs", at / 10));
            table.add_chunk(ChunkWords { file: Some(file).filter(|_| at != 500), ..ChunkWords::default() });
        }
        table.remove_chunk(0);
        for (first, last) in [(0, 0), (5, 300), (499, 501), (1999, 1999)] {
            let (lowest, highest) = table.chunks.files_between(first, last).unwrap();
            let between = (first..=last).filter_map(|chunk| table.chunks.file(chunk));
            assert!(between.clone().all(|file| (lowest..=highest).contains(&file)), "{first}-{last}");
            assert!(highest - lowest <= (last - first) / 10 + 26, "{first}-{last}: {lowest}-{highest}");
        }
        assert_eq!(table.chunks.files_between(0, 1999), None, "so many say nothing");
        assert_eq!(table.chunks.files_between(1999, 5000), None);
    }

    #[test]
    fn a_file_that_comes_back_has_its_number_and_only_its_new_words() {
        let mut table = WordTable::default();
        let chunk = |file: u32, content: u32| ChunkWords {
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
