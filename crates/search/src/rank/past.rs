//! What commits say of the files of today: of files that were moved since, too.

use std::collections::HashMap;

use super::hashes::Hashes;
use crate::history::Said;
use crate::store::WordTable;

/// The score of each file. What is said of a path that is gone counts for the file that has the same name in a folder of
/// the same name, and of several such for those whose path ends most alike.
pub(super) fn of_files(said: &[Said<'_>], table: &WordTable, takes_part: &[bool]) -> Vec<f32> {
    let mut scores = vec![0.0_f32; table.paths.len()];
    let mut gone: Vec<&Said<'_>> = Vec::new();
    for said in said {
        match table.number(said.path) {
            Some(file) if takes_part[file as usize] => scores[file as usize] = said.score,
            // It takes no part, but it is there.
            Some(_) => {}
            None => gone.push(said),
        }
    }
    if gone.is_empty() {
        return scores;
    }
    let mut by_tail: HashMap<u64, Vec<usize>> = gone.iter().map(|said| (said.tail, Vec::new())).collect();
    let asked = Hashes::of(by_tail.keys().copied());
    for (at, name) in
        table.names.iter().enumerate().filter(|(at, name)| asked.may_have(name.tail) && takes_part[*at])
    {
        if let Some(files) = by_tail.get_mut(&name.tail) {
            files.push(at);
        }
    }
    // The greatest of all that is said of a file: the same commit tells of the old path and of the new one.
    for said in gone {
        let files = by_tail.get(&said.tail).map(Vec::as_slice).unwrap_or_default();
        let shared = |file: &usize| shared_end(said.path, &table.paths[*file]);
        let longest = files.iter().map(shared).max().unwrap_or(0);
        for file in files.iter().filter(|file| shared(file) == longest) {
            scores[*file] = scores[*file].max(said.score);
        }
    }
    scores
}

/// How many characters two paths end with alike.
fn shared_end(left: &str, right: &str) -> usize {
    left.bytes().rev().zip(right.bytes().rev()).take_while(|(left, right)| left == right).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{ChunkWords, FileName};

    #[test]
    fn what_is_said_of_a_moved_file_counts_for_it() {
        let paths = ["src/net/http.rs", "lib/net/http.rs", "src/net/http.h", "src/a.rs", "tests/b.rs"];
        let mut table = WordTable::default();
        for path in paths {
            let file = Some(table.add_file(path));
            table.add_chunk(ChunkWords { file, ..ChunkWords::default() });
        }
        let said = |path: &'static str, score: f32| Said { path, tail: FileName::tail_of_path(path), score };
        let takes_part = [true, true, true, true, false];
        let check = |said: &[Said<'_>], expected: [f32; 5]| {
            assert_eq!(of_files(said, &table, &takes_part), expected, "{said:?}");
        };
        check(&[said("old/lib/net/http.rs", 2.0)], [0.0, 2.0, 0.0, 0.0, 0.0]);
        check(&[said("src/net/http.rs", 1.0), said("x/net/http.rs", 2.0)], [2.0, 2.0, 0.0, 0.0, 0.0]);
        check(&[said("b/a.rs", 1.0), said("tests/b.rs", 1.0)], [0.0; 5]);
    }
}
