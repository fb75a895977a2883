//! Real shells on real terminals, under a real keeper.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chartroom_terminals::{Attachment, Event, Exit, Limits, TerminalError, TerminalSize, Terminals};
use chartroom_transport::{Keeper, process};
use chartroom_workspace::{CanonicalRoot, GateError, SpawnGate, TrustStore};

/// Generous, for a loaded machine: only a failing test waits this long.
const LIMIT: Duration = Duration::from_secs(60);
const SIZE: TerminalSize = TerminalSize { columns: 80, rows: 24 };

struct Fixture {
    _folder: tempfile::TempDir,
    root: CanonicalRoot,
    gate: SpawnGate,
    terminals: Terminals,
}

fn fixture(limits: Limits) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("project")).unwrap();
    let root = CanonicalRoot::open(folder.path().join("project")).unwrap();
    let data = folder.path().join("data");
    let trust = Arc::new(TrustStore::open(&data).unwrap());
    trust.trust(&root).unwrap();
    let keeper = Keeper { program: chartroom_testkit::fakes::keeper(), args: vec!["keeper".into()] };
    let environment = BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]);
    let gate = SpawnGate::with_environment(keeper, trust, &data, environment);
    let terminals = Terminals::new(gate.clone(), PathBuf::from("/bin/sh"), limits);
    Fixture { _folder: folder, root, gate, terminals }
}

impl Fixture {
    fn open(&self) -> String {
        self.terminals.open(&self.root, self.root.as_path(), SIZE).unwrap()
    }
}

/// One that looks and reads all.
struct Reader {
    attachment: Attachment,
    text: String,
    n_read: u64,
}

impl Reader {
    fn of(terminals: &Terminals, id: &str) -> Self {
        Reader { attachment: terminals.attach(id).unwrap(), text: String::new(), n_read: 0 }
    }

    async fn event(&mut self) -> Event {
        let event = tokio::time::timeout(LIMIT, self.attachment.next()).await;
        let event = event.unwrap_or_else(|_| panic!("nothing more after {:?}", self.text));
        if let Event::Printed(bytes) = &event {
            self.n_read += bytes.len() as u64;
            self.text.push_str(&String::from_utf8_lossy(bytes));
        }
        event
    }

    /// Reads until this was printed, and returns all that was since the last call.
    async fn until(&mut self, wanted: &str) -> String {
        while !self.text.contains(wanted) {
            self.attachment.has_read(self.n_read);
            self.event().await;
        }
        std::mem::take(&mut self.text)
    }

    async fn type_in(&self, text: &str) {
        self.attachment.type_in(text.as_bytes().to_vec()).await;
    }
}

#[tokio::test]
async fn a_shell_has_a_terminal_of_its_own_with_a_size_and_a_ctrl_c() {
    let fixture = fixture(Limits::default());
    let id = fixture.open();
    let mut reader = Reader::of(&fixture.terminals, &id);
    reader.type_in("echo at''$(tty) in''$(pwd) size''$(stty size) err''$(tty <&2)\n").await;
    let printed = reader.until("err/dev/").await;
    assert!(printed.contains("at/dev/") && printed.contains("size24 80"), "{printed}");
    assert!(printed.contains(&format!("in{}", fixture.root)), "{printed}");
    reader.attachment.resize(TerminalSize { columns: 100, rows: 30 }).await;
    reader.type_in("echo size''$(stty size)\n").await;
    reader.until("size30 100").await;
    // What runs is interrupted, and the shell is not. It says itself that it has begun: then it has the terminal.
    reader.type_in("sh -c 'echo be\"\"gun; exec sleep 1000'\n").await;
    reader.until("begun").await;
    reader.type_in("\u{3}").await;
    reader.type_in("echo sta''tus $?\n").await;
    reader.until("status 130").await;
}

#[tokio::test]
async fn a_flood_waits_for_its_reader_and_ends_with_ctrl_c() {
    let limits = Limits { unread: 50_000, scrollback: 100_000, ..Limits::default() };
    let fixture = fixture(limits);
    let id = fixture.open();
    let mut reader = Reader::of(&fixture.terminals, &id);
    reader.type_in("yes\n").await;
    // It says that it has read nothing, and gets no more than the window.
    while reader.n_read < 50_000 {
        reader.event().await;
    }
    assert_eq!(reader.n_read, 50_000);
    let more = tokio::time::timeout(Duration::from_millis(200), reader.attachment.next()).await;
    assert!(more.is_err(), "{more:?}");
    // Far more than what is kept comes through when it is read.
    for _ in 0..100 {
        reader.attachment.has_read(reader.n_read);
        let event = reader.event().await;
        assert!(matches!(event, Event::Printed(_)), "nothing is skipped: {event:?}");
    }
    reader.type_in("\u{3}").await;
    reader.type_in("echo a''gain\n").await;
    reader.until("again").await;
}

#[tokio::test]
async fn who_comes_later_is_given_what_was_printed_before() {
    let fixture = fixture(Limits::default());
    let id = fixture.open();
    let mut first = Reader::of(&fixture.terminals, &id);
    first.type_in("echo ear''lier\n").await;
    first.until("earlier\r\n").await;
    drop(first);
    let mut second = Reader::of(&fixture.terminals, &id);
    assert!(second.attachment.replayed() > 0);
    second.until("earlier").await;
    // Two may look at once, and what one types the other sees.
    let third = Reader::of(&fixture.terminals, &id);
    third.type_in("echo bo''th\n").await;
    second.until("both").await;
}

#[tokio::test]
async fn a_slow_reader_does_not_hold_up_a_quick_one_and_is_told_what_it_missed() {
    let limits = Limits { unread: 20_000, scrollback: 40_000, ..Limits::default() };
    let fixture = fixture(limits);
    let id = fixture.open();
    let mut slow = Reader::of(&fixture.terminals, &id);
    let mut quick = Reader::of(&fixture.terminals, &id);
    quick.type_in("yes 0123456789 | head -20000; echo en''ded\n").await;
    quick.until("ended").await;
    let mut skipped = 0;
    while !slow.text.contains("ended") {
        slow.attachment.has_read(slow.n_read);
        skipped += u32::from(slow.event().await == Event::Skipped);
    }
    assert_eq!(skipped, 1);
    assert!(slow.n_read < 120_000, "{} of 240,000 bytes", slow.n_read);
}

#[tokio::test]
async fn the_end_is_told_after_the_last_words_and_stays_to_be_read() {
    let fixture = fixture(Limits::default());
    let id = fixture.open();
    let mut reader = Reader::of(&fixture.terminals, &id);
    reader.type_in("echo la''st; exit 3\n").await;
    let exit = loop {
        if let Event::Exited(exit) = reader.event().await {
            break exit;
        }
    };
    assert_eq!(exit, Exit::Code(3));
    assert!(reader.text.contains("last"), "{}", reader.text);
    let mut later = Reader::of(&fixture.terminals, &id);
    later.until("last").await;
    assert_eq!(fixture.terminals.list(&fixture.root)[0].exit, Some(Exit::Code(3)));
    fixture.terminals.close(&id).await.unwrap();
    assert_eq!(fixture.terminals.list(&fixture.root), []);
}

#[tokio::test]
async fn closing_ends_all_that_was_started_in_it() {
    let fixture = fixture(Limits::default());
    let id = fixture.open();
    let mut reader = Reader::of(&fixture.terminals, &id);
    reader.type_in("(trap '' HUP TERM; setsid sleep 1000 & echo child''=$!=; wait)\n").await;
    let printed = reader.until("=\r\n").await;
    let pid: u32 = printed.rsplit("child=").next().unwrap().split('=').next().unwrap().parse().unwrap();
    let started = process::start_time(pid);
    assert!(started.is_some(), "the fixture is alive");
    fixture.terminals.close(&id).await.unwrap();
    assert_eq!(process::start_time(pid), None);
    assert_eq!(reader.event().await, Event::Gone);
    assert!(matches!(fixture.terminals.attach(&id), Err(TerminalError::NotFound(_))));
}

#[tokio::test]
async fn a_terminal_that_nobody_looks_at_ends() {
    let fixture = fixture(Limits { unattended: Duration::from_millis(100), ..Limits::default() });
    let looked_at = fixture.open();
    let mut reader = Reader::of(&fixture.terminals, &looked_at);
    fixture.open();
    let listed = || fixture.terminals.list(&fixture.root);
    let one = async {
        while listed().len() > 1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LIMIT, one).await.expect("the one that nobody looks at ends");
    assert_eq!(listed()[0].id, looked_at);
    reader.type_in("echo still''here\n").await;
    reader.until("stillhere").await;
}

#[tokio::test]
async fn a_folder_that_is_not_trusted_has_no_terminal_and_one_that_loses_its_trust_loses_it() {
    let fixture = fixture(Limits::default());
    let id = fixture.open();
    let mut reader = Reader::of(&fixture.terminals, &id);
    reader.type_in("echo be''gun\n").await;
    reader.until("begun").await;
    fixture.gate.trust().revoke(fixture.root.as_path()).unwrap();
    let exit = loop {
        if let Event::Exited(exit) = reader.event().await {
            break exit;
        }
    };
    assert_eq!(exit, Exit::Signal(9));
    let refused = fixture.terminals.open(&fixture.root, fixture.root.as_path(), SIZE);
    assert!(matches!(refused, Err(TerminalError::Gate(GateError::Untrusted { .. }))), "{refused:?}");
}

#[tokio::test]
async fn too_many_terminals_and_too_much_typing_are_refused() {
    let fixture = fixture(Limits { terminals: 1, typed_ahead: 100, ..Limits::default() });
    let id = fixture.open();
    let refused = fixture.terminals.open(&fixture.root, fixture.root.as_path(), SIZE);
    assert!(matches!(refused, Err(TerminalError::TooMany { limit: 1 })), "{refused:?}");
    let mut reader = Reader::of(&fixture.terminals, &id);
    reader.type_in(&"x".repeat(101)).await;
    while !matches!(reader.event().await, Event::Refused(101)) {}
    reader.type_in("echo a''live\n").await;
    reader.until("alive").await;
    assert!(!reader.text.contains('x'), "{}", reader.text);
}

#[tokio::test]
async fn closing_all_ends_each() {
    let fixture = fixture(Limits::default());
    for _ in 0..4 {
        fixture.open();
    }
    fixture.terminals.close_all().await;
    assert_eq!(fixture.terminals.list(&fixture.root), []);
}
