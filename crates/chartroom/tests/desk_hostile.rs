//! A repository that names commands wherever git takes one, and is not trusted: nothing that the desk does (records, changes,
//! files, keep or undo, worktrees, tries, terminals) runs any of them. That each command is alive is shown by plain git.

#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "the user's git is started as a shell would")]

#[path = "common/program.rs"]
mod program;
#[path = "common/records.rs"]
mod records;

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use records::Story;
use serde_json::json;

/// Hooks that any of the acts below could run.
const HOOKS: [&str; 9] = [
    "post-index-change",
    "reference-transaction",
    "post-checkout",
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-push",
    "post-merge",
];

struct Hostile {
    story: Story,
}

impl Hostile {
    fn new() -> Self {
        let story = Story::repository();
        let hostile = Self { story };
        let story = &hostile.story;
        std::fs::create_dir(hostile.markers_dir()).unwrap();
        story.git(&["branch", "other"]);
        for hook in HOOKS {
            hostile.program(&format!(".git/evil/{hook}"), hook);
        }
        let configured = [
            ("filter.evil.clean", "filter-clean"),
            ("filter.evil.smudge", "filter-smudge"),
            ("diff.evil.textconv", "textconv"),
            ("diff.command.command", "diff-command"),
            ("merge.evil.driver", "merge-driver"),
            ("core.fsmonitor", "fsmonitor"),
            ("core.editor", "editor"),
            ("core.pager", "pager"),
            ("core.askPass", "askpass"),
            ("core.sshCommand", "ssh"),
            ("credential.helper", "credential"),
            ("gpg.program", "gpg"),
            ("diff.external", "external-diff"),
            ("submodule.library.update", "submodule-update"),
        ];
        for (key, vector) in configured {
            let path = hostile.program(&format!(".git/evil-{vector}"), vector);
            let value = match key {
                "submodule.library.update" => format!("!{path}"),
                "credential.helper" => format!("!{path}"),
                _ => path,
            };
            story.git(&["config", key, &value]);
        }
        for (key, value) in [
            ("core.hooksPath", ".git/evil"),
            ("commit.gpgSign", "true"),
            ("submodule.recurse", "true"),
            ("submodule.library.url", "ssh://git@localhost/library"),
            ("submodule.library.active", "true"),
            ("remote.origin.url", "ssh://git@localhost/shop"),
            ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
            ("remote.origin.promisor", "true"),
            ("branch.main.remote", "origin"),
            ("branch.main.merge", "refs/heads/main"),
            ("user.name", "U"),
            ("user.email", "u@example.org"),
        ] {
            story.git(&["config", key, value]);
        }
        story.write(".gitattributes", "*.txt filter=evil diff=evil merge=evil\n*.md diff=command\n");
        story.write(
            ".gitmodules",
            "[submodule \"library\"]\n\tpath = library\n\turl = ssh://git@localhost/library\n",
        );
        story.write("notes.md", "notes\n");
        story.write("a.txt", "changed\n");
        hostile.clear();
        hostile
    }

    fn markers_dir(&self) -> std::path::PathBuf {
        self.story.home.path().join("markers")
    }

    /// A program that leaves a marker. A filter passes on what it is given; others would wait for git, which waits for them.
    fn program(&self, name: &str, vector: &str) -> String {
        let marker = self.markers_dir().join(vector);
        let answer = match vector {
            _ if vector.starts_with("filter-") => "cat",
            _ if HOOKS.contains(&vector) => "exit 0",
            _ => "exit 1",
        };
        self.story.write(name, format!("#!/bin/sh\n: > '{}'\n{answer}\n", marker.display()));
        let path = self.story.path(name);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn markers(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(self.markers_dir()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn clear(&self) {
        for marker in self.markers() {
            std::fs::remove_file(self.markers_dir().join(marker)).unwrap();
        }
    }

    /// As a careless program would, whatever comes of it.
    fn plain_git(&self, args: &[&str]) {
        let mut command = Command::new("git");
        command.args(args).current_dir(&self.story.project).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("HOME", self.story.home.path()).stdin(std::process::Stdio::null());
        command.output().unwrap();
    }
}

#[test]
fn the_commands_are_alive_where_plain_git_is_used() {
    let hostile = Hostile::new();
    for args in [
        &["status"][..],
        &["diff"],
        &["diff", "--no-ext-diff"],
        &["add", "-A"],
        &["commit", "-m", "more"],
        &["-c", "commit.gpgSign=false", "commit", "-m", "more"],
        &["-c", "commit.gpgSign=false", "commit", "--amend"],
        &["checkout", "--force", "other"],
        &["push"],
        &["fetch"],
    ] {
        hostile.plain_git(args);
    }
    let markers = hostile.markers();
    for vector in [
        "filter-clean",
        "filter-smudge",
        "textconv",
        "fsmonitor",
        "ssh",
        "gpg",
        "editor",
        "external-diff",
        "post-index-change",
        "reference-transaction",
        "post-checkout",
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
    ] {
        assert!(markers.contains(vector), "{vector} is not among {markers:?}");
    }
}

#[test]
fn no_command_of_the_desk_runs_anything_of_a_folder_that_is_not_trusted() {
    let hostile = Hostile::new();
    let story = &hostile.story;
    let first = story.make();
    story.write("a.txt", "again\n");
    story.json(0, &["checkpoint", "diff", &first, "--patch"]);
    story.json(0, &["changes", "--patch"]);
    story.json(0, &["changes", "--scope", "other", "--patch"]);
    story.json(0, &["checkpoint", "restore", &first]);
    assert_eq!(story.read("a.txt"), "changed\n");
    let refused = story.run(&["worktree", "add", "--branch", "try"]);
    assert_eq!(refused.0, 3, "{refused:?}");
    story.json(0, &["worktree", "list"]);
    assert_eq!(hostile.markers(), BTreeSet::new());
}

#[test]
fn no_route_of_the_desk_runs_anything_of_a_folder_that_is_not_trusted() {
    let hostile = Hostile::new();
    let story = &hostile.story;
    let folder = story.project.to_str().unwrap();
    let server = story.home.serve(&[folder]);
    let browser = server.let_in();
    let ask = |method: &str, path: &str, body: &serde_json::Value| {
        let mut headers: Vec<(&str, &str)> =
            browser.iter().map(|(name, value)| (*name, value.as_str())).collect();
        headers.push(("content-type", "application/json"));
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let answer = server.request(method, path, &headers, &body);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse::<u16>().unwrap(), body.to_owned())
    };
    let (status, projects) = ask("GET", "/api/project", &json!(null));
    assert_eq!(status, 200, "{projects}");
    let id = projects.split("\"projectId\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let acts = [
        ("GET", "git", json!(null)),
        ("GET", "git/staged?path=a.txt", json!(null)),
        ("POST", "git/stage", json!({})),
        ("POST", "git/unstage", json!({})),
        ("POST", "git/revert", json!({})),
        ("POST", "git/commit", json!({ "message": "m", "all": true })),
        ("POST", "git/switch", json!({ "branch": "other" })),
        ("POST", "git/push", json!({})),
        ("POST", "git/pull-request", json!({ "title": "t" })),
        ("GET", "file/blame?path=a.txt", json!(null)),
        ("POST", "worktree", json!({ "branch": "try" })),
        ("POST", "tries", json!({ "message": "m", "agents": ["claude-code", "codex"] })),
    ];
    for (method, what, body) in acts {
        let (status, said) = ask(method, &format!("/api/project/{id}/{what}"), &body);
        assert!((400..500).contains(&status), "{method} {what}: {status} {said}");
    }
    for what in ["file?path=a.txt", "file/whole?path=a.txt", "worktree"] {
        let (status, said) = ask("GET", &format!("/api/project/{id}/{what}"), &json!(null));
        assert_eq!(status, 200, "{what}: {said}");
    }
    let (status, said) = ask("POST", "/api/terminal", &json!({ "projectId": id, "columns": 80, "rows": 24 }));
    assert!((400..500).contains(&status), "{status} {said}");
    assert_eq!(server.stop().0, 0);
    assert_eq!(hostile.markers(), BTreeSet::new());
}
