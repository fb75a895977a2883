//! Every message about changed files, worktrees and comments, as it stands on the wire. A change here is a change of a promise.

#![allow(clippy::unwrap_used, clippy::panic)]

use chartroom_protocol::changes::{
    ChangedFile, Changes, FilePatch, FileStatus, FileVersion, ForkParams, ForkResponse, RestoreParams,
    Restored, RewindParams, RewindResponse, ScopesResponse,
};
use chartroom_protocol::review::{Comment, CommentSide, CommentState, Review, ViewedParams};
use chartroom_protocol::undo::{UndoListResponse, UndoParams, UndoResponse, UndoableAct};
use chartroom_protocol::worktree::{
    AddWorktreeParams, AddWorktreeResponse, BringHow, BringParams, BringResponse, CommandOutput, CommandRun,
    RemoveWorktreeResponse, RunState, Worktree, WorktreeListResponse,
};
use expect_test::expect_file;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn lines<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(messages: &[T]) -> String {
    let mut text = String::new();
    for message in messages {
        let line = serde_json::to_string(message).expect("a wire type");
        let back: T = serde_json::from_str(&line).expect("what we wrote");
        assert_eq!(back, *message);
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[test]
fn bodies_about_changed_files() {
    let file = |status, from: Option<&str>| ChangedFile {
        path: "a.rs".to_owned(),
        status,
        from: from.map(str::to_owned),
        added: 2,
        removed: 1,
        binary: false,
        before: None,
        after: None,
    };
    let all = [FileStatus::Added, FileStatus::Modified, FileStatus::Deleted, FileStatus::Untracked];
    let mut files: Vec<ChangedFile> = all.into_iter().map(|status| file(status, None)).collect();
    files.push(file(FileStatus::Renamed, Some("b.rs")));
    let version = |id: &str, mode: &str| Some(FileVersion { id: id.to_owned(), mode: mode.to_owned() });
    let versions = ChangedFile {
        before: version("0123", "100644"),
        after: version("4567", "100755"),
        ..file(FileStatus::Modified, None)
    };
    files.push(versions);
    let changes = |files, patch: Option<String>| Changes {
        base: "0123456789ab".to_owned(),
        head: "working tree".to_owned(),
        uncounted: patch.is_some(),
        files,
        patch,
    };
    let restored = Restored {
        checkpoint: "0123456789ab".to_owned(),
        undo: Some("ba9876543210".to_owned()),
        written: vec!["a.rs".to_owned()],
        removed: Vec::new(),
        conflicts: Vec::new(),
    };
    let rewind =
        RewindParams { before: "t".into(), files: true, conversation: false, dry_run: true, force: false };
    let restore = RestoreParams {
        checkpoint: "0123".to_owned(),
        paths: vec!["src".to_owned()],
        dry_run: false,
        force: true,
    };
    let text = [
        lines(&[changes(files, None), changes(Vec::new(), Some("diff --git\n".to_owned()))]),
        lines(&[restore]),
        lines(std::slice::from_ref(&restored)),
        lines(&[rewind]),
        lines(&[RewindResponse {
            files: Some(restored),
            session: Some("s".into()),
            cannot: Some("it cannot".to_owned()),
        }]),
        lines(&[ForkParams { at: Some("t".into()) }, ForkParams::default()]),
        lines(&[
            ForkResponse { session: Some("s".into()), cannot: None },
            ForkResponse { session: None, cannot: Some("it cannot".to_owned()) },
        ]),
        lines(
            &[false, true]
                .map(|truncated| FilePatch { patch: "@@ -1 +1 @@\n-a\n+b\n".to_owned(), truncated }),
        ),
        lines(&[Some("main"), None].map(|branch| ScopesResponse {
            turns: vec!["t".into()],
            repository: true,
            branch: branch.map(str::to_owned),
            branches: vec!["main".to_owned()],
            looked_at: branch.map(|_| 1),
        })),
    ];
    expect_file!["golden/changes.jsonl"].assert_eq(&text.concat());
}

#[test]
fn bodies_about_what_can_be_undone() {
    let act = UndoableAct {
        act: "a".to_owned(),
        at: 1,
        what: "reverted a.rs".to_owned(),
        rewound: Some("s1".to_owned()),
        archived: Some("s1".to_owned()),
        made: Some("s2".to_owned()),
    };
    let plain = UndoableAct { rewound: None, archived: None, made: None, ..act.clone() };
    let text = [
        lines(&[UndoListResponse { acts: vec![act.clone(), plain] }]),
        lines(&[UndoParams { act: "a".to_owned() }]),
        lines(&[UndoResponse {
            done: false,
            undone: act,
            reason: Some("there are other commits now".to_owned()),
            files: None,
        }]),
    ];
    expect_file!["golden/undo.jsonl"].assert_eq(&text.concat());
}

#[test]
fn bodies_about_worktrees() {
    let worktree = Worktree {
        name: "feature-x".to_owned(),
        path: "/data/worktrees/shop/feature-x".to_owned(),
        branch: "feature/x".to_owned(),
        base: "c0ffee".to_owned(),
        repository: "/shop".to_owned(),
        preparing: None,
    };
    let preparing = |state, duration_ms| {
        let command = vec!["npm".to_owned(), "ci".to_owned()];
        let preparing = Some(CommandRun { command, state, output: "ok".to_owned(), duration_ms });
        Worktree { preparing, ..worktree.clone() }
    };
    let setup =
        CommandOutput { command: vec!["npm".to_owned(), "ci".to_owned()], ok: true, output: "ok".to_owned() };
    let all = [BringHow::Merge, BringHow::Squash, BringHow::Rebase, BringHow::Apply];
    let brought = BringResponse {
        brought: false,
        commit: None,
        before: Some("c0ffee".to_owned()),
        conflicts: vec!["a.rs".to_owned()],
        reason: Some("it does not fit".to_owned()),
        undo: None,
    };
    let removed = RemoveWorktreeResponse {
        removed: true,
        uncommitted: vec!["a.rs".to_owned()],
        commits: vec!["c0ffee".to_owned()],
        commit: "c0ffee".to_owned(),
        undo: Some("0123456789ab".to_owned()),
    };
    let text = [
        lines(&[AddWorktreeParams { branch: "feature/x".to_owned(), from: Some("main".to_owned()) }]),
        lines(&[AddWorktreeResponse {
            worktree: worktree.clone(),
            copied: vec![".env".to_owned()],
            setup: Some(setup),
        }]),
        lines(&[WorktreeListResponse {
            worktrees: vec![
                worktree.clone(),
                preparing(RunState::Running, None),
                preparing(RunState::Passed, Some(5)),
                preparing(RunState::Failed, Some(5)),
                preparing(RunState::Interrupted, None),
            ],
        }]),
        lines(&all.map(|how| BringParams { onto: "main".to_owned(), how })),
        lines(&[brought]),
        lines(&[removed]),
    ];
    expect_file!["golden/worktrees.jsonl"].assert_eq(&text.concat());
}

#[test]
fn bodies_about_a_review() {
    let comment = |side, state| Comment {
        comment_id: "c1".to_owned(),
        path: "src/a.rs".to_owned(),
        side,
        first_line: 3,
        last_line: 4,
        quote: "fn a() {\n}".to_owned(),
        text: "why?".to_owned(),
        state,
    };
    let comments = vec![
        comment(CommentSide::After, CommentState::Open),
        comment(CommentSide::Before, CommentState::Sent),
        comment(CommentSide::After, CommentState::Resolved),
    ];
    let viewed = [("src/a.rs".to_owned(), "0123".to_owned())].into();
    let viewing = |content: Option<&str>| ViewedParams {
        path: "src/a.rs".to_owned(),
        content: content.map(str::to_owned),
    };
    let text = [
        lines(&[Review { comments, viewed }, Review::default()]),
        lines(&[viewing(Some("0123")), viewing(None)]),
    ];
    expect_file!["golden/review.jsonl"].assert_eq(&text.concat());
}
