//! Text that stands in many files: each file is asked once whether it is let in, and the nearest chunks are those of all.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::{published, put, reader, writer};
use crate::embed::{Embedder, StaticWords};
use crate::store::{Among, FileChange, GenerationReader};

fn text(kind: usize) -> String {
    let words = ["cookie", "session", "token", "render", "colour"];
    format!("def {}_{kind}(value):\n    return parse_{}(value)\n", words[kind], words[(kind + 1) % 5])
}

/// The nearest of all chunks, those that are not let in taken away afterwards.
fn plain(
    reader: &dyn GenerationReader,
    query: &[f32],
    limit: usize,
    allows: impl Fn(&str) -> bool,
) -> Vec<(String, f32)> {
    let all = reader.dense_in(query, 1000, &Among::paths(&|_| true)).unwrap().into_iter();
    let mut found: Vec<(String, f32)> =
        all.filter(|(_, path)| allows(path)).map(|(scored, path)| (path, scored.score)).collect();
    found.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    found.truncate(limit);
    found
}

#[test]
fn the_nearest_of_many_copies_are_those_of_a_look_at_each() {
    let data = tempfile::tempdir().unwrap();
    let path = |at: usize| format!("{}/file{at}.py", ["src", "tests", "docs"][at % 3]);
    let files: Vec<(String, String)> = (0..60).map(|at| (path(at), text(at % 5))).collect();
    let listed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let store = published(data.path(), &listed);
    // Some files have another version since, whose ids are far from the first.
    writer(&store).apply((0..60).step_by(7).map(|at| put(&path(at), &text((at + 1) % 5))).collect()).unwrap();
    let reader = reader(&store);
    let query = StaticWords::built_in().unwrap().embed_query("parse the session cookie").unwrap();
    for limit in [1, 3, 7, 20, 100] {
        for folder in ["src/", "tests/", "nowhere/", ""] {
            let asked = Mutex::new(BTreeMap::<String, usize>::new());
            let allows = |path: &str| {
                *asked.lock().unwrap().entry(path.to_owned()).or_default() += 1;
                path.starts_with(folder)
            };
            let found = reader.dense_in(&query, limit, &Among::paths(&allows)).unwrap();
            let mut found: Vec<(String, f32)> =
                found.into_iter().map(|(scored, path)| (path, scored.score)).collect();
            found.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
            assert_eq!(
                found,
                plain(&*reader, &query, limit, |path| path.starts_with(folder)),
                "{limit} {folder}"
            );
            assert!(asked.into_inner().unwrap().values().all(|times| *times == 1), "each is asked once");
        }
    }
}

#[test]
fn files_of_a_table_are_let_in_by_their_numbers_and_not_asked_for_by_their_paths() {
    let data = tempfile::tempdir().unwrap();
    let path = |at: usize| format!("{}/file{at}.py", ["src", "tests", "docs"][at % 3]);
    let files: Vec<(String, String)> = (0..60).map(|at| (path(at), text(at % 5))).collect();
    let listed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let store = published(data.path(), &listed);
    // The table is made before some files change and some go: it follows them.
    assert_eq!(reader(&store).words().unwrap().file_ids().len(), 60);
    let changes = (0..60).step_by(7).map(|at| put(&path(at), &text((at + 1) % 5)));
    writer(&store).apply(changes.chain([3, 4, 7].map(|at| FileChange::Remove(path(at)))).collect()).unwrap();
    let reader = reader(&store);
    let query = StaticWords::built_in().unwrap().embed_query("parse the session cookie").unwrap();
    let counts = reader.words().unwrap();
    let table = counts.table();
    for folder in ["src/", "tests/", "nowhere/", ""] {
        let takes_part: Vec<bool> = (0u32..)
            .zip(&table.paths)
            .map(|(file, path)| table.is_there(file) && path.starts_with(folder))
            .collect();
        let asked = Mutex::new(Vec::<String>::new());
        let allows = |path: &str| {
            asked.lock().unwrap().push(path.to_owned());
            path.starts_with(folder)
        };
        let found = reader.dense_in(&query, 9, &Among::of_table(&*counts, &takes_part, &allows)).unwrap();
        let mut found: Vec<(String, f32)> =
            found.into_iter().map(|(scored, path)| (path, scored.score)).collect();
        found.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
        assert_eq!(found, plain(&*reader, &query, 9, |path| path.starts_with(folder)), "{folder}");
        assert_eq!(asked.into_inner().unwrap(), Vec::<String>::new(), "{folder}");
    }
}
