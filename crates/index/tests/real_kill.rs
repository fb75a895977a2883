//! Killed at random moments: the state is always a legal one, the old index answers until the new one is proven, and
//! the next sync gives exactly what a fresh build gives. Then several processes at once on one data folder.
//!
//! The victims are this very test binary again, running [`worker`] as processes of their own.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic, also in its helpers")]

#[path = "common/support.rs"]
mod support;

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use chartroom_index::store::VectorStore as _;
use chartroom_protocol::index::{IndexStatus, ManageAction, ManageIndexParams, ManageIndexResponse};
use support::{Folder, Random, digest, open, search};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What a victim does; nothing when it is run as an ordinary test.
#[test]
fn worker() {
    let (Ok(data), Ok(project), Ok(actions)) =
        (std::env::var("KILL_DATA"), std::env::var("KILL_PROJECT"), std::env::var("KILL_ACTIONS"))
    else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let service = open(data.as_ref());
        for action in actions.split(' ') {
            let action = match action {
                "create" => ManageAction::Create,
                "reindex" => ManageAction::Reindex,
                _ => ManageAction::Sync,
            };
            service.manage(ManageIndexParams::new(action, &project)).await;
            service.wait(&project).await;
        }
    });
}

fn start(folder: &Folder, actions: &str) -> Child {
    #[allow(
        clippy::disallowed_methods,
        reason = "the victim is this test itself; there is no gate to go through"
    )]
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worker", "--test-threads=1"])
        .env("KILL_DATA", &folder.data)
        .env("KILL_PROJECT", &folder.project)
        .env("KILL_ACTIONS", actions)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Starts a victim and kills it after `delay`; true when it was still at work.
fn kill_after(folder: &Folder, action: &str, delay: Duration) -> bool {
    let mut child = start(folder, action);
    let deadline = Instant::now() + delay;
    while Instant::now() < deadline {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        #[allow(clippy::disallowed_methods, reason = "a random moment is what this waits for")]
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    true
}

async fn manage(folder: &Folder, action: ManageAction) -> ManageIndexResponse {
    let service = open(&folder.data);
    let response = service.manage(ManageIndexParams::new(action, folder.project())).await;
    service.wait(folder.project()).await;
    response
}

/// Compares the index chunk by chunk with one that is built now.
async fn assert_as_fresh(folder: &Folder, when: &str) {
    let fresh = tempfile::tempdir().unwrap();
    let service = open(fresh.path());
    service.manage(ManageIndexParams::new(ManageAction::Create, folder.project())).await;
    service.wait(folder.project()).await;
    assert_eq!(digest(&folder.data, folder), digest(fresh.path(), folder), "{when}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_moment_leaves_a_legal_state_and_the_next_sync_makes_it_whole() {
    let kills = number("CHARTROOM_KILLS", 200);
    let folder = Folder::with_sources(usize::try_from(number("CHARTROOM_KILL_FILES", 60)).unwrap());
    let mut random = Random(number("CHARTROOM_SEED", 0x5eed));
    // How long a build takes when it is let be, so that the moments are spread over all of it.
    let started = Instant::now();
    assert!(!kill_after(&folder, "create", Duration::from_secs(600)), "a build of a few files ends in time");
    let whole = started.elapsed();
    let (mut killed, mut rounds) = (0, 0);
    while killed < kills {
        rounds += 1;
        assert!(rounds < kills * 5, "the moments lie within the action: {killed} of {rounds} did");
        let action = ["create", "reindex", "sync"][(rounds % 3) as usize];
        if action == "create" {
            assert_eq!(manage(&folder, ManageAction::Clear).await.status, IndexStatus::Ok);
        } else {
            folder.edit(&mut random, 10);
        }
        killed += u64::from(kill_after(&folder, action, whole.mul_f64(random.fraction())));

        // A new process. (Opening it settles what the dead one left in the catalog; reading needs not even that.)
        let service = open(&folder.data);
        let status = service.manage(ManageIndexParams::new(ManageAction::Status, folder.project())).await;
        match (action, status.status) {
            ("create", IndexStatus::Ok | IndexStatus::NotIndexed | IndexStatus::Error) => {}
            ("reindex" | "sync", IndexStatus::Ok) => {
                assert_eq!(
                    search(&service, &folder, "import").await.status,
                    IndexStatus::Ok,
                    "the old one answers"
                );
            }
            (action, _) => panic!("{action} left {status:?}"),
        }
        if status.status != IndexStatus::Ok {
            let created = manage(&folder, ManageAction::Create).await;
            assert_eq!(created.status, IndexStatus::Ok, "{created:?}");
        }
        let synced = manage(&folder, ManageAction::Sync).await;
        assert_eq!(synced.status, IndexStatus::Ok, "{synced:?}");
        // A fresh build costs as much as an action, so it is compared now and then, and at the end.
        if rounds % 10 == 0 || killed == kills {
            assert_as_fresh(&folder, &format!("round {rounds}, after {action}")).await;
        }
    }
    let store = chartroom_index::embedded::EmbeddedStore::open(&folder.data).unwrap();
    assert_eq!(store.roots().unwrap(), [folder.project().to_owned()], "nothing else is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_and_a_command_on_one_data_folder_lose_nothing_and_fail_nobody() {
    let folder = Folder::with_sources(40);
    let mut random = Random(7);
    assert_eq!(manage(&folder, ManageAction::Create).await.status, IndexStatus::Ok);
    for round in 0..5 {
        folder.edit(&mut random, 6);
        let children = [
            start(&folder, "sync reindex sync"),
            start(&folder, "reindex sync"),
            start(&folder, "sync sync reindex"),
        ];
        let service = open(&folder.data);
        for _ in 0..10 {
            let found = search(&service, &folder, "import").await;
            assert_eq!(found.status, IndexStatus::Ok, "round {round}: {:?}", found.message);
            assert_eq!(service.list().await.total, 1);
        }
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let status = manage(&folder, ManageAction::Status).await;
        assert_eq!(status.status, IndexStatus::Ok, "nobody failed another's run: {status:?}");
        assert_eq!(manage(&folder, ManageAction::Sync).await.status, IndexStatus::Ok);
    }
    assert_as_fresh(&folder, "after all rounds").await;
}
