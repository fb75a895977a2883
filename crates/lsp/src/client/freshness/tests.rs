use chartroom_protocol::lsp::Severity;
use serde_json::json;

use super::*;
use crate::client::state::OpenFile;
use crate::position::{Position, Range};

const PUSHING: Quirks = Quirks::NONE;
const SILENT: Quirks = Quirks { silent_when_unchanged: true, ..Quirks::NONE };
const CHECKING: Quirks = Quirks { check_on_save: Some("flycheck"), ..Quirks::NONE };

fn file() -> PathBuf {
    PathBuf::from("/p/a.ts")
}

fn finding(message: &str) -> Finding {
    let zero = Position { line: 0, character: 0 };
    Finding {
        range: Range { start: zero, end: zero },
        severity: Severity::Error,
        message: message.to_owned(),
        code: None,
        source: None,
    }
}

fn open(version: i32) -> State {
    let mut state = State::default();
    let file = OpenFile { version, text: "".into(), used: 0, is_outdated: false };
    state.open.insert(self::file(), file);
    state
}

fn touch(state: &State, version: i32, at: Instant) -> Touch {
    Touch {
        file: file(),
        version,
        epoch: state.epoch,
        is_unchanged: false,
        is_amid: false,
        n_checks: state.n_checks_begun,
        at,
    }
}

fn messages(state: &State, touch: &Touch, quirks: Quirks, settled: bool) -> Vec<String> {
    result(state, touch, quirks, settled).into_iter().map(|finding| finding.message).collect()
}

fn progress(state: &mut State, token: &str, kind: &str, now: Instant) {
    state.progress(
        &json!({ "token": token, "value": { "kind": kind, "title": "t" } }),
        Some("flycheck"),
        now,
    );
}

#[test]
fn a_push_of_an_old_version_does_not_count() {
    let now = Instant::now();
    let mut state = open(2);
    let touch = touch(&state, 2, now);
    assert!(state.publish(file(), Some(1), vec![finding("stale")], now));
    assert_eq!(pushed(&state, &touch, PUSHING, now + DEBOUNCE), Step::Wait(None));
    assert_eq!(messages(&state, &touch, PUSHING, false), Vec::<String>::new());
    assert!(state.publish(file(), Some(2), vec![finding("ours")], now));
    assert_eq!(pushed(&state, &touch, PUSHING, now + DEBOUNCE), Step::Done);
    assert_eq!(messages(&state, &touch, PUSHING, true), ["ours"]);
}

#[test]
fn pushes_out_of_order_and_from_the_future_are_dropped() {
    let now = Instant::now();
    let mut state = open(3);
    assert!(state.publish(file(), Some(3), vec![], now));
    assert!(!state.publish(file(), Some(2), vec![finding("late")], now));
    assert!(!state.publish(file(), Some(9), vec![finding("never sent")], now));
    assert_eq!(state.held(&file()), []);
}

#[test]
fn without_versions_only_a_push_after_the_change_counts() {
    let now = Instant::now();
    let mut state = open(1);
    state.publish(file(), None, vec![finding("before")], now);
    let touch = touch(&state, 2, now);
    assert_eq!(pushed(&state, &touch, PUSHING, now + DEBOUNCE * 9), Step::Wait(None));
    assert_eq!(messages(&state, &touch, PUSHING, false), Vec::<String>::new());
    state.publish(file(), None, vec![], now);
    assert_eq!(pushed(&state, &touch, PUSHING, now + DEBOUNCE), Step::Done);
}

// BR-15, REQ-TIME-050, EC-12
#[test]
fn a_push_settles_after_a_quiet_moment_and_a_second_one_begins_it_anew() {
    let now = Instant::now();
    let mut state = open(1);
    let touch = touch(&state, 1, now);
    state.publish(file(), Some(1), vec![finding("first")], now);
    assert_eq!(pushed(&state, &touch, PUSHING, now), Step::Wait(Some(now + DEBOUNCE)));
    let later = now + Duration::from_millis(100);
    state.publish(file(), Some(1), vec![finding("second")], later);
    assert_eq!(pushed(&state, &touch, PUSHING, now + DEBOUNCE), Step::Wait(Some(later + DEBOUNCE)));
    assert_eq!(pushed(&state, &touch, PUSHING, later + DEBOUNCE), Step::Done);
    assert_eq!(messages(&state, &touch, PUSHING, true), ["second"]);
}

#[test]
fn an_empty_push_while_the_server_loads_is_not_yet_and_not_clean() {
    let now = Instant::now();
    let mut state = open(1);
    let touch = touch(&state, 1, now);
    progress(&mut state, "load", "begin", now);
    state.publish(file(), Some(1), vec![], now);
    assert_eq!(pushed(&state, &touch, PUSHING, now + DEBOUNCE), Step::Wait(None));
    progress(&mut state, "load", "end", now);
    assert_eq!(pushed(&state, &touch, PUSHING, now + DEBOUNCE), Step::Done);
}

#[test]
fn silence_is_an_answer_only_from_servers_that_say_nothing_twice() {
    let now = Instant::now();
    let mut state = open(1);
    let first = touch(&state, 1, now);
    assert_eq!(pushed(&state, &first, SILENT, now + QUIET), Step::Wait(None), "it never spoke");
    state.publish(file(), None, vec![], now);
    let second = touch(&state, 2, now);
    assert_eq!(pushed(&state, &second, PUSHING, now + QUIET), Step::Wait(None));
    assert_eq!(pushed(&state, &second, SILENT, now), Step::Wait(Some(now + QUIET)));
    assert_eq!(pushed(&state, &second, SILENT, now + QUIET), Step::Done);
    state.publish(file(), None, vec![finding("still wrong")], now);
    let third = touch(&state, 3, now);
    assert_eq!(pushed(&state, &third, SILENT, now + QUIET), Step::Wait(None), "an error is worth the wait");
    assert_eq!(messages(&state, &third, SILENT, false), ["still wrong"]);
}

#[test]
fn the_answer_to_a_pull_ends_the_waiting_at_once() {
    let now = Instant::now();
    let mut state = open(2);
    let touch = touch(&state, 2, now);
    assert_eq!(pulled(&state, &touch, PUSHING, now), Step::Wait(None));
    state.pulled(&file(), 1, vec![finding("old")]);
    assert_eq!(pulled(&state, &touch, PUSHING, now), Step::Wait(None));
    assert_eq!(messages(&state, &touch, PUSHING, false), Vec::<String>::new());
    state.pulled(&file(), 2, vec![finding("new")]);
    assert_eq!(pulled(&state, &touch, PUSHING, now), Step::Done);
    assert_eq!(messages(&state, &touch, PUSHING, true), ["new"]);
}

#[test]
fn a_background_check_is_waited_for_and_clears_what_it_found_before() {
    let now = Instant::now();
    let mut state = open(1);
    state.publish(file(), None, vec![finding("borrowed")], now);
    let touch = touch(&state, 2, now);
    state.pulled(&file(), 2, vec![]);
    assert_eq!(pulled(&state, &touch, CHECKING, now), Step::Wait(Some(now + CHECK_BEGINS)));
    assert_eq!(messages(&state, &touch, CHECKING, false), Vec::<String>::new(), "stale until checked again");
    let began = now + CHECK_TAKES_UP;
    progress(&mut state, "rustAnalyzer/flycheck/0", "begin", began);
    assert_eq!(pulled(&state, &touch, CHECKING, began + CHECK_BEGINS), Step::Wait(None));
    let ended = began + CALLED_OFF;
    progress(&mut state, "rustAnalyzer/flycheck/0", "end", ended);
    assert_eq!(
        pulled(&state, &touch, CHECKING, ended),
        Step::Wait(Some(ended + QUIET)),
        "it may be taken back yet"
    );
    assert_eq!(pulled(&state, &touch, CHECKING, ended + QUIET), Step::Done);
    assert_eq!(messages(&state, &touch, CHECKING, true), ["borrowed"], "the check found it again");
    state.publish(file(), None, vec![], ended);
    assert_eq!(pulled(&state, &touch, CHECKING, ended), Step::Wait(Some(ended + DEBOUNCE)), "it is");
}

#[test]
fn a_check_that_was_called_off_for_the_next_one_says_nothing() {
    let now = Instant::now();
    let mut state = open(2);
    let touch = touch(&state, 2, now);
    state.pulled(&file(), 2, vec![]);
    // Its beginning was on its way to us when we saved, and the save has ended it.
    let began = now + CHECK_TAKES_UP;
    progress(&mut state, "rustAnalyzer/flycheck/0", "begin", began);
    progress(&mut state, "rustAnalyzer/flycheck/0", "end", began + CALLED_OFF / 2);
    let later = began + DEBOUNCE * 2;
    assert_eq!(pulled(&state, &touch, CHECKING, later), Step::Wait(Some(now + CHECK_BEGINS)));
    progress(&mut state, "rustAnalyzer/flycheck/0", "begin", later);
    assert_eq!(pulled(&state, &touch, CHECKING, later + CHECK_BEGINS), Step::Wait(None));
    let ended = later + CALLED_OFF;
    progress(&mut state, "rustAnalyzer/flycheck/0", "end", ended);
    assert_eq!(pulled(&state, &touch, CHECKING, ended + DEBOUNCE), Step::Done);
}

#[test]
fn a_check_that_was_on_its_way_before_our_save_does_not_count() {
    let now = Instant::now();
    let mut state = open(2);
    let touch = touch(&state, 2, now);
    state.pulled(&file(), 2, vec![]);
    let old = now + CHECK_TAKES_UP / 2;
    progress(&mut state, "rustAnalyzer/flycheck/0", "begin", old);
    state.publish(file(), None, vec![finding("of the text before")], old);
    progress(&mut state, "rustAnalyzer/flycheck/0", "end", old);
    assert_eq!(pulled(&state, &touch, CHECKING, old), Step::Wait(Some(now + CHECK_BEGINS)));
    assert_eq!(messages(&state, &touch, CHECKING, true), Vec::<String>::new());
    let ours = now + CHECK_TAKES_UP;
    progress(&mut state, "rustAnalyzer/flycheck/0", "begin", ours);
    assert_eq!(pulled(&state, &touch, CHECKING, ours), Step::Wait(None));
}

#[test]
fn an_error_of_the_servers_own_is_said_at_once_and_without_what_an_older_check_found() {
    let now = Instant::now();
    let mut state = open(1);
    state.publish(file(), None, vec![finding("of the text before")], now);
    progress(&mut state, "rustAnalyzer/flycheck/0", "begin", now);
    let touch = touch(&state, 2, now);
    state.pulled(&file(), 2, vec![finding("mismatched")]);
    // The check of the text before still runs, and still publishes.
    assert_eq!(pulled(&state, &touch, CHECKING, now), Step::Done);
    state.publish(file(), None, vec![finding("of the text before")], now);
    assert_eq!(messages(&state, &touch, CHECKING, true), ["mismatched"]);
    // The new check has begun: what it publishes is about our text, what was published before is not.
    progress(&mut state, "rustAnalyzer/flycheck/0", "end", now);
    progress(&mut state, "rustAnalyzer/flycheck/0", "begin", now + CHECK_TAKES_UP);
    state.publish(file(), None, vec![finding("borrowed")], now);
    assert_eq!(messages(&state, &touch, CHECKING, true), ["borrowed", "mismatched"]);
    // Nothing is left out of what is said of the same text a second time.
    let again = Touch { is_unchanged: true, ..touch.clone() };
    assert_eq!(pulled(&state, &again, CHECKING, now), Step::Wait(None));
    // While the project loads, errors may be those of a half-known project.
    progress(&mut state, "rustAnalyzer/Indexing", "begin", now);
    assert_eq!(pulled(&state, &touch, CHECKING, now), Step::Wait(None));
}

#[test]
fn an_answer_from_before_the_end_of_the_background_check_is_not_all() {
    let now = Instant::now();
    let mut state = open(2);
    let touch = touch(&state, 2, now);
    state.pulled(&file(), 2, vec![finding("mismatched")]);
    assert_eq!(pulled(&state, &touch, CHECKING, now), Step::Done);
    assert!(!is_all(&state, &touch, CHECKING, now));
    assert!(is_all(&state, &touch, PUSHING, now), "there is no such check");
    let began = now + CHECK_TAKES_UP;
    progress(&mut state, "rustAnalyzer/flycheck/0", "begin", began);
    let ended = began + CALLED_OFF;
    progress(&mut state, "rustAnalyzer/flycheck/0", "end", ended);
    assert!(is_all(&state, &touch, CHECKING, ended + DEBOUNCE));
}

#[test]
fn after_a_change_of_the_config_an_answer_counts_when_the_server_has_asked_to_be_pulled_again() {
    let now = Instant::now();
    let mut state = open(1);
    let touch = touch(&state, 1, now);
    state.pulled(&file(), 1, vec![]);
    // One that never asks is not waited for.
    state.reloads = Some((now, state.n_refreshes));
    assert_eq!(pulled(&state, &touch, PUSHING, now), Step::Done);
    state.n_refreshes = 3;
    state.reloads = Some((now, 3));
    assert_eq!(pulled(&state, &touch, PUSHING, now), Step::Wait(Some(now + RELOAD)));
    assert_eq!(pulled(&state, &touch, PUSHING, now + RELOAD), Step::Done);
    state.n_refreshes = 4;
    assert_eq!(pulled(&state, &touch, PUSHING, now), Step::Done);
}

#[test]
fn of_a_server_that_asks_twice_to_be_pulled_again_once_may_be_left_from_the_change_before() {
    let now = Instant::now();
    let twice = Quirks { refreshes_twice: true, ..PUSHING };
    let mut state = open(1);
    let touch = touch(&state, 1, now);
    state.pulled(&file(), 1, vec![]);
    state.n_refreshes = 3;
    state.reloads = Some((now, 3));
    state.n_refreshes = 4;
    assert_eq!(pulled(&state, &touch, PUSHING, now), Step::Done);
    assert_eq!(pulled(&state, &touch, twice, now), Step::Wait(Some(now + RELOAD)));
    state.n_refreshes = 5;
    assert_eq!(pulled(&state, &touch, twice, now), Step::Done);
}

#[test]
fn a_clean_from_before_the_server_has_read_its_configuration_does_not_count_where_it_tells() {
    let now = Instant::now();
    let telling = Quirks { refreshes_when_loaded: true, ..Quirks::NONE };
    let mut state = open(1);
    let touch = touch(&state, 1, now);
    state.pulled(&file(), 1, vec![]);
    assert_eq!(pulled(&state, &touch, telling, now + QUIET * 10), Step::Wait(None));
    assert_eq!(pulled(&state, &touch, Quirks::NONE, now), Step::Done);
    state.n_refreshes += 1;
    assert_eq!(pulled(&state, &touch, telling, now), Step::Done);
}

#[test]
fn what_is_said_of_one_of_several_files_counts_when_the_server_has_had_time_for_the_others() {
    let now = Instant::now();
    let mut state = open(1);
    let touch = Touch { is_amid: true, ..touch(&state, 1, now) };
    assert!(state.publish(file(), Some(1), vec![finding("from between")], now));
    assert_eq!(pushed(&state, &touch, SILENT, now + DEBOUNCE), Step::Wait(Some(now + QUIET)));
    assert!(state.publish(file(), Some(1), vec![], now + QUIET / 2));
    assert_eq!(pushed(&state, &touch, SILENT, now + QUIET), Step::Done);
    assert_eq!(messages(&state, &touch, SILENT, true), Vec::<String>::new());
    let last = Touch { is_amid: false, ..touch };
    assert_eq!(pushed(&state, &last, SILENT, now + QUIET / 2 + DEBOUNCE), Step::Done);
}
