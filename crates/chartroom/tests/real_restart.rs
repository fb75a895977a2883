//! kill -9 of the finished server in mid-turn, with the real agents: nothing is left running, nothing is lost, nothing
//! is delivered twice, and every session goes on.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/story.rs"]
mod story;

use expect_test::expect;
use serde_json::{Value, json};
use story::{Browser, Place, Server, SleepingTool, lives, until_gone};

/// What differs between the agents.
struct Agent {
    cli_type: &'static str,
    /// Asks for nothing.
    free: &'static str,
    /// A tool that needs a permission.
    asking: &'static str,
    sleeping: fn(&str) -> Value,
    tool: &'static str,
}

/// What the readers saw after the restart.
struct Stories {
    streaming: Browser,
    asking: Browser,
    _place: Place,
    server: Server,
}

async fn killed_in_mid_turn(agent: Agent) -> Stories {
    let place = Place::new().await;
    let server = Server::start(&place).await;

    // One session in the middle of a sentence, with a message behind it.
    let mut streaming = server.create(agent.cli_type, Some(agent.free)).await;
    streaming.send(&server, "[[say:an earlier answer]]").await;
    streaming.until_idle().await;
    streaming.send(&server, "[[gate:one]]").await;
    streaming.until_said("before").await;
    assert_eq!(streaming.send(&server, "[[say:second]]").await["queued"], true);
    streaming.until("queue [\"").await;
    // One that waits for a person.
    let mut asking = server.create(agent.cli_type, None).await;
    asking.send(&server, agent.asking).await;
    asking.until_asked().await;
    let question = asking.question_id().to_owned();
    // And one whose tool runs in a session of its own.
    let mut working = server.create(agent.cli_type, Some(agent.free)).await;
    let tool = SleepingTool::new().await;
    let call = (agent.sleeping)(&format!("setsid bash -c '{}'", tool.command));
    working.send(&server, &format!("[[tool:{}:{call}]]", agent.tool)).await;
    let pid = tool.pid().await;

    let tree = server.descendants();
    assert!(tree.contains(&pid), "{pid} is not among {tree:?}");
    // A keeper and an agent a session at least, and the tool.
    assert!(tree.len() >= 7 && tree.iter().all(|pid| lives(*pid)), "{tree:?}");
    let seen = streaming.last_seq();
    server.die().await;
    until_gone(&tree).await;

    let server = Server::start(&place).await;
    // Over HTTP: what was said so far, the queue and the question are there before any agent runs.
    let history = server.get(&streaming.path("history")).await;
    let said: Vec<_> =
        history["entries"].as_array().unwrap().iter().map(|entry| entry["content"].clone()).collect();
    assert_eq!(
        said,
        ["[[say:an earlier answer]]", "an earlier answer", "[[gate:one]]", "before "],
        "{history}"
    );
    let queue = server.get(&streaming.path("queue")).await;
    assert_eq!(queue["messages"].as_array().unwrap().len(), 1);
    assert_eq!(queue["messages"][0]["message"], "[[say:second]]");
    let status = server.get(&asking.path("status")).await;
    assert_eq!((&status["state"], &status["isAlive"]), (&json!("needs_you"), &json!(false)));
    assert_eq!(server.descendants(), [0; 0], "an agent was started that nobody asked for");

    // Over the WebSocket: a page that was there before gets what it misses, a new one everything.
    let mut missed = Browser::open(&server, &streaming.session_id, Some(seen)).await;
    missed.saw(&expect![[r#"
        error message i0 "before ": Chartroom was stopped in the middle of this turn
        turn 0 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "[[say:an earlier answer]]"
        queue ["[[say:second]]"]
        state open
    "#]]);
    let mut streaming = server.follow(&streaming.session_id).await;
    streaming.post(&server, "load", json!({})).await;
    streaming.until_idle().await;
    let n_asked = place
        .api
        .requests()
        .iter()
        .filter(|request| request.body.to_string().contains("[[say:second]]"))
        .count();
    assert_eq!(n_asked, 1, "the queued message was not delivered once");
    // The model was given the whole conversation.
    let last = place.api.requests().last().unwrap().body.to_string();
    assert!(last.contains("an earlier answer") && last.contains("[[gate:one]]"), "{last}");
    assert_eq!(server.get(&streaming.path("queue")).await["messages"], json!([]));

    let mut asking = server.follow(&asking.session_id).await;
    assert_eq!(asking.question_id(), question);
    asking.answer(&server, json!({"decision": "allow"})).await;
    asking.until_idle().await;
    assert!(place.api.saw("You may: please go on."), "the agent was not told");

    let working = server.follow(&working.session_id).await;
    server.post(&working.path("load"), json!({})).await;
    assert_eq!(server.get(&working.path("status")).await["isAlive"], true);
    Stories { streaming, asking, _place: place, server }
}

#[tokio::test]
async fn claude_sessions_survive_kill_minus_9_of_the_server() {
    let mut stories = killed_in_mid_turn(Agent {
        cli_type: "claude-code",
        free: "bypassPermissions",
        asking: r#"[[tool:Bash:{"command":"touch c.txt","description":"d"}]]"#,
        sleeping: |command| json!({"command": command, "description": "d"}),
        tool: "Bash",
    })
    .await;
    stories.streaming.saw(&expect![[r#"
        history
        | user i0 "[[say:an earlier answer]]"
        | complete message i1 "an earlier answer"
        | user i2 "[[gate:one]]"
        | error message i3 "before ": Chartroom was stopped in the middle of this turn
        | turn 0 started claude-opus-5-5
        | turn 0 completed
        | turn 1 started claude-opus-5-5
        | turn 1 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "[[say:an earlier answer]]"
        queue ["[[say:second]]"]
        state open
        > load
        state loading
        options model - mode -
        user i4 "[[say:second]]"
        queue []
        state working
        turn 2 started claude-opus-5-5
        options model claude-opus-5-5 mode bypassPermissions
        create message i5
        complete message i5 "second"
        turn 2 completed
        state open
    "#]]);
    stories.asking.saw(&expect![[r#"
        history
        | user i0 "[[tool:Bash:{\"command\":\"touch c.txt\",\"description\":\"d\"}]]"
        | complete message i1 "I will use Bash."
        | error tool Bash i2: Chartroom was stopped in the middle of this turn
        | turn 0 started claude-opus-5-5
        | turn 0 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "[[tool:Bash:{\"command\":\"touch"
        queue []
        question q0 Bash
        state needs_you
        > answer allow
        question q0 closed
        queue ["You asked whether you may use Bash with {\"command\":\"touch c.txt\",\"description\":\"d\"}. You may: please go on."]
        state loading
        options model - mode -
        user i3 "You asked whether you may use Bash with {\"command\":\"touch c.txt\",\"description\":\"d\"}. You may: please go on."
        queue []
        state working
        turn 1 started claude-opus-5-5
        options model claude-opus-5-5 mode default
        create message i4
        complete message i4 "Hello from the scripted model."
        turn 1 completed
        state open
    "#]]);
    stories.server.stop().await;
}

#[tokio::test]
async fn codex_sessions_survive_kill_minus_9_of_the_server() {
    let mut stories = killed_in_mid_turn(Agent {
        cli_type: "codex",
        free: "full-access",
        asking: r#"[[tool:exec_command:{"cmd":"touch c.txt","sandbox_permissions":"require_escalated","justification":"j"}]]"#,
        sleeping: |command| json!({"cmd": command, "yield_time_ms": 60_000}),
        tool: "exec_command",
    })
    .await;
    stories.streaming.saw(&expect![[r#"
        history
        | user i0 "[[say:an earlier answer]]"
        | complete message i1 "an earlier answer"
        | user i2 "[[gate:one]]"
        | error message i3 "before ": Chartroom was stopped in the middle of this turn
        | turn 0 started gpt-5.4
        | turn 0 completed
        | turn 1 started gpt-5.4
        | turn 1 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "[[say:an earlier answer]]"
        queue ["[[say:second]]"]
        state open
        > load
        state loading
        options model gpt-5.4 mode auto
        options model gpt-5.4 mode full-access
        user i4 "[[say:second]]"
        queue []
        state working
        turn 2 started gpt-5.4
        create message i5
        complete message i5 "second"
        turn 2 completed
        state open
    "#]]);
    stories.asking.saw(&expect![[r#"
        history
        | user i0 "[[tool:exec_command:{\"cmd\":\"touch c.txt\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"j\"}]]"
        | complete message i1 "I will use exec_command."
        | error tool execute i2: Chartroom was stopped in the middle of this turn
        | turn 0 started gpt-5.4
        | turn 0 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "[[tool:exec_command:{\"cmd\":\"touch"
        queue []
        question q0 execute
        state needs_you
        > answer allow
        question q0 closed
        queue ["You asked whether you may use execute with {\"command\":\"touch c.txt\",\"cwd\":\"$PROJECT\"}. You may: please go on."]
        state loading
        options model gpt-5.4 mode auto
        user i3 "You asked whether you may use execute with {\"command\":\"touch c.txt\",\"cwd\":\"$PROJECT\"}. You may: please go on."
        queue []
        state working
        turn 1 started gpt-5.4
        create message i4
        complete message i4 "Hello from the scripted model."
        turn 1 completed
        state open
    "#]]);
    stories.server.stop().await;
}
