//! A word's places, and how many are passed by.

use super::{published, reader};
use crate::store::LexicalField;

#[test]
fn all_places_from_the_wanted_one_on_are_given() {
    let data = tempfile::tempdir().unwrap();
    // In every chunk, and in each third one.
    let text = |at: usize| {
        format!("def f{at}():\n    return everywhere{}\n", if at.is_multiple_of(3) { " + third" } else { "" })
    };
    let files: Vec<(String, String)> = (0..3000).map(|at| (format!("src/f{at}.py"), text(at))).collect();
    let listed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let store = published(data.path(), &listed);
    let counts = reader(&store).words().unwrap();
    let mut all = Vec::new();
    counts.occurrences(LexicalField::Content, "everywhere", &mut |chunk, _| all.push(chunk)).unwrap();
    assert!(all.len() >= 3000, "{}", all.len());
    for word in ["everywhere", "third"] {
        let mut all = Vec::new();
        counts.occurrences(LexicalField::Content, word, &mut |chunk, _| all.push(chunk)).unwrap();
        for (step, first) in [(1, 0), (200, 0), (700, 90), (2500, 0), (u32::MAX / 2, 0), (10_000, 2990)] {
            let (mut given, mut wanted) = (Vec::new(), first);
            let mut each = |base: u32, chunks: &[u32], _: &[u32]| {
                let chunks: Vec<u32> = chunks.iter().map(|chunk| base + chunk).collect();
                given.extend(chunks.iter().copied().filter(|chunk| *chunk >= wanted));
                wanted = chunks.last().map_or(0, |last| (last + step).max(first));
                wanted
            };
            counts.blocks(LexicalField::Content, word, &mut each).unwrap();
            assert!(given.is_sorted_by(|left, right| left < right), "{word} {step}: none comes twice");
            assert!(given.iter().all(|chunk| all.contains(chunk)), "{word} {step}");
            if step == 1 {
                assert_eq!(given, all, "{word}: nothing is passed by");
            } else if step > 200 {
                assert!(given.len() < all.len(), "{word} {step}: some are passed by");
            }
        }
    }
}
