//! What commits say of files.

use std::sync::Arc;

use super::{files, library, request, run};
use crate::history::{Commit, History, HistoryWords};
use crate::request::SearchRequest;

/// What is said first of two files that say the same, after one commit changed this path.
fn first_after(changed: &str) -> String {
    let text = "def run(link):\n    return link.send(lost_parcels(link))\n";
    let library = library(&[("lib/net/a.py", text), ("lib/net/sender.py", text)]);
    let commit = Commit {
        id: "ab12".into(),
        message: "Parcels were lost when the link broke".into(),
        files: vec![changed.to_owned()],
    };
    let history = HistoryWords::of(&History { head: "ab12".into(), commits: vec![commit] });
    let asked = SearchRequest {
        history: Some(Arc::new(history)),
        ..request("some parcels are lost whenever the link breaks")
    };
    files(&run(&library, &asked)).remove(0)
}

#[test]
fn commits_find_the_file_that_they_changed() {
    assert_eq!(first_after("lib/net/sender.py"), "lib/net/sender.py");
    assert_eq!(first_after("lib/net/other.py"), "lib/net/a.py");
}

#[test]
fn commits_find_a_file_that_was_moved_since() {
    assert_eq!(first_after("src/old/net/sender.py"), "lib/net/sender.py");
}
