//! Sandboxes where folders lie inside each other: whatever is hidden below a folder that a child writes to, the child
//! has somewhere to put its temporary files and its caches, and no more of the home than elsewhere.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chartroom_transport::{Keeper, SandboxSupport, SandboxTool};
use chartroom_workspace::gate::{SandboxMode, SandboxRules, SandboxSettings, sweep};
use chartroom_workspace::{CanonicalRoot, ChildKind, SpawnGate, SpawnRequest, TrustStore};
use tokio::io::AsyncReadExt;

/// Generous, for a loaded machine: only a failing test waits this long.
const LIMIT: Duration = Duration::from_secs(60);

/// Where everything lies, below one folder.
struct Shape {
    home: &'static str,
    data: &'static str,
    root: &'static str,
    /// Set to folders below that one folder; several with a colon between them.
    variables: &'static [(&'static str, &'static str)],
}

const USUAL: Shape =
    Shape { home: "home", data: "home/.local/share/chartroom", root: "home/p", variables: &[] };

struct Fixture {
    folder: tempfile::TempDir,
    root: CanonicalRoot,
    data: PathBuf,
    gate: SpawnGate,
}

impl Fixture {
    fn new(shape: &Shape, tool: SandboxTool) -> Self {
        let support = SandboxSupport::of_this_system();
        assert_eq!(support.landlock_refusal(), None, "these tests need landlock");
        // Below /tmp on purpose, as a user's data folder or home may be.
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let top = folder.path().canonicalize().unwrap();
        let (home, data, root) = (top.join(shape.home), top.join(shape.data), top.join(shape.root));
        for path in [&home.join(".ssh"), &data, &root, &top.join("tmp")] {
            fs::create_dir_all(path).unwrap();
        }
        fs::write(home.join(".ssh/id_x"), "PRIVATE").unwrap();
        fs::write(home.join(".profile"), "old").unwrap();
        fs::write(data.join("token"), "TOKEN").unwrap();
        let root = CanonicalRoot::open(root).unwrap();
        let trust = Arc::new(TrustStore::open(&data).unwrap());
        trust.trust(&root).unwrap();
        let mut env: BTreeMap<OsString, OsString> = [
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("HOME".into(), home.into()),
            ("DATA".into(), data.clone().into()),
        ]
        .into();
        env.extend(shape.variables.iter().map(|(name, folders)| {
            let folders = folders.split(':').map(|folder| top.join(folder));
            (OsString::from(*name), std::env::join_paths(folders).unwrap())
        }));
        let rules = SandboxRules {
            agents: SandboxMode::Workspace,
            language_servers: Some(SandboxMode::Workspace),
            tool: Some(tool),
            ..SandboxRules::default()
        };
        let keeper = Keeper { program: chartroom_testkit::fakes::keeper(), args: vec!["keeper".into()] };
        let gate = SpawnGate::with_environment(keeper, trust, &data, env).with_sandbox(SandboxSettings {
            rules,
            support,
            ..SandboxSettings::default()
        });
        Fixture { folder, root, data, gate }
    }

    fn request(&self, kind: ChildKind, label: &str, script: &str) -> SpawnRequest {
        let mut request = SpawnRequest::new(&self.root, kind, "/bin/bash");
        request.label = label.to_owned();
        request.args = vec!["-c".into(), format!("exec 2>/dev/null; {script}").into()];
        request
    }

    async fn run(&self, kind: ChildKind, label: &str, script: &str) -> String {
        let mut child = self.gate.spawn(self.request(kind, label, script)).unwrap();
        let mut out = String::new();
        child.stdout.take().unwrap().read_to_string(&mut out).await.unwrap();
        let exit = child.wait().await;
        assert!(exit.is_success(), "{exit} {out} {}", child.stderr_tail());
        out
    }

    fn top(&self) -> &Path {
        self.folder.path()
    }
}

/// What a language server does, and what a repository would like it to do.
const ATTEMPTS: &str = "(echo x > made) && echo project; (f=$(mktemp) && echo x > $f && rm $f) && echo temp; \
    (mkdir -p ~/.cache/new && echo x > ~/.cache/new/x) && echo cache; grep -q PRIVATE ~/.ssh/id_x && echo key; \
    grep -q TOKEN $DATA/token && echo token; (echo x > ~/.profile) && echo profile; true";

async fn check(shape: &Shape, expected: &str) {
    for tool in [SandboxTool::Landlock, SandboxTool::Bubblewrap] {
        for kind in [ChildKind::LanguageServer, ChildKind::Agent] {
            let fixture = Fixture::new(shape, tool);
            // A language server has no variable of ours; the script needs this one.
            let script = format!("DATA={}; {ATTEMPTS}", fixture.data.display());
            let out = fixture.run(kind, "gopls", &script).await;
            let came_off = out.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(came_off, expected, "{tool:?} {kind:?} {}", shape.data);
        }
    }
}

#[tokio::test]
async fn a_home_below_the_temporary_folder_is_a_home_and_there_are_temporary_files() {
    check(&USUAL, "project temp cache").await;
}

#[tokio::test]
async fn a_data_folder_below_the_temporary_folder_leaves_temporary_files() {
    check(&Shape { data: "tmp/data", variables: &[("TMPDIR", "tmp")], ..USUAL }, "project temp cache").await;
    check(&Shape { data: "tmp/a/b/data", variables: &[("TMPDIR", "tmp")], ..USUAL }, "project temp cache")
        .await;
    // The one that everybody shares.
    check(&Shape { data: "elsewhere/data", ..USUAL }, "project temp cache").await;
}

#[tokio::test]
async fn a_temporary_folder_inside_the_data_folder_or_the_project_is_one() {
    let inside = Shape { variables: &[("TMPDIR", "home/.local/share/chartroom/scratch")], ..USUAL };
    let fixture = Fixture::new(&inside, SandboxTool::Landlock);
    fs::create_dir(fixture.data.join("scratch")).unwrap();
    assert!(fixture.run(ChildKind::LanguageServer, "gopls", ATTEMPTS).await.contains("temp"));
    check(&Shape { variables: &[("TMPDIR", "home/p")], ..USUAL }, "project temp cache").await;
}

#[tokio::test]
async fn a_data_folder_inside_the_cache_leaves_a_server_its_own_caches() {
    let script = "for part in go-build gopls; do (echo x > ~/.cache/$part/x) && echo $part; done; \
                  grep -q TOKEN ~/.cache/chartroom/token && echo token; mktemp >/dev/null && echo temp; true";
    for tool in [SandboxTool::Landlock, SandboxTool::Bubblewrap] {
        let fixture = Fixture::new(&Shape { data: "home/.cache/chartroom", ..USUAL }, tool);
        let out = fixture.run(ChildKind::LanguageServer, "gopls", script).await;
        assert_eq!(out.split_whitespace().collect::<Vec<_>>(), ["go-build", "gopls", "temp"], "{tool:?}");
    }
}

#[tokio::test]
async fn caches_that_variables_name_are_writable_although_they_are_not_there_yet() {
    let variables = &[
        ("GOCACHE", "caches/go-build"),
        ("GOMODCACHE", "caches/mod"),
        ("GOPATH", "go:second"),
        ("CARGO_HOME", "cargo"),
        ("CARGO_TARGET_DIR", "caches/target"),
        ("XDG_CACHE_HOME", "caches/xdg"),
    ];
    let shape = Shape { variables, ..USUAL };
    let script = "for part in caches/go-build caches/mod caches/target caches/xdg $PLACES; do \
                  (echo x > TOP/$part/x) && echo $part; done; true";
    for (label, places) in [("gopls", "go/pkg"), ("rust-analyzer", "cargo/registry cargo/git")] {
        let fixture = Fixture::new(&shape, SandboxTool::Landlock);
        let script = script.replace("TOP", fixture.top().to_str().unwrap()).replace("$PLACES", places);
        let out = fixture.run(ChildKind::LanguageServer, label, &script).await;
        let expected = format!("caches/go-build caches/mod caches/target caches/xdg {places}");
        assert_eq!(out.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{label}");
    }
    // An agent has those of npm and others too, of which no language server hears.
    let shape =
        Shape { variables: &[("npm_config_cache", "caches/npm"), ("UV_CACHE_DIR", "caches/uv")], ..USUAL };
    let fixture = Fixture::new(&shape, SandboxTool::Landlock);
    let script = "(echo x > $npm_config_cache/x) && (echo x > $UV_CACHE_DIR/x) && echo both; true";
    assert_eq!(fixture.run(ChildKind::Agent, "claude", script).await, "both\n");
}

#[tokio::test]
async fn secrets_that_variables_name_are_hidden_but_for_those_of_the_project() {
    let variables = &[
        ("XDG_CONFIG_HOME", "config"),
        ("CARGO_HOME", "cargo"),
        ("KUBECONFIG", "kube/one:kube/two:home/p/kube"),
        ("AWS_SHARED_CREDENTIALS_FILE", "tmp/aws"),
        ("TMPDIR", "tmp"),
    ];
    let secrets = ["config/gh/hosts.yml", "cargo/credentials.toml", "kube/one", "kube/two", "tmp/aws"];
    let script = "for part in PARTS home/p/kube; do grep -q WORD TOP/$part && echo $part; done; \
                  mktemp >/dev/null && echo temp; (echo x > made) && echo project; true";
    for (tool, kind) in
        [(SandboxTool::Landlock, ChildKind::Agent), (SandboxTool::Bubblewrap, ChildKind::LanguageServer)]
    {
        let fixture = Fixture::new(&Shape { variables, ..USUAL }, tool);
        for part in secrets.iter().chain(&["home/p/kube"]) {
            fs::create_dir_all(fixture.top().join(part).parent().unwrap()).unwrap();
            fs::write(fixture.top().join(part), "WORD").unwrap();
        }
        let script = script.replace("PARTS", &secrets.join(" "));
        let script = script.replace("TOP", fixture.top().to_str().unwrap());
        let out = fixture.run(kind, "gopls", &script).await;
        assert_eq!(
            out.split_whitespace().collect::<Vec<_>>(),
            ["home/p/kube", "temp", "project"],
            "{tool:?}"
        );
    }
}

#[tokio::test]
async fn a_child_s_own_temporary_folder_goes_with_it_and_after_a_kill_with_the_sweep() {
    let shape = Shape { data: "tmp/data", variables: &[("TMPDIR", "tmp")], ..USUAL };
    let fixture = Fixture::new(&shape, SandboxTool::Landlock);
    let names = || {
        let entries = fs::read_dir(fixture.top().join("tmp")).unwrap().flatten();
        let mut names: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        names.retain(|path| !path.ends_with("data"));
        names
    };
    let gone = async || {
        while !names().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let request = || {
        fixture.request(
            ChildKind::LanguageServer,
            "gopls",
            "mktemp; mkdir -p $TMPDIR/a/b; echo ready; sleep 1000",
        )
    };
    let mut child = fixture.gate.spawn(request()).unwrap();
    let mut first = [0; 1];
    child.stdout.take().unwrap().read_exact(&mut first).await.unwrap();
    let [own] = <[PathBuf; 1]>::try_from(names()).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&own.metadata().unwrap()) & 0o777, 0o700);
    child.end(Duration::ZERO).await;
    tokio::time::timeout(LIMIT, gone()).await.expect("the folder is removed");
    // What a killed server could not remove is in its record, whose owner is dead.
    let left = fixture.top().join("tmp/chartroom-left");
    let strange = fixture.top().join("tmp/mine");
    for folder in [&left, &strange] {
        fs::create_dir_all(folder.join("below")).unwrap();
    }
    fs::create_dir_all(fixture.data.join("run")).unwrap();
    for (name, folder) in [("1", &left), ("2", &strange)] {
        let nobody = serde_json::json!({"pid": 1, "startTime": u64::MAX});
        let record =
            serde_json::json!({"label": "gopls", "keeper": nobody, "owner": nobody, "temporary": folder});
        fs::write(fixture.data.join("run").join(format!("{name}.json")), record.to_string()).unwrap();
    }
    assert_eq!(sweep(&fixture.data).stale, 2);
    // A record cannot have anything else removed.
    assert_eq!(names(), [strange]);
}
