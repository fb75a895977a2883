//! What a word has in common with its other forms: `parsing`, `parsed`, `parser` and `parse` are all `pars`.
//!
//! Light on purpose: suffixes of English that names and questions differ by, no table of exceptions.

use std::sync::LazyLock;

/// Shorter stems say nothing.
const SHORTEST: usize = 3;

/// The longest that fits goes; what it leaves must have a vowel.
const SUFFIXES: &[&str] = &[
    "izations", "ization", "ations", "ation", "ingly", "ments", "ables", "ibles", "ities", "izing", "ising",
    "ators", "ating", "ives", "able", "ible", "ment", "ness", "ions", "ized", "izer", "ised", "ator", "ates",
    "ated", "izes", "ises", "ally", "ings", "ity", "ive", "ion", "ing", "ers", "ors", "ies", "ied", "ate",
    "ize", "ise", "est", "ed", "er", "or", "es", "ly", "al", "s", "y", "e",
];

/// The suffixes that can follow each two last letters of a word, in their order: a word is asked for no others. Every word
/// of an index comes by here.
static BY_LAST: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let letters = b'a'..=b'z';
    let pairs = letters.clone().flat_map(|before| letters.clone().map(move |last| [before, last]));
    let fits = |pair: [u8; 2], suffix: &str| match suffix.as_bytes() {
        [.., before, last] => [*before, *last] == pair,
        [last] => *last == pair[1],
        [] => false,
    };
    pairs.map(|pair| SUFFIXES.iter().copied().filter(|suffix| fits(pair, suffix)).collect()).collect()
});

/// The stem of a word in lower case; a word with other letters than a–z is its own.
pub fn stem(word: &str) -> &str {
    if word.len() <= SHORTEST || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    let letter = |from_end: usize| usize::from(word.as_bytes()[word.len() - from_end] - b'a');
    for suffix in &BY_LAST[letter(2) * 26 + letter(1)] {
        let Some(rest) = word.strip_suffix(suffix) else { continue };
        let has_vowel = rest.bytes().any(|byte| b"aeiouy".contains(&byte));
        let is_double = *suffix == "s" && rest.ends_with('s');
        if rest.len() >= SHORTEST && has_vowel && !is_double {
            return without_double(rest);
        }
    }
    word
}

/// `runn` of `running` is `run`.
fn without_double(stem: &str) -> &str {
    let bytes = stem.as_bytes();
    match bytes {
        [.., before, last] if before == last && stem.len() > SHORTEST && !b"lsz".contains(last) => {
            &stem[..stem.len() - 1]
        }
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_suffix_of_the_list_that_fits_goes(word in "[a-z]{2,9}", suffix in prop::sample::select(SUFFIXES)) {
            let word = format!("{word}{suffix}");
            let fits = |suffix: &&str| {
                let rest = word.strip_suffix(*suffix).unwrap_or_default();
                let has_vowel = rest.contains(['a', 'e', 'i', 'o', 'u', 'y']);
                rest.len() >= SHORTEST && has_vowel && !(*suffix == "s" && rest.ends_with('s'))
            };
            let found = SUFFIXES.iter().copied().find(fits).map_or(&*word, |suffix| &word[..word.len() - suffix.len()]);
            let expected = if found == word { found } else { without_double(found) };
            prop_assert_eq!(stem(&word), if word.len() <= SHORTEST { &*word } else { expected });
        }
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["parse", "parses", "parsed", "parsing", "parser", "parsers"][..],
            &["serialize", "serialization", "serializer", "serialized"],
            &["query", "queries"],
            &["connect", "connection", "connections", "connected"],
            &["run", "running", "runs"],
            &["class"],
            &["process", "processes", "processing"],
        ] {
            let stems: Vec<&str> = forms.iter().map(|word| stem(word)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms:?}: {stems:?}");
        }
    }

    #[test]
    fn short_words_and_other_alphabets_stay() {
        for word in ["", "a", "is", "bed", "thing", "sql", "größe", "ключи", "x86"] {
            assert_eq!(stem(word), word);
        }
    }
}
