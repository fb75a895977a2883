//! The pool, what it remembers, and what crosses the pipe.

mod overflow;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;

use super::*;

const SOURCE: &str = "class Shop:\n    def sell(self, what):\n        return self.price(what)\n\nimport os\n";

/// What a worker does to a question.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Answers,
    Dies,
    Babbles,
    Hangs,
    /// Its own budget is over.
    GivesUp,
}

struct Scripted {
    fates: Arc<Mutex<VecDeque<Fate>>>,
    asked: Arc<AtomicUsize>,
}

impl Worker for Scripted {
    fn ask(&mut self, question: &[u8], _: Duration) -> Answer {
        self.asked.fetch_add(1, Ordering::SeqCst);
        match self.fates.lock().unwrap().pop_front().unwrap_or(Fate::Answers) {
            Fate::Answers => Ok(serve(question)),
            Fate::Dies => Err(WorkerError::Died("signal 6".into())),
            Fate::Babbles => Ok(b"what?".to_vec()),
            Fate::Hangs => Err(WorkerError::TooSlow),
            Fate::GivesUp => Ok(wire::answer(&Err(Unparsed::TooSlow))),
        }
    }
}

/// A parser whose workers do these things in turn, then answer.
struct Stage {
    data: tempfile::TempDir,
    fates: Arc<Mutex<VecDeque<Fate>>>,
    asked: Arc<AtomicUsize>,
    started: Arc<AtomicUsize>,
}

impl Stage {
    fn new(fates: &[Fate]) -> Self {
        Stage {
            data: tempfile::tempdir().unwrap(),
            fates: Arc::new(Mutex::new(fates.iter().copied().collect())),
            asked: Arc::default(),
            started: Arc::default(),
        }
    }

    fn parser(&self, version: &str) -> HelperParser {
        let (fates, asked, started) =
            (Arc::clone(&self.fates), Arc::clone(&self.asked), Arc::clone(&self.started));
        HelperParser::new(self.data.path(), version, move || {
            started.fetch_add(1, Ordering::SeqCst);
            Ok(Box::new(Scripted { fates: Arc::clone(&fates), asked: Arc::clone(&asked) }))
        })
    }

    fn counts(&self) -> (usize, usize) {
        (self.started.load(Ordering::SeqCst), self.asked.load(Ordering::SeqCst))
    }
}

#[test]
fn a_helper_says_what_the_parser_says_and_is_kept() {
    let stage = Stage::new(&[]);
    let parser = stage.parser("1");
    for (path, text) in [("a.py", SOURCE), ("b.rs", "mod a { impl X { fn f() { g::h(); } } }"), ("c.c", "")] {
        assert_eq!(parser.extract(path, text), InProcess::default().extract(path, text), "{path}");
    }
    assert_eq!(stage.counts(), (1, 3));
}

#[test]
fn a_death_by_somebody_else_s_hand_costs_a_restart_only() {
    for fate in [Fate::Dies, Fate::Babbles] {
        let stage = Stage::new(&[fate]);
        let parser = stage.parser("1");
        assert!(parser.extract("a.py", SOURCE).is_ok());
        assert!(parser.extract("a.py", SOURCE).is_ok());
        assert_eq!(stage.counts().1, 3);
    }
}

#[test]
fn a_file_that_takes_two_helpers_down_is_never_tried_again_by_this_version() {
    for (fates, why) in [
        (&[Fate::Dies, Fate::Dies][..], Unparsed::Fatal),
        (&[Fate::Dies, Fate::Babbles], Unparsed::Fatal),
        (&[Fate::Hangs], Unparsed::TooSlow),
        (&[Fate::GivesUp], Unparsed::TooSlow),
        (&[Fate::Dies, Fate::Hangs], Unparsed::TooSlow),
    ] {
        let stage = Stage::new(fates);
        assert_eq!(stage.parser("1").extract("a.py", SOURCE), Err(why));
        let (_, n_asked) = stage.counts();
        // Another process of this version, a copy of the file.
        let parser = stage.parser("1");
        assert_eq!(parser.extract("copy.py", SOURCE), Err(Unparsed::Fatal));
        assert_eq!(stage.counts().1, n_asked);
        // Other files are parsed as ever, the same text in another language too.
        assert!(parser.extract("a.py", "import sys\n").is_ok());
        assert!(parser.extract("a.rb", SOURCE).is_ok());
        // Another version has other grammars.
        assert!(stage.parser("2").extract("a.py", SOURCE).is_ok());
    }
}

#[test]
fn after_the_work_one_helper_is_kept() {
    let stage = Stage::new(&[]);
    let parser = stage.parser("1");
    parser.rest();
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| assert!(parser.extract("a.py", SOURCE).is_ok()));
        }
    });
    parser.rest();
    let (before, _) = stage.counts();
    assert!(parser.extract("a.py", SOURCE).is_ok());
    assert_eq!(stage.counts().0, before);
    assert_eq!(parser.n_helpers(), 1);
}

#[test]
fn without_a_helper_a_file_is_not_parsed_and_not_blamed() {
    let data = tempfile::tempdir().unwrap();
    let parser = HelperParser::new(data.path(), "1", || Err("no more processes".to_owned()));
    for _ in 0..100 {
        assert_eq!(parser.extract("a.py", SOURCE), Err(Unparsed::NoParser));
    }
    assert!(!data.path().join("index/unparsed").exists());
}

#[test]
fn many_threads_share_a_few_helpers() {
    let stage = Stage::new(&[]);
    let parser = stage.parser("1");
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| assert!(parser.extract("a.py", SOURCE).is_ok()));
        }
    });
    let (n_started, n_asked) = stage.counts();
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    assert!(n_started <= most && n_asked == 64, "{n_started} {n_asked}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a helper answers is read or refused, and what is read is said again in the same way.
    #[test]
    fn any_bytes_are_an_answer_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut answer = bytes;
        answer.insert(0, 1);
        if let Some(said) = wire::answered(&answer) {
            assert_eq!(wire::answered(&wire::answer(&said)), Some(said));
        }
    }

    /// A changed byte of a true answer breaks nothing either.
    #[test]
    fn a_torn_answer_is_an_answer_or_none(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut answer = wire::answer(&InProcess::default().extract("a.py", SOURCE));
        let at = at.index(answer.len());
        if cut { answer.truncate(at) } else { answer[at] = byte }
        if let Some(said) = wire::answered(&answer) {
            assert_eq!(wire::answered(&wire::answer(&said)), Some(said));
        }
    }
}

// Two files that fail at the same moment, in a pool of helpers or in two processes.
#[test]
fn files_that_fail_at_the_same_moment_are_all_remembered() {
    for _ in 0..200 {
        let data = tempfile::tempdir().unwrap();
        let start = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for number in 0..4 {
                let (start, data) = (&start, data.path());
                scope.spawn(move || {
                    let failed = failed::FailedFiles::open(data, "1");
                    start.wait();
                    failed.add(format!("{number}"));
                });
            }
        });
        let failed = failed::FailedFiles::open(data.path(), "1");
        assert!((0..4).all(|number| failed.contains(&format!("{number}"))), "{failed:?}");
        let text = std::fs::read_to_string(data.path().join("index/unparsed")).unwrap();
        assert_eq!(text.lines().count(), 5, "{text}");
    }
}
