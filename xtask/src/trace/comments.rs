//! The ids in the comments above Rust tests, held against docs/traceability.toml in both directions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ignore::Walk;

use crate::process::root;

/// One test function in the sources.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    name: String,
    /// What stands in the comments between it and the item above.
    ids: BTreeSet<String>,
}

/// Every test function of one package, with the file that it lies in.
type Sources = Vec<(PathBuf, Found)>;

/// Returns what the comments and the named tests do not agree on. `named` has the tests of each id, `existing` every
/// Rust test as nextest names it.
pub(crate) fn drift<'a>(
    named: impl Iterator<Item = (&'a str, &'a str)>,
    existing: &BTreeSet<String>,
) -> anyhow::Result<Vec<String>> {
    let mut ids_of: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (id, test) in named {
        ids_of.entry(test).or_default().insert(id);
    }
    let mut packages: BTreeMap<String, Sources> = BTreeMap::new();
    let mut problems = Vec::new();
    for test in existing {
        let Some((package, _)) = test.split_once("::") else { continue };
        if !packages.contains_key(package) {
            packages.insert(package.to_owned(), sources(package)?);
        }
        let ids = ids_of.get(test.as_str());
        let Some((path, found)) = locate(test, &packages[package]) else {
            if ids.is_some() {
                problems.push(format!("`{test}` is in no source file of {package}"));
            }
            continue;
        };
        let wanted: BTreeSet<&str> = ids.into_iter().flatten().copied().collect();
        let commented: BTreeSet<&str> = found.ids.iter().map(String::as_str).collect();
        let place = path.strip_prefix(root()).unwrap_or(path).display();
        for id in wanted.difference(&commented) {
            problems
                .push(format!("{place}: `{}` shows {id} and has no comment `// {id}` above it", found.name));
        }
        for id in commented.difference(&wanted) {
            problems.push(format!(
                "{place}: `{}` has the comment `// {id}`, and {id} does not name it",
                found.name
            ));
        }
    }
    Ok(problems)
}

/// The function that a test's full name means: of several with one name, the one whose file has the module path.
fn locate<'a>(test: &str, sources: &'a Sources) -> Option<&'a (PathBuf, Found)> {
    let mut segments: Vec<&str> = test.split("::").skip(1).collect();
    let name = segments.pop()?;
    let fits = |path: &Path| {
        let stem = path.with_extension("");
        let parts: Vec<_> = stem.iter().map(|part| part.to_string_lossy()).collect();
        // An inline `mod tests` has no file of its own.
        let modules: Vec<&&str> = segments.iter().filter(|segment| **segment != "tests").collect();
        modules.iter().all(|module| parts.iter().any(|part| part == **module))
    };
    let same: Vec<_> = sources.iter().filter(|(_, found)| found.name == name).collect();
    match same.as_slice() {
        [] => None,
        [only] => Some(only),
        several => {
            // The shortest path has no folder beside the module path.
            several.iter().filter(|(path, _)| fits(path)).min_by_key(|(path, _)| path.iter().count()).copied()
        }
    }
}

fn sources(package: &str) -> anyhow::Result<Sources> {
    // The benchmarks and xtask lie beside `crates`.
    let name = package.strip_prefix("chartroom-").unwrap_or(package);
    let within = root().join("crates").join(name);
    let folder = if within.is_dir() { within } else { root().join(name) };
    let mut sources = Vec::new();
    for entry in Walk::new(folder) {
        let path = entry?.into_path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            sources.extend(tests_in(&text).into_iter().map(|found| (path.clone(), found)));
        }
    }
    Ok(sources)
}

/// Reads the test functions of a file with the ids in the comments and attributes directly above each.
fn tests_in(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut ids = BTreeSet::new();
    let mut is_test = false;
    for line in text.lines() {
        let line = line.trim();
        if let Some(comment) = line.strip_prefix("//") {
            ids.extend(ids_in(comment));
        } else if line.starts_with("#[") {
            is_test |= line.starts_with("#[test") || line.starts_with("#[tokio::test");
        } else {
            let declaration = line.strip_prefix("async ").unwrap_or(line);
            if let Some(rest) = declaration.strip_prefix("fn ")
                && is_test
            {
                let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
                found.push(Found { name: name.to_owned(), ids: std::mem::take(&mut ids) });
            }
            ids.clear();
            is_test = false;
        }
    }
    found
}

/// The words of a comment that have the form of an id, e.g. `TC-5.4d` or `INDEX-READ-ok`.
fn ids_in(comment: &str) -> impl Iterator<Item = String> {
    const FAMILIES: &[&str] = &["TC-", "BR-", "EC-", "REQ-", "INV-", "ACC-", "ISS-", "INDEX-", "NFR-"];
    comment
        .split(|c: char| !c.is_alphanumeric() && !['-', '.', '_'].contains(&c))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| FAMILIES.iter().any(|family| word.starts_with(family)))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &[&str])]) {
        let found: Vec<_> = tests_in(text)
            .into_iter()
            .map(|found| (found.name, found.ids.into_iter().collect::<Vec<_>>()))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, ids)| {
                ((*name).to_owned(), ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn ids_stand_in_the_comments_directly_above_a_test() {
        check(
            "// BR-9, TC-5.4d. And why.\n#[tokio::test(start_paused = true)]\n// EC-2\nasync fn one() {\n}\n#[test]\nfn two() {}",
            &[("one", &["BR-9", "EC-2", "TC-5.4d"]), ("two", &[])],
        );
    }

    #[test]
    fn a_comment_above_something_else_is_not_a_tests() {
        check("// TC-1.1a\n\n#[test]\nfn one() {}\n// TC-1.1b\nfn helper() {}", &[("one", &[])]);
    }

    #[test]
    fn of_two_functions_with_one_name_the_module_path_decides() {
        let at = |path: &str| {
            (PathBuf::from(path), Found { name: "opens".to_owned(), ids: BTreeSet::from([path.to_owned()]) })
        };
        let sources = vec![at("crates/a/src/store.rs"), at("crates/a/src/service/tests/store.rs")];
        let located = |test| locate(test, &sources).map(|(path, _)| path.to_string_lossy().into_owned());
        assert_eq!(located("chartroom-a::store::tests::opens").unwrap(), "crates/a/src/store.rs");
        assert_eq!(
            located("chartroom-a::service::tests::store::opens").unwrap(),
            "crates/a/src/service/tests/store.rs"
        );
        assert_eq!(located("chartroom-a::gone::closes"), None);
    }
}
