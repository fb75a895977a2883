//! `chartroom index …` killed at random moments on a real repository of some thousand files: the state is always a legal
//! one, the old index answers until the new one is proven, and the next sync gives exactly what a fresh build gives.
//!
//! `CHARTROOM_KILLS=200` makes it the long run; `CHARTROOM_SEED` another one.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;
#[path = "common/sources.rs"]
mod sources;

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use chartroom_protocol::index::{IndexStatus, ManageAction, ManageIndexParams};
use chartroom_search::sqlite::SqliteStore;
use chartroom_search::store::VectorStore as _;
use program::Home;
use sources::{Random, Sources, assert_equal_chunks, file_digests, manage, open, search};

/// All Python files of the release.
const FILES: usize = 2800;
const EDITS: usize = 40;
/// What is killed, over and over. A sync is short, so there are more of them.
const ROUNDS: [&str; 12] = [
    "create", "sync", "sync", "reindex", "sync", "create", "sync", "sync", "reindex", "sync", "sync", "sync",
];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The command, killed after `delay`; how long it took when it was quicker.
fn kill_after(home: &Home, project: &str, action: &str, delay: Duration) -> Option<Duration> {
    let mut command = home.command(&["index", action, project]);
    let started = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while started.elapsed() < delay {
        if child.try_wait().unwrap().is_some() {
            return Some(started.elapsed());
        }
        #[allow(clippy::disallowed_methods, reason = "a random moment is what this waits for")]
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_moment_leaves_a_legal_state_and_the_next_sync_makes_it_whole() {
    let kills = number("CHARTROOM_KILLS", 36);
    let mut random = Random(number("CHARTROOM_SEED", 0x5eed));
    let home = Home::new();
    let data = home.data();
    let mut sources = Sources::new(home.path().join("project"), FILES);
    let project = sources.path().to_owned();

    // How long each takes when it is let be, so that the moments are spread over all of it.
    let mut whole: BTreeMap<&str, Duration> = BTreeMap::new();
    for action in ["create", "sync", "reindex"] {
        if action == "sync" {
            sources.expected = file_digests(&data, &sources.project);
            sources.edit(&mut random, EDITS).await;
        }
        let took = kill_after(&home, &project, action, Duration::from_secs(900)).unwrap();
        whole.insert(action, took);
    }
    assert_eq!(file_digests(&data, &sources.project), sources.expected, "undisturbed");

    let (mut killed, mut killed_by) = (0, BTreeMap::<&str, u64>::new());
    for round in 0.. {
        if killed == kills {
            break;
        }
        assert!(round < kills * 5, "the moments lie within the actions: {killed} of {round} did");
        let action = ROUNDS[(round % ROUNDS.len() as u64) as usize];
        let store = SqliteStore::open(&data).unwrap();
        if action == "create" {
            assert_eq!(manage(&data, &project, ManageAction::Clear).await.status, IndexStatus::Ok);
        } else {
            sources.edit(&mut random, EDITS).await;
        }
        let old = store.open_reader(&project).unwrap().map(|reader| reader.id());
        let expected = whole[action];
        match kill_after(&home, &project, action, expected.mul_f64(random.fraction())) {
            // Quicker than thought: the machine is less loaded now.
            Some(took) => drop(whole.insert(action, took.min(expected))),
            None => {
                killed += 1;
                *killed_by.entry(action).or_default() += 1;
                whole.insert(action, expected.mul_f64(1.02));
            }
        }

        // A new process. (Opening it settles what the dead one left in the catalog; reading needs not even that.)
        let when = format!("round {round}, {action}");
        let service = open(&data);
        let status = service.manage(ManageIndexParams::new(ManageAction::Status, &project)).await;
        let new = store.open_reader(&project).unwrap().map(|reader| reader.id());
        match (action, status.status) {
            ("create", IndexStatus::Ok | IndexStatus::NotIndexed | IndexStatus::Error) => {}
            ("sync", IndexStatus::Ok) => assert_eq!(new, old, "{when}: a sync stays in its generation"),
            ("reindex", IndexStatus::Ok) if new != old => {
                assert!(store.read_marker(&project).unwrap().is_some(), "{when}: published, so proven");
            }
            ("reindex", IndexStatus::Ok) => {}
            (action, _) => panic!("{when}: {action} left {status:?}"),
        }
        // Every second time the first thing that comes is a search, which follows changes itself.
        if status.status == IndexStatus::Ok && round % 2 == 0 {
            let found = search(&service, &project, "import").await;
            assert_eq!(found.status, IndexStatus::Ok, "{when}: the old one answers");
            assert!(!found.results.is_empty(), "{when}: and finds");
        }
        if status.status != IndexStatus::Ok {
            let created = manage(&data, &project, ManageAction::Create).await;
            assert_eq!(created.status, IndexStatus::Ok, "{when}: {created:?}");
        }
        let synced = manage(&data, &project, ManageAction::Sync).await;
        assert_eq!(synced.status, IndexStatus::Ok, "{when}: {synced:?}");
        assert_eq!(file_digests(&data, &sources.project), sources.expected, "{when}");
        if killed % 100 == 99 || killed == kills {
            let fresh = tempfile::tempdir().unwrap();
            assert_eq!(sources.build_fresh(fresh.path()).await, sources.expected, "{when}");
            assert_equal_chunks(&project, &data, fresh.path(), &when);
        }
    }
    println!("killed {killed_by:?}; left alone they take {whole:?}");
    let store = SqliteStore::open(&data).unwrap();
    assert_eq!(store.roots().unwrap(), [project], "nothing else is left");
}
