//! Recorded updates of codex-acp 0.16.0 in, upserts and turn events out.

use chartroom_protocol::ids::{SessionId, TurnId};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{Translated, Translator, prompt_error};
use crate::script::Printer;

/// When everything is said.
const AT: &str = "2026-11-15T12:00:00.000Z";

fn recorded(name: &str) -> Vec<Value> {
    let path = format!("{}/fixtures/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let lines = std::fs::read_to_string(&path).expect("the recording is in the repository");
    lines.lines().map(|line| serde_json::from_str(line).expect("a recording is JSON lines")).collect()
}

#[track_caller]
fn check(recording: &str, expected: Expect) {
    check_messages(&recorded(recording), expected);
}

/// Plays messages of one prompt: updates, and its answer.
#[track_caller]
fn check_messages(messages: &[Value], expected: Expect) {
    let mut translator = Translator::new(SessionId::from("s"), "codex");
    let mut printer = Printer::new();
    print(&mut printer, translator.begin(AT, TurnId::from("t1"), "gpt-5.4"));
    for message in messages {
        let translated = if let Some(update) = message.pointer("/params/update") {
            translator.update(AT, update)
        } else if let Some(error) = message.get("error") {
            let error = prompt_error(error["message"].as_str().unwrap_or_default(), error.get("data"));
            translator.answered(AT, Err(&error))
        } else {
            translator.answered(AT, Ok(&message["result"]))
        };
        print(&mut printer, translated);
    }
    expected.assert_eq(&printer.printed);
}

fn print(printer: &mut Printer, translated: Vec<Translated>) {
    for translated in translated {
        match translated {
            Translated::Event(envelope) => printer.push(&envelope),
            Translated::Note(note) => printer.line(&format!("note     {}", note.as_deref().unwrap_or("-"))),
            Translated::Options(update) => printer.line(&format!("options  {}", update["sessionUpdate"])),
        }
    }
}

fn update(update: Value) -> Value {
    json!({"method": "session/update", "params": {"sessionId": "s", "update": update}})
}

fn chunk(text: &str) -> Value {
    update(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}))
}

fn answer() -> Value {
    json!({"result": {"stopReason": "end_turn"}})
}

// TC-4.2a
#[test]
fn message_chunks_become_one_message_that_grows() {
    check_messages(
        &[chunk("Hello "), chunk("from "), chunk("codex."), answer()],
        expect![[r#"
        started  t1 codex gpt-5.4
        create   t1:0:0 message "Hello from codex."
        complete t1:0:0 message "Hello from codex."
        ended    t1 completed 0+0 tokens
    "#]],
    );
}

// TC-4.2b
#[test]
fn a_tool_call_is_created_with_its_name_and_id() {
    let messages = recorded("acp-exec");
    let until_call: Vec<Value> = messages
        .iter()
        .take_while(|message| message["params"]["update"]["sessionUpdate"] != "tool_call_update")
        .cloned()
        .collect();
    check_messages(
        &until_call,
        expect![[r#"
        started  t1 codex gpt-5.4
        create   t1:0:0 message "I will use exec_command."
        complete t1:0:0 message "I will use exec_command."
        create   t1:1:0 tool execute call_resp_0008_1 {"command":"echo hi > e.txt; ls; echo err >&2; exit 3","cwd":"/home/user/project"}
    "#]],
    );
}

// TC-4.2c
#[test]
fn a_tool_call_update_completes_the_call_with_its_result() {
    check(
        "acp-exec",
        expect![[r#"
        started  t1 codex gpt-5.4
        create   t1:0:0 message "I will use exec_command."
        complete t1:0:0 message "I will use exec_command."
        create   t1:1:0 tool execute call_resp_0008_1 {"command":"echo hi > e.txt; ls; echo err >&2; exit 3","cwd":"/home/user/project"}
        complete t1:1:0 tool execute call_resp_0008_1 {"command":"echo hi > e.txt; ls; echo err >&2; exit 3","cwd":"/home/user/project"} !> "e.txt\nerr\n" [Shell, exit 3]
        create   t1:2:0 message "Done. The tool said: Chunk ID: 1cc13e\nWall "
        complete t1:2:0 message "Done. The tool said: Chunk ID: 1cc13e\nWall "
        ended    t1 completed 0+0 tokens context 120/258400
    "#]],
    );
}

#[test]
fn an_edit_carries_its_diff() {
    check(
        "acp-patch",
        expect![[r#"
        started  t1 codex gpt-5.4
        create   t1:0:0 message "Patching."
        complete t1:0:0 message "Patching."
        create   t1:1:0 tool edit call_resp_0010_1 {"changes":{"/home/user/project/p.txt":{"type":"add","content":"line one\nline two\n"}}}
        complete t1:1:0 tool edit call_resp_0010_1 {"changes":{"/home/user/project/p.txt":{"type":"add","content":"line one\nline two\n"}}} -> "Success. Updated the following files:\nA p.txt\n" [Edit, /home/user/project/p.txt +2 -0]
        create   t1:2:0 message "Done. The tool said: Exit code: 0\nWall "
        complete t1:2:0 message "Done. The tool said: Exit code: 0\nWall "
        ended    t1 completed 0+0 tokens context 120/258400
    "#]],
    );
}

#[test]
fn a_plan_is_shown_as_a_todo_list() {
    check(
        "acp-plan",
        expect![[r#"
        started  t1 codex gpt-5.4
        create   t1:0:0 message "I will use update_plan."
        complete t1:0:0 message "I will use update_plan."
        create   t1:1:0 tool update_plan plan-t1-1 {"plan":[{"content":"one","priority":"medium","status":"in_progress"},{"content":"two","priority":"medium","status":"pending"}]}
        complete t1:1:0 tool update_plan plan-t1-1 {"plan":[{"content":"one","priority":"medium","status":"in_progress"},{"content":"two","priority":"medium","status":"pending"}]} -> "" [Todo]
        create   t1:2:0 message "Done. The tool said: Plan updated"
        complete t1:2:0 message "Done. The tool said: Plan updated"
        ended    t1 completed 0+0 tokens context 120/258400
    "#]],
    );
}

#[test]
fn thoughts_are_thinking() {
    let thought = |text: &str| {
        update(json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": text}}))
    };
    check_messages(
        &[thought("**Planning** "), thought("hm"), chunk("I know."), answer()],
        expect![[r#"
        started  t1 codex gpt-5.4
        create   t1:0:0 thinking "**Planning** hm"
        complete t1:0:0 thinking "**Planning** hm"
        create   t1:1:0 message "I know."
        complete t1:1:0 message "I know."
        ended    t1 completed 0+0 tokens
    "#]],
    );
}

#[test]
fn text_that_is_sent_again_after_a_stream_retry_is_not_doubled() {
    check(
        "acp-failed-stream",
        expect![[r#"
        started  t1 codex gpt-5.4
        error    t1:0:0 message "partial"
        failed   t1 RESPONSE_ERROR: stream disconnected before completion: mock failed
    "#]],
    );
    let usage = update(json!({"sessionUpdate": "usage_update", "used": 10, "size": 100}));
    check_messages(
        &[
            chunk("one "),
            chunk("two "),
            usage.clone(),
            chunk("one "),
            chunk("two "),
            chunk("three"),
            answer(),
        ],
        expect![[r#"
            started  t1 codex gpt-5.4
            create   t1:0:0 message "one two three"
            complete t1:0:0 message "one two three"
            ended    t1 completed 0+0 tokens context 10/100
        "#]],
    );
    // Cut in other places.
    check_messages(
        &[chunk("one two "), usage.clone(), chunk("on"), chunk("e two three"), answer()],
        expect![[r#"
        started  t1 codex gpt-5.4
        create   t1:0:0 message "one two three"
        complete t1:0:0 message "one two three"
        ended    t1 completed 0+0 tokens context 10/100
    "#]],
    );
    // Another answer that only begins alike: the first broke off.
    check_messages(
        &[chunk("one two"), usage, chunk("one"), chunk(" more"), answer()],
        expect![[r#"
        started  t1 codex gpt-5.4
        error    t1:0:0 message "one two"
        create   t1:1:0 message "one more"
        complete t1:1:0 message "one more"
        ended    t1 completed 0+0 tokens context 10/100
    "#]],
    );
}

#[test]
fn an_api_error_fails_the_turn_with_the_apis_own_words() {
    check(
        "acp-error-400",
        expect![[r#"
        started  t1 codex gpt-5.4
        failed   t1 RESPONSE_ERROR: mock err:400
    "#]],
    );
}

// TC-5.4e
#[test]
fn a_call_that_is_open_when_the_turn_is_cancelled_is_stopped() {
    check_messages(
        &recorded("acp-cancel-tool")[..7],
        expect![[r#"
        started  t1 codex gpt-5.4
        create   t1:0:0 message "I will use exec_command."
        complete t1:0:0 message "I will use exec_command."
        create   t1:1:0 tool execute call_resp_0023_1 {"command":"sleep 20","cwd":"/home/user/project"}
        update   t1:1:0 tool execute call_resp_0023_1 {"command":"sleep 20","cwd":"/home/user/project"}
        ended    t1 cancelled 0+0 tokens context 120/258400
    "#]],
    );
}

fn cancelled() -> Value {
    json!({"result": {"stopReason": "cancelled"}})
}

// TC-5.4d, TC-5.4e
#[test]
fn a_text_that_is_open_when_the_turn_is_cancelled_goes_out_once_more() {
    check_messages(
        &[chunk("half a "), chunk("sentence"), cancelled()],
        expect![[r#"
        started  t1 codex gpt-5.4
        create   t1:0:0 message "half a sentence"
        update   t1:0:0 message "half a sentence"
        ended    t1 cancelled 0+0 tokens
    "#]],
    );
}

#[test]
fn a_tool_that_fails_because_the_turn_was_cancelled_keeps_what_it_said_and_is_stopped() {
    let started = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute",
        "title": "make", "rawInput": {"command": ["make"]}, "status": "in_progress"});
    let failed = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed",
        "rawOutput": {"aggregated_output": "cc main.c\n", "exit_code": 137}});
    let mut translator = Translator::new(SessionId::from("s"), "codex");
    let mut printer = Printer::new();
    print(&mut printer, translator.begin(AT, TurnId::from("t1"), "m"));
    print(&mut printer, translator.update(AT, &started));
    assert!(translator.cancel(&TurnId::from("t1")));
    print(&mut printer, translator.update(AT, &failed));
    print(&mut printer, translator.answered(AT, Ok(&cancelled()["result"])));
    assert!(!translator.cancel(&TurnId::from("t1")), "the turn is over");
    expect![[r#"
        started  t1 codex m
        create   t1:0:0 tool execute c {"command":["make"]}
        update   t1:0:0 tool execute c {"command":["make"]} -> "cc main.c\n"
        ended    t1 cancelled 0+0 tokens
    "#]]
    .assert_eq(&printer.printed);
}

#[test]
fn a_call_that_is_open_when_the_turn_fails_is_an_error() {
    let started = update(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute",
        "title": "make", "rawInput": {"command": ["make"]}, "status": "in_progress"}));
    let failed = json!({"error": {"code": -32603, "message": "Internal error", "data": {"message": "gone"}}});
    check_messages(
        &[chunk("Building."), started, failed],
        expect![[r#"
        started  t1 codex gpt-5.4
        create   t1:0:0 message "Building."
        complete t1:0:0 message "Building."
        create   t1:1:0 tool execute c {"command":["make"]}
        error    t1:1:0 tool execute c {"command":["make"]}
        failed   t1 RESPONSE_ERROR: gone
    "#]],
    );
}

#[test]
fn a_warning_about_an_unknown_model_is_a_note_and_no_message() {
    let warning = "Model metadata for `gpt-9` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.";
    check_messages(
        &[chunk(warning), chunk("Hello."), answer()],
        expect![[r#"
        started  t1 codex gpt-5.4
        note     Model metadata for `gpt-9` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.
        note     -
        create   t1:0:0 message "Hello."
        complete t1:0:0 message "Hello."
        ended    t1 completed 0+0 tokens
    "#]],
    );
}

#[test]
fn unknown_updates_pass_and_commands_are_options() {
    check_messages(
        &[
            update(json!({"sessionUpdate": "from_the_future", "x": 1})),
            update(json!({"sessionUpdate": "tool_call_update", "status": "completed"})),
            update(json!({"sessionUpdate": "available_commands_update", "availableCommands": []})),
            update(json!(null)),
            answer(),
        ],
        expect![[r#"
            started  t1 codex gpt-5.4
            options  "available_commands_update"
            ended    t1 completed 0+0 tokens
        "#]],
    );
}
