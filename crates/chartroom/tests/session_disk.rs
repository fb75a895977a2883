//! A data folder that cannot be written any more while the server runs, as when a disk fails and the system makes it
//! read-only: whatever would have to be kept is refused with a clear error, what was kept is still served, and all goes
//! on when the folder can be written again.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/disk.rs"]
mod disk;
#[path = "common/program.rs"]
mod program;
#[path = "common/scene.rs"]
mod scene;

use disk::Mount;
use program::wait_until;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use scene::{Scene, error, said};
use serde_json::{Value, json};

/// Until dropped, the server can neither write to a file that it has open nor, where this process may mount, open one
/// of its data folder for writing. A mount alone does not reach the open ones, and a mode binds nobody who is root.
struct Closed {
    pid: Pid,
    before: Rlimit,
    _mount: Option<Mount>,
}

impl Closed {
    fn new(scene: &Scene) -> Self {
        let pid = Pid::from_raw(i32::try_from(scene.server.child.id()).unwrap()).unwrap();
        let before = rustix::process::getrlimit(Resource::Fsize);
        prlimit(Some(pid), Resource::Fsize, Rlimit { current: Some(0), ..before }).unwrap();
        Self { pid, before, _mount: Mount::read_only(&scene.home.data()) }
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        prlimit(Some(self.pid), Resource::Fsize, self.before).unwrap();
    }
}

#[test]
fn a_data_folder_that_becomes_read_only_is_told_and_nothing_is_lost() {
    let mut scene = Scene::fakes("");
    let status =
        |scene: &Scene, id: &str| scene.ask("GET", &format!("/api/session/{id}/status"), &Value::Null);
    let state = |scene: &Scene, id: &str| status(scene, id).1["state"].clone();
    let queue = |scene: &Scene, id: &str| {
        let (code, queue) = scene.ask("GET", &format!("/api/session/{id}/queue"), &Value::Null);
        assert_eq!(code, 200, "{queue}");
        queue
    };
    // One whose question is older than this server.
    let older = scene.begin("codex", "permission");
    wait_until("the question waits", || state(&scene, &older) == json!("needs_you"));
    scene.restart();
    // One that asks now, one that rests, and one that works with a message behind it.
    let asking = scene.begin("claude-code", "permission");
    wait_until("the question waits", || state(&scene, &asking) == json!("needs_you"));
    let (resting, _) = scene.turn("claude-code", "hello");
    let working = scene.begin("claude-code", "slow");
    wait_until("it works", || said(&scene.history(&working)) == ["slow", "before "]);
    let post = |scene: &Scene, id: &str, route: &str, body: &Value| {
        scene.ask("POST", &format!("/api/session/{id}/{route}"), body)
    };
    assert_eq!(post(&scene, &working, "send", &json!({ "message": "next" })).1["queued"], true);
    let waiting = queue(&scene, &working);
    let queued_id = waiting["messages"][0]["queuedId"].clone();
    let agents = scene.agents();
    let all = [&older, &asking, &resting, &working];
    let histories: Vec<Value> = all.iter().map(|id| scene.history(id)).collect();

    let closed = Closed::new(&scene);
    let refused = |(status, answer): (u16, Value), what: &str| {
        let (code, message) = error(&answer);
        assert_eq!((status, code), (500, "INTERNAL"), "{what}");
        assert!(message.starts_with("the data folder cannot be written ("), "{what}: {message}");
    };
    refused(scene.create("claude-code"), "create");
    wait_until("the agent of the session that is none is gone", || scene.agents() == agents);
    let older_answer = json!({ "questionId": format!("{older}:q1"), "decision": "allow" });
    for (id, route, body) in [
        (&resting, "send", json!({ "message": "lost?" })),
        (&working, "send", json!({ "message": "lost?" })),
        (&working, "queue", json!({ "action": "edit", "queuedId": queued_id, "message": "other" })),
        (&working, "queue", json!({ "action": "remove", "queuedId": queued_id })),
        (&working, "queue", json!({ "action": "send_now", "queuedId": queued_id })),
        (&older, "answer", older_answer.clone()),
        (&resting, "title", json!({ "title": "lost?" })),
        (&resting, "archive", json!({ "archived": true })),
    ] {
        refused(post(&scene, id, route, &body), route);
    }
    // What is kept is served, and is as it was.
    for (id, before) in all.iter().zip(&histories) {
        assert_eq!(scene.history(id), *before);
        assert_eq!(status(&scene, id).0, 200);
    }
    assert_eq!(queue(&scene, &working), waiting);
    assert_eq!((state(&scene, &older), state(&scene, &resting)), (json!("needs_you"), json!("open")));
    // An agent that waits gets its answer; what it says then waits for the disk.
    let answer = json!({ "questionId": "ask-1", "decision": "allow" });
    assert_eq!(post(&scene, &asking, "answer", &answer), (200, json!({})));
    assert_eq!(scene.agents(), agents, "no agent was ended");

    drop(closed);
    wait_until("what the agent said is kept", || {
        said(&scene.history(&asking)).last().map(String::as_str) == Some("allowed")
    });
    assert_eq!(post(&scene, &older, "answer", &older_answer), (200, json!({})));
    wait_until("the older question's answer is delivered", || {
        said(&scene.history(&older)).iter().any(|text| text.contains("You may: please go on."))
    });
    assert_eq!(post(&scene, &resting, "send", &json!({ "message": "again" })).0, 202);
    wait_until("the next message is answered", || {
        said(&scene.history(&resting)) == ["hello", "hello", "again", "again"]
    });
    assert_eq!(post(&scene, &working, "cancel", &json!({})).0, 200);
    wait_until("the queued message is delivered and answered", || {
        said(&scene.history(&working)) == ["slow", "before ", "next", "next"]
    });
    assert_eq!(queue(&scene, &working), json!({ "messages": [] }));
    assert_eq!(scene.create("claude-code").0, 201);
}
