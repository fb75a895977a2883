//! Which files a question for the nearest chunks is about.

use super::WordCounts;

/// The files that may answer.
///
/// By their paths, and where a table is at hand by its numbers as well: vectors know files by the store's own ids, and most
/// of a search was to look each one's path up again.
pub struct Among<'a> {
    allows: &'a (dyn Fn(&str) -> bool + Sync),
    ids: &'a [u32],
    takes_part: &'a [bool],
}

impl<'a> Among<'a> {
    /// The files at paths that are let in.
    pub fn paths(allows: &'a (dyn Fn(&str) -> bool + Sync)) -> Self {
        Self { allows, ids: &[], takes_part: &[] }
    }

    /// The files of a table that take part, by number. `allows` says the same of their paths, and alone speaks for files
    /// that the table does not have.
    pub fn of_table(
        counts: &'a dyn WordCounts,
        takes_part: &'a [bool],
        allows: &'a (dyn Fn(&str) -> bool + Sync),
    ) -> Self {
        Self { allows, ids: counts.file_ids(), takes_part }
    }

    /// Says whether the file at this path may answer.
    pub fn allows(&self, path: &str) -> bool {
        (self.allows)(path)
    }

    /// The ids of files of which it is known already, each with whether it may answer.
    pub fn known(&self) -> impl Iterator<Item = (u32, bool)> + '_ {
        self.ids.iter().copied().zip(self.takes_part.iter().copied())
    }
}
