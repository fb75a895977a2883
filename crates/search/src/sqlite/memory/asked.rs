//! Which files a question about vectors is about.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::FileEntry;
use crate::store::Among;

/// Which files are let in, each asked for once: a text that many files have is met many times in one search.
pub(super) struct Asked<'a> {
    files: &'a BTreeMap<i64, Arc<FileEntry>>,
    among: &'a Among<'a>,
    first: i64,
    /// By file from the first on: not known yet, no, yes. Empty where few of the ids are files.
    known: Vec<AtomicU8>,
}

impl<'a> Asked<'a> {
    pub(super) fn of(files: &'a BTreeMap<i64, Arc<FileEntry>>, among: &'a Among<'a>) -> Self {
        let id = |entry: Option<(&i64, &Arc<FileEntry>)>| entry.map_or(0, |(id, _)| *id);
        let (first, last) = (id(files.first_key_value()), id(files.last_key_value()));
        let n_ids = usize::try_from(last - first + 1).unwrap_or(usize::MAX);
        let n_known = if n_ids > files.len() * 8 + 65_536 { 0 } else { n_ids };
        let known: Vec<AtomicU8> = std::iter::repeat_with(AtomicU8::default).take(n_known).collect();
        let asked = Self { files, among, first, known };
        for (file, is_asked) in among.known() {
            if let Some(known) = asked.known(i64::from(file)) {
                known.store(Self::answer(is_asked), Ordering::Relaxed);
            }
        }
        asked
    }

    pub(super) fn is_asked(&self, file: i64) -> bool {
        let look = || self.files.get(&file).is_some_and(|entry| self.among.allows(&entry.path));
        let Some(known) = self.known(file) else { return look() };
        match known.load(Ordering::Relaxed) {
            0 => {
                let is_asked = look();
                known.store(Self::answer(is_asked), Ordering::Relaxed);
                is_asked
            }
            answer => answer == Self::answer(true),
        }
    }

    fn known(&self, file: i64) -> Option<&AtomicU8> {
        usize::try_from(file - self.first).ok().and_then(|at| self.known.get(at))
    }

    fn answer(is_asked: bool) -> u8 {
        1 + u8::from(is_asked)
    }
}
