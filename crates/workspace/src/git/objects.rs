//! Trees and files of commits, as they are stored: no filter of the repository runs.

use std::collections::BTreeMap;

use super::{GitError, Repository, run, run_with_input};
use crate::CanonicalRoot;
use crate::gate::SpawnGate;

/// Returns the files of a commit's tree by path, each with the name of its content. Links and submodules are left out.
///
/// Refused for an untrusted root.
pub async fn tree_at(
    gate: &SpawnGate,
    root: &CanonicalRoot,
    commit: &str,
) -> Result<BTreeMap<String, String>, GitError> {
    let repository = Repository::around(gate, root).await?;
    let arguments = ["ls-tree", "-r", "-z", "--end-of-options", commit];
    let output = run(gate, root, Some(&repository), &arguments).await?;
    Ok(output.split(|byte| *byte == 0).filter_map(entry).collect())
}

/// `MODE blob NAME TAB path`.
fn entry(line: &[u8]) -> Option<(String, String)> {
    let (facts, path) = std::str::from_utf8(line).ok()?.split_once('\t')?;
    let mut facts = facts.split(' ');
    let (mode, kind, name) = (facts.next()?, facts.next()?, facts.next()?);
    (kind == "blob" && mode != "120000").then(|| (path.to_owned(), name.to_owned()))
}

/// Returns the contents with these names, in their order; one that is not there is none.
///
/// Refused for an untrusted root.
pub async fn contents(
    gate: &SpawnGate,
    root: &CanonicalRoot,
    names: &[&str],
) -> Result<Vec<Option<Vec<u8>>>, GitError> {
    let repository = Repository::around(gate, root).await?;
    let input: String = names.iter().map(|name| format!("{name}\n")).collect();
    let output =
        run_with_input(gate, root, Some(&repository), &["cat-file", "--batch"], input.into_bytes()).await?;
    Ok(read_batch(&output, names.len()))
}

/// `NAME blob SIZE LF content LF`, or `NAME missing LF`, for each that was asked for.
fn read_batch(mut output: &[u8], count: usize) -> Vec<Option<Vec<u8>>> {
    let mut found = Vec::with_capacity(count);
    while found.len() < count {
        let Some(end) = output.iter().position(|byte| *byte == b'\n') else { break };
        let head = String::from_utf8_lossy(&output[..end]).into_owned();
        output = &output[end + 1..];
        let size = head.rsplit_once(' ').and_then(|(_, size)| size.parse::<usize>().ok());
        let Some(size) = size else {
            found.push(None);
            continue;
        };
        let Some(content) = output.get(..size) else { break };
        found.push(Some(content.to_vec()));
        output = output.get(size + 1..).unwrap_or_default();
    }
    found.resize(count, None);
    found
}

#[cfg(test)]
mod tests {
    use super::read_batch;

    #[test]
    fn contents_are_read_in_order_and_what_is_missing_is_none() {
        let output = b"aa blob 3\na\nb\nbb missing\ncc blob 0\n\ndd blob 9\ncut";
        let found = read_batch(output, 5);
        assert_eq!(found, [Some(b"a\nb".to_vec()), None, Some(Vec::new()), None, None]);
    }
}
