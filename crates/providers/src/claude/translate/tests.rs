//! Recorded lines of the real CLI (2.1.325, one of 2.1.197) in, upserts and turn events out.

use chartroom_protocol::ids::{CallId, SessionId, TurnId};
use chartroom_protocol::lsp::ToldDiagnostics;
use chartroom_protocol::stream::{FinalizedItem, StreamEvent};
use chartroom_sessions::Now;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{Translated, Translator};
use crate::script::Printer;

fn recorded(name: &str) -> Vec<Value> {
    let path = format!("{}/fixtures/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let lines = std::fs::read_to_string(&path).expect("the recording is in the repository");
    lines.lines().map(|line| serde_json::from_str(line).expect("a recording is JSON lines")).collect()
}

struct Story {
    translator: Translator,
    printer: Printer,
}

impl Story {
    fn new() -> Self {
        let mut translator = Translator::new(SessionId::from("s"));
        translator.expect(TurnId::from("t1"));
        Self { translator, printer: Printer::new() }
    }

    fn apply(&mut self, lines: &[Value]) {
        for line in lines {
            for translated in self.translator.line(&Now::at_ms(0), line) {
                match translated {
                    Translated::Event(envelope) => self.printer.push(&envelope),
                    Translated::Note(note) => {
                        self.printer.line(&format!("note     {}", note.as_deref().unwrap_or("-")))
                    }
                    Translated::Init { .. } | Translated::Mode(_) => {}
                    Translated::Asked { request_id, request } => {
                        self.printer.line(&format!("asked    {request_id} {}", request["subtype"]));
                    }
                    Translated::Answered { request_id, outcome } => {
                        self.printer.line(&format!("answered {request_id} {}", outcome.is_ok()));
                    }
                    Translated::Withdrawn { request_id } => {
                        self.printer.line(&format!("withdrawn {request_id}"))
                    }
                    Translated::GoesOn => self.printer.line("goes on"),
                }
            }
        }
    }

    /// Compares what was said. Turns that the agent began by itself have ids of our making, which are not shown.
    #[track_caller]
    fn check(self, expected: &Expect) {
        let mut printed = self.printer.printed;
        let own: Vec<String> = printed
            .lines()
            .filter_map(|line| line.strip_prefix("started  "))
            .filter_map(|rest| rest.split(' ').next())
            .filter(|id| *id != "t1")
            .map(str::to_owned)
            .collect();
        for (index, id) in own.iter().enumerate() {
            printed = printed.replace(id, &format!("own{index}"));
        }
        expected.assert_eq(&printed);
    }
}

#[track_caller]
fn check(recording: &str, expected: Expect) {
    check_lines(&recorded(recording), expected);
}

#[track_caller]
fn check_lines(lines: &[Value], expected: Expect) {
    let mut story = Story::new();
    story.apply(lines);
    story.check(&expected);
}

/// Plays a recording in which the turn is cancelled just before the CLI answers that.
#[track_caller]
fn check_cancelled(recording: &str, expected: Expect) {
    let mut story = Story::new();
    for line in recorded(recording) {
        if line["type"] == "control_response" {
            assert!(story.translator.cancel(&TurnId::from("t1")), "the turn runs");
        }
        story.apply(&[line]);
    }
    story.check(&expected);
}

// TC-3.3a, NFR-TESTABILITY-1
#[test]
fn text_blocks_become_message_upserts() {
    check(
        "claude-text",
        expect![[r#"
        started  t1 claude-code claude-opus-5-5
        create   t1:0:0 message "Hello from the mock model. one "
        complete t1:0:0 message "Hello from the mock model. one "
        ended    t1 completed 120+36 tokens $0.0012 context 156/1000000
    "#]],
    );
}

// TC-3.3b
#[test]
fn tool_use_blocks_become_tool_calls_with_parsed_arguments() {
    check(
        "claude-tool",
        expect![[r#"
        started  t1 claude-code claude-opus-5-5
        create   t1:0:0 message "I will use Write."
        complete t1:0:0 message "I will use Write."
        create   t1:0:1 tool Write toolu_msg_mock_0011_1 {"file_path":"/home/user/project/a.txt","content":"hello\n"}
        complete t1:0:1 tool Write toolu_msg_mock_0011_1 {"file_path":"/home/user/project/a.txt","content":"hello\n"} -> "The file /home/user/project/a.txt has been updated successfully. (file state is current in your context — no need to Read it back)" [Edit]
        create   t1:1:0 message "Done. The tool said: The file "
        complete t1:1:0 message "Done. The tool said: The file "
        ended    t1 completed 240+31 tokens $0.00398 context 146/1000000
    "#]],
    );
}

// TC-3.3c
#[test]
fn tool_results_complete_their_call() {
    let lines = recorded("claude-tool");
    let result =
        lines.iter().position(|line| line["type"] == "user").expect("the recording has a tool result");
    check_lines(
        &lines[..=result],
        expect![[r#"
        started  t1 claude-code claude-opus-5-5
        create   t1:0:0 message "I will use Write."
        complete t1:0:0 message "I will use Write."
        create   t1:0:1 tool Write toolu_msg_mock_0011_1 {"file_path":"/home/user/project/a.txt","content":"hello\n"}
        complete t1:0:1 tool Write toolu_msg_mock_0011_1 {"file_path":"/home/user/project/a.txt","content":"hello\n"} -> "The file /home/user/project/a.txt has been updated successfully. (file state is current in your context — no need to Read it back)" [Edit]
    "#]],
    );
}

#[test]
fn what_the_agent_was_told_about_errors_comes_with_the_result_of_its_call() {
    let lines = recorded("claude-tool");
    let result =
        lines.iter().position(|line| line["type"] == "user").expect("the recording has a tool result");
    let told = |call: &str| {
        let text = "<diagnostics file=\"a.txt\">\nERROR [1:1] x\nERROR [2:1] y\n</diagnostics>";
        [(CallId::from(call), ToldDiagnostics::read(text).expect("two errors"))].into()
    };
    let mut story = Story::new();
    story.apply(&lines[..result]);
    story.translator.told(told("toolu_msg_mock_0011_1"));
    story.translator.told(told("toolu_of_another"));
    story.apply(&lines[result..=result]);
    story.check(&expect![[r#"
        started  t1 claude-code claude-opus-5-5
        create   t1:0:0 message "I will use Write."
        complete t1:0:0 message "I will use Write."
        create   t1:0:1 tool Write toolu_msg_mock_0011_1 {"file_path":"/home/user/project/a.txt","content":"hello\n"}
        complete t1:0:1 tool Write toolu_msg_mock_0011_1 {"file_path":"/home/user/project/a.txt","content":"hello\n"} -> "The file /home/user/project/a.txt has been updated successfully. (file state is current in your context — no need to Read it back)" [Edit, told 2 errors]
    "#]]);
}

// TC-3.3d
#[test]
fn thinking_blocks_become_thinking_streamed_or_whole() {
    check(
        "claude-thinking",
        expect![[r#"
        started  t1 claude-code claude-opus-5-5
        create   t1:0:0 thinking "Let me think about this step by step. Let me think "
        update   t1:0:0 thinking "Let me think about this step by step. Let me think about this step by step. Let me think about this step by step. Let me think about this step by step. "
        complete t1:0:0 thinking "Let me think about this step by step. Let me think about this step by step. Let me think about this step by step. Let me think about this step by step. "
        create   t1:0:1 message "Thought result: 42."
        complete t1:0:1 message "Thought result: 42."
        ended    t1 completed 120+36 tokens $0.0024 context 156/1000000
    "#]],
    );
    let whole = json!({"type": "assistant", "message": {"id": "m", "content": [
        {"type": "thinking", "thinking": "all at once", "signature": "x"}]}, "parent_tool_use_id": null});
    check_lines(
        &[json!({"type": "system", "subtype": "init", "model": "m"}), whole],
        expect![[r#"
        started  t1 claude-code m
        complete t1:0:0 thinking "all at once"
    "#]],
    );
}

// TC-3.3e
#[test]
fn interleaved_blocks_have_their_own_items() {
    check(
        "claude-parallel-tools",
        expect![[r#"
        started  t1 claude-code claude-opus-5-5
        create   t1:0:0 thinking "two tools"
        complete t1:0:0 thinking "two tools"
        create   t1:0:1 message "Two tools."
        complete t1:0:1 message "Two tools."
        create   t1:0:2 tool Bash toolu_msg_mock_0013_2 {"command":"echo A","description":"say A"}
        create   t1:0:3 tool Bash toolu_msg_mock_0013_3 {"command":"echo B","description":"say B"}
        complete t1:0:2 tool Bash toolu_msg_mock_0013_2 {"command":"echo A","description":"say A"} -> "A" [Shell, exit 0]
        complete t1:0:3 tool Bash toolu_msg_mock_0013_3 {"command":"echo B","description":"say B"} -> "B" [Shell, exit 0]
        create   t1:1:0 message "Done. The tool said: B"
        complete t1:1:0 message "Done. The tool said: B"
        ended    t1 completed 240+11 tokens $0.00516 context 126/1000000
    "#]],
    );
}

// TC-3.3f
#[test]
fn a_turn_starts_with_its_model_and_ends_at_result() {
    let lines = recorded("claude-tool");
    let mut story = Story::new();
    let (result, rest) = lines.split_last().expect("a recording has lines");
    story.apply(rest);
    // Two messages have stopped by now; the turn has not.
    assert!(!story.printer.printed.contains("ended"));
    assert!(story.printer.printed.starts_with("started  t1 claude-code claude-opus-5-5\n"));
    story.apply(std::slice::from_ref(result));
    assert!(story.printer.printed.ends_with("/1000000\n"), "{}", story.printer.printed);
    check(
        "claude-error-400",
        expect![[r#"
        started  t1 claude-code claude-opus-5-5
        failed   t1 RESPONSE_ERROR: API Error: 400 mock 400
    "#]],
    );
}

#[test]
fn a_call_does_not_count_the_time_that_a_person_took() {
    let mut story = Story::new();
    story.apply(&[
        json!({"type": "system", "subtype": "init", "model": "m"}),
        json!({"type": "assistant", "parent_tool_use_id": null, "message": {"id": "m1", "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}]}}),
    ]);
    story.translator.begins_now(&Now::at_ms(60_000), &CallId::from("toolu_1"));
    let result = json!({"type": "user", "parent_tool_use_id": null, "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a.txt"}]}});
    let took = story.translator.line(&Now::at_ms(61_500), &result).into_iter().find_map(|said| match said {
        Translated::Event(envelope) => match envelope.payload {
            StreamEvent::ItemDone {
                final_item: FinalizedItem::FunctionCallOutput { detail, .. }, ..
            } => detail.and_then(|detail| detail.duration_ms),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(took, Some(1_500));
}

// TC-3.3g
#[test]
fn an_unknown_tool_result_is_shown_and_harms_nothing() {
    let result = json!({"type": "user", "parent_tool_use_id": null, "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_lost", "content": "out of nowhere", "is_error": true}]}});
    let lines = [json!({"type": "system", "subtype": "init", "model": "m"}), result];
    check_lines(
        &lines,
        expect![[r#"
        started  t1 claude-code m
        complete t1:0:tool:toolu_lost tool unknown_tool toolu_lost {} !> "out of nowhere" [Other]
    "#]],
    );
}

// TC-5.4d, TC-5.4e
#[test]
fn an_interrupted_text_goes_out_once_more_and_is_neither_complete_nor_an_error() {
    check_cancelled(
        "claude-interrupt",
        expect![[r#"
        started  t1 claude-code claude-opus-5-5
        answered int1 true
        create   t1:0:0 message "word0 word1 word2 word3 word4 word5 "
        update   t1:0:0 message "word0 word1 word2 word3 word4 word5 "
        ended    t1 cancelled 0+0 tokens $0 context 121
    "#]],
    );
}

// TC-5.4e
#[test]
fn an_interrupted_tool_is_stopped_and_one_that_had_its_result_is_complete() {
    check_cancelled(
        "claude-interrupt-tool",
        expect![[r#"
        started  t1 claude-code claude-opus-5-5
        create   t1:0:0 tool Read toolu_msg_0001_0 {"file_path":"README.md"}
        create   t1:0:1 tool Bash toolu_msg_0001_1 {"command":"touch started; while true; do :; sleep 0.2; done","description":"d"}
        complete t1:0:0 tool Read toolu_msg_0001_0 {"file_path":"README.md"} -> "1\tvm\n2\t" [Read]
        answered r2 true
        update   t1:0:1 tool Bash toolu_msg_0001_1 {"command":"touch started; while true; do :; sleep 0.2; done","description":"d"}
        ended    t1 cancelled 120+12 tokens $0.00072 context 132/1000000
    "#]],
    );
}

#[test]
fn a_turn_that_was_cancelled_before_the_cli_began_with_it_goes_on_and_says_so() {
    let mut story = Story::new();
    let lifecycle = |state: &str| json!({"type": "command_lifecycle", "command_uuid": "t1", "state": state});
    story.apply(&[lifecycle("queued")]);
    assert!(story.translator.cancel(&TurnId::from("t1")));
    story.apply(&[lifecycle("started")]);
    story.apply(&recorded("claude-text")[..3]);
    assert!(!story.translator.cancel(&TurnId::from("t2")), "nobody expects that turn");
    story.check(&expect![[r#"
        goes on
        started  t1 claude-code claude-opus-5-5
        goes on
        goes on
    "#]]);
}

#[test]
fn an_interrupt_with_a_pending_permission_withdraws_it() {
    check_cancelled(
        "claude-permission-cancelled",
        expect![[r#"
        started  t1 claude-code claude-opus-4-8[1m]
        create   t1:0:0 message "I will use Bash."
        complete t1:0:0 message "I will use Bash."
        create   t1:0:1 tool Bash toolu_msg_mock_0196_1 {"command":"touch zz","description":"d"}
        asked    58e3f199-735d-4096-a6dd-961e8d676fb0 "can_use_tool"
        withdrawn 58e3f199-735d-4096-a6dd-961e8d676fb0
        answered i1 true
        update   t1:0:1 tool Bash toolu_msg_mock_0196_1 {"command":"touch zz","description":"d"}
        ended    t1 cancelled 120+5 tokens $0.000725 context 125/1000000
    "#]],
    );
}

#[test]
fn an_api_retry_is_a_note_that_the_next_word_clears() {
    check(
        "claude-retry-529",
        expect![[r#"
        started  t1 claude-code claude-opus-5-5
        note     API overloaded (529), retry 1 of 2 in 0.5 s
        note     -
        ended    t1 completed 240+2 tokens $0.001 context 121/1000000
    "#]],
    );
}

// TC-5.4a
#[test]
fn a_text_whose_stream_broke_off_is_an_error_with_all_of_it() {
    check(
        "claude-midfail",
        expect![[r#"
        started  t1 claude-code claude-opus-5-5
        error    t1:0:0 message "partial answer then"
        create   t1:1:0 message "Hello from the mock model. one "
        complete t1:1:0 message "Hello from the mock model. one "
        ended    t1 completed 240+37 tokens $0.0017 context 156/1000000
    "#]],
    );
}

#[test]
fn a_text_that_is_followed_by_a_failure_of_the_api_is_an_error() {
    let mut lines = recorded("claude-text");
    lines.retain(|line| !matches!(line["event"]["type"].as_str(), Some("message_delta" | "message_stop")));
    let result = lines.last_mut().expect("a recording has lines");
    result["is_error"] = json!(true);
    result["result"] = json!("API Error: overloaded");
    check_lines(
        &lines,
        expect![[r#"
        started  t1 claude-code claude-opus-5-5
        error    t1:0:0 message "Hello from the mock model. one "
        failed   t1 RESPONSE_ERROR: API Error: overloaded
    "#]],
    );
}

#[test]
fn text_that_the_cli_gave_up_is_marked_as_failed() {
    let mut lines = recorded("claude-text");
    lines.retain(|line| line["type"] != "assistant");
    for line in &mut lines {
        if line["event"]["type"] == "message_stop" {
            line["abandoned_blocks"] = json!({"from_block_index": 0});
        }
    }
    check_lines(
        &lines[..lines.len() - 1],
        expect![[r#"
        started  t1 claude-code claude-opus-5-5
        error    t1:0:0 message "Hello from the mock model. one "
    "#]],
    );
}

#[test]
fn a_subagents_lines_name_their_call_and_those_between_turns_wait_for_the_next() {
    check(
        "claude-subagent",
        expect![[r#"
        started  t1 claude-code claude-opus-5-5
        create   t1:0:0 tool Task toolu_msg_mock_0074_0 {"description":"d","prompt":"[[tool:Bash:{\"command\":\"echo sub\",\"description\":\"s\"}]] sub","subagent_type":"general-purpose"}
        complete t1:0:0 tool Task toolu_msg_mock_0074_0 {"description":"d","prompt":"[[tool:Bash:{\"command\":\"echo sub\",\"description\":\"s\"}]] sub","subagent_type":"general-purpose"} -> "Async agent launched successfully. (This" [Subagent]
        complete t1:2:0 in toolu_msg_mock_0074_0 message "I will use Bash."
        create   t1:2:1 in toolu_msg_mock_0074_0 tool Bash toolu_msg_mock_0075_1 {"command":"echo sub","description":"s"}
        complete t1:2:1 in toolu_msg_mock_0074_0 tool Bash toolu_msg_mock_0075_1 {"command":"echo sub","description":"s"} -> "sub" [Shell]
        create   t1:1:0 message "Done. The tool said: Async agent "
        complete t1:1:0 message "Done. The tool said: Async agent "
        ended    t1 completed 240+36 tokens $0.00226 context 155/1000000
        started  own0 claude-code claude-opus-5-5
        complete own0:0:0 in toolu_msg_mock_0074_0 message "Done. The tool said: sub"
        create   own0:1:0 message "Hello from the mock model. one "
        complete own0:1:0 message "Hello from the mock model. one "
        ended    own0 completed 120+36 tokens $0.0018 context 156/1000000
    "#]],
    );
}

#[test]
fn a_session_that_the_cli_does_not_know_fails_the_turn() {
    check(
        "claude-resume-missing",
        expect![[r#"
        started  t1 claude-code 
        failed   t1 SESSION_NOT_FOUND: No conversation found with session ID: 00000000-2222-4333-8444-555555555555
    "#]],
    );
}

#[test]
fn a_turn_is_bound_to_the_message_that_the_cli_says_it_begins_with() {
    let lifecycle =
        |turn: &str, state: &str| json!({"type": "command_lifecycle", "command_uuid": turn, "state": state});
    let init = json!({"type": "system", "subtype": "init", "model": "m"});
    let result = json!({"type": "result", "subtype": "success", "is_error": false});
    check_lines(
        &[
            lifecycle("t1", "queued"),
            // The agent's own turn comes first, although our message waits.
            init.clone(),
            result.clone(),
            lifecycle("t1", "started"),
            init,
            result,
            lifecycle("t1", "completed"),
        ],
        expect![[r#"
            started  own0 claude-code m
            ended    own0 completed 0+0 tokens
            started  t1 claude-code m
            ended    t1 completed 0+0 tokens
        "#]],
    );
}

#[test]
fn a_message_that_was_taken_into_another_turn_still_ends() {
    let lifecycle = |state: &str| json!({"type": "command_lifecycle", "command_uuid": "t1", "state": state});
    check_lines(
        &[lifecycle("queued"), lifecycle("completed")],
        expect![[r#"
        started  t1 claude-code 
        ended    t1 completed
    "#]],
    );
}

#[test]
fn unknown_lines_pass_without_a_word() {
    let lines = [
        json!({"type": "from_the_future", "x": [1]}),
        json!({"type": "system", "subtype": "also_new"}),
        json!({"no": "type"}),
        json!([1, 2]),
        json!(null),
        json!({"type": "stream_event"}),
        json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 7, "delta": {}}}),
    ];
    let mut story = Story::new();
    story.apply(&lines[..5]);
    assert_eq!(story.printer.printed, "");
    story.apply(&lines[5..]);
    assert_eq!(story.printer.printed, "started  t1 claude-code \n");
}

#[test]
fn a_turn_whose_process_died_before_it_began_can_still_fail() {
    let mut translator = Translator::new(SessionId::from("s"));
    translator.expect(TurnId::from("t1"));
    let translated = translator.begin_expected(&Now::at_ms(0));
    assert_eq!(translated.len(), 1);
    assert!(translator.is_working());
}
