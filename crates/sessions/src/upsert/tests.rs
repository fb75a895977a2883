//! The processor's cases, one line per event in and per output out.

use chartroom_protocol::stream::{ItemType, ResponseStatus};
use chartroom_protocol::upsert::UpsertStatus;
use expect_test::{Expect, expect};
use std::time::Duration;

use super::ProcessorConfig;
use super::stage::{Bench, n_words, words};

// TC-5.1a, NFR-TESTABILITY-2
#[test]
fn simple_text_produces_create_and_complete() {
    Bench::new(&[1])
        .response_start()
        .message("i")
        .delta("i", "hello ")
        .done("i", "hello world")
        .response_done(ResponseStatus::Completed)
        .check(expect![[r#"
            turn_started t1 m
            create i message "hello "
            complete i message "hello world"
            turn_complete t1 Completed
        "#]]);
}

// TC-5.1b
#[test]
fn each_emission_carries_full_content() {
    Bench::new(&[1, 1, 1])
        .message("i")
        .delta("i", "alpha beta")
        .delta("i", " gamma")
        .done("i", "alpha beta gamma")
        .check(expect![[r#"
            create i message "alpha beta"
            update i message "alpha beta gamma"
            complete i message "alpha beta gamma"
        "#]]);

    // Thirty tokens of a hundred: all thirty are there, not those since the last emission.
    let mut bench = Bench::default_config().message("i");
    for _ in 0..100 {
        bench = bench.delta("i", "word ");
    }
    let counts: Vec<usize> = bench.upserts().into_iter().map(n_words).collect();
    assert_eq!(counts, [11, 32, 73]);
}

// TC-5.1c
#[test]
fn a_tool_call_emits_on_invocation_and_completion_only() {
    Bench::default_config()
        .call("i", "read_file", "c")
        .delta("i", r#"{"pa"#)
        .delta("i", r#"th":"a"}"#)
        .call_done("i", "read_file", "c", r#"{"path":"a"}"#)
        .output_start("o", "c")
        .output("o", "c", "ok")
        .check(expect![[r#"
            create i tool_call c read_file {"path":"a"}
            complete i tool_call c read_file {"path":"a"} -> ok
        "#]]);
}

// TC-5.1d
#[test]
fn thinking_is_reasoning_content() {
    Bench::new(&[1])
        .start("i", ItemType::Reasoning)
        .delta("i", "let me think")
        .reasoning_done("i", "let me think hard")
        .check(expect![[r#"
            create i thinking "let me think"
            complete i thinking "let me think hard"
        "#]]);
}

// TC-5.2a
#[test]
fn early_emissions_are_frequent() {
    let mut bench = Bench::default_config().message("i");
    for _ in 0..10 {
        bench = bench.delta("i", "word ");
    }
    assert_eq!(bench.seen.len(), 0, "ten tokens equal the first threshold");
    let bench = bench.delta("i", "word ");
    assert_eq!(bench.upserts().into_iter().map(n_words).collect::<Vec<_>>(), [11]);
}

// TC-5.2b
#[test]
fn later_emissions_are_less_frequent() {
    let bench = Bench::new(&[1, 40, 120])
        .message("i")
        .delta("i", "one two")
        .delta("i", &format!(" {}", words(12)))
        .done("i", &format!("one two {}", words(12)));
    let n_updates =
        bench.upserts().into_iter().filter(|upsert| upsert.status == UpsertStatus::Update).count();
    assert!(n_updates <= 1, "{n_updates} updates");
    assert_eq!(bench.upserts().last().map(|upsert| n_words(upsert)), Some(14));

    // Along the whole default gradient the steps grow, and the last repeats.
    let mut bench = Bench::default_config().message("i");
    for _ in 0..600 {
        bench = bench.delta("i", "word ");
    }
    let counts: Vec<usize> = bench.upserts().into_iter().map(n_words).collect();
    assert_eq!(counts, [11, 32, 73, 154, 275, 396, 517]);
}

// TC-5.2c
#[test]
fn a_threshold_must_be_exceeded_not_equaled() {
    let bench = Bench::new(&[3]).message("i").delta("i", "a b c");
    assert_eq!(bench.seen.len(), 0);
    bench.delta("i", " d").check(expect![[r#"
        create i message "a b c d"
    "#]]);
}

// TC-5.2d
#[test]
fn a_delta_over_several_thresholds_emits_once() {
    let bench = Bench::new(&[2, 4, 8]).message("i").delta("i", &words(10));
    assert_eq!(bench.upserts().into_iter().map(n_words).collect::<Vec<_>>(), [10]);
    let bench = bench.delta("i", " word");
    assert_eq!(bench.seen.len(), 1, "the next threshold is the third, 8");
    let bench = bench.delta("i", &format!(" {}", words(8)));
    assert_eq!(bench.upserts().into_iter().map(n_words).collect::<Vec<_>>(), [10, 19]);
}

// TC-5.2e
#[test]
fn an_exhausted_gradient_repeats_its_last_value() {
    let mut bench = Bench::new(&[1, 2]).message("i");
    for _ in 0..10 {
        bench = bench.delta("i", "word ");
    }
    assert_eq!(bench.upserts().into_iter().map(n_words).collect::<Vec<_>>(), [2, 5, 8]);
}

// TC-5.2f
#[test]
fn the_default_gradient_is_10_20_40_80_120() {
    assert_eq!(ProcessorConfig::default().batch_gradient_tokens, [10, 20, 40, 80, 120]);
    assert_eq!(ProcessorConfig::default().batch_timeout, Duration::from_millis(1000));
    for bench in [Bench::default_config(), Bench::new(&[])] {
        let bench = bench.message("i").delta("i", &words(10));
        assert_eq!(bench.seen.len(), 0);
        let bench = bench.delta("i", " word");
        assert_eq!(bench.upserts().into_iter().map(n_words).collect::<Vec<_>>(), [11]);
    }
}

// TC-5.3a
#[test]
fn a_result_completes_its_call_by_call_id() {
    Bench::default_config().call("i", "read_file", "c").output("o", "c", "ok").check(expect![[r#"
        create i tool_call c read_file {}
        complete i tool_call c read_file {} -> ok
    "#]]);
}

// TC-5.3b
#[test]
fn concurrent_calls_are_tracked_independently() {
    Bench::default_config()
        .call("ia", "read", "a")
        .call("ib", "write", "b")
        .call_done("ia", "read", "a", r#"{"n":1}"#)
        .call_done("ib", "write", "b", r#"{"n":2}"#)
        .output("ob", "b", "for b")
        .output("oa", "a", "for a")
        .check(expect![[r#"
            create ia tool_call a read {"n":1}
            create ib tool_call b write {"n":2}
            complete ib tool_call b write {"n":2} -> for b
            complete ia tool_call a read {"n":1} -> for a
        "#]]);
}

// TC-5.4a, NFR-RELIABILITY-3
#[test]
fn destruction_flushes_buffered_content_as_error() {
    Bench::new(&[100]).message("i").delta("i", "partial data").destroy("PROCESS_CRASH").check(expect![[r#"
        error i message "partial data" (PROCESS_CRASH)
    "#]]);
}

#[test]
fn destruction_ends_what_was_shown_too_and_every_running_turn() {
    Bench::new(&[1])
        .response_start()
        .message("shown")
        .delta("shown", "one two")
        .message("never")
        .call("call", "bash", "c")
        .delta("call", r#"{"command":"ls"}"#)
        .output_start("o", "c")
        .delta("o", "half an out")
        .destroy("PROCESS_CRASH")
        .delta("shown", " three four five")
        .done("shown", "one two three")
        .check(expect![[r#"
            turn_started t1 m
            create shown message "one two"
            error shown message "one two" (PROCESS_CRASH)
            error call tool_call c bash {"command":"ls"} -> half an out (PROCESS_CRASH)
            turn_error t1 PROCESS_CRASH gone
        "#]]);
}

// TC-5.4b
#[test]
fn the_batch_timeout_forces_an_emission() {
    let config = ProcessorConfig {
        batch_gradient_tokens: vec![100],
        batch_timeout: Duration::from_millis(50),
        ..ProcessorConfig::default()
    };
    let bench = Bench::with(config).message("i").delta("i", "one two").wait(49);
    assert_eq!(bench.seen.len(), 0);
    bench.wait(1).check(expect![[r#"
        create i message "one two"
    "#]]);
}

// TC-5.4b
#[test]
fn the_default_batch_timeout_is_a_second_after_the_first_emission() {
    let bench = Bench::new(&[1]).message("i").delta("i", "one two").delta("i", " three").wait(999);
    assert_eq!(bench.seen.len(), 1);
    bench.wait(1).check(expect![[r#"
        create i message "one two"
        update i message "one two three"
    "#]]);
}

#[test]
fn the_batch_timeout_counts_from_the_oldest_content_so_a_steady_stream_cannot_starve() {
    let mut bench = Bench::new(&[1000]).message("i").delta("i", "first").wait(150);
    for _ in 0..25 {
        bench = bench.delta("i", " more").wait(100);
    }
    let counts: Vec<usize> = bench.upserts().into_iter().map(n_words).collect();
    assert_eq!(counts, [1, 11, 21], "every second although a delta comes every 100 ms");
}

// NFR-PERFORMANCE-4
#[test]
fn an_items_first_emission_comes_at_most_150_ms_after_its_first_content() {
    let bench = Bench::default_config().message("i").wait(500).delta("i", "Hm").wait(149);
    assert_eq!(bench.seen.len(), 0);
    bench.wait(1).check(expect![[r#"
        create i message "Hm"
    "#]]);
}

#[test]
fn a_slow_tool_call_is_shown_after_150_ms_and_its_final_arguments_once() {
    let bench = Bench::default_config().call("i", "bash", "c").wait(149);
    assert_eq!(bench.seen.len(), 0);
    bench
        .wait(1)
        .delta("i", r#"{"command":"#)
        .wait(5000)
        .call_done("i", "bash", "c", r#"{"command":"ls"}"#)
        .wait(5000)
        .output("o", "c", "files")
        .check(expect![[r#"
            create i tool_call c bash {}
            update i tool_call c bash {"command":"ls"}
            complete i tool_call c bash {"command":"ls"} -> files
        "#]]);
}

// TC-5.4c
#[test]
fn empty_content_is_one_complete() {
    Bench::default_config().message("i").done("i", "").check(expect![[r#"
        complete i message ""
    "#]]);
}

// TC-5.4d
#[test]
fn cancelled_items_are_discarded_silently() {
    Bench::new(&[100])
        .message("i")
        .delta("i", "some words")
        .cancel_item("i")
        .delta("i", "late")
        .wait(5000)
        .done("i", "late")
        .check(expect![""]);
}

// TC-5.4e
#[test]
fn a_cancelled_turn_is_told_by_the_turn() {
    Bench::default_config()
        .response_start()
        .message("i")
        .cancel_item("i")
        .response_done(ResponseStatus::Cancelled)
        .check(expect![[r#"
            turn_started t1 m
            turn_complete t1 Cancelled
        "#]]);
}

// NFR-RELIABILITY-3
#[test]
fn a_turn_cancelled_in_mid_text_keeps_the_text_and_calls_it_neither_complete_nor_error() {
    Bench::default_config()
        .response_start()
        .message("i")
        .delta("i", "half a sen")
        .call("c", "bash", "c")
        .response_done(ResponseStatus::Cancelled)
        .check(expect![[r#"
            turn_started t1 m
            create i message "half a sen"
            create c tool_call c bash {}
            turn_complete t1 Cancelled
        "#]]);
}

// TC-5.4d, TC-5.4e
#[test]
fn what_a_live_agent_said_of_a_cancelled_item_goes_out_once_more_and_nothing_follows() {
    Bench::default_config()
        .response_start()
        .message("never shown")
        .delta("never shown", "half a sen")
        .message("shown")
        .delta("shown", &words(11))
        .message("empty")
        .call("c", "bash", "c")
        .start_output("c:output", "c", "so far")
        .live_cancel("never shown")
        .live_cancel("shown")
        .live_cancel("empty")
        .live_cancel("c")
        .delta("shown", "late")
        .output("late", "c", "late")
        .wait(5000)
        .response_done(ResponseStatus::Cancelled)
        .check(expect![[r#"
            turn_started t1 m
            create shown message "word word word word word word word word word word word"
            create never shown message "half a sen"
            update never shown message "half a sen"
            update shown message "word word word word word word word word word word word"
            create c tool_call c bash {}
            update c tool_call c bash {} -> so far
            turn_complete t1 Cancelled
        "#]]);
}

// TC-5.4f
#[test]
fn a_failed_turn_is_one_turn_error_and_nothing_after_it() {
    Bench::default_config()
        .response_start()
        .response_error("PROCESS_CRASH", "it died")
        .failed(None, None)
        .message("late")
        .delta("late", &words(50))
        .done("late", "late")
        .wait(5000)
        .response_start()
        .check(expect![[r#"
            turn_started t1 m
            turn_error t1 PROCESS_CRASH it died
        "#]]);
}

#[test]
fn a_failed_turn_tells_the_best_reason_it_has() {
    let check = |finish_reason: Option<&str>, error: Option<(&str, &str)>, expected: Expect| {
        Bench::default_config().failed(finish_reason, error).check(expected);
    };
    check(
        Some("stop"),
        Some(("API_ERROR", "overloaded")),
        expect![[r#"
        turn_error t1 API_ERROR overloaded
    "#]],
    );
    check(
        Some("max_tokens"),
        None,
        expect![[r#"
        turn_error t1 RESPONSE_ERROR max_tokens
    "#]],
    );
    check(
        None,
        None,
        expect![[r#"
        turn_error t1 RESPONSE_ERROR Response finished with error status
    "#]],
    );
}

#[test]
fn an_unfinished_item_of_a_failed_turn_is_an_error_with_its_content() {
    Bench::default_config()
        .response_start()
        .message("i")
        .delta("i", "half")
        .failed(None, Some(("API_ERROR", "cut off")))
        .check(expect![[r#"
            turn_started t1 m
            error i message "half" (API_ERROR)
            turn_error t1 API_ERROR cut off
        "#]]);
}

#[test]
fn a_result_without_a_known_call_is_shown_under_its_own_id() {
    Bench::default_config().output("t1:0:tool:x", "x", "out").output("again", "x", "out").check(expect![[
        r#"
        complete t1:0:tool:x tool_call x unknown_tool {} -> out
    "#
    ]]);
}

#[test]
fn a_result_that_comes_with_a_later_turn_completes_the_call_of_the_earlier() {
    let bench = Bench::default_config()
        .call("i", "task", "c")
        .call_done("i", "task", "c", "{}")
        .response_done(ResponseStatus::Completed)
        .in_turn("t2")
        .response_start()
        .output("o", "c", "done in the background");
    bench.check(expect![[r#"
        create i tool_call c task {}
        turn_complete t1 Completed
        turn_started t2 m
        complete i tool_call c task {} -> done in the background
    "#]]);
    assert_eq!(bench.upserts().last().map(|upsert| upsert.turn_id.as_str()), Some("t2"));
}

#[test]
fn a_final_text_that_contradicts_the_deltas_stands_alone() {
    Bench::default_config().message("i").delta("i", "foo").done("i", "bar").check(expect![[r#"
        complete i message "bar"
    "#]]);
}

#[test]
fn an_item_the_source_forgot_to_end_is_completed_with_the_turn() {
    Bench::default_config()
        .message("i")
        .delta("i", "all of it")
        .response_done(ResponseStatus::Completed)
        .check(expect![[r#"
            create i message "all of it"
            complete i message "all of it"
            turn_complete t1 Completed
        "#]]);
}

#[test]
fn a_200_kb_message_in_small_deltas_looks_at_each_byte_once() {
    // Counting anew at each of the 50,000 deltas would look at 5 GB; a test run would not end.
    let mut bench = Bench::default_config().message("i");
    for _ in 0..50_000 {
        bench = bench.delta("i", "abc ");
    }
    let last = bench.upserts().last().map(|upsert| n_words(upsert));
    assert!(last.is_some_and(|n| n > 49_800), "{last:?}");
    assert!(bench.seen.len() < 500, "{} emissions", bench.seen.len());
}
