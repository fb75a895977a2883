//! One language service for all processes of a user on one folder, whoever hosts it and however that one ends.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/agent.rs"]
mod agent;
#[path = "common/program.rs"]
mod program;

use agent::{Agent, Scene, created, found};
use program::{processes_of, wait_until};
use rustix::process::Signal;
use serde_json::json;

/// Nothing of the scene is left: no process, no lock, no socket.
#[track_caller]
fn nothing_is_left(scene: &Scene) {
    wait_until("every process ends", || processes_of(&scene.home.path()).is_empty());
    assert_eq!(scene.traces(), Vec::<String>::new());
}

/// Every agent writes a file of its own, all at once.
fn write_all(agents: &mut [Agent], round: usize) -> Vec<String> {
    std::thread::scope(|scope| {
        let writes: Vec<_> = agents
            .iter_mut()
            .enumerate()
            .map(|(n, agent)| {
                scope.spawn(move || agent.write(&format!("{round}-{n}.foo"), &format!("ERR trouble {n}\n")))
            })
            .collect();
        writes.into_iter().map(|write| write.join().unwrap()).collect()
    })
}

/// The diagnostics that an agent gets for its own file; what others broke meanwhile may follow.
#[track_caller]
fn all_heard(answers: &[String], round: usize) {
    for (n, answer) in answers.iter().enumerate() {
        let expected = created(&format!("{round}-{n}.foo"), &format!("trouble {n}"));
        assert!(answer.starts_with(&expected), "agent {n}: {answer}");
    }
}

#[test]
fn ten_agents_on_one_root_share_one_language_server_and_it_ends_with_the_last() {
    let scene = Scene::trusted("good");
    let mut agents: Vec<Agent> = (0..10).map(|_| scene.agent()).collect();
    all_heard(&write_all(&mut agents, 1), 1);
    let servers = scene.servers();
    assert_eq!(servers.len(), 1, "ten agents, one language server");
    assert_eq!(scene.processes("lsp-service").len(), 1);
    assert_eq!(scene.traces().len(), 2, "one lock and one socket: {:?}", scene.traces());
    // What one broke, another is told of: it is one service.
    let known = agents[7].call("lsp_diagnostics", json!({}));
    assert!(agent::text(&known).contains("1-3.foo:1:1 trouble 3"), "{known}");
    // The guests leave; the service stays as it is for the host.
    let host = scene.host().unwrap();
    let (mut hosts, guests): (Vec<Agent>, Vec<Agent>) =
        agents.into_iter().partition(|agent| agent.pid() == host);
    for guest in guests {
        assert_eq!(guest.leave().0, 0);
    }
    assert_eq!(scene.servers(), servers);
    assert_eq!(hosts.len(), 1);
    assert_eq!(hosts.pop().unwrap().leave().0, 0);
    nothing_is_left(&scene);
}

#[test]
fn when_the_host_is_killed_in_mid_check_the_others_get_their_answers_from_the_next() {
    let scene = Scene::trusted("late");
    let mut agents: Vec<Agent> = (0..10).map(|_| scene.agent()).collect();
    let calls: Vec<u64> = agents
        .iter_mut()
        .enumerate()
        .map(|(n, agent)| {
            std::fs::write(scene.shop().join(format!("{n}.foo")), "fine\n").unwrap();
            let edit = json!({
                "filePath": format!("{n}.foo"), "oldText": "fine", "newText": format!("ERR trouble {n}"),
            });
            agent.begin("edit_file", edit)
        })
        .collect();
    // The server takes longer than a second for each of them, so that all are under way once it runs.
    wait_until("the language server runs", || !scene.servers().is_empty());
    let (host, old) = (scene.host().unwrap(), scene.servers());
    let dead = agents.iter().position(|agent| agent.pid() == host).unwrap();
    agents[dead].signal(Signal::KILL);
    for (n, (agent, call)) in agents.iter_mut().zip(calls).enumerate() {
        let answer = agent.end_of(call);
        if n == dead {
            assert_eq!(answer, None);
            continue;
        }
        let file = format!("{n}.foo");
        let expected = format!("Edited {file} (1 replacement).\n\n{}", found(&file, &format!("trouble {n}")));
        assert_eq!(agent::text(&answer.unwrap()), expected);
    }
    wait_until("the old server is gone", || scene.servers().iter().all(|pid| !old.contains(pid)));
    assert_eq!(scene.servers().len(), 1, "one of the nine hosts, the others go through it");
    assert_ne!(scene.host(), Some(host));
    for (n, agent) in agents.into_iter().enumerate() {
        if n != dead {
            assert_eq!(agent.leave().0, 0);
        }
    }
    nothing_is_left(&scene);
}

#[test]
fn a_host_that_leaves_hands_over_and_one_that_is_told_to_end_does_too() {
    let scene = Scene::trusted("good");
    let (mut first, mut second, mut third) = (scene.agent(), scene.agent(), scene.agent());
    assert!(first.write("a.foo", "ERR one\n").starts_with(&created("a.foo", "one")));
    assert_eq!(scene.host(), Some(first.pid()));
    assert!(second.write("b.foo", "ERR two\n").starts_with(&created("b.foo", "two")));
    assert_eq!(first.leave().0, 0);
    assert!(second.write("c.foo", "ERR three\n").starts_with(&created("c.foo", "three")));
    assert_eq!(scene.host(), Some(second.pid()));
    second.signal(Signal::TERM);
    assert_eq!(second.child.wait().unwrap().code(), Some(0), "it ends in order");
    assert!(third.write("d.foo", "ERR four\n").starts_with(&created("d.foo", "four")));
    assert_eq!((scene.host(), scene.servers().len()), (Some(third.pid()), 1));
    assert_eq!(third.leave().0, 0);
    nothing_is_left(&scene);
}

#[test]
fn a_dead_service_is_dead_for_every_process_until_the_user_restarts_it() {
    let scene = Scene::trusted("good");
    let (mut host, mut guest) = (scene.agent(), scene.agent());
    host.write("a.foo", "ERR one\n");
    guest.write("b.foo", "ERR two\n");
    let service = scene.processes("lsp-service");
    assert_eq!(service.len(), 1);
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(i32::try_from(service[0]).unwrap()).unwrap(),
        Signal::KILL,
    )
    .unwrap();
    wait_until("the service and its server end", || {
        scene.processes("lsp-service").is_empty() && scene.servers().is_empty()
    });
    // The edit succeeds, and not a word of the trouble is in it.
    assert_eq!(guest.write("c.foo", "ERR three\n"), "Created c.foo (1 line).");
    assert_eq!(host.write("d.foo", "ERR four\n"), "Created d.foo (1 line).");
    assert_eq!(scene.processes("lsp-service"), Vec::<u32>::new(), "nobody restarts it by himself");
    let answer = guest.call("lsp_diagnostics", json!({}));
    assert_eq!(answer["isError"], true);
    assert!(agent::text(&answer).starts_with("LSP unavailable: the service"), "{answer}");
    let (code, status, _) = scene.run(&["lsp", "status", "--root", "shop"]);
    assert_eq!(code, 1);
    assert!(status.starts_with("LSP unavailable: the service"), "{status}");
    // The command line reaches the one that the agents use.
    let (code, _, stderr) = scene.run(&["lsp", "restart", "--root", "shop"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(guest.write("e.foo", "ERR five\n").starts_with(&created("e.foo", "five")));
    assert_eq!(guest.leave().0, 0);
    assert_eq!(host.leave().0, 0);
    nothing_is_left(&scene);
}

#[test]
fn check_status_and_restart_go_to_the_service_that_runs() {
    let scene = Scene::trusted("good");
    let mut agent = scene.agent();
    agent.write("a.foo", "ERR one\n");
    let servers = scene.servers();
    let pid_in_status = || {
        let (code, status, stderr) = scene.run(&["lsp", "status", "--root", "shop", "--json"]);
        assert_eq!(code, 0, "{stderr}");
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        let rows = status["servers"].as_array().unwrap();
        let row = rows.iter().find(|row| row["id"] == "good").unwrap();
        row["serverPid"].as_u64().map(|pid| u32::try_from(pid).unwrap())
    };
    assert_eq!(pid_in_status(), Some(servers[0]));
    let (code, text, _) = scene.run(&["check", "--root", "shop", "shop/a.foo"]);
    assert_eq!((code, text.trim_end()), (1, found("a.foo", "one").split_once('\n').unwrap().1));
    assert_eq!(scene.servers(), servers, "checked by the server that runs");
    let (code, _, stderr) = scene.run(&["lsp", "restart", "nonsense", "--root", "shop"]);
    assert_eq!(code, 2, "{stderr}");
    assert_eq!(scene.servers(), servers);
    let (code, _, stderr) = scene.run(&["lsp", "restart", "good", "--root", "shop"]);
    assert_eq!(code, 0, "{stderr}");
    wait_until("the server ends", || scene.servers().is_empty());
    agent.write("a.foo", "ERR two\n");
    let after = scene.servers();
    assert_eq!(after.len(), 1);
    assert_ne!(after, servers);
    assert_eq!(pid_in_status(), Some(after[0]));
    assert_eq!(agent.leave().0, 0);
    nothing_is_left(&scene);
}

#[test]
fn a_host_that_is_stopped_costs_a_guest_its_diagnostics_and_nothing_else() {
    let scene = Scene::trusted("good");
    let mut host = scene.agent();
    host.write("a.foo", "ERR one\n");
    host.signal(Signal::STOP);
    let mut guest = scene.agent();
    assert_eq!(guest.write("b.foo", "ERR two\n"), "Created b.foo (1 line).");
    assert_eq!(std::fs::read_to_string(scene.shop().join("b.foo")).unwrap(), "ERR two\n");
    let answer = guest.call("lsp_check", json!({ "filePath": "b.foo" }));
    assert_eq!(answer["isError"], true);
    assert_eq!(agent::text(&answer), "LSP unavailable: the process that hosts it did not answer within 10 s");
    assert_eq!(guest.leave().0, 0);
    host.signal(Signal::CONT);
    assert!(host.write("c.foo", "ERR three\n").starts_with(&created("c.foo", "three")));
    assert_eq!(host.leave().0, 0);
    nothing_is_left(&scene);
}

// REQ-TIME-010
#[test]
fn a_service_that_is_frozen_costs_an_edit_no_more_than_the_configured_time() {
    let scene = Scene::trusted("good");
    let config = std::fs::read_to_string(&scene.config).unwrap();
    let config = config.replace("firstTouchTimeout = 120000", "firstTouchTimeout = 2000");
    std::fs::write(&scene.config, config.replace("diagnosticTimeout = 60000", "diagnosticTimeout = 500"))
        .unwrap();
    let mut agent = scene.agent();
    agent.write("a.foo", "fine\n");
    let service = scene.processes("lsp-service");
    let signal = |signal| {
        for pid in &service {
            let pid = rustix::process::Pid::from_raw(i32::try_from(*pid).unwrap()).unwrap();
            rustix::process::kill_process(pid, signal).unwrap();
        }
    };
    signal(Signal::STOP);
    let mut took = Vec::new();
    for n in 0..3 {
        let began = std::time::Instant::now();
        assert_eq!(agent.write(&format!("{n}.foo"), "ERR x\n"), format!("Created {n}.foo (1 line)."));
        took.push(began.elapsed());
    }
    signal(Signal::CONT);
    // Five seconds more than configured were waited each time; the bounds leave room for a busy machine.
    assert!(took[0].as_secs() < 5 && took[1].as_secs() < 3 && took[2].as_secs() < 3, "{took:?}");
    assert_eq!(agent.leave().0, 0);
    nothing_is_left(&scene);
}

#[test]
fn an_untrusted_root_has_no_server_for_hosts_and_guests_alike() {
    let scene = Scene::new("good");
    let (mut host, mut guest) = (scene.agent(), scene.agent());
    assert_eq!(host.write("a.foo", "ERR one\n"), "Created a.foo (1 line).");
    assert_eq!(guest.write("b.foo", "ERR two\n"), "Created b.foo (1 line).");
    assert_eq!(scene.servers(), Vec::<u32>::new());
    let (_, status, _) = scene.run(&["lsp", "status", "--root", "shop"]);
    let mend = format!("chartroom trust {}", scene.shop().display());
    assert!(status.contains("good: untrusted") && status.contains(&mend), "{status}");
    // Trust counts at once, for both; and taken back, the server ends.
    assert_eq!(scene.run(&["trust", "shop"]).0, 0);
    assert!(guest.write("c.foo", "ERR three\n").starts_with(&created("c.foo", "three")));
    assert_eq!(scene.run(&["trust", "--revoke", "shop"]).0, 0);
    wait_until("the server ends with the trust", || scene.servers().is_empty());
    assert_eq!(guest.write("d.foo", "ERR four\n"), "Created d.foo (1 line).");
    assert_eq!(scene.servers(), Vec::<u32>::new());
    assert_eq!((guest.leave().0, host.leave().0), (0, 0));
    nothing_is_left(&scene);
}
