//! Several tries of one message: begun, compared, tested, one kept. The server, git and the disk are real; the agents are
//! fakes, and the test is their hands.

#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "the user's git is started as a shell would")]

#[path = "common/fake_server.rs"]
mod fake_server;

use std::path::{Path, PathBuf};
use std::process::Command;

use chartroom::config::Config;
use chartroom_protocol::ids::SessionId;
use chartroom_protocol::turn::TurnStatus;
use fake_server::{FakeServer, PATIENCE};
use serde_json::{Value, json};

fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=U", "-c", "user.email=u@example.org"]).args(args).current_dir(folder);
    let output = command.env_clear().env("PATH", "/usr/bin:/bin").output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

struct Story {
    server: FakeServer,
    project: PathBuf,
    id: String,
}

impl Story {
    async fn new(set: impl FnOnce(&mut Config)) -> Self {
        let server = FakeServer::start_with(set).await;
        let project = PathBuf::from(server.project());
        git(&project, &["init", "-q", "-b", "main"]);
        std::fs::write(project.join("a.txt"), "one\ntwo\nthree\n").unwrap();
        git(&project, &["add", "-A"]);
        git(&project, &["commit", "-q", "-m", "first"]);
        let id = server.project_id().await;
        Self { server, project, id }
    }

    async fn ask(&self, method: &str, rest: &str, body: Value) -> (u16, Value) {
        self.server.ask(method, &format!("/api/project/{}/tries{rest}", self.id), body).await
    }

    /// Runs the program as a person would in the project's folder.
    async fn command(&self, args: &[&str]) -> (i32, Value) {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_chartroom"));
        command.args(args).arg("--json").current_dir(&self.project).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("HOME", self.server.folder.path()).env("CHARTROOM_HOME", self.server.data());
        let output = command.output().await.unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (
            output.status.code().unwrap(),
            serde_json::from_slice(&output.stdout).unwrap_or(Value::String(stderr)),
        )
    }

    async fn until(&self, id: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let wait = async {
            loop {
                let (status, tries) = self.ask("GET", &format!("/{id}"), Value::Null).await;
                assert_eq!(status, 200, "{tries}");
                if holds(&tries) {
                    return tries;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("it comes so far")
    }

    /// Two tries that have begun, claude's first.
    async fn begun(&self) -> Value {
        let start = json!({ "message": "make it quick", "branch": "try/quick",
            "agents": [{ "cliType": "claude-code" }, { "cliType": "codex" }] });
        let (status, begun) = self.ask("POST", "", start).await;
        assert_eq!(status, 201, "{begun}");
        let id = begun["triesId"].as_str().unwrap();
        self.until(id, |tries| states(tries).iter().all(|state| state == "working" || state == "failed"))
            .await
    }

    /// An agent does its work, and its turn ends.
    async fn works(&self, one: &Value, file: &str, text: &str) {
        let session = SessionId::from(one["sessionId"].as_str().unwrap());
        let provider = match one["cliType"].as_str().unwrap() {
            "codex" => &self.server.codex,
            _ => &self.server.claude,
        };
        let agent = provider.agent(&session);
        let turn = agent.next_turn().await;
        agent.start_turn(&turn).await;
        std::fs::write(Path::new(one["path"].as_str().unwrap()).join(file), text).unwrap();
        agent.end_turn(&turn, TurnStatus::Completed).await;
    }
}

fn states(tries: &Value) -> Vec<String> {
    let all = tries["tries"].as_array().unwrap().iter();
    all.map(|one| one["state"].as_str().unwrap().to_owned()).collect()
}

fn id(tries: &Value) -> String {
    tries["triesId"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_tries_are_compared_tested_and_one_is_kept() {
    let story = Story::new(|config| {
        config.worktrees.setup = vec!["git".into(), "rev-parse".into(), "--abbrev-ref".into(), "HEAD".into()];
        config.tries.test = vec!["grep".into(), "quick".into(), "a.txt".into()];
    })
    .await;
    let tries = story.begun().await;
    assert_eq!((&tries["onto"], &tries["test"]), (&json!("main"), &json!(["grep", "quick", "a.txt"])));
    let [one, two] = [&tries["tries"][0], &tries["tries"][1]];
    assert_eq!((&one["branch"], &two["branch"]), (&json!("try/quick-1"), &json!("try/quick-2")));
    assert_eq!(one["preparing"]["output"], "try/quick-1");
    // They are listed below their repository, not as strangers.
    let projects = story.server.app.projects().list().await.unwrap();
    let own = projects.iter().find(|it| it.path == one["path"].as_str().unwrap()).unwrap();
    let worktree = own.worktree.as_ref().unwrap();
    assert_eq!(
        (worktree.branch.as_str(), worktree.repository.as_str()),
        ("try/quick-1", story.server.project().as_str())
    );

    let (status, early) = story
        .ask("POST", &format!("/{}/keep", id(&tries)), json!({ "name": "try-quick-1", "force": true }))
        .await;
    assert_eq!(status, 400, "its agent works: {early}");
    story.works(one, "a.txt", "quick\ntwo\nthree\n").await;
    story.works(two, "b.txt", "slow\n").await;
    let done = story
        .until(&id(&tries), |tries| {
            states(tries) == ["open", "open"]
                && tries["tries"][0]["size"]["files"] == 1
                && tries["tries"][1]["size"]["files"] == 1
        })
        .await;
    assert_eq!(done["tries"][0]["size"], json!({ "files": 1, "added": 1, "removed": 1 }));
    assert_eq!(done["tries"][1]["size"], json!({ "files": 1, "added": 1, "removed": 0 }));

    let test = format!("/{}/test", id(&tries));
    let (status, running) = story.ask("POST", &test, json!({})).await;
    assert_eq!(status, 200, "{running}");
    let tested = story
        .until(&id(&tries), |tries| {
            tries["tries"]
                .as_array()
                .unwrap()
                .iter()
                .all(|one| one["test"]["state"].as_str().is_some_and(|state| state != "running"))
        })
        .await;
    assert_eq!(
        (&tested["tries"][0]["test"]["state"], &tested["tries"][0]["test"]["output"]),
        (&json!("passed"), &json!("quick"))
    );
    assert_eq!(tested["tries"][1]["test"]["state"], "failed");

    // What would be lost is told first, and nothing has changed.
    let keep = format!("/{}/keep", id(&tries));
    let (status, lost) = story.ask("POST", &keep, json!({ "name": "try-quick-1" })).await;
    assert_eq!((status, &lost["done"]), (200, &json!(false)), "{lost}");
    assert_eq!(lost["others"][0]["name"], "try-quick-2");
    assert_eq!(lost["others"][0]["uncommitted"], json!(["b.txt"]));
    assert_eq!(git(&story.project, &["status", "--porcelain"]), "");
    let (_, kept) = story.ask("POST", &keep, json!({ "name": "try-quick-1", "force": true })).await;
    assert_eq!((&kept["done"], &kept["brought"]["brought"]), (&json!(true), &json!(true)), "{kept}");
    assert_eq!(std::fs::read_to_string(story.project.join("a.txt")).unwrap(), "quick\ntwo\nthree\n");
    assert_eq!(git(&story.project, &["status", "--porcelain"]), "M a.txt");
    let other = Path::new(two["path"].as_str().unwrap());
    assert!(!other.exists() && Path::new(one["path"].as_str().unwrap()).exists());
    assert_eq!(git(&story.project, &["branch", "--format=%(refname:short)"]), "main\ntry/quick-1");

    // Its session is archived, below the repository, and its files come back by the records.
    let projects = story.server.app.projects().list().await.unwrap();
    let gone = projects.iter().find(|it| Path::new(&it.path) == other).unwrap();
    assert!(gone.missing && gone.worktree.as_ref().unwrap().removed);
    let list = format!("/api/session/list?projectId={}&all=true", gone.project_id);
    let (_, sessions) = story.server.ask("GET", &list, Value::Null).await;
    assert_eq!(sessions["sessions"][0]["archived"], true, "{sessions}");
    let now = story.until(&id(&tries), |_| true).await;
    assert_eq!((&now["kept"], &now["tries"][1]["state"]), (&json!("try-quick-1"), &json!("removed")));
    assert_eq!(now["tries"][1]["removed"]["undo"], kept["others"][0]["undo"]);
    let add = json!({ "branch": "try/quick-2", "from": kept["others"][0]["commit"] });
    let (status, again) = story.server.ask("POST", &format!("/api/project/{}/worktree", story.id), add).await;
    assert_eq!((status, again["path"].as_str()), (201, two["path"].as_str()), "{again}");
    let session = two["sessionId"].as_str().unwrap();
    let restore = json!({ "checkpoint": kept["others"][0]["undo"], "force": true });
    let (status, restored) =
        story.server.ask("POST", &format!("/api/session/{session}/restore"), restore).await;
    assert_eq!(status, 200, "{restored}");
    assert_eq!(std::fs::read_to_string(other.join("b.txt")).unwrap(), "slow\n");
    story.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_does_not_fit_is_not_kept_and_none_is_lost() {
    let story = Story::new(|_| {}).await;
    let tries = story.begun().await;
    let [one, two] = [&tries["tries"][0], &tries["tries"][1]];
    story.works(one, "a.txt", "theirs\ntwo\nthree\n").await;
    story.works(two, "b.txt", "b\n").await;
    story.until(&id(&tries), |tries| states(tries) == ["open", "open"]).await;
    std::fs::write(story.project.join("a.txt"), "mine\ntwo\nthree\n").unwrap();
    let keep = json!({ "name": "try-quick-1", "force": true });
    let (status, kept) = story.ask("POST", &format!("/{}/keep", id(&tries)), keep).await;
    assert_eq!(
        (status, &kept["done"], &kept["brought"]["conflicts"]),
        (200, &json!(false), &json!(["a.txt"]))
    );
    assert_eq!(std::fs::read_to_string(story.project.join("a.txt")).unwrap(), "mine\ntwo\nthree\n");
    assert!(Path::new(two["path"].as_str().unwrap()).join("b.txt").exists());

    let (status, no_test) = story.ask("POST", &format!("/{}/test", id(&tries)), json!({})).await;
    assert_eq!(status, 400, "{no_test}");
    let route = format!("/{}", id(&tries));
    let (_, kept) = story.ask("DELETE", &route, Value::Null).await;
    assert_eq!((&kept["done"], kept["others"].as_array().unwrap().len()), (&json!(false), 2), "{kept}");
    let (_, dropped) = story.ask("DELETE", &format!("{route}?force=true"), Value::Null).await;
    assert_eq!(dropped["done"], true, "{dropped}");
    assert_eq!(git(&story.project, &["branch", "--format=%(refname:short)"]), "main");
    let (status, _) = story.ask("GET", &route, Value::Null).await;
    assert_eq!(status, 404);
    story.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let story = Story::new(|_| {}).await;
    let agent = |name: &str| json!({ "cliType": name });
    let start = |message: &str, agents: Value| json!({ "message": message, "agents": agents });
    let two = json!([agent("codex"), agent("codex")]);
    for (body, expected) in [
        (start(" ", two.clone()), 400),
        (start("x", json!([agent("codex")])), 400),
        (start("x", json!(vec![agent("codex"); 5])), 400),
        (start("x", json!([agent("codex"), agent("nobody")])), 400),
    ] {
        let (status, refused) = story.ask("POST", "", body.clone()).await;
        assert_eq!(status, expected, "{body}: {refused}");
    }
    // An untrusted folder: nothing of it is run.
    let trust = format!("/api/project/{}/trust", story.id);
    let body = json!({ "realPath": story.server.project(), "trusted": false });
    story.server.ask("POST", &trust, body).await;
    let (status, refused) = story.ask("POST", "", start("x", two)).await;
    assert_eq!((status, &refused["error"]["code"]), (403, &json!("WORKSPACE_UNTRUSTED")), "{refused}");
    let (_, list) = story.ask("GET", "", Value::Null).await;
    assert_eq!(list["tries"], json!([]));
    assert_eq!(git(&story.project, &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    let (status, _) = story.ask("GET", "/..%2f..%2fx", Value::Null).await;
    assert_eq!(status, 404);
    story.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_set_up_that_fails_starts_no_agent_and_is_shown() {
    let story = Story::new(|config| {
        config.worktrees.setup = vec!["git".into(), "no-such-command".into()];
    })
    .await;
    let tries = story.begun().await;
    assert_eq!(states(&tries), ["failed", "failed"]);
    assert!(tries["tries"][0]["note"].as_str().unwrap().contains("set-up"), "{tries}");
    assert!(tries["tries"][0]["preparing"]["output"].as_str().unwrap().contains("no-such-command"));
    let (_, dropped) = story.ask("DELETE", &format!("/{}", id(&tries)), Value::Null).await;
    assert_eq!(dropped["done"], true, "nothing was lost: {dropped}");
    assert_eq!(story.server.app.projects().list().await.unwrap().len(), 1);
    story.server.stop().await;
}

/// A file as a death in the middle leaves it: one worktree is there without a session, the other is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_death_left_half_made_is_shown_and_can_be_removed() {
    let story = Story::new(|_| {}).await;
    let add = json!({ "branch": "try/half-1" });
    let (status, made) = story.server.ask("POST", &format!("/api/project/{}/worktree", story.id), add).await;
    assert_eq!(status, 201, "{made}");
    let folder = Path::new(made["path"].as_str().unwrap()).parent().unwrap();
    let record = folder.join(".records/try-half-1.json");
    let mut written: Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    written["madeFor"] = json!("00ff");
    std::fs::write(&record, written.to_string()).unwrap();
    // A worktree of the other one's name that is somebody else's stays.
    let add = json!({ "branch": "try/half-2" });
    let (status, made) = story.server.ask("POST", &format!("/api/project/{}/worktree", story.id), add).await;
    assert_eq!(status, 201, "{made}");
    let one = |n: u32| {
        json!({ "name": format!("try-half-{n}"), "branch": format!("try/half-{n}"), "cliType": "codex",
        "state": "making", "durationMs": 0 })
    };
    let file = json!({ "triesId": "00ff", "projectId": story.id, "message": "m", "createdAt": "2026-11-17T10:00:00Z",
        "test": [], "tries": [one(1), one(2)] });
    std::fs::create_dir_all(story.server.data().join("tries")).unwrap();
    std::fs::write(story.server.data().join("tries/00ff.json"), file.to_string()).unwrap();
    let (_, list) = story.ask("GET", "", Value::Null).await;
    assert_eq!(states(&list["tries"][0]), ["failed", "failed"], "{list}");
    assert!(list["tries"][0]["tries"][0]["note"].as_str().unwrap().contains("ended before"));
    let (_, dropped) = story.ask("DELETE", "/00ff", Value::Null).await;
    assert_eq!((&dropped["done"], &dropped["others"][0]["name"]), (&json!(true), &json!("try-half-1")));
    assert_eq!(dropped["others"].as_array().unwrap().len(), 1);
    assert_eq!(git(&story.project, &["branch", "--format=%(refname:short)"]), "main\ntry/half-2");
    story.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tries_command_starts_lists_tests_keeps_and_drops() {
    let story = Story::new(|config| {
        config.tries.test = vec!["grep".into(), "quick".into(), "a.txt".into()];
    })
    .await;
    let (code, refused) = story.command(&["tries", "list"]).await;
    assert_eq!(code, 3, "no server is known there yet: {refused}");
    let data = story.server.app.data();
    data.write_private("token", fake_server::TOKEN).unwrap();
    let mut lock = data.lock_server().unwrap();
    lock.announce(&format!("http://{}", story.server.address)).unwrap();

    let start = [
        "tries",
        "start",
        "make it quick",
        "--agent",
        "claude-code",
        "--agent",
        "codex",
        "--branch",
        "try/quick",
    ];
    let (code, tries) = story.command(&start).await;
    assert_eq!((code, states(&tries)), (0, vec!["working".to_owned(), "working".to_owned()]), "{tries}");
    let (code, again) = story.command(&start).await;
    assert_eq!(
        (code, states(&again)),
        (1, vec!["failed".to_owned(), "failed".to_owned()]),
        "the branches are there: {again}"
    );
    // Those of the first are not theirs to remove.
    let (code, dropped) = story.command(&["tries", "drop", &id(&again)]).await;
    assert_eq!((code, &dropped["others"]), (0, &json!([])), "{dropped}");
    let (one, two) = (&tries["tries"][0], &tries["tries"][1]);
    assert!(Path::new(one["path"].as_str().unwrap()).exists());

    story.works(one, "a.txt", "quick\n").await;
    story.works(two, "b.txt", "slow\n").await;
    story.until(&id(&tries), |tries| states(tries) == ["open", "open"]).await;
    let (code, list) = story.command(&["tries", "list"]).await;
    assert_eq!((code, &list["tries"][0]["triesId"]), (0, &tries["triesId"]), "{list}");
    let (code, tested) = story.command(&["tries", "test", &id(&tries), "--only", "try-quick-1"]).await;
    assert_eq!((code, &tested["tries"][0]["test"]["state"]), (0, &json!("passed")), "{tested}");
    let (code, tested) = story.command(&["tries", "test", &id(&tries)]).await;
    assert_eq!((code, &tested["tries"][1]["test"]["state"]), (1, &json!("failed")), "{tested}");

    let keep = ["tries", "keep", &id(&tries), "try-quick-1"];
    let (code, kept) = story.command(&keep).await;
    assert_eq!((code, &kept["done"]), (1, &json!(false)), "work would be lost: {kept}");
    let (code, kept) = story.command(&[&keep[..], &["--force"]].concat()).await;
    assert_eq!((code, &kept["done"]), (0, &json!(true)), "{kept}");
    assert_eq!(std::fs::read_to_string(story.project.join("a.txt")).unwrap(), "quick\n");
    let (code, _) = story.command(&["tries", "drop", &id(&tries)]).await;
    assert_eq!(code, 0);
    assert!(
        Path::new(one["path"].as_str().unwrap()).exists(),
        "the kept one's worktree is a worktree like others"
    );
    let (code, usage) = story.command(&["tries", "drop", "../x"]).await;
    assert_eq!(code, 2, "{usage}");
    story.server.stop().await;
}
