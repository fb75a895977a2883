//! After any sequence of changes the store is what a fresh build gives.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{find, published, put, reader, writer};
use crate::store::{FileChange, FileWords, GenerationReader, LexicalField};

const WORDS: [&str; 6] = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];

/// One step: a file, and the word its text is about, or none to remove it.
fn steps() -> impl Strategy<Value = Vec<Vec<(usize, Option<usize>)>>> {
    let step = (0..5usize, prop::option::weighted(0.75, 0..WORDS.len()));
    prop::collection::vec(prop::collection::vec(step, 1..4), 1..6)
}

fn text(word: usize, file: usize) -> String {
    format!("def {0}_{file}(x):\n    return shared(x)\n\nclass {0}Box{file}:\n    pass\n", WORDS[word])
}

/// Everything a search can see.
fn content(reader: &dyn GenerationReader) -> Vec<String> {
    let mut seen = Vec::new();
    for path in reader.manifest().unwrap().files.into_keys() {
        for stored in reader.chunks_in(&path).unwrap() {
            seen.push(format!("{:?}", stored.chunk));
        }
        for symbol in reader.symbols_in(&path).unwrap() {
            seen.push(format!("{symbol:?}"));
        }
    }
    seen
}

fn defining(reader: &dyn GenerationReader, word: &str) -> Vec<(usize, String)> {
    let names = (0..5).flat_map(|file| [format!("{word}_{file}"), format!("{word}Box{file}")]);
    names.map(|name| (reader.files_defining(&name).unwrap(), name)).collect()
}

/// What a ranking counts from: of each file its sizes and how often it has each word.
fn counted(reader: &dyn GenerationReader) -> BTreeMap<String, (FileWords, Vec<u32>)> {
    let counts = reader.words().unwrap();
    let table = counts.table();
    let mut files: BTreeMap<String, (FileWords, Vec<u32>)> = BTreeMap::new();
    for (path, file) in table.paths.iter().zip(&table.files).filter(|(_, file)| file.n_chunks > 0) {
        files.insert(path.to_string(), (FileWords { folder: 0, ..*file }, vec![0; WORDS.len()]));
    }
    for (at, word) in WORDS.iter().enumerate() {
        let mut add = |chunk: u32, times: u32| {
            let Some(file) = table.chunks.file(chunk) else { return };
            let id = counts.chunk_id(chunk).expect("a chunk of a file has an id");
            let path = &reader.chunks(&[id]).unwrap()[0].chunk.rel_path;
            assert_eq!(**path, *table.paths[file as usize]);
            files.get_mut(path).unwrap().1[at] += times;
        };
        counts.occurrences(LexicalField::Content, word, &mut add).unwrap();
    }
    files
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_sequence_equals_a_fresh_build(batches in steps()) {
        let data = tempfile::tempdir().unwrap();
        let store = published(data.path(), &[]);
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        let mut held = None;
        for batch in batches {
            let mut changes = Vec::new();
            for (file, word) in batch {
                let path = format!("src/f{file}.py");
                match word {
                    Some(word) => {
                        files.insert(path.clone(), text(word, file));
                        changes.push(put(&path, &text(word, file)));
                    }
                    None => {
                        files.remove(&path);
                        changes.push(FileChange::Remove(path));
                    }
                }
            }
            writer(&store).apply(changes).unwrap();
            // Followed step by step, as a server does it; every other time somebody still reads the step before.
            let reader = reader(&store);
            counted(&*reader);
            reader.dense(&[0.06; 256], 5).unwrap();
            held = (held.is_none()).then_some(reader);
        }
        let fresh_data = tempfile::tempdir().unwrap();
        let listed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let fresh = published(fresh_data.path(), &listed);
        prop_assert_eq!(content(&*reader(&store)), content(&*reader(&fresh)));
        prop_assert_eq!(reader(&store).payload_digest().unwrap(), reader(&fresh).payload_digest().unwrap());
        prop_assert_eq!(counted(&*reader(&store)), counted(&*reader(&fresh)));
        for word in WORDS {
            prop_assert_eq!(defining(&*reader(&store), word), defining(&*reader(&fresh), word));
            let mut found = find(&store, word);
            let mut expected = find(&fresh, word);
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected);
        }
        let query = [0.06; 256];
        prop_assert_eq!(reader(&store).dense(&query, 20).unwrap(), reader(&fresh).dense(&query, 20).unwrap());
    }
}
