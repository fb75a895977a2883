//! Children under a real keeper: what they are given, what we learn of them, and that nothing outlives us.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use chartroom_transport::{Child, ChildSpec, Exit, Keeper, SpawnError, process, spawn};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

/// Generous, for a loaded machine: only a failing test waits this long.
const LIMIT: Duration = Duration::from_secs(60);

const KEEPER: &str = env!("CARGO_BIN_EXE_transport-keeper");

fn keeper() -> Keeper {
    Keeper { program: PathBuf::from(KEEPER), args: vec!["keeper".into()] }
}

fn spec(script: &str) -> ChildSpec {
    ChildSpec {
        label: "sh".to_owned(),
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        cwd: "/".into(),
        folder: None,
        env: [("PATH".into(), "/usr/bin:/bin".into())].into(),
        extra_pipes: false,
        terminal: None,
        sandbox: None,
    }
}

fn shell(script: &str) -> Child {
    spawn(&keeper(), spec(script)).expect("the keeper starts")
}

/// Reads `n` process ids, one a line.
async fn pids(stdout: impl AsyncBufRead + Unpin, n: usize) -> Vec<u32> {
    let mut lines = stdout.lines();
    let mut pids = Vec::new();
    while pids.len() < n {
        let line = tokio::time::timeout(LIMIT, lines.next_line()).await.expect("a pid in time").unwrap();
        pids.push(line.expect("a pid before the end").trim().parse().expect("a pid"));
    }
    pids
}

fn alive(pids: &[u32]) -> Vec<u32> {
    pids.iter().copied().filter(|pid| process::start_time(*pid).is_some()).collect()
}

/// Waits until a process that is not our child has ended.
async fn gone(pid: u32) {
    let Ok(pidfd) = rustix::process::pidfd_open(pid_of(pid), PidfdFlags::empty()) else { return };
    let wait = move || {
        let mut fds = [PollFd::new(&pidfd, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec { tv_sec: 60, tv_nsec: 0 })).expect("a pidfd can be polled")
    };
    assert_eq!(tokio::task::spawn_blocking(wait).await.unwrap(), 1, "process {pid} is still alive");
}

fn pid_of(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
}

async fn exit_of(child: &Child) -> Exit {
    tokio::time::timeout(LIMIT, child.wait()).await.expect("the child ends in time")
}

/// A daemon as daemons are made: its own session, its parent gone.
const SETSID_GRANDCHILD: &str = "setsid sh -c 'echo $$; exec sleep 1000' &";
const DOUBLE_FORKED_GRANDCHILD: &str = "( ( setsid sh -c 'echo $$; exec sleep 1000' & ) & );";
const STUBBORN_GRANDCHILD: &str = "sh -c 'trap \"\" TERM HUP INT; echo $$; while :; do sleep 1; done' &";

#[tokio::test]
async fn a_child_says_what_it_has_to_say_and_ends() {
    let mut child = shell("echo out; echo err >&2; exit 7");
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).await.unwrap();
    assert_eq!(
        (out.as_str(), exit_of(&child).await, child.stderr_tail().as_str()),
        ("out\n", Exit::Code(7), "err")
    );
    assert!(child.pid().is_some());
}

#[tokio::test]
async fn stdin_and_stdout_go_through_and_the_end_of_input_arrives() {
    let mut child = shell("cat; echo end");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"hello\n").await.unwrap();
    drop(stdin);
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).await.unwrap();
    assert_eq!((out.as_str(), exit_of(&child).await), ("hello\nend\n", Exit::Code(0)));
}

#[tokio::test]
async fn the_extra_pipes_are_descriptors_3_and_4() {
    let mut child =
        spawn(&keeper(), ChildSpec { extra_pipes: true, ..spec("cat <&3 >&4; echo done") }).unwrap();
    let (mut writer, mut reader) = child.extra.take().unwrap();
    writer.write_all(b"over the side door").await.unwrap();
    drop(writer);
    let mut out = String::new();
    reader.read_to_string(&mut out).await.unwrap();
    assert_eq!((out.as_str(), exit_of(&child).await), ("over the side door", Exit::Code(0)));
}

#[tokio::test]
async fn without_extra_pipes_the_child_has_no_descriptor_of_ours() {
    let list = "ls /proc/self/fd";
    let mut child = shell(list);
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).await.unwrap();
    // What a plain child has: stdio, the folder that `ls` has open, and whatever started these tests leaked.
    #[expect(clippy::disallowed_methods, reason = "the plain way to start a child is what we compare with")]
    let plain = tokio::process::Command::new("/bin/sh").args(["-c", list]).output().await.unwrap();
    assert_eq!(out, String::from_utf8(plain.stdout).unwrap());
}

#[tokio::test]
async fn a_child_gets_the_given_environment_and_folder_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let env = [("PATH".into(), "/usr/bin:/bin".into()), ("ONE".into(), "1".into())].into();
    let mut child =
        spawn(&keeper(), ChildSpec { cwd: real.clone(), env, ..spec("pwd; env | sort") }).unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).await.unwrap();
    let set_by_the_shell =
        |line: &&str| !["PWD=", "_=", "OLDPWD=", "SHLVL="].iter().any(|name| line.starts_with(name));
    let lines: Vec<&str> = out.lines().filter(set_by_the_shell).collect();
    assert_eq!(lines, [real.to_str().unwrap(), "ONE=1", "PATH=/usr/bin:/bin"]);
}

#[tokio::test]
async fn a_command_that_cannot_be_executed_says_why() {
    let child = spawn(&keeper(), ChildSpec { program: "/nonexistent/tool".into(), ..spec("") }).unwrap();
    let expected = Exit::NotStarted("/nonexistent/tool: No such file or directory (os error 2)".to_owned());
    assert_eq!((child.started().await, exit_of(&child).await), (Err(expected.clone()), expected));
}

#[tokio::test]
async fn a_wrong_folder_a_relative_program_and_a_missing_keeper_are_errors_at_once() {
    let missing_folder = spawn(&keeper(), ChildSpec { cwd: "/nonexistent".into(), ..spec("") });
    assert!(matches!(missing_folder, Err(SpawnError::Cwd { .. })));
    let relative = spawn(&keeper(), ChildSpec { program: "sh".into(), ..spec("") });
    assert!(matches!(relative, Err(SpawnError::NotAbsolute { .. })));
    let missing = Keeper { program: "/nonexistent/keeper".into(), args: vec![] };
    assert!(matches!(spawn(&missing, spec("")), Err(SpawnError::Keeper { .. })));
}

#[tokio::test]
async fn a_child_ended_by_a_signal_says_which() {
    assert_eq!(exit_of(&shell("kill -9 $$")).await, Exit::Signal(9));
}

#[tokio::test]
async fn the_end_of_stdout_is_seen_while_the_child_lives_on() {
    let mut child = shell("exec sleep 1000 >&-");
    let mut out = String::new();
    let read = child.stdout.take().unwrap();
    tokio::time::timeout(LIMIT, BufReader::new(read).read_to_string(&mut out)).await.unwrap().unwrap();
    let pid = child.started().await.unwrap();
    assert_eq!(alive(&[pid]), [pid]);
}

#[tokio::test]
async fn stderr_keeps_its_last_lines_and_cuts_long_ones() {
    let child = shell(
        "i=0; while [ $i -lt 100 ]; do echo line $i >&2; i=$((i+1)); done; head -c 100000 /dev/zero | tr '\\0' x >&2",
    );
    exit_of(&child).await;
    let tail = child.stderr_tail();
    let lines: Vec<&str> = tail.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[39].len()), (40, "line 61", 2048));
}

#[tokio::test]
async fn end_asks_first() {
    let mut child = shell("trap 'echo asked; exit 3' TERM; echo $$; while :; do sleep 0.05; done");
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    pids(&mut stdout, 1).await;
    assert_eq!(child.end(LIMIT).await, Exit::Code(3));
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "asked\n");
}

/// Starts a script that prints `n` pids and waits, ends it, and finds nobody alive.
async fn check_end_leaves_nobody(script: &str, n: usize) {
    let mut child = shell(&format!("{script} echo $$; wait; sleep 1000"));
    let pids = pids(BufReader::new(child.stdout.take().unwrap()), n + 1).await;
    assert_eq!(alive(&pids), pids, "the fixture is alive");
    child.end(Duration::from_millis(50)).await;
    assert_eq!(alive(&pids), [0; 0]);
}

#[tokio::test]
async fn end_takes_a_grandchild_that_made_its_own_session() {
    check_end_leaves_nobody(SETSID_GRANDCHILD, 1).await;
}

#[tokio::test]
async fn end_takes_a_double_forked_grandchild() {
    check_end_leaves_nobody(DOUBLE_FORKED_GRANDCHILD, 1).await;
}

#[tokio::test]
async fn end_takes_a_child_and_a_grandchild_that_ignore_sigterm() {
    check_end_leaves_nobody(&format!("trap '' TERM; {STUBBORN_GRANDCHILD}"), 1).await;
}

#[tokio::test]
async fn end_takes_a_stopped_grandchild() {
    check_end_leaves_nobody("sh -c 'echo $$; kill -STOP $$' &", 1).await;
}

#[tokio::test]
async fn when_the_child_ends_by_itself_its_daemons_end_too() {
    let mut child = shell(&format!("{SETSID_GRANDCHILD} {DOUBLE_FORKED_GRANDCHILD} read go"));
    let pids = pids(BufReader::new(child.stdout.take().unwrap()), 2).await;
    child.stdin.take().unwrap().write_all(b"go\n").await.unwrap();
    assert_eq!((exit_of(&child).await, alive(&pids)), (Exit::Code(0), vec![]));
}

#[tokio::test]
async fn dropping_the_child_ends_everything() {
    let mut child = shell(&format!("trap '' TERM; {SETSID_GRANDCHILD} echo $$; wait; sleep 1000"));
    let pids = pids(BufReader::new(child.stdout.take().unwrap()), 2).await;
    let watch = child.exit_watch();
    drop(child);
    let exit = tokio::time::timeout(LIMIT, watch.wait()).await.expect("an end in time");
    assert_eq!((exit, alive(&pids)), (Exit::Signal(9), vec![]));
}

#[tokio::test]
async fn a_kill_switch_ends_a_child_that_another_holds() {
    let child = shell("sleep 1000");
    let pid = child.started().await.unwrap();
    let switch = child.kill_switch();
    let exit = tokio::time::timeout(LIMIT, switch.kill()).await.unwrap();
    assert_eq!((exit, switch.is_spent(), alive(&[pid])), (Exit::Signal(9), true, vec![]));
}

#[tokio::test]
async fn a_kill_minus_9_of_the_owner_leaves_no_child_and_no_grandchild() {
    let script = format!(
        "trap '' TERM HUP; {SETSID_GRANDCHILD} {DOUBLE_FORKED_GRANDCHILD} {STUBBORN_GRANDCHILD} echo $$; wait; sleep 1000"
    );
    #[expect(clippy::disallowed_methods, reason = "the process that is killed stands for the server")]
    let mut owner =
        tokio::process::Command::new(KEEPER).args(["own", &script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut pids = pids(BufReader::new(owner.stdout.take().unwrap()), 4).await;
    assert_eq!(alive(&pids), pids, "the fixture is alive");
    let keepers = process::descendants(owner.id().unwrap());
    pids.push(keepers[0].as_raw_nonzero().get().unsigned_abs());
    owner.kill().await.unwrap();
    for pid in pids {
        gone(pid).await;
    }
}

#[tokio::test]
async fn a_sigterm_to_the_keeper_ends_everything_below() {
    let mut child = shell(&format!("trap '' TERM; {SETSID_GRANDCHILD} echo $$; wait; sleep 1000"));
    let pids = pids(BufReader::new(child.stdout.take().unwrap()), 2).await;
    rustix::process::kill_process(pid_of(child.keeper_pid()), Signal::TERM).unwrap();
    assert_eq!((exit_of(&child).await, alive(&pids)), (Exit::Signal(9), vec![]));
}

#[tokio::test]
async fn a_kill_minus_9_of_the_keeper_takes_the_child_along() {
    let child = shell("trap '' TERM HUP; while :; do sleep 1; done");
    let pid = child.started().await.unwrap();
    rustix::process::kill_process(pid_of(child.keeper_pid()), Signal::KILL).unwrap();
    gone(pid).await;
    assert_eq!(exit_of(&child).await, Exit::Lost);
}

#[tokio::test]
async fn a_keeper_and_its_child_are_out_of_the_reach_of_the_terminals_ctrl_c() {
    let child = shell("sleep 1000");
    let pid = child.started().await.unwrap();
    let ours = rustix::process::getpgrp();
    let groups = [child.keeper_pid(), pid].map(|pid| rustix::process::getpgid(Some(pid_of(pid))).unwrap());
    assert_eq!(groups, [pid_of(child.keeper_pid()), pid_of(pid)]);
    assert!(!groups.contains(&ours));
}

#[tokio::test]
async fn a_keeper_started_by_hand_refuses() {
    for args in [&["keeper"][..], &["keeper", "--", "/bin/true"], &["keeper", "--what", "--", "/bin/true"]] {
        #[expect(clippy::disallowed_methods, reason = "the keeper itself is under test")]
        let status =
            tokio::process::Command::new(KEEPER).args(args).stderr(Stdio::null()).status().await.unwrap();
        assert_eq!(status.code(), Some(2), "{args:?}");
    }
}

#[tokio::test]
async fn fifty_children_at_once_all_end() {
    let children: Vec<Child> = (0..50).map(|_| shell("sleep 1000 & sleep 1000")).collect();
    let mut pids = Vec::new();
    for child in &children {
        pids.push(child.started().await.unwrap());
    }
    for child in children {
        child.end(Duration::ZERO).await;
    }
    assert_eq!(alive(&pids), [0; 0]);
}
