//! What a query asks for that nobody knows: an operator that there is not, a language that no file can have.

use chartroom_protocol::index::Warning;
use chartroom_search::nearest::nearest;
use chartroom_search::query::operators;
use chartroom_search::symbols::Language;

const OPERATORS: [&str; 5] = ["lang", "path", "-path", "must", "exclude"];

/// Returns a warning for each.
pub(super) fn doubts(query: &str) -> Vec<Warning> {
    let parsed = operators::parse(query);
    let known = Language::names();
    let languages = parsed.operators.lang.iter().filter(|word| !Language::is_known(word)).map(|word| {
        let near = nearest(word, known.iter().copied());
        let near = near.map_or_else(
            || format!("known are {}", known.join(", ")),
            |near| format!("did you mean lang:{near}?"),
        );
        Warning::new("QUERY_LANGUAGE_UNKNOWN", format!("nobody has the language '{word}'; {near}"))
    });
    // What is left of the beginning was taken for words.
    let first_line = parsed.text.lines().next().unwrap_or_default();
    let operators = first_line.split_whitespace().filter_map(operator_like).map(|word| {
        let near = nearest(word, OPERATORS);
        let near = near.map_or_else(
            || format!("operators are {}", OPERATORS.map(|known| format!("{known}:")).join(" ")),
            |near| format!("did you mean {near}:?"),
        );
        let text = format!("'{word}:' is no operator and is searched as a word; {near}");
        Warning::new("QUERY_OPERATOR_UNKNOWN", text)
    });
    languages.chain(operators).collect()
}

/// The key of a word such as `foo:bar`. `std::io`, `https://` and `TypeError:` are none.
fn operator_like(word: &str) -> Option<&str> {
    let (key, value) = word.split_once(':')?;
    let name = key.strip_prefix('-').unwrap_or(key);
    let is_name = name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_value = value.starts_with(|first: char| first.is_alphanumeric() || "*.\"_".contains(first));
    (is_name && is_value && !OPERATORS.contains(&key)).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(query: &str) -> Vec<String> {
        doubts(query).into_iter().map(|warning| warning.message).collect()
    }

    #[test]
    fn a_slip_is_told_with_the_nearest() {
        for (query, expected) in [
            ("langg:rust retry", "'langg:' is no operator and is searched as a word; did you mean lang:?"),
            ("lang:pyton retry", "nobody has the language 'pyton'; did you mean lang:python?"),
            ("-paht:src retry", "'-paht:' is no operator and is searched as a word; did you mean -path:?"),
        ] {
            assert_eq!(told(query), [expected], "{query}");
        }
        assert!(told("kind:x y")[0].contains("operators are lang: path: -path: must: exclude:"));
    }

    #[test]
    fn what_is_right_or_no_operator_is_not_doubted() {
        for query in [
            "lang:ts -path:gen/** must:retry how",
            "lang:tsx x",
            "std::io::Error",
            "https://example.com:80",
            "TypeError: x",
            "note: this",
            "plain words",
        ] {
            assert_eq!(told(query), [""; 0], "{query}");
        }
    }
}
