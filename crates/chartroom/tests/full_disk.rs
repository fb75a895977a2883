//! What was allowed can be taken back on a disk that takes no byte more: trust, and browsers that were let in.

#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "the program under test is started as a shell would")]

#[path = "common/disk.rs"]
mod disk;
#[path = "common/program.rs"]
mod program;

use std::process::{Command, Stdio};

use disk::{Mount, fill};
use program::{Home, finish};

/// Runs a command that may write no byte to any file.
fn run_without_room(home: &Home, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_chartroom")])
        .args(args)
        .current_dir(home.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home.path())
        .env("CHARTROOM_HOME", home.data())
        .stdin(Stdio::null());
    finish(command.output().unwrap())
}

fn trusted(home: &Home) -> Vec<String> {
    let (code, list, stderr) = home.run(&["trust", "--list"]);
    assert_eq!(code, 0, "{stderr}");
    list.lines().map(|line| line.rsplit('/').next().unwrap().to_owned()).collect()
}

fn trust_two(home: &Home) {
    for name in ["bakery", "shop"] {
        std::fs::create_dir(home.path().join(name)).unwrap();
        assert_eq!(home.run(&["trust", name]).0, 0);
    }
    assert_eq!(trusted(home), ["bakery", "shop"]);
}

#[test]
fn trust_is_taken_back_where_nothing_can_be_written() {
    let home = Home::new();
    trust_two(&home);
    let (code, said, _) = run_without_room(&home, &["trust", "--revoke", "shop"]);
    assert_eq!((code, said), (0, format!("no longer trusted {}\n", home.path().join("shop").display())));
    assert_eq!(trusted(&home), [""; 0], "what cannot be written down is not trusted either");
    let (code, _, why) = run_without_room(&home, &["trust", "bakery"]);
    assert_eq!((code, why.lines().count()), (3, 1), "trust that cannot be kept is not given: {why}");
}

#[test]
fn trust_is_taken_back_on_a_full_disk_and_the_rest_stays() {
    let home = Home::new();
    let Some(_disk) = Mount::tmpfs(&home.data(), "256k") else {
        return eprintln!("mounting is not permitted here: the other test shows it");
    };
    trust_two(&home);
    fill(&home.data(), 0);
    let (code, _, stderr) = home.run(&["trust", "--revoke", "shop"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(trusted(&home), ["bakery"]);
}

#[test]
fn browsers_are_put_out_where_nothing_can_be_written() {
    let home = Home::new();
    let server = home.serve(&[]);
    let port = server.host().split_once(':').unwrap().1.to_owned();
    let browser = server.let_in();
    assert_eq!(server.stop().0, 0);
    let (code, said, _) = run_without_room(&home, &["link", "--revoke"]);
    assert_eq!((code, said.as_str()), (0, "signed out 1 browser\n"));
    let server = program::Server::start(home.command(&["serve", "--port", &port]));
    assert_eq!(server.status(&browser), "401");
}
