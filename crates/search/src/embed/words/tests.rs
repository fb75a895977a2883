//! The table inside the binary against its trainer, and files that are no such table.

use proptest::prelude::*;
use serde::Deserialize;

use super::table::{Table, TableError};
use super::{Embedder, StaticWords, vector};

const BUILT_IN: &[u8] = include_bytes!("code-words-256-v1.table");

#[derive(Deserialize)]
struct Golden {
    text: String,
    pieces: Vec<String>,
    vector: Vec<f32>,
}

fn likeness(left: &str, right: &str) -> f32 {
    let vectors = StaticWords::built_in().unwrap().embed(&[left, right]).unwrap();
    vectors[0].iter().zip(&vectors[1]).map(|(a, b)| a * b).sum()
}

#[test]
fn every_text_of_the_golden_set_has_the_trainers_pieces_and_vector() {
    let golden: Vec<Golden> = serde_json::from_str(include_str!("golden.json")).unwrap();
    let embedder = StaticWords::built_in().unwrap();
    assert!(golden.len() >= 10);
    for Golden { text, pieces, vector: expected } in golden {
        let mut numbers = Vec::new();
        let found = vector(embedder.table, &text, &mut numbers);
        let mut expected_pieces = pieces;
        let mut found_pieces: Vec<String> =
            numbers.iter().map(|number| embedder.table.vocabulary.name(*number)).collect();
        expected_pieces.sort();
        found_pieces.sort();
        assert_eq!(found_pieces, expected_pieces, "{text:?}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 2e-5, "{text:?}: {found} {expected}");
        }
    }
}

#[test]
fn a_question_is_nearer_to_code_in_other_words_than_to_other_code() {
    let check = |query: &str, right: &str, wrong: &str| {
        let (right, wrong) = (likeness(query, right), likeness(query, wrong));
        assert!(right > wrong + 0.1, "{query}: {right} {wrong}");
    };
    check(
        "remove an entry from the cache",
        "fn evict(&mut self, key: &Key) { self.lru.pop(key); }",
        "fn draw_circle(canvas: &mut Canvas, radius: f32) { canvas.arc(radius); }",
    );
    check(
        "turn text into lower case letters",
        "def casefold(s):\n    return s.lower()",
        "def connect(host, port):\n    return socket.create_connection((host, port))",
    );
}

#[test]
fn a_text_without_words_has_a_zero_vector() {
    let embedder = StaticWords::built_in().unwrap();
    assert_eq!(embedder.embed(&["", "→ ()"]).unwrap(), vec![vec![0.0; 256]; 2]);
}

/// A copy of the built-in table that a test may spoil.
fn spoiled(spoil: impl FnOnce(&mut Vec<u8>)) -> TableError {
    let mut bytes = BUILT_IN.to_vec();
    spoil(&mut bytes);
    Table::read(bytes.leak()).unwrap_err()
}

#[test]
fn a_table_that_is_damaged_or_of_another_version_is_refused_by_name() {
    #[track_caller]
    fn check(found: &TableError, expected: &str) {
        assert!(found.to_string().contains(expected), "{found}");
    }
    check(&spoiled(|bytes| bytes[0] = b'X'), "is no table of vectors");
    check(&spoiled(|bytes| bytes.truncate(20)), "is no table of vectors");
    check(
        &spoiled(|bytes| bytes[8] = 2),
        "has version 2 and dimension 256; this build reads version 1 with 256",
    );
    check(&spoiled(|bytes| bytes[13] = 3), "dimension 768");
    check(&spoiled(|bytes| bytes.truncate(bytes.len() - 1)), "is damaged: it is cut off");
    check(&spoiled(|bytes| bytes.push(0)), "is damaged: it is cut off or has more");
    check(&spoiled(|bytes| bytes[5000] ^= 1), "is damaged: its checksum differs");
    check(&spoiled(|bytes| bytes[16] ^= 1), "is damaged");
}

proptest! {
    #[test]
    fn any_text_has_a_vector_of_unit_length_or_zero(text in "\\PC{0,200}") {
        let found = StaticWords::built_in().unwrap().embed(&[&text]).unwrap();
        let length: f32 = found[0].iter().map(|value| value * value).sum();
        prop_assert!(length == 0.0 || (length - 1.0).abs() < 1e-3, "{length}");
    }
}
