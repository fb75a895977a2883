//! `chartroom worktree` and a session that works in a worktree of its own: the program, the server, git and the disk are
//! real; the agent is a fake.

#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "the user's git is started as a shell would")]

#[path = "common/fake_server.rs"]
mod fake_server;
#[path = "common/program.rs"]
mod program;

use std::path::{Path, PathBuf};
use std::process::Command;

use fake_server::FakeServer;
use program::{Home, finish};
use serde_json::{Value, json};

fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=U", "-c", "user.email=u@example.org"])
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    let (code, stdout, stderr) = finish(output);
    assert_eq!(code, 0, "git {args:?}: {stdout}{stderr}");
    stdout.trim().to_owned()
}

/// Makes a folder a repository with one commit of `a.txt`.
fn repository(folder: &Path) {
    git(folder, &["init", "-q", "-b", "main"]);
    git(folder, &["config", "user.name", "U"]);
    git(folder, &["config", "user.email", "u@example.org"]);
    std::fs::write(folder.join("a.txt"), "one\n").unwrap();
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "first"]);
}

struct Story {
    home: Home,
    project: PathBuf,
}

impl Story {
    fn new() -> Self {
        let home = Home::new();
        let project = home.path().join("shop");
        std::fs::create_dir(&project).unwrap();
        repository(&project);
        Self { home, project }
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let config = self.home.path().join("config.toml");
        let mut command = self.home.command(args);
        finish(command.current_dir(&self.project).env("CHARTROOM_CONFIG", config).output().unwrap())
    }

    #[track_caller]
    fn json(&self, expected: i32, args: &[&str]) -> Value {
        let mut args = args.to_vec();
        args.push("--json");
        let (code, stdout, stderr) = self.run(&args);
        assert_eq!((code, stderr.as_str()), (expected, ""), "{args:?}: {stdout}");
        serde_json::from_str(&stdout).unwrap()
    }
}

#[test]
fn the_worktree_command_makes_lists_brings_and_removes() {
    let story = Story::new();
    let config = "[worktrees]\ncopy = [\".env\"]\nsetup = [\"cat\", \".env\"]\n";
    let file = story.home.write("config.toml", config);
    std::fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::write(story.project.join(".env"), "KEY=1\n").unwrap();

    let (code, stdout, stderr) = story.run(&["worktree", "add", "--branch", "work"]);
    assert_eq!((code, stdout.as_str()), (3, ""), "an untrusted folder");
    assert!(stderr.contains("chartroom trust"), "{stderr}");
    story.run(&["trust", "--yes", "."]);
    let added = story.json(0, &["worktree", "add", "--branch", "work"]);
    let path = PathBuf::from(added["path"].as_str().unwrap());
    assert!(path.starts_with(story.home.data().join("worktrees")), "{added}");
    assert_eq!(added["copied"], json!([".env"]));
    assert_eq!(added["setup"], json!({ "command": ["cat", ".env"], "ok": true, "output": "KEY=1" }));
    assert_eq!((&added["name"], &added["branch"]), (&json!("work"), &json!("work")));
    let listed = story.json(0, &["worktree", "list"]);
    assert_eq!(listed["worktrees"][0]["path"], added["path"]);

    // It is a folder like others, for an agent too that runs in it.
    let inside = finish(story.home.command(&["worktree", "list"]).current_dir(&path).output().unwrap());
    assert!(inside.1.starts_with("work  work  "), "{inside:?}");
    let agent = story
        .home
        .command(&["worktree", "add", "--branch", "more"])
        .current_dir(&path)
        .env("CHARTROOM_AGENT", "1")
        .output();
    assert_eq!(finish(agent.unwrap()).0, 3, "an agent makes none");

    std::fs::write(path.join("b.txt"), "b\n").unwrap();
    let kept = story.json(1, &["worktree", "remove", "work"]);
    assert_eq!((&kept["removed"], &kept["uncommitted"]), (&json!(false), &json!(["b.txt"])));
    assert!(path.join("b.txt").exists());
    git(&path, &["add", "b.txt"]);
    git(&path, &["commit", "-q", "-m", "work"]);
    let brought = story.json(0, &["worktree", "bring", "work", "--onto", "main", "--how", "squash"]);
    assert_eq!(brought["commit"], git(&story.project, &["rev-parse", "main"]).as_str());
    assert_eq!(std::fs::read_to_string(story.project.join("b.txt")).unwrap(), "b\n");
    // Its files can be taken back.
    let undo = brought["undo"].as_str().unwrap();
    story.json(0, &["checkpoint", "restore", undo, "--force"]);
    assert!(!story.project.join("b.txt").exists());
    story.json(0, &["worktree", "remove", "work"]);
    assert!(!path.exists());
    let (code, _, stderr) = story.run(&["worktree", "remove", "work"]);
    assert_eq!(code, 3, "{stderr}");

    // A set-up that fails is shown, and the worktree is there.
    std::fs::remove_file(story.project.join(".env")).unwrap();
    let added = story.json(1, &["worktree", "add", "--branch", "other", "--from", "main"]);
    assert_eq!(added["setup"]["ok"], false, "{added}");
    assert!(Path::new(added["path"].as_str().unwrap()).is_dir());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_works_in_a_worktree_of_its_own() {
    let server = FakeServer::start().await;
    let project = PathBuf::from(server.project());
    repository(&project);
    let create = |branch: &str| json!({ "cliType": "claude-code", "projectDir": server.project(), "worktree": { "branch": branch } });
    let (status, refused) = server.ask("POST", "/api/session/create", create("main")).await;
    assert_eq!((status, &refused["error"]["code"]), (400, &json!("INVALID_REQUEST")), "{refused}");
    let (status, made) = server.ask("POST", "/api/session/create", create("try/one")).await;
    assert_eq!(status, 201, "{made}");

    let id = server.project_id().await;
    let projects = server.app.projects().list().await.unwrap();
    let own = projects.iter().find(|it| it.path.contains("/worktrees/")).unwrap();
    assert!(own.trusted, "{own:?}");
    let id =
        projects.iter().find(|it| it.path == server.project()).map_or(id, |it| it.project_id.to_string());
    let (_, sessions) =
        server.ask("GET", &format!("/api/session/list?projectId={}", own.project_id), Value::Null).await;
    assert_eq!(sessions["sessions"][0]["sessionId"], made["sessionId"]);
    let (_, listed) = server.ask("GET", &format!("/api/project/{id}/worktree"), Value::Null).await;
    assert_eq!(listed["worktrees"][0]["branch"], "try/one");
    assert_eq!(listed["worktrees"][0]["path"], own.path.as_str());

    std::fs::write(Path::new(&own.path).join("new.txt"), "new\n").unwrap();
    let route = format!("/api/project/{id}/worktree/try-one");
    let (status, kept) = server.ask("DELETE", &route, Value::Null).await;
    assert_eq!((status, &kept["removed"], &kept["uncommitted"]), (200, &json!(false), &json!(["new.txt"])));
    let bring = json!({ "onto": "main", "how": "apply" });
    let (status, brought) = server.ask("POST", &format!("{route}/bring"), bring).await;
    assert_eq!((status, &brought["brought"]), (200, &json!(true)), "{brought}");
    assert_eq!(std::fs::read_to_string(project.join("new.txt")).unwrap(), "new\n");
    let (status, removed) = server.ask("DELETE", &route, Value::Null).await;
    assert_eq!((status, &removed["removed"]), (200, &json!(true)), "{removed}");
    // What was said there stays with the repository, out of the way.
    let projects = server.app.projects().list().await.unwrap();
    let gone = projects.iter().find(|it| it.path == own.path).unwrap();
    assert!(gone.missing && gone.worktree.as_ref().is_some_and(|worktree| worktree.removed), "{gone:?}");
    let all = format!("/api/session/list?projectId={}&all=true", own.project_id);
    let (_, sessions) = server.ask("GET", &all, Value::Null).await;
    assert_eq!(sessions["sessions"][0]["archived"], true, "{sessions}");
    let (status, _) = server.ask("DELETE", &route, Value::Null).await;
    assert_eq!(status, 404);
    server.stop().await;
}
