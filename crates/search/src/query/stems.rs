//! What a word has in common with its other forms: `parsing`, `parsed`, `parser` and `parse` are all `pars`.
//!
//! Light on purpose: suffixes of English that names and questions differ by, no table of exceptions.

/// Shorter stems say nothing.
const SHORTEST: usize = 3;

/// The longest that fits goes; what it leaves must have a vowel.
const SUFFIXES: &[&str] = &[
    "izations", "ization", "ations", "ation", "ingly", "ments", "ables", "ibles", "ities", "izing", "ising",
    "ators", "ating", "ives", "able", "ible", "ment", "ness", "ions", "ized", "izer", "ised", "ator", "ates",
    "ated", "izes", "ises", "ally", "ings", "ity", "ive", "ion", "ing", "ers", "ors", "ies", "ied", "ate",
    "ize", "ise", "est", "ed", "er", "or", "es", "ly", "al", "s", "y", "e",
];

/// The stem of a word in lower case; a word with other letters than a–z is its own.
pub fn stem(word: &str) -> &str {
    if word.len() <= SHORTEST || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    for suffix in SUFFIXES {
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
    use super::stem;

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
