//! Ten agents on one folder with a real language server. `cargo xtask tools` installs it.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/agent.rs"]
mod agent;
#[path = "common/program.rs"]
mod program;

use std::process::Command;

use agent::{Agent, Scene};
use program::{processes_of, wait_until};
use rustix::process::Signal;
use serde_json::json;

/// A trusted TypeScript project in the scene's folder.
fn scene() -> Scene {
    let scene = Scene::trusted("good");
    let shop = scene.shop();
    std::fs::write(shop.join("package.json"), "{\"name\":\"shop\"}").unwrap();
    std::fs::write(shop.join("tsconfig.json"), "{\"compilerOptions\":{\"strict\":true,\"types\":[]}}")
        .unwrap();
    for n in 0..10 {
        std::fs::write(shop.join(format!("{n}.ts")), format!("export const a{n}: number = 1;\n")).unwrap();
    }
    let modules = chartroom_testkit::tools::dir().join("ts7").join("node_modules");
    assert!(modules.is_dir(), "run `cargo xtask tools` to install {}", modules.display());
    std::os::unix::fs::symlink(modules, shop.join("node_modules")).unwrap();
    scene
}

fn command(scene: &Scene, args: &[&str]) -> Command {
    let mut command = scene.command(args);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

/// The language servers: a launcher and what it launched are one.
fn servers(scene: &Scene) -> Vec<u32> {
    let all = scene.processes("--lsp");
    let parent = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        rest.split(' ').nth(1).and_then(|pid| pid.parse::<u32>().ok())
    };
    all.iter().copied().filter(|pid| parent(*pid).is_none_or(|parent| !all.contains(&parent))).collect()
}

/// Each agent edits a file of its own, all at once, and reads its diagnostics.
fn edit_all(agents: &mut [(usize, Agent)], old: &str, new: &str) {
    std::thread::scope(|scope| {
        for (n, agent) in agents {
            scope.spawn(move || {
                let file = format!("{n}.ts");
                let edit = json!({ "filePath": file, "oldText": format!("= {old}"), "newText": format!("= {new}") });
                let answer = agent::text(&agent.call("edit_file", edit));
                let column = 14;
                let expected = format!(
                    "Edited {file} (1 replacement).\n\nLSP errors detected in this file, please fix:\n<diagnostics file=\"{file}\">\nERROR [1:{column}] Type 'string' is not assignable to type 'number'. (2322)\n</diagnostics>"
                );
                assert_eq!(answer, expected);
            });
        }
    });
}

#[test]
fn ten_agents_on_one_project_share_one_typescript_and_outlive_its_host() {
    let scene = scene();
    let mut agents: Vec<(usize, Agent)> = (0..10)
        .map(|n| (n, Agent::start(command(&scene, &["mcp", "--root", "shop", "--only", "lsp,edits"]))))
        .collect();
    edit_all(&mut agents, "1", "'x'");
    let before = servers(&scene);
    assert_eq!(before.len(), 1, "ten agents, one TypeScript");
    let status =
        program::finish(command(&scene, &["lsp", "status", "--root", "shop", "--json"]).output().unwrap());
    let status: serde_json::Value = serde_json::from_str(&status.1).unwrap();
    let rows = status["servers"].as_array().unwrap();
    let pids: Vec<u64> = rows.iter().filter_map(|row| row["serverPid"].as_u64()).collect();
    assert_eq!(pids, [u64::from(before[0])]);
    let host = scene.host().unwrap();
    let dead = agents.iter().position(|(_, agent)| agent.pid() == host).unwrap();
    agents.remove(dead).1.signal(Signal::KILL);
    edit_all(&mut agents, "'x'", "'y'");
    wait_until("the first server is gone", || !servers(&scene).contains(&before[0]));
    assert_eq!(servers(&scene).len(), 1, "nine agents, one TypeScript");
    for (_, agent) in agents {
        assert_eq!(agent.leave().0, 0);
    }
    wait_until("nothing is left", || processes_of(&scene.home.path()).is_empty());
    assert_eq!(scene.traces(), Vec::<String>::new());
}
