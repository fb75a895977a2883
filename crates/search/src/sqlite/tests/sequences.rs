//! After any sequence of changes the store is what a fresh build gives.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{find, published, put, reader, writer};
use crate::store::{FileChange, GenerationReader};

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_sequence_equals_a_fresh_build(batches in steps()) {
        let data = tempfile::tempdir().unwrap();
        let store = published(data.path(), &[]);
        let mut files: BTreeMap<String, String> = BTreeMap::new();
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
        }
        let fresh_data = tempfile::tempdir().unwrap();
        let listed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let fresh = published(fresh_data.path(), &listed);
        prop_assert_eq!(content(&*reader(&store)), content(&*reader(&fresh)));
        prop_assert_eq!(reader(&store).payload_digest().unwrap(), reader(&fresh).payload_digest().unwrap());
        for word in WORDS {
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
