use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use chartroom_protocol::index::{
    EmbeddingConfig, IndexConfig, IndexStatus, ManageAction, ManageIndexParams, ManageIndexResponse,
};

use super::*;
use crate::core::IndexSettings;
use crate::git::GitProbe;
use crate::service::IndexService;
use crate::testing::Bench;

const DEBOUNCE: Duration = Duration::from_millis(5000);

fn events(root: &str) -> FileEvents {
    FileEvents { root: root.to_owned(), folders: false }
}

/// Runs the background task on a paused clock; gives what it settled and when, in milliseconds since the beginning.
async fn settled(
    known: &'static [&'static str],
    script: impl AsyncFnOnce(&mpsc::Sender<FileEvents>),
) -> Vec<(u128, FileEvents)> {
    let (sender, receiver) = mpsc::channel(256);
    let (began, log) = (Instant::now(), Rc::new(RefCell::new(Vec::new())));
    let task = {
        let log = Rc::clone(&log);
        let roots = || Some(known.iter().map(|root| (*root).to_owned()).collect());
        background(receiver, DEBOUNCE, roots, move |events| {
            log.borrow_mut().push((began.elapsed().as_millis(), events));
            std::future::ready(true)
        })
    };
    let script = async {
        script(&sender).await;
        drop(sender);
    };
    tokio::join!(task, script);
    Rc::try_unwrap(log).unwrap().into_inner()
}

#[tokio::test(start_paused = true)]
async fn a_root_is_synced_once_when_it_has_been_quiet_for_the_debounce() {
    let log = settled(&[], async |sender| {
        // A burst, each within the debounce of the one before; another root in the midst of it.
        for _ in 0..4 {
            sender.send(events("/a")).await.unwrap();
            tokio::time::sleep(Duration::from_millis(3000)).await;
        }
        sender.send(events("/b")).await.unwrap();
        tokio::time::sleep(Duration::from_secs(60)).await;
    })
    .await;
    assert_eq!(log, [(14_000, events("/a")), (17_000, events("/b"))]);
}

#[tokio::test(start_paused = true)]
async fn folders_that_came_are_watched_at_once_and_synced_when_quiet() {
    let came = FileEvents { root: "/a".to_owned(), folders: true };
    let log = settled(&[], async |sender| {
        tokio::time::sleep(Duration::from_millis(100)).await;
        sender.send(came.clone()).await.unwrap();
        tokio::time::sleep(Duration::from_secs(60)).await;
    })
    .await;
    assert_eq!(log, [(100, came), (5100, events("/a"))]);
}

#[tokio::test(start_paused = true)]
async fn every_used_root_is_polled_every_three_minutes() {
    let log = settled(&["/b", "/a"], async |_| {
        tokio::time::sleep(Duration::from_secs(400)).await;
    })
    .await;
    let expected =
        [(180_000, events("/a")), (180_000, events("/b")), (360_000, events("/a")), (360_000, events("/b"))];
    assert_eq!(log, expected);
}

/// A project with folders that are never indexed, and a server on it that watches.
struct Story {
    _dir: tempfile::TempDir,
    project: std::path::PathBuf,
    service: IndexService,
}

impl Story {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let project = base.join("project");
        for folder in [
            "src/inner",
            ".git/objects/aa",
            "target/debug",
            "node_modules/x/y",
            "generated/deep",
            ".venv/lib",
        ] {
            std::fs::create_dir_all(project.join(folder)).unwrap();
        }
        std::fs::write(project.join(".gitignore"), "generated/\n").unwrap();
        std::fs::write(project.join("src/a.py"), "def alpha():\n    pass\n").unwrap();
        std::fs::write(project.join("src/inner/b.py"), "def beta():\n    pass\n").unwrap();
        let service = IndexService::open(IndexSettings {
            data: base.join("data"),
            config: IndexConfig {
                embedding: EmbeddingConfig::None,
                watch: WatchConfig { enabled: true, debounce_ms: 20 },
                ..IndexConfig::default()
            },
            version: "test".into(),
            long_running: true,
            git: GitProbe::none(),
            parser: std::sync::Arc::new(chartroom_search::parser::InProcess::default()),
        })
        .unwrap();
        let story = Self { _dir: dir, project, service };
        let started = story.manage(ManageAction::Create).await;
        assert_eq!(story.service.finish(started).await.status, IndexStatus::Ok);
        // The next use begins the watch.
        story.manage(ManageAction::Status).await;
        story
    }

    async fn manage(&self, action: ManageAction) -> ManageIndexResponse {
        self.service.manage(ManageIndexParams::new(action, self.project.to_str().unwrap())).await
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.project.join(file), text).unwrap();
    }

    /// Waits until the store holds exactly these files; nobody asks for a sync, so that the watcher must have.
    async fn holds(&self, files: &[(&str, &str)]) {
        let store = self.service.store();
        for _ in 0..3000 {
            let reader = store.open_reader(self.project.to_str().unwrap()).unwrap().unwrap();
            let manifest = reader.manifest().unwrap();
            let as_expected = manifest.files.len() == files.len()
                && files.iter().all(|(file, text)| {
                    let hash = blake3::hash(text.as_bytes()).to_hex();
                    manifest.files.get(*file).is_some_and(|stamp| stamp.hash == hash.as_str())
                });
            if as_expected {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the watcher did not bring {files:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_created_changed_renamed_or_deleted_is_synced_without_being_asked_for() {
    let story = Story::new().await;
    let (alpha, beta) = ("def alpha():\n    pass\n", "def beta():\n    pass\n");
    story.holds(&[("src/a.py", alpha), ("src/inner/b.py", beta)]).await;
    story.write("src/c.py", "def gamma():\n    pass\n");
    story
        .holds(&[("src/a.py", alpha), ("src/c.py", "def gamma():\n    pass\n"), ("src/inner/b.py", beta)])
        .await;
    story.write("src/inner/b.py", "def changed():\n    pass\n");
    let changed = ("src/inner/b.py", "def changed():\n    pass\n");
    story.holds(&[("src/a.py", alpha), ("src/c.py", "def gamma():\n    pass\n"), changed]).await;
    std::fs::rename(story.project.join("src/a.py"), story.project.join("src/renamed.py")).unwrap();
    story.holds(&[("src/c.py", "def gamma():\n    pass\n"), changed, ("src/renamed.py", alpha)]).await;
    std::fs::remove_file(story.project.join("src/c.py")).unwrap();
    story.holds(&[changed, ("src/renamed.py", alpha)]).await;
    // A folder that comes, by being made or moved, is watched with all that is in it.
    std::fs::create_dir_all(story.project.join("new/deep")).unwrap();
    story.write("new/deep/d.py", "d = 1\n");
    story.holds(&[("new/deep/d.py", "d = 1\n"), changed, ("src/renamed.py", alpha)]).await;
    std::fs::rename(story.project.join("new"), story.project.join("moved")).unwrap();
    story.holds(&[("moved/deep/d.py", "d = 1\n"), changed, ("src/renamed.py", alpha)]).await;
    story.write("moved/deep/d.py", "d = 2\n");
    story.holds(&[("moved/deep/d.py", "d = 2\n"), changed, ("src/renamed.py", alpha)]).await;
    // Gone and come back, it is a new folder of the old name.
    std::fs::remove_dir_all(story.project.join("moved")).unwrap();
    std::fs::create_dir_all(story.project.join("moved/deep")).unwrap();
    story.write("moved/deep/d.py", "d = 3\n");
    story.holds(&[("moved/deep/d.py", "d = 3\n"), changed, ("src/renamed.py", alpha)]).await;
    story.write("moved/deep/d.py", "d = 4\n");
    story.holds(&[("moved/deep/d.py", "d = 4\n"), changed, ("src/renamed.py", alpha)]).await;
    assert_eq!(story.manage(ManageAction::Status).await.warnings, []);
}

/// Watches that this process holds.
fn inotify_watches() -> usize {
    let Ok(files) = std::fs::read_dir("/proc/self/fdinfo") else { return 0 };
    files
        .filter_map(|file| std::fs::read_to_string(file.ok()?.path()).ok())
        .flat_map(|text| {
            text.lines().filter(|line| line.starts_with("inotify wd:")).map(drop).collect::<Vec<_>>()
        })
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_that_are_never_indexed_cost_no_watches_until_the_rules_change() {
    let story = Story::new().await;
    let watched = |story: &Story| {
        let folders = watched_folders(&story.project);
        folders
            .iter()
            .map(|folder| folder.strip_prefix(&story.project).unwrap().to_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(watched(&story), ["", "src", "src/inner"]);
    assert_eq!(inotify_watches(), 3, "not .git, target, node_modules, .venv or what is ignored");
    // What is ignored no more is watched: a later change in it is seen.
    story.write(".gitignore", "");
    let (alpha, beta) = ("def alpha():\n    pass\n", "def beta():\n    pass\n");
    story.write("generated/deep/g.py", "g = 1\n");
    story.holds(&[("generated/deep/g.py", "g = 1\n"), ("src/a.py", alpha), ("src/inner/b.py", beta)]).await;
    story.write("generated/deep/g.py", "g = 2\n");
    story.holds(&[("generated/deep/g.py", "g = 2\n"), ("src/a.py", alpha), ("src/inner/b.py", beta)]).await;
    assert_eq!(inotify_watches(), 5);
}

#[test]
fn changes_in_quiet_folders_are_not_heard_and_ignore_files_are() {
    let check = |path: &str, quiet: bool| assert_eq!(is_quiet("/p", Path::new(path)), quiet, "{path}");
    for quiet in ["/p/.git/index", "/p/node_modules/x/a.js", "/p/a/target/x.rs", "/p/.hidden", "/p/dist/a.js"]
    {
        check(quiet, true);
    }
    for loud in
        ["/p/a.rs", "/p/.gitignore", "/p/sub/.chartroomignore", "/p/targets/a.rs", "/elsewhere/.git/x"]
    {
        check(loud, false);
    }
}

/// A watch of a system that has two left to give.
struct Exhausted(u32);

impl notify::Watcher for Exhausted {
    fn new<F: notify::EventHandler>(_: F, _: notify::Config) -> notify::Result<Self> {
        Ok(Self(2))
    }
    fn watch(&mut self, _: &Path, _: RecursiveMode) -> notify::Result<()> {
        self.0 = self.0.checked_sub(1).ok_or_else(|| notify::Error::new(ErrorKind::MaxFilesWatch))?;
        Ok(())
    }
    fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
        Ok(())
    }
    fn kind() -> notify::WatcherKind {
        notify::WatcherKind::NullWatcher
    }
}

#[tokio::test]
async fn without_watches_left_the_folder_is_polled_and_status_says_why() {
    let bench = Bench::indexed();
    for folder in ["one", "two", "three"] {
        std::fs::create_dir(bench.project.join(folder)).unwrap();
    }
    let config = WatchConfig { enabled: true, debounce_ms: 5000 };
    let watcher = Watcher::start_with(&bench.core, &config, |_| Ok(Box::new(Exhausted(2)))).unwrap();
    watcher.touch(&bench.root);
    let status = bench.manage(ManageAction::Status);
    assert_eq!(status.status, IndexStatus::Ok);
    assert_eq!(status.warnings.len(), 1, "{:?}", status.warnings);
    assert_eq!(
        (status.warnings[0].code.as_str(), status.warnings[0].message.as_str()),
        (
            "WATCH_POLLED",
            "The folder is polled, not watched: the system has no watches left (ENOSPC); raise fs.inotify.max_user_watches."
        )
    );
    assert!(lock(&watcher.shared.watches)[&bench.root].watcher.is_none(), "half a watch is given back");
    // A search looks at the folder itself.
    std::fs::write(bench.project.join("new.rs"), "fn newest() {}\n").unwrap();
    assert_eq!(bench.search("newest").unwrap().results.len(), 1);

    // With enough of them nothing is said.
    let bench = Bench::indexed();
    let watcher = Watcher::start_with(&bench.core, &config, |_| Ok(Box::new(Exhausted(9)))).unwrap();
    watcher.touch(&bench.root);
    assert_eq!(bench.manage(ManageAction::Status).warnings, []);
}
