use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;

const LONG: Duration = Duration::from_secs(600);

/// A workspace, watched by the kernel or compared.
struct Scene {
    folder: tempfile::TempDir,
    watch: Watch,
    subscription: Subscription,
}

impl Scene {
    fn new(files: &[&str], max_watches: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            write(&folder.path().join(file), "1");
        }
        let watch = Watch::with_limit(CanonicalRoot::open(folder.path()).unwrap(), max_watches);
        let subscription = watch.subscribe();
        Self { folder, watch, subscription }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        write(&self.path(name), text);
    }

    /// What a sweep finds: `+ created`, `~ changed`, `- deleted`.
    fn found(&self) -> Vec<String> {
        assert!(self.watch.sweep(LONG));
        told(&self.subscription, self.folder.path())
    }
}

fn told(subscription: &Subscription, root: &Path) -> Vec<String> {
    let sign = |change| match change {
        Change::Created => '+',
        Change::Changed => '~',
        Change::Deleted => '-',
    };
    let root = root.canonicalize().unwrap();
    let told = subscription.take().into_iter();
    told.map(|(file, change)| format!("{} {}", sign(change), file.strip_prefix(&root).unwrap().display()))
        .collect()
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Both ways find the same.
fn both(files: &[&str], story: impl Fn(&Scene)) {
    let watched = Scene::new(files, usize::MAX);
    assert_eq!(watched.watch.why_not_watched(), None);
    story(&watched);
    let compared = Scene::new(files, 0);
    assert!(compared.watch.why_not_watched().unwrap().contains("ENOSPC"));
    story(&compared);
}

#[test]
fn what_a_shell_did_is_told_once() {
    both(&["a.ts", "src/b.ts", "src/c.ts"], |scene| {
        assert_eq!(scene.found(), [] as [&str; 0]);
        scene.write("a.ts", "other");
        std::fs::remove_file(scene.path("src/b.ts")).unwrap();
        scene.write("src/new.ts", "1");
        std::fs::rename(scene.path("src/c.ts"), scene.path("src/d.ts")).unwrap();
        assert_eq!(scene.found(), ["~ a.ts", "- src/b.ts", "- src/c.ts", "+ src/d.ts", "+ src/new.ts"]);
        assert_eq!(scene.found(), [] as [&str; 0]);
        // As `sed -i` does it.
        scene.write("src/sed1", "mended");
        std::fs::rename(scene.path("src/sed1"), scene.path("a.ts")).unwrap();
        assert_eq!(scene.found(), ["~ a.ts"]);
        // Come and gone between two looks.
        scene.write("src/x.ts", "1");
        std::fs::remove_file(scene.path("src/x.ts")).unwrap();
        assert_eq!(scene.found(), [] as [&str; 0]);
    });
}

#[test]
fn folders_that_come_go_and_move_are_told_file_by_file() {
    both(&["a/b/c.ts", "a/d.ts"], |scene| {
        scene.write("new/deep/er/x.ts", "1");
        assert_eq!(scene.found(), ["+ new", "+ new/deep", "+ new/deep/er", "+ new/deep/er/x.ts"]);
        scene.write("new/deep/er/x.ts", "22");
        scene.write("new/deep/y.ts", "1");
        assert_eq!(scene.found(), ["~ new/deep/er/x.ts", "+ new/deep/y.ts"]);
        std::fs::rename(scene.path("a"), scene.path("z")).unwrap();
        assert_eq!(
            scene.found(),
            ["- a", "- a/b", "- a/b/c.ts", "- a/d.ts", "+ z", "+ z/b", "+ z/b/c.ts", "+ z/d.ts"]
        );
        scene.write("z/b/c.ts", "333");
        assert_eq!(scene.found(), ["~ z/b/c.ts"]);
        // Gone and come back: a new folder of the old name.
        std::fs::remove_dir_all(scene.path("z/b")).unwrap();
        scene.write("z/b/e.ts", "1");
        assert_eq!(scene.found(), ["- z/b/c.ts", "+ z/b/e.ts"]);
        scene.write("z/b/e.ts", "22");
        assert_eq!(scene.found(), ["~ z/b/e.ts"]);
        // A folder in the place of a file, and back.
        std::fs::remove_file(scene.path("z/d.ts")).unwrap();
        scene.write("z/d.ts/in.ts", "1");
        assert_eq!(scene.found(), ["~ z/d.ts", "+ z/d.ts/in.ts"]);
    });
}

#[test]
fn a_branch_of_thousands_of_files_is_told_in_one_batch_and_to_every_subscriber() {
    both(&["keep.ts"], |scene| {
        let other = scene.watch.subscribe();
        for n in 0..3_000 {
            scene.write(&format!("src/{}/{n}.ts", n % 50), "1");
        }
        assert_eq!(scene.found().len(), 3_000 + 51, "with the folders");
        assert_eq!(told(&other, scene.folder.path()).len(), 3_000 + 51);
        std::fs::remove_dir_all(scene.path("src")).unwrap();
        assert_eq!(scene.found().len(), 3_000 + 51);
        drop(other);
        scene.write("keep.ts", "22");
        assert_eq!(scene.found(), ["~ keep.ts"]);
    });
}

#[test]
fn more_than_the_kernel_keeps_is_found_by_comparing_once() {
    let limit = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let n_events: usize = limit.trim().parse().unwrap();
    let scene = Scene::new(&["a.ts", "b.ts", "c.ts"], usize::MAX);
    // Two files in turn: the kernel keeps no event twice in a row.
    let open = |name: &str| std::fs::OpenOptions::new().write(true).open(scene.path(name)).unwrap();
    let files = [open("a.ts"), open("b.ts")];
    for n in 0..=n_events {
        files[n % 2].set_len(2 + n as u64 % 3).unwrap();
    }
    scene.write("c.ts", "after the overflow");
    scene.write("new/d.ts", "1");
    assert_eq!(scene.found(), ["~ a.ts", "~ b.ts", "~ c.ts", "+ new", "+ new/d.ts"]);
    assert_eq!(scene.watch.why_not_watched(), None);
    scene.write("new/d.ts", "22");
    assert_eq!(scene.found(), ["~ new/d.ts"]);
}

#[test]
fn without_watches_left_for_a_new_folder_the_folders_are_compared() {
    let scene = Scene::new(&["a/x.ts"], 2);
    assert_eq!(scene.watch.why_not_watched(), None);
    scene.write("a/x.ts", "22");
    scene.write("b/y.ts", "1");
    assert_eq!(scene.found(), ["~ a/x.ts", "+ b", "+ b/y.ts"]);
    assert!(scene.watch.why_not_watched().unwrap().contains("max_user_watches"));
    scene.write("b/y.ts", "22");
    scene.write("a/x.ts", "333");
    assert_eq!(scene.found(), ["~ a/x.ts", "~ b/y.ts"]);
}

#[test]
fn a_sweep_without_time_is_finished_by_the_next() {
    let scene = Scene::new(&["a/x.ts", "b/y.ts"], 0);
    scene.write("a/x.ts", "22");
    scene.write("b/y.ts", "22");
    assert!(!scene.watch.sweep(Duration::ZERO), "it says that it is not complete");
    assert_eq!(scene.found(), ["~ a/x.ts", "~ b/y.ts"]);
}

#[test]
fn an_installation_is_told_by_its_packages() {
    let python = ".venv/lib/python3.11/site-packages";
    let pip = format!("{python}/old/x.py");
    both(&["node_modules/old/deep/a.js", "node_modules/.bin/x", &pip, "a.ts"], |scene| {
        scene.write("node_modules/new/package.json", "{}");
        scene.write("node_modules/new/deep/b.js", "1");
        scene.write("node_modules/@scope/one/package.json", "{}");
        scene.write("node_modules/.cache/x", "1");
        symlink("../outside", scene.path("node_modules/linked")).unwrap();
        scene.write(&format!("{python}/new/__init__.py"), "1");
        scene.write(".venv/bin/x", "1");
        assert_eq!(
            scene.found(),
            [
                "+ .venv/lib/python3.11/site-packages/new",
                "+ node_modules/@scope",
                "+ node_modules/@scope/one",
                "+ node_modules/linked",
                "+ node_modules/new",
            ]
        );
        scene.write("node_modules/new/deep/b.js", "22");
        assert_eq!(scene.found(), [] as [&str; 0]);
        std::fs::remove_dir_all(scene.path("node_modules/old")).unwrap();
        std::fs::remove_file(scene.path("node_modules/linked")).unwrap();
        assert_eq!(scene.found(), ["- node_modules/linked", "- node_modules/old"]);
        std::fs::remove_dir_all(scene.path("node_modules")).unwrap();
        let gone =
            ["- node_modules", "- node_modules/@scope", "- node_modules/@scope/one", "- node_modules/new"];
        assert_eq!(scene.found(), gone);
    });
}

#[test]
fn dependencies_caches_and_links_are_not_looked_at_and_ignored_folders_are() {
    let outside = tempfile::tempdir().unwrap();
    write(&outside.path().join("o.ts"), "1");
    both(&["node_modules/m/a.js", ".git/index", "target/x", ".gitignore", "gen/g.ts", "a.ts"], |scene| {
        std::fs::write(scene.path(".gitignore"), "gen/\n").unwrap();
        symlink(outside.path(), scene.path("link")).unwrap();
        symlink("/dev/zero", scene.path("zero.ts")).unwrap();
        for file in ["node_modules/m/a.js", ".git/index", "target/x", "gen/g.ts"] {
            scene.write(file, "22");
        }
        scene.write("sub/target/x.js", "1");
        write(&outside.path().join("o.ts"), "22");
        assert_eq!(scene.found(), ["~ .gitignore", "~ gen/g.ts", "+ sub"]);
        // A file whose place is taken by a link is gone.
        std::fs::remove_file(scene.path("a.ts")).unwrap();
        symlink(outside.path().join("o.ts"), scene.path("a.ts")).unwrap();
        assert_eq!(scene.found(), ["- a.ts"]);
    });
}
