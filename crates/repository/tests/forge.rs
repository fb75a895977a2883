//! Pull requests through the forge's own program, which is a fake here: what it says is told, also when it fails.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

#[path = "common/bench.rs"]
mod bench;

use std::os::unix::fs::PermissionsExt as _;

use bench::Bench;
use chartroom_protocol::keep::{PullRequestParams, PullRequestResponse};
use chartroom_repository::keep;

/// Asks for a pull request where `program` is installed and does what `script` says; it notes what it was asked.
async fn ask(program: &str, script: &str, remote: &str) -> (PullRequestResponse, String) {
    let bench = Bench::new();
    bench.git(&["remote", "add", "origin", remote]);
    bench.git(&["switch", "-q", "-c", "work"]);
    let programs = bench.folder.path().join("bin");
    let asked = bench.folder.path().join("asked");
    let text = format!("#!/bin/sh\necho \"$@\" > {}\n{script}\n", asked.display());
    bench::write(&programs, program, &text);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(programs.join(program), mode).unwrap();
    let gate = bench::gate_on(bench.folder.path(), &format!("{}:/usr/bin:/bin", programs.display()));
    let params = PullRequestParams { title: Some("a title".to_owned()), ..PullRequestParams::default() };
    let answer = keep::pull_request(&gate, &bench.root(), &params).await.unwrap();
    (answer, std::fs::read_to_string(asked).unwrap())
}

#[tokio::test]
async fn what_the_forge_s_program_makes_is_told() {
    let (made, asked) = ask("gh", "echo https://github.com/o/n/pull/7", "git@github.com:o/n.git").await;
    assert_eq!((made.made, made.url.as_deref()), (true, Some("https://github.com/o/n/pull/7")));
    assert!(asked.starts_with("pr create") && asked.contains("--head=work"), "{asked}");
    let (made, asked) =
        ask("glab", "echo made: https://gitlab.com/o/n/-/merge_requests/7", "https://gitlab.com/o/n.git")
            .await;
    assert_eq!((made.made, made.url.as_deref()), (true, Some("https://gitlab.com/o/n/-/merge_requests/7")));
    assert!(asked.starts_with("mr create") && asked.contains("--source-branch=work"), "{asked}");
}

#[tokio::test]
async fn a_program_that_fails_is_quoted_and_the_page_of_the_forge_is_the_way() {
    for (program, remote, page) in [
        ("gh", "git@github.com:o/n.git", "https://github.com/o/n/compare/work?expand=1"),
        ("glab", "https://gitlab.com/o/n.git", "https://gitlab.com/o/n/-/merge_requests/new"),
    ] {
        let script = "echo 'see https://example.org/help' ; echo 'no token: log in first' >&2 ; exit 4";
        let (failed, _) = ask(program, script, remote).await;
        assert!(!failed.made && failed.output.contains("no token: log in first"), "{failed:?}");
        let url = failed.url.unwrap();
        assert!(url.starts_with(page), "{program}: {url}");
    }
}
