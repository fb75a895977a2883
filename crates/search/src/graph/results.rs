//! What methods of Go give, by their words: two that give other things are not one method of an interface.

use super::types::parts_of;

/// What a method gives, as it is written, and the package in which that is written.
pub(super) struct Given<'a> {
    pub(super) text: &'a str,
    pub(super) package: &'a str,
}

/// Says whether two methods give the same, as far as the words say it.
pub(super) fn same_results(left: &Given, right: &Given) -> bool {
    // Cut, or known by what is returned alone.
    if [left, right].iter().any(|given| given.text.contains('…') || given.text.starts_with('=')) {
        return true;
    }
    let (of_left, of_right) = (types(left.text), types(right.text));
    of_left.len() == of_right.len()
        && of_left
            .iter()
            .zip(&of_right)
            .all(|(one, other)| same_type((one, left.package), (other, right.package)))
}

/// The types of a list of results, without their names.
fn types(text: &str) -> Vec<String> {
    let Some(list) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else {
        return if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
    };
    // An arrow is no bracket.
    let list = list.replace("<-", "← ");
    let parts = parts_of(&list, ',');
    // `a, b int`: when one has a name, all have one, and a type belongs to those before it too.
    let is_named = parts.iter().any(|part| name_and_type(part).is_some());
    let mut types: Vec<String> = Vec::new();
    for part in parts.iter().rev() {
        let of = match (is_named, name_and_type(part)) {
            (true, Some((_, of))) => of.to_owned(),
            (true, None) => types.last().cloned().unwrap_or_default(),
            (false, _) => (*part).to_owned(),
        };
        types.push(of);
    }
    types.reverse();
    types
}

fn name_and_type(part: &str) -> Option<(&str, &str)> {
    let (name, of) = part.split_once(' ')?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !matches!(name, "chan" | "func" | "map" | "struct" | "interface");
    is_name.then_some((name, of.trim()))
}

fn same_type((left, left_package): (&str, &str), (right, right_package): (&str, &str)) -> bool {
    let (left, right) = (words(left), words(right));
    left.len() == right.len()
        && left.iter().zip(&right).all(|(one, other)| {
            one == other
                || is_parameter(one)
                || is_parameter(other)
                || match (one.split_once('.'), other.split_once('.')) {
                    // A package may have another name in another file.
                    (Some((_, one)), Some((_, other))) => one == other,
                    (Some((package, one)), None) => one == other && package == right_package,
                    (None, Some((package, other))) => one == other && package == left_package,
                    (None, None) => false,
                }
        })
}

/// `*http.File` as `*` and `http.File`; what a type without methods is called does not matter.
fn words(of: &str) -> Vec<String> {
    let of = of.replace("interface{}", "any");
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for c in of.chars() {
        let is_of_a_word = c.is_alphanumeric() || matches!(c, '_' | '.');
        match words.last_mut() {
            Some(word) if is_of_a_word && is_open => word.push(c),
            _ if c.is_whitespace() => {}
            _ => words.push(c.to_string()),
        }
        is_open = is_of_a_word;
    }
    words
}

/// A type parameter stands for anything: `T`, `K`, `V2`.
fn is_parameter(word: &str) -> bool {
    word.len() <= 2 && word.starts_with(|c: char| c.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check((left, left_package): (&str, &str), (right, right_package): (&str, &str), expected: bool) {
        let (left, right) =
            (Given { text: left, package: left_package }, Given { text: right, package: right_package });
        assert_eq!(same_results(&left, &right), expected);
        assert_eq!(same_results(&right, &left), expected);
    }

    #[test]
    fn the_same_words_are_the_same() {
        check(("(File, error)", "fs"), ("(File, error)", "fs"), true);
        check(("", "a"), ("", "b"), true);
        check(("interface{}", "a"), ("any", "a"), true);
        check(("map[string] []int", "a"), ("map[string][]int", "a"), true);
    }

    #[test]
    fn another_type_another_number_or_another_package_is_not() {
        check(("(http.File, error)", "fs"), ("(File, error)", "fs"), false);
        check(("error", "a"), ("(int, error)", "a"), false);
        check(("error", "a"), ("", "a"), false);
        check(("*File", "a"), ("File", "a"), false);
        check(("[]int", "a"), ("[]string", "a"), false);
        check(("<-chan int", "a"), ("chan int", "a"), false);
    }

    #[test]
    fn a_type_is_the_same_from_inside_and_outside_of_its_package() {
        check(("(*File, error)", "fs"), ("(*fs.File, error)", "use"), true);
        check(("stdfs.FileInfo", "a"), ("fs.FileInfo", "b"), true);
    }

    #[test]
    fn names_of_results_say_nothing() {
        check(("(n int, err error)", "a"), ("(int, error)", "a"), true);
        check(("(a, b int)", "a"), ("(int, int)", "a"), true);
        check(("(a, b int)", "a"), ("(int, string)", "a"), false);
        check(
            ("(done <-chan int, next func(a int) error)", "a"),
            ("(<-chan int, func(a int) error)", "a"),
            true,
        );
    }

    #[test]
    fn what_is_cut_or_a_parameter_may_be_anything() {
        check(("(map[string]func(a int, b…", "a"), ("error", "a"), true);
        check(("T", "a"), ("int", "a"), true);
        check(("[]K", "a"), ("[]string", "a"), true);
        check(("[]K", "a"), ("string", "a"), false);
    }
}
