//! The hostile repository: nothing of it runs while it is untrusted, and everything is alive once it is.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chartroom_testkit::hostile::{self, Hostile, PLANTED_IN_NODE_MODULES, PLANTED_IN_ROOT, PLANTED_IN_VENV};
use chartroom_testkit::hostile_files;
use chartroom_transport::{Exit, Keeper};
use chartroom_workspace::git::GitError;
use chartroom_workspace::walk::{WalkEvent, WalkOptions};
use chartroom_workspace::{
    CanonicalRoot, ChildKind, GateError, ProgramQuery, SpawnGate, SpawnRequest, TrustStore, boundary, git,
    roots, walk,
};

const LIMIT: Duration = Duration::from_secs(60);

struct Fixture {
    hostile: Hostile,
    root: CanonicalRoot,
    gate: SpawnGate,
    _data: tempfile::TempDir,
}

fn fixture() -> Fixture {
    let hostile = Hostile::new();
    let data = tempfile::tempdir().unwrap();
    let trust = Arc::new(TrustStore::open(data.path()).unwrap());
    let keeper = Keeper { program: chartroom_testkit::fakes::keeper(), args: vec!["keeper".into()] };
    let env = [
        ("PATH".into(), hostile.careless_path().into()),
        ("HOME".into(), data.path().as_os_str().to_owned()),
    ];
    let gate = SpawnGate::with_environment(keeper, trust, data.path(), env.into());
    let root = CanonicalRoot::open(hostile.root()).unwrap();
    Fixture { hostile, root, gate, _data: data }
}

impl Fixture {
    async fn run(&self, request: SpawnRequest) -> Result<Exit, GateError> {
        let child = self.gate.spawn(request)?;
        Ok(tokio::time::timeout(LIMIT, child.wait()).await.expect("the child ends in time"))
    }

    fn trust(&self) {
        self.gate.trust().trust(&self.root).unwrap();
    }

    fn planted(&self) -> Vec<PathBuf> {
        let root = self.root.as_path();
        let node_modules =
            PLANTED_IN_NODE_MODULES.iter().map(|name| root.join("node_modules/.bin").join(name));
        let venv = PLANTED_IN_VENV.iter().map(|name| root.join(".venv/bin").join(name));
        let in_root = PLANTED_IN_ROOT.iter().map(|name| root.join(name));
        let linked =
            [self.hostile.outside().join("linked-tool"), self.hostile.outside().join("linked-planted")];
        node_modules.chain(venv).chain(in_root).chain(linked).collect()
    }
}

fn names() -> Vec<&'static str> {
    [PLANTED_IN_ROOT, PLANTED_IN_NODE_MODULES, PLANTED_IN_VENV, &["linked-tool", "linked-planted"]].concat()
}

fn is_untrusted<T>(result: &Result<T, GateError>) -> bool {
    matches!(result, Err(GateError::Untrusted { .. }))
}

#[tokio::test]
async fn an_untrusted_repository_runs_nothing_of_its_own() {
    let fixture = fixture();
    let Fixture { root, gate, hostile, .. } = &fixture;

    // No name resolves to a program of the repository, wherever PATH points.
    for name in names() {
        for query in [ProgramQuery::on_path(name), ProgramQuery::of_project(name)] {
            if let Ok(found) = gate.resolve_program(root, &query) {
                let real = found.path.canonicalize().unwrap();
                assert!(!boundary::is_inside(root, &real), "{name} means {}", real.display());
            }
        }
    }
    // Nor when the config names it, and no planted program can be started as anything.
    for program in fixture.planted() {
        let query = ProgramQuery::default().configured(Some(program.clone()));
        assert!(is_untrusted(&gate.resolve_program(root, &query)), "{}", program.display());
        for kind in [ChildKind::Agent, ChildKind::LanguageServer, ChildKind::Service, ChildKind::Git] {
            for cwd in [root.as_path(), Path::new("/")] {
                let request = SpawnRequest { cwd: cwd.into(), ..SpawnRequest::new(root, kind, &program) };
                assert!(is_untrusted(&gate.spawn(request)), "{} as {kind:?}", program.display());
            }
        }
    }
    // A good program is not started in the repository, or pointed at it.
    let shell = |cwd: &Path, args: &[&str]| SpawnRequest {
        cwd: cwd.into(),
        args: args.iter().map(Into::into).collect(),
        ..SpawnRequest::new(root, ChildKind::Service, "/bin/sh")
    };
    let planted = root.as_path().join("planted-tool").display().to_string();
    for (cwd, args) in [
        (root.as_path(), vec![]),
        (&root.as_path().join("crate"), vec![]),
        (&root.as_path().join("link-to-itself"), vec![]),
        (Path::new("/"), vec![planted.clone()]),
        (Path::new("/"), vec![format!("--config={planted}")]),
        (Path::new("/"), vec!["-c".to_owned(), format!("cd / && {planted}")]),
        (&hostile.outside(), vec!["../repository/planted-tool".to_owned()]),
        (&hostile.outside(), vec!["--init=../repository/planted-tool".to_owned()]),
        (&hostile.outside(), vec!["linked-tool".to_owned()]),
    ] {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        assert!(is_untrusted(&gate.spawn(shell(cwd, &args))), "{} {args:?}", cwd.display());
    }
    // It is started elsewhere, and finds nothing of the repository on its PATH.
    let request = shell(Path::new("/"), &["-c", "planted-tool || eslint || ty || exit 9"]);
    assert_eq!(fixture.run(request).await.unwrap(), Exit::Code(9));

    // git is not started at all.
    assert!(matches!(git::changed_files(gate, root).await, Err(GitError::Gate(GateError::Untrusted { .. }))));
    let forged = CanonicalRoot::open(root.as_path().join("forged")).unwrap();
    assert!(matches!(
        git::changed_files(gate, &forged).await,
        Err(GitError::Gate(GateError::Untrusted { .. }))
    ));
    assert!(git::is_repository(root));

    // Reading works: every file is walked and read, links lead nowhere.
    let options = WalkOptions { default_ignores: false, ..WalkOptions::default() };
    let odd = hostile.plant_odd_ignore_files();
    let mut left_out = BTreeSet::new();
    let mut n_read = 0;
    for event in walk::files(root, &options) {
        if let WalkEvent::File(file) = &event {
            file.inside(root).open().unwrap();
            roots::nearest_marker(root, &file.path, &["Cargo.toml", "package.json", "*.toml"]);
            n_read += 1;
        } else if let WalkEvent::IgnoreFileLeftOut { relative, .. } = event {
            left_out.insert(relative);
        }
    }
    assert_eq!(left_out, odd.into_iter().map(str::to_owned).collect());
    assert!(n_read > 50, "{n_read} files");
    for link in [
        "link-to-outside/secret.txt",
        "link-to-secret.txt",
        "link-to-nothing.txt",
        "link-to-everything/etc/passwd",
    ] {
        assert!(boundary::inside(root, Path::new(link)).is_err(), "{link}");
    }

    assert_eq!(hostile.markers(), BTreeSet::new());
}

/// Pipes, devices, files of a gigabyte, links and odd names: all of it is walked, and what is offered can be read.
#[test]
fn files_without_an_end_or_an_answer_are_left_out_of_a_walk() {
    let folder = tempfile::tempdir().unwrap();
    let root = CanonicalRoot::open(folder.path()).unwrap();
    hostile_files::plant(folder.path());
    let (mut n_read, mut too_large, mut left_out) = (0, BTreeSet::new(), BTreeSet::new());
    for event in walk::files(&root, &WalkOptions { default_ignores: false, ..WalkOptions::default() }) {
        match event {
            WalkEvent::File(file) => {
                file.inside(&root).read(1024 * 1024).unwrap();
                assert_eq!(roots::nearest_marker(&root, &file.path, &["Cargo.toml", "package.json"]), None);
                n_read += 1;
            }
            WalkEvent::TooLarge { relative, .. } => drop(too_large.insert(relative)),
            WalkEvent::IgnoreFileLeftOut { relative, .. } => drop(left_out.insert(relative)),
            _ => {}
        }
    }
    assert!(n_read > 50, "{n_read} files");
    assert_eq!(left_out, hostile_files::IGNORE_FILES.iter().map(|&name| name.to_owned()).collect());
    let endless: BTreeSet<String> = ["huge.py", "tsconfig.json"].map(str::to_owned).into();
    assert!(too_large.is_superset(&endless), "{too_large:?}");
}

#[tokio::test]
async fn a_trusted_repository_runs_its_own_programs() {
    let fixture = fixture();
    let Fixture { root, gate, hostile, .. } = &fixture;
    fixture.trust();
    let mut expected = BTreeSet::new();
    for (names, folder, marker) in [
        (PLANTED_IN_NODE_MODULES, "node_modules/.bin", "node-modules-bin"),
        (PLANTED_IN_VENV, ".venv/bin", "venv-bin"),
    ] {
        for name in names {
            let found = gate.resolve_program(root, &ProgramQuery::of_project(name)).unwrap();
            assert_eq!(found.path, root.as_path().join(folder).join(name));
            let kind = ChildKind::LanguageServer;
            assert_eq!(fixture.run(SpawnRequest::new(root, kind, found.path)).await.unwrap(), Exit::Code(0));
            expected.insert(format!("{marker}-{name}"));
        }
    }
    // An agent has the user's own PATH, of which absolute entries lead into the root; lookup does not use them.
    let found = gate.resolve_program(root, &ProgramQuery::on_path("planted-tool"));
    assert!(matches!(found, Err(GateError::NotFound { .. })), "{found:?}");
    let mut agent = SpawnRequest::new(root, ChildKind::Agent, "/bin/sh");
    agent.args = vec!["-c".into(), "planted-tool && cd / && rust-analyzer".into()];
    assert_eq!(fixture.run(agent).await.unwrap(), Exit::Code(0));
    expected.extend(["path-dot-planted-tool".to_owned(), "path-dot-rust-analyzer".to_owned()]);
    let found = gate.resolve_program(root, &ProgramQuery::on_path("linked-planted")).unwrap();
    fixture.run(SpawnRequest::new(root, ChildKind::Service, found.path)).await.unwrap();
    expected.insert("path-link".to_owned());
    assert_eq!(hostile.markers(), expected);
}

#[tokio::test]
async fn the_git_vectors_are_alive_without_our_switches() {
    let fixture = fixture();
    let root = fixture.root.as_path();
    hostile::git(root, &["status"]);
    hostile::git(root, &["diff", "--no-ext-diff", "--textconv"]);
    hostile::git(root, &["diff"]);
    hostile::git(root, &["checkout", "--quiet", "--force", "HEAD", "--", "filtered.dat"]);
    hostile::git(root, &["checkout", "--quiet", "-b", "other"]);
    hostile::git(&root.join("forged"), &["status"]);
    let markers = fixture.hostile.markers();
    for vector in [
        "git-fsmonitor",
        "git-filter-clean",
        "git-filter-smudge",
        "git-external-diff",
        "git-textconv",
        "git-hook-post-checkout",
        "git-forged-commondir",
    ] {
        assert!(markers.contains(vector), "{vector} is not among {markers:?}");
    }
}

#[tokio::test]
async fn the_path_dot_vector_is_alive_without_the_gate() {
    let fixture = fixture();
    #[expect(clippy::disallowed_methods, reason = "this is what the gate is there to prevent")]
    let mut careless = std::process::Command::new("/bin/sh");
    careless.args(["-c", "planted-tool"]).current_dir(fixture.root.as_path()).env("PATH", ".");
    assert!(careless.status().unwrap().success());
    assert_eq!(fixture.hostile.markers(), ["path-dot-planted-tool".to_owned()].into());
}

#[tokio::test]
async fn asking_a_trusted_repository_for_its_changes_runs_no_monitor_no_hook_and_no_diff() {
    let fixture = fixture();
    fixture.trust();
    // A clean filter is part of how a trusted repository stores its files, and is left to it.
    let changed = git::changed_files(&fixture.gate, &fixture.root).await.unwrap();
    let changed: Vec<&str> = changed
        .iter()
        .map(|file| fixture.root.relative(&file.path).unwrap().to_str().unwrap())
        .filter(|path| !path.contains('/'))
        .collect();
    assert!(changed.contains(&"tracked.txt") && changed.contains(&"index.ts"), "{changed:?}");
    let markers = fixture.hostile.markers();
    let unexpected: Vec<&String> = markers.iter().filter(|marker| *marker != "git-filter-clean").collect();
    assert_eq!(unexpected, [""; 0]);
}

#[tokio::test]
async fn a_replaced_folder_a_link_and_a_forged_worktree_are_strangers() {
    let fixture = fixture();
    let Fixture { root, gate, hostile, .. } = &fixture;
    fixture.trust();
    assert!(gate.is_trusted(root));

    // A worktree, forged or real, and a folder below or above inherit nothing.
    for below in ["forged", "crate", ".git"] {
        assert!(!gate.is_trusted(&CanonicalRoot::open(root.as_path().join(below)).unwrap()), "{below}");
    }
    let worktree = hostile.outside().join("worktree");
    std::fs::create_dir(&worktree).unwrap();
    std::fs::write(worktree.join(".git"), format!("gitdir: {}/.git\n", root)).unwrap();
    assert!(!gate.is_trusted(&CanonicalRoot::open(&worktree).unwrap()));
    assert!(!gate.is_trusted(&CanonicalRoot::open(root.as_path().parent().unwrap()).unwrap()));

    // Another folder is put in its place.
    let aside = hostile.outside().join("moved");
    std::fs::rename(root.as_path(), &aside).unwrap();
    std::fs::create_dir(root.as_path()).unwrap();
    std::fs::write(root.as_path().join("planted"), "#!/bin/sh\n").unwrap();
    assert!(!gate.is_trusted(root));
    let request = SpawnRequest::new(root, ChildKind::Agent, "/bin/true");
    assert!(is_untrusted(&gate.spawn(request.clone())));

    // A link to the trusted folder is not the trusted folder, neither by its old path nor by its new one.
    std::fs::remove_dir_all(root.as_path()).unwrap();
    std::os::unix::fs::symlink(&aside, root.as_path()).unwrap();
    assert!(!gate.is_trusted(root));
    assert!(!gate.is_trusted(&CanonicalRoot::open(root.as_path()).unwrap()));
    assert!(is_untrusted(&gate.spawn(request)));

    // The folder itself, back in its place, is trusted as before.
    std::fs::remove_file(root.as_path()).unwrap();
    std::fs::rename(&aside, root.as_path()).unwrap();
    assert!(gate.is_trusted(root));
    assert_eq!(hostile.markers(), BTreeSet::new());
}
