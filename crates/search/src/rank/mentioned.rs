//! Files that a text names: by a path, or by the name of a module (`net.http.client`, `net::http`, `Net\Http`).

use std::collections::HashMap;

use super::hashes::Hashes;
use crate::store::{FileName, WordTable};

/// A module's name has at least a folder and a file.
const MIN_PARTS: usize = 2;

/// Files that share the longest end with a mentioned path, the first mentioned best.
pub(super) fn by_path(paths: &[String], table: &WordTable, takes_part: &[bool]) -> Vec<f32> {
    let mut scores = vec![0.0_f32; table.paths.len()];
    let mut by_name: HashMap<&str, Vec<usize>> =
        paths.iter().map(|path| (FileName::name_of(path), Vec::new())).collect();
    if by_name.is_empty() {
        return scores;
    }
    let asked = Hashes::of(by_name.keys().map(|name| FileName::hash_of(name)));
    let of_files = table.names.iter().enumerate();
    for (at, _) in of_files.filter(|(at, name)| asked.may_have(name.name) && takes_part[*at]) {
        if let Some(files) = by_name.get_mut(FileName::name_of(&table.paths[at])) {
            files.push(at);
        }
    }
    let mut order = 0.0;
    for path in paths {
        let Some(same_name) = by_name.get(FileName::name_of(path)).filter(|files| !files.is_empty()) else {
            continue;
        };
        let shared = |file: &usize| {
            let (left, right) = (path.rsplit('/'), table.paths[*file].rsplit('/'));
            left.zip(right).take_while(|(left, right)| left == right).count()
        };
        let longest = same_name.iter().map(shared).max().unwrap_or(0);
        order += 1.0;
        for file in same_name.iter().filter(|file| shared(file) == longest) {
            scores[*file] = scores[*file].max(1.0 / order);
        }
    }
    scores
}

/// Files whose folder and name stand in the name of a module, those with the longest end of it; what fits several is
/// shared between them.
pub(super) fn by_module(modules: &[Vec<String>], table: &WordTable, takes_part: &[bool]) -> Vec<f32> {
    let mut scores = vec![0.0_f32; table.paths.len()];
    let mut by_tail: HashMap<u64, Vec<usize>> = HashMap::new();
    for parts in modules {
        for pair in parts.windows(MIN_PARTS) {
            by_tail.insert(FileName::tail_of(&pair[0], &pair[1]), Vec::new());
        }
    }
    if by_tail.is_empty() {
        return scores;
    }
    let asked = Hashes::of(by_tail.keys().copied());
    let of_files = table.names.iter().enumerate();
    for (at, name) in of_files.filter(|(at, name)| asked.may_have(name.tail) && takes_part[*at]) {
        if let Some(files) = by_tail.get_mut(&name.tail) {
            files.push(at);
        }
    }
    for parts in modules {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for end in MIN_PARTS..=parts.len() {
            let tail = FileName::tail_of(&parts[end - 2], &parts[end - 1]);
            for file in by_tail.get(&tail).into_iter().flatten() {
                found.push((shared_end(&parts[..end], &table.paths[*file]), *file));
            }
        }
        let longest = found.iter().map(|(shared, _)| *shared).max().unwrap_or(0);
        let mut best: Vec<usize> =
            found.into_iter().filter(|(shared, _)| *shared == longest).map(|(_, file)| file).collect();
        best.sort_unstable();
        best.dedup();
        for file in &best {
            scores[*file] += 1.0 / best.len() as f32;
        }
    }
    scores.iter_mut().for_each(|score| *score = score.ln_1p());
    scores
}

/// How many parts of a module's name are the end of a path, its extension left out.
fn shared_end(parts: &[String], path: &str) -> usize {
    let path = path.to_lowercase();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let segments = std::iter::once(FileName::stem_of(name)).chain(folders.rsplit('/'));
    parts.iter().rev().zip(segments).take_while(|(part, segment)| part == segment).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::weigh::modules_of;

    fn table(paths: &[&str]) -> WordTable {
        let mut table = WordTable::default();
        for path in paths {
            table.add_file(path);
        }
        table
    }

    #[test]
    fn modules_are_found_in_the_notation_of_every_language() {
        let table = table(&["src/Net/http.py", "src/net/other.py", "lib/http.py", "net/http/client.py"]);
        for text in ["see net.http.Response.get", "net::http::send", r"use Net\Http;", "net/http"] {
            let scores = by_module(&modules_of(text), &table, &[true; 4]);
            assert!(scores[0] > 0.0 && scores[1..3] == [0.0, 0.0], "{text}: {scores:?}");
        }
        let scores = by_module(&modules_of("net.http.client"), &table, &[true; 4]);
        assert!(scores[3] > 0.0 && scores[0] == 0.0, "the longest name: {scores:?}");
        let scores = by_module(&modules_of("net.http"), &table, &[false, true, true, true]);
        assert_eq!(scores, [0.0; 4], "a file that takes no part is not found");
    }

    #[test]
    fn a_name_that_fits_several_files_says_less_of_each() {
        let table = table(&["a/net/http.py", "b/net/http.py", "net/tcp.py"]);
        let scores = by_module(&modules_of("net.http net.tcp"), &table, &[true; 3]);
        assert!(scores[0] == scores[1] && scores[0] < scores[2], "{scores:?}");
    }
}
