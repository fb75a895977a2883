//! How long a check takes, on a clock of the test's own.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::fake::{Behaviour, Rehearsal};
use crate::registry::Quirks;

const FILE: &str = "//- a.foo\nERR broken\n";
const BROKEN: &str = "ERROR [1:1] broken";

/// Checks `a.foo` and returns what came and after how many milliseconds.
async fn timed(rehearsal: &Rehearsal) -> (Vec<String>, u64) {
    let began = Instant::now();
    let lines = rehearsal.check("a.foo").await;
    (lines, u64::try_from(began.elapsed().as_millis()).unwrap())
}

/// Uses up the first touch.
async fn warm(rehearsal: &Rehearsal) {
    rehearsal.check("a.foo").await;
    rehearsal.project.write("a.foo", "ERR broken\n\n");
}

// EC-10, BR-40, REQ-TIME-030, REQ-TIME-090
#[tokio::test(start_paused = true)]
async fn a_cold_start_may_take_the_first_touch_timeout() {
    let slow = Behaviour { ready_after: Some(Duration::from_secs(8)), ..Behaviour::pushing(&[100]) };
    let rehearsal = Rehearsal::new(FILE, &[("alpha", slow)]);
    let (lines, ms) = timed(&rehearsal).await;
    assert_eq!(lines, [BROKEN]);
    assert!((8_000..10_000).contains(&ms), "{ms}");
}

// EC-45, REQ-CFG-055
#[tokio::test(start_paused = true)]
async fn the_first_touch_timeout_is_configurable() {
    let slow = Behaviour { ready_after: Some(Duration::from_secs(14)), ..Behaviour::default() };
    let config = json!({ "firstTouchTimeout": 15_000 });
    let rehearsal = Rehearsal::with_config(FILE, &[("alpha", slow)], config);
    assert_eq!(timed(&rehearsal).await.0, [BROKEN]);
}

// BR-70, REQ-TIME-070
#[tokio::test(start_paused = true)]
async fn a_start_that_takes_longer_gives_nothing_now_and_something_later() {
    let slow = Behaviour { ready_after: Some(Duration::from_secs(11)), ..Behaviour::default() };
    let rehearsal = Rehearsal::new(FILE, &[("alpha", slow)]);
    assert_eq!(timed(&rehearsal).await, (vec![], 10_000));
    assert_eq!(timed(&rehearsal).await.0, [BROKEN], "the start went on");
    assert_eq!(rehearsal.fakes.n_launched(), 1);
}

// BR-63, REQ-TIME-010, REQ-TIME-020, REQ-CFG-050
#[tokio::test(start_paused = true)]
async fn a_silent_server_costs_the_diagnostic_timeout() {
    let rehearsal = Rehearsal::new(FILE, &[("alpha", Behaviour::silent())]);
    warm(&rehearsal).await;
    assert_eq!(timed(&rehearsal).await, (vec![], 3_000));
    let config = json!({ "diagnosticTimeout": 700 });
    let rehearsal = Rehearsal::with_config(FILE, &[("alpha", Behaviour::silent())], config);
    warm(&rehearsal).await;
    assert_eq!(timed(&rehearsal).await, (vec![], 700));
}

// BR-69, REQ-TIME-015
#[tokio::test(start_paused = true)]
async fn two_silent_servers_cost_one_timeout() {
    let servers = [("alpha", Behaviour::silent()), ("beta", Behaviour::silent())];
    let rehearsal = Rehearsal::new(FILE, &servers);
    warm(&rehearsal).await;
    assert_eq!(timed(&rehearsal).await, (vec![], 3_000));
}

// EC-13, BR-14, REQ-TIME-040, REQ-TIME-085
#[tokio::test(start_paused = true)]
async fn the_one_that_answers_is_heard_when_the_other_does_not() {
    let servers = [("alpha", Behaviour::silent()), ("beta", Behaviour::default())];
    let rehearsal = Rehearsal::new(FILE, &servers);
    assert_eq!(timed(&rehearsal).await, (vec![BROKEN.to_owned()], 10_000));
}

// REQ-TIME-050, EC-12
#[tokio::test(start_paused = true)]
async fn of_rapid_pushes_the_last_one_counts() {
    let grows = Behaviour { grows: true, ..Behaviour::pushing(&[0, 100, 200]) };
    let rehearsal = Rehearsal::new("//- a.foo\nERR one\nERR two\nERR three\n", &[("alpha", grows)]);
    let (lines, ms) = timed(&rehearsal).await;
    assert_eq!(lines, ["ERROR [1:1] one", "ERROR [2:1] two", "ERROR [3:1] three"]);
    assert!((350..400).contains(&ms), "200 ms and then 150 ms of quiet, not {ms}");
}

// EC-47, BR-84, REQ-TIMING-010
#[tokio::test(start_paused = true)]
async fn the_debounce_never_reaches_beyond_the_deadline() {
    let rehearsal = Rehearsal::new(FILE, &[("alpha", Behaviour::pushing(&[2_900]))]);
    warm(&rehearsal).await;
    assert_eq!(timed(&rehearsal).await, (vec![BROKEN.to_owned()], 3_000));
}

// EC-49, BR-86, REQ-TIMING-020
#[tokio::test(start_paused = true)]
async fn the_first_touch_is_one_shot() {
    let rehearsal = Rehearsal::new(FILE, &[("alpha", Behaviour::silent())]);
    assert_eq!(timed(&rehearsal).await.1, 10_000);
    rehearsal.project.write("a.foo", "ERR again\n");
    assert_eq!(timed(&rehearsal).await.1, 3_000);
}

// EC-11, REQ-TIME-060
#[tokio::test(start_paused = true)]
async fn a_late_result_is_not_in_this_answer_but_in_the_known_files() {
    let rehearsal = Rehearsal::new(FILE, &[("alpha", Behaviour::pushing(&[5_000]))]);
    rehearsal.project.write("a.foo", "fine\n");
    warm(&rehearsal).await;
    assert_eq!(timed(&rehearsal).await, (vec![], 3_000));
    tokio::time::sleep(Duration::from_secs(3)).await;
    let known = rehearsal.orchestrator.diagnostics();
    assert_eq!(known["a.foo"][0].message, "broken");
}

#[tokio::test(start_paused = true)]
async fn with_pull_the_answer_is_the_end_of_waiting() {
    let rehearsal = Rehearsal::new(FILE, &[("alpha", Behaviour::pulling(7))]);
    let (lines, ms) = timed(&rehearsal).await;
    assert_eq!(lines, [BROKEN]);
    assert!(ms <= 10, "{ms}");
}

#[tokio::test(start_paused = true)]
async fn pull_that_is_registered_late_and_twice_is_used() {
    let late = Behaviour { registers_late: true, ..Behaviour::pulling(5) };
    let rehearsal = Rehearsal::new(FILE, &[("alpha", late)]);
    let (lines, ms) = timed(&rehearsal).await;
    assert_eq!(lines, [BROKEN]);
    assert!((50..100).contains(&ms), "{ms}");
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_while_the_server_loads_is_asked_for_again() {
    let loading = Behaviour { loads_for: Some(Duration::from_secs(2)), ..Behaviour::pulling(5) };
    let rehearsal = Rehearsal::new("//- a.foo\nfine\n", &[("alpha", loading)]);
    let (lines, ms) = timed(&rehearsal).await;
    assert_eq!(lines, Vec::<String>::new());
    assert!((2_000..2_100).contains(&ms), "{ms}");
    let pulls = rehearsal.fakes.seen().iter().filter(|seen| seen.contains("textDocument/diagnostic")).count();
    assert_eq!(pulls, 2);
}

// EC-14, REQ-TIME-080
#[tokio::test(start_paused = true)]
async fn an_abandoned_check_asks_nothing_more_and_the_next_one_works() {
    let loading = Behaviour { loads_for: Some(Duration::from_secs(2)), ..Behaviour::pulling(5) };
    let rehearsal = Rehearsal::new("//- a.foo\nfine\n", &[("alpha", loading)]);
    let n_asked =
        || rehearsal.fakes.seen().iter().filter(|seen| seen.contains("textDocument/diagnostic")).count();
    let abandoned = tokio::time::timeout(Duration::from_secs(1), rehearsal.check("a.foo")).await;
    assert!(abandoned.is_err());
    assert_eq!(n_asked(), 1);
    // One that is waited for asks again when the server has loaded.
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(n_asked(), 1, "the collection went on although nobody waits for it");
    assert_eq!(rehearsal.write("a.foo", "ERR broken\n").await, [BROKEN]);
}

// EC-15
#[tokio::test(start_paused = true)]
async fn simultaneous_edits_of_one_file_each_get_a_snapshot() {
    let without_versions = Behaviour { versions: false, ..Behaviour::pushing(&[20]) };
    for behaviour in [Behaviour::pushing(&[20]), without_versions, Behaviour::pulling(20)] {
        let rehearsal = Rehearsal::new(FILE, &[("alpha", behaviour)]);
        rehearsal.check("a.foo").await;
        let path = rehearsal.project.path("a.foo").to_string_lossy().into_owned();
        let check = async |text: &str| {
            let found = rehearsal.orchestrator.check_file(&path, Some(text.to_owned())).await;
            found.into_iter().map(|one| one.message).collect::<Vec<_>>()
        };
        let (first, second, third) =
            tokio::join!(check("ERR one\n"), check("fine\n"), check("ERR two\nERR three\n"));
        // An earlier edit may hear of a later text, which is what is so by then; never of a mixture, and never of an
        // older one.
        let of_third = ["two", "three"];
        assert!(first == ["one"] || first.is_empty() || first == of_third, "{first:?}");
        assert!(second.is_empty() || second == of_third, "{second:?}");
        assert_eq!(third, of_third);
    }
}

#[tokio::test(start_paused = true)]
async fn a_patch_of_twenty_files_has_one_deadline() {
    let fixture: String = (0..20).map(|n| format!("//- f{n}.foo\nERR broken\n")).collect();
    let rehearsal = Rehearsal::new(&fixture, &[("alpha", Behaviour::silent())]);
    let files: Vec<_> = (0..20)
        .map(|n| chartroom_protocol::lsp::FileText { file_path: format!("f{n}.foo"), text: None })
        .collect();
    let began = Instant::now();
    let params = chartroom_protocol::lsp::CheckParams { files, ..Default::default() };
    rehearsal.orchestrator.check(params).await;
    assert_eq!(began.elapsed(), Duration::from_secs(10));
    let seen = rehearsal.fakes.seen();
    assert_eq!(seen.iter().filter(|seen| seen.starts_with("alpha didOpen")).count(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_skips_a_text_is_sent_it_once_more() {
    let quirks = Quirks { wants_to_be_forced: true, ..Quirks::NONE };
    let skipping = Behaviour { skips: &[3], quirks, ..Behaviour::default() };
    let rehearsal = Rehearsal::new(FILE, &[("alpha", skipping)]);
    assert_eq!(timed(&rehearsal).await.0, [BROKEN]);
    // Another file has changed, and nothing is said of this one by itself.
    rehearsal.write("b.foo", "fine").await;
    let (lines, ms) = timed(&rehearsal).await;
    assert_eq!(lines, [BROKEN]);
    assert!((1_500..3_000).contains(&ms), "{ms}");
}
