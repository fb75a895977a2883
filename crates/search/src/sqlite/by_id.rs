//! In which file an id is, for millions of ids: sorted lists that snapshots share, and what came since.

use std::collections::HashMap;
use std::sync::Arc;

use super::ids::Ids;

/// Files by the hashes of the ids that they have: eight bytes an id, where a hash map takes four times that. Half of a hash
/// is enough, since who asks looks at the ids of the files that are found.
#[derive(Default, Clone)]
pub(super) struct ById {
    /// The lower halves, sorted; each with the file at the same place of `files`.
    hashes: Arc<[u32]>,
    files: Arc<[u32]>,
    /// What came later.
    later: HashMap<u64, u32>,
}

impl ById {
    /// Of all the files that there are.
    pub(super) fn of<'a>(lists: impl Iterator<Item = (u32, &'a Ids)>) -> Self {
        let mut all: Vec<(u32, u32)> =
            lists.flat_map(|(file, ids)| ids.hashes().map(move |hash| (half(hash), file))).collect();
        all.sort_unstable();
        Self {
            hashes: all.iter().map(|(hash, _)| *hash).collect(),
            files: all.iter().map(|(_, file)| *file).collect(),
            later: HashMap::new(),
        }
    }

    /// A file came with these ids.
    pub(super) fn add(&mut self, file: u32, ids: &Ids) {
        self.later.extend(ids.hashes().map(|hash| (hash, file)));
    }

    /// A file is gone. What the sorted lists say of it stays there: a file's number is never another file's.
    pub(super) fn remove(&mut self, file: u32, ids: &Ids) {
        for hash in ids.hashes() {
            if self.later.get(&hash) == Some(&file) {
                self.later.remove(&hash);
            }
        }
    }

    /// Says whether so much came that the lists are better made anew.
    pub(super) fn has_grown(&self) -> bool {
        self.later.len() > self.hashes.len() / 2 + 4096
    }

    /// The files that may have an id, the newest first. Some may be gone, or have another id of the same hash.
    pub(super) fn files(&self, hash: u64) -> impl Iterator<Item = u32> + '_ {
        let asked = half(hash);
        let first = self.hashes.partition_point(|known| *known < asked);
        let n_same = self.hashes[first..].iter().take_while(|known| **known == asked).count();
        let sorted = self.files[first..first + n_same].iter().rev();
        self.later.get(&hash).into_iter().chain(sorted).copied()
    }
}

fn half(hash: u64) -> u32 {
    hash as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(hashes: &[u64]) -> Ids {
        Ids::of("chunk_", hashes.iter().map(|hash| format!("chunk_{hash:016x}")).collect())
    }

    #[track_caller]
    fn check(by_id: &ById, hash: u64, files: &[u32]) {
        assert_eq!(by_id.files(hash).collect::<Vec<_>>(), files, "{hash}");
    }

    #[test]
    fn an_id_is_in_the_newest_file_that_came_with_it() {
        let lists = [(1, ids(&[30, 10])), (2, ids(&[20, 10, u64::MAX])), (3, ids(&[]))];
        let mut by_id = ById::of(lists.iter().map(|(file, ids)| (*file, ids)));
        check(&by_id, 10, &[2, 1]);
        check(&by_id, 20, &[2]);
        check(&by_id, u64::MAX, &[2]);
        check(&by_id, 25, &[]);
        // Another id of the same half.
        check(&by_id, 20 + (1 << 32), &[2]);
        by_id.add(4, &ids(&[10, 40]));
        check(&by_id, 10, &[4, 2, 1]);
        check(&by_id, 40, &[4]);
        // What another file has by now stays its.
        by_id.add(5, &ids(&[40]));
        by_id.remove(4, &ids(&[10, 40]));
        check(&by_id, 10, &[2, 1]);
        check(&by_id, 40, &[5]);
    }

    #[test]
    fn what_came_since_is_sorted_in_before_it_is_half_of_all() {
        let mut by_id = ById::of([(1, &ids(&(0..20_000).collect::<Vec<_>>()))].into_iter());
        by_id.add(2, &ids(&(0..14_096).collect::<Vec<_>>()));
        assert!(!by_id.has_grown());
        by_id.add(3, &ids(&[90_000]));
        assert!(by_id.has_grown());
    }
}
