//! `lang:` `path:` `-path:` `must:` `exclude:` at the start of a query.

/// What the operators ask for, values in the order given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Operators {
    /// Lower case.
    pub lang: Vec<String>,
    /// gitignore patterns on the relative path.
    pub path: Vec<String>,
    /// `-path:` globs; a file that matches one is left out.
    pub exclude_path: Vec<String>,
    /// `must:` words; a result has all of them.
    pub must: Vec<String>,
    /// `exclude:` words; a result has none of them.
    pub exclude: Vec<String>,
}

/// A query with its operators taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedQuery {
    /// What stood before the words.
    pub operators: Operators,
    /// What is searched for; the whole query when nothing but operators was given.
    pub text: String,
    /// Whether nothing but operators was given.
    pub only_operators: bool,
}

/// Operators stand in the first characters of a query, before the first blank line.
const PREFIX: usize = 200;

/// Takes a query apart.
pub fn parse(query: &str) -> ParsedQuery {
    let (prefix, rest) = split_prefix(query);
    let mut operators = Operators::default();
    let mut left = Vec::new();
    for token in tokens(prefix) {
        let target = match token.text.split_once(':') {
            Some((key, value)) if !token.escaped => match key {
                "lang" => Some((&mut operators.lang, value.to_lowercase())),
                "path" => Some((&mut operators.path, value.to_owned())),
                "-path" => Some((&mut operators.exclude_path, value.to_owned())),
                "must" => Some((&mut operators.must, value.to_owned())),
                "exclude" => Some((&mut operators.exclude, value.to_owned())),
                _ => None,
            },
            _ => None,
        };
        match target {
            Some((list, value)) => {
                if !value.is_empty() {
                    list.push(value);
                }
            }
            None => left.push(token.text),
        }
    }
    let mut text = left.join(" ");
    if !rest.trim().is_empty() {
        text.push('\n');
        text.push_str(rest);
    }
    let text = text.trim();
    let only_operators = text.is_empty();
    let text = if only_operators { query.trim().to_owned() } else { text.to_owned() };
    ParsedQuery { operators, text, only_operators }
}

/// The block that may hold operators. A word on its border belongs to what follows.
fn split_prefix(query: &str) -> (&str, &str) {
    let mut end = query.char_indices().nth(PREFIX).map_or(query.len(), |(at, _)| at);
    if let Some(blank) = query[..end].find("\n\n") {
        end = blank;
    } else if end < query.len() {
        end = query[..end].rfind(char::is_whitespace).unwrap_or(end);
    }
    query.split_at(end)
}

struct Token {
    text: String,
    /// Began with a backslash: it is text, whatever it looks like.
    escaped: bool,
}

/// Splits at blanks; double quotes hold blanks, a backslash takes the next character as it is.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut token: Option<Token> = None;
    let mut quoted = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c.is_whitespace() && !quoted {
            tokens.extend(token.take());
            continue;
        }
        let first = token.is_none();
        let token = token.get_or_insert(Token { text: String::new(), escaped: false });
        match c {
            '"' => quoted = !quoted,
            '\\' => {
                token.escaped |= first;
                token.text.push(chars.next().unwrap_or('\\'));
            }
            c => token.text.push(c),
        }
    }
    tokens.extend(token);
    tokens
}

#[cfg(test)]
mod tests {
    use super::{Operators, parse};

    #[track_caller]
    fn check(query: &str, operators: Operators, text: &str) {
        let parsed = parse(query);
        assert_eq!((parsed.operators, parsed.text.as_str()), (operators, text));
    }

    fn none() -> Operators {
        Operators::default()
    }

    #[test]
    fn operators_are_taken_out_and_the_rest_is_searched_for() {
        check(
            "lang:Rust path:src/** -path:**/gen/* must:Retry exclude:mock how are requests retried",
            Operators {
                lang: vec!["rust".into()],
                path: vec!["src/**".into()],
                exclude_path: vec!["**/gen/*".into()],
                must: vec!["Retry".into()],
                exclude: vec!["mock".into()],
            },
            "how are requests retried",
        );
    }

    #[test]
    fn quotes_hold_blanks_and_a_backslash_makes_text() {
        check(r#"must:"two words" x"#, Operators { must: vec!["two words".into()], ..none() }, "x");
        check(r"\lang:go x", none(), "lang:go x");
        check(r#"must:a\"b x"#, Operators { must: vec!["a\"b".into()], ..none() }, "x");
    }

    #[test]
    fn unknown_keys_stay_and_empty_values_go() {
        check("std::io::Error kind:x lang: y", none(), "std::io::Error kind:x y");
    }

    #[test]
    fn a_query_of_operators_alone_is_searched_for_whole() {
        check("must:x", Operators { must: vec!["x".into()], ..none() }, "must:x");
        check("", none(), "");
    }

    #[test]
    fn operators_end_at_a_blank_line_and_after_200_characters() {
        check("lang:go a\n\nmust:x", Operators { lang: vec!["go".into()], ..none() }, "a\n\n\nmust:x");
        let long = format!("{} must:x", "word ".repeat(50).trim());
        let parsed = parse(&long);
        assert_eq!(parsed.operators, none());
        assert_eq!(
            parsed.text.split_whitespace().collect::<Vec<_>>(),
            long.split_whitespace().collect::<Vec<_>>()
        );
    }
}
