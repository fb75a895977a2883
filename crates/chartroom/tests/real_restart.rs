//! kill -9 of the finished server in mid-turn, with the real agents: nothing is left running, nothing is lost, nothing
//! is delivered twice, and every session goes on.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/story.rs"]
mod story;

use chartroom_testkit::model_api::scenario::{Block, Ending, Piece, Reply};
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

/// One session, as three pages see it.
struct Pages {
    /// Until the server died.
    before: Browser,
    /// That page again, with the last number it has.
    back: Browser,
    /// One that knows nothing.
    new: Browser,
}

impl Pages {
    async fn of(before: Browser, server: &Server) -> Self {
        let back = Browser::open(server, &before.session_id, Some(before.last_seq())).await;
        let new = server.follow(&before.session_id).await;
        Self { before, back, new }
    }
}

struct Stories {
    streaming: Pages,
    asking: Pages,
    working: Pages,
    _place: Place,
    server: Server,
}

async fn killed_in_mid_turn(agent: Agent) -> Stories {
    let place = Place::new().await;
    let server = Server::start(&place).await;

    // One session in the middle of a sentence. (With a message behind it, it goes on by itself: real_queue.)
    let mut streaming = server.create(agent.cli_type, Some(agent.free)).await;
    streaming.send(&server, "[[say:an earlier answer]]").await;
    streaming.until_idle().await;
    streaming.send(&server, "[[gate:one]]").await;
    streaming.until_said("before").await;
    // One that waits for a person.
    let mut asking = server.create(agent.cli_type, None).await;
    asking.send(&server, agent.asking).await;
    asking.until_asked().await;
    let question = asking.question_id().to_owned();
    // And one whose tool runs in a session of its own.
    let mut working = server.create(agent.cli_type, Some(agent.free)).await;
    let tool = SleepingTool::in_its_own_session().await;
    let call = (agent.sleeping)(&tool.command);
    working.send(&server, &format!("please [[tool:{}:{call}]]", agent.tool)).await;
    let pid = tool.pid().await;
    working.until("create tool").await;

    let tree = server.descendants();
    assert!(tree.contains(&pid), "{pid} is not among {tree:?}");
    // A keeper and an agent a session at least, and the tool.
    assert!(tree.len() >= 7 && tree.iter().all(|pid| lives(*pid)), "{tree:?}");
    server.die().await;
    until_gone(&tree).await;

    let server = Server::start(&place).await;
    // Over HTTP: what was said so far and the question are there before any agent runs.
    let history = server.get(&streaming.path("history")).await;
    let said: Vec<_> =
        history["entries"].as_array().unwrap().iter().map(|entry| entry["content"].clone()).collect();
    assert_eq!(
        said,
        ["[[say:an earlier answer]]", "an earlier answer", "[[gate:one]]", "before "],
        "{history}"
    );
    let status = server.get(&asking.path("status")).await;
    assert_eq!((&status["state"], &status["isAlive"]), (&json!("needs_you"), &json!(false)));
    // Over the WebSocket: a page that was there before gets what it misses, a new one everything.
    let mut streaming = Pages::of(streaming, &server).await;
    let mut asking = Pages::of(asking, &server).await;
    let mut working = Pages::of(working, &server).await;
    assert_eq!(server.get(&working.new.path("context")).await, json!({"status": "not_running"}));
    // The turns that the dead server left are recorded meanwhile: git runs, below a keeper of ours.
    let is_recording = |pid: &u32| {
        let program = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        program.file_name().is_none_or(|name| name == "git" || name == "chartroom")
    };
    let started: Vec<u32> = server.descendants().into_iter().filter(|pid| !is_recording(pid)).collect();
    assert_eq!(started, [0; 0], "an agent was started that nobody asked for");

    streaming.new.post(&server, "load", json!({})).await;
    for page in [&mut streaming.new, &mut streaming.back] {
        page.until_idle().await;
    }
    streaming.new.send(&server, "[[say:second]]").await;
    for page in [&mut streaming.new, &mut streaming.back] {
        page.until_idle().await;
    }
    // The model was given the whole conversation.
    let last = place.api.requests().last().unwrap().body.to_string();
    assert!(last.contains("an earlier answer") && last.contains("[[gate:one]]"), "{last}");
    assert_eq!(server.get(&streaming.new.path("queue")).await["messages"], json!([]));

    assert_eq!((asking.new.question_id(), asking.back.question_id()), (&*question, &*question));
    asking.new.answer(&server, json!({"decision": "allow"})).await;
    for page in [&mut asking.new, &mut asking.back] {
        page.until_idle().await;
    }
    assert!(place.api.saw("You may: please go on."), "the agent was not told");

    working.new.post(&server, "load", json!({})).await;
    for page in [&mut working.new, &mut working.back] {
        page.until_idle().await;
    }
    assert_eq!(server.get(&working.new.path("status")).await["isAlive"], true);
    for page in [&mut working.before, &mut working.back, &mut working.new] {
        page.without(&format!("{}:{{", agent.tool), "the call");
    }
    Stories { streaming, asking, working, _place: place, server }
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
    stories.streaming.before.saw(&expect![[r#"
        history
        title "New session"
        options model - mode -
        queue []
        state open
        > send
        user i0 "[[say:an earlier answer]]"
        title "[[say:an earlier answer]]"
        state working
        turn 0 started claude-opus-5-5
        options model claude-opus-5-5 mode bypassPermissions
        create message i1
        complete message i1 "an earlier answer"
        turn 0 completed
        state open
        > send
        user i2 "[[gate:one]]"
        state working
        turn 1 started claude-opus-5-5
        create message i3
    "#]]);
    stories.streaming.back.saw(&expect![[r#"
        error message i0 "before ": Chartroom was stopped in the middle of this turn
        turn 0 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "[[say:an earlier answer]]"
        queue []
        state open
        state loading
        options model - mode -
        state open
        user i1 "[[say:second]]"
        state working
        turn 1 started claude-opus-5-5
        options model claude-opus-5-5 mode bypassPermissions
        create message i2
        complete message i2 "second"
        turn 1 completed
        state open
    "#]]);
    stories.streaming.new.saw(&expect![[r#"
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
        queue []
        state open
        > load
        state loading
        options model - mode -
        state open
        > send
        user i4 "[[say:second]]"
        state working
        turn 2 started claude-opus-5-5
        options model claude-opus-5-5 mode bypassPermissions
        create message i5
        complete message i5 "second"
        turn 2 completed
        state open
    "#]]);
    stories.asking.before.saw(&expect![[r#"
        history
        title "New session"
        options model - mode -
        queue []
        state open
        > send
        user i0 "[[tool:Bash:{\"command\":\"touch c.txt\",\"description\":\"d\"}]]"
        title "[[tool:Bash:{\"command\":\"touch"
        state working
        turn 0 started claude-opus-5-5
        options model claude-opus-5-5 mode default
        create message i1
        complete message i1 "I will use Bash."
        create tool Bash i2
        question q0 Bash {"command":"touch c.txt","description":"d"}
        state needs_you
    "#]]);
    stories.asking.back.saw(&expect![[r#"
        error tool Bash i0 {"command":"touch c.txt","description":"d"}: Chartroom was stopped in the middle of this turn
        turn 0 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "[[tool:Bash:{\"command\":\"touch"
        queue []
        question q0 Bash {"command":"touch c.txt","description":"d"}
        state needs_you
        question q0 closed
        queue ["You asked whether you may use Bash with {\"command\":\"touch c.txt\",\"description\":\"d\"}. You may: please go on."]
        state loading
        options model - mode -
        user i1 "You asked whether you may use Bash with {\"command\":\"touch c.txt\",\"description\":\"d\"}. You may: please go on."
        queue []
        state working
        turn 1 started claude-opus-5-5
        options model claude-opus-5-5 mode default
        create message i2
        complete message i2 "Hello from the scripted model."
        turn 1 completed
        state open
    "#]]);
    stories.asking.new.saw(&expect![[r#"
        history
        | user i0 "[[tool:Bash:{\"command\":\"touch c.txt\",\"description\":\"d\"}]]"
        | complete message i1 "I will use Bash."
        | error tool Bash i2 {"command":"touch c.txt","description":"d"}: Chartroom was stopped in the middle of this turn
        | turn 0 started claude-opus-5-5
        | turn 0 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "[[tool:Bash:{\"command\":\"touch"
        queue []
        question q0 Bash {"command":"touch c.txt","description":"d"}
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
    stories.working.before.saw(&expect![[r#"
        history
        title "New session"
        options model - mode -
        queue []
        state open
        > send
        user i0 "please [[tool:the call
        title "please [[tool:the call
        state working
        turn 0 started claude-opus-5-5
        options model claude-opus-5-5 mode bypassPermissions
        create message i1
        complete message i1 "I will use Bash."
        create tool Bash i2
    "#]]);
    stories.working.back.saw(&expect![[r#"
        error tool Bash i0 {"command":"setsid --wait bash -c 'echo $$ > /dev/tcp/127.0.0.1/_; exec sleep 1000'","description":"d"}: Chartroom was stopped in the middle of this turn
        turn 0 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "please [[tool:the call
        queue []
        state open
        state loading
        options model - mode -
        state open
    "#]]);
    stories.working.new.saw(&expect![[r#"
        history
        | user i0 "please [[tool:the call
        | complete message i1 "I will use Bash."
        | error tool Bash i2 {"command":"setsid --wait bash -c 'echo $$ > /dev/tcp/127.0.0.1/_; exec sleep 1000'","description":"d"}: Chartroom was stopped in the middle of this turn
        | turn 0 started claude-opus-5-5
        | turn 0 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "please [[tool:the call
        queue []
        state open
        > load
        state loading
        options model - mode -
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
    stories.streaming.before.saw(&expect![[r#"
        history
        title "New session"
        options model gpt-5.4 mode full-access
        queue []
        state open
        > send
        user i0 "[[say:an earlier answer]]"
        title "[[say:an earlier answer]]"
        state working
        turn 0 started gpt-5.4
        create message i1
        complete message i1 "an earlier answer"
        turn 0 completed
        state open
        > send
        user i2 "[[gate:one]]"
        state working
        turn 1 started gpt-5.4
        create message i3
    "#]]);
    stories.streaming.back.saw(&expect![[r#"
        error message i0 "before ": Chartroom was stopped in the middle of this turn
        turn 0 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "[[say:an earlier answer]]"
        queue []
        state open
        state loading
        options model gpt-5.4 mode auto
        options model gpt-5.4 mode full-access
        state open
        user i1 "[[say:second]]"
        state working
        turn 1 started gpt-5.4
        create message i2
        complete message i2 "second"
        turn 1 completed
        state open
    "#]]);
    stories.streaming.new.saw(&expect![[r#"
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
        queue []
        state open
        > load
        state loading
        options model gpt-5.4 mode auto
        options model gpt-5.4 mode full-access
        state open
        > send
        user i4 "[[say:second]]"
        state working
        turn 2 started gpt-5.4
        create message i5
        complete message i5 "second"
        turn 2 completed
        state open
    "#]]);
    stories.asking.before.saw(&expect![[r#"
        history
        title "New session"
        options model gpt-5.4 mode auto
        queue []
        state open
        > send
        user i0 "[[tool:exec_command:{\"cmd\":\"touch c.txt\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"j\"}]]"
        title "[[tool:exec_command:{\"cmd\":\"touch"
        state working
        turn 0 started gpt-5.4
        create message i1
        complete message i1 "I will use exec_command."
        create tool execute i2
        question q0 execute {"command":["/bin/bash","-lc","touch c.txt"],"cwd":"$PROJECT","reason":"j"}
        state needs_you
    "#]]);
    stories.asking.back.saw(&expect![[r#"
        error tool execute i0 {"command":"touch c.txt","cwd":"$PROJECT"}: Chartroom was stopped in the middle of this turn
        turn 0 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "[[tool:exec_command:{\"cmd\":\"touch"
        queue []
        question q0 execute {"command":["/bin/bash","-lc","touch c.txt"],"cwd":"$PROJECT","reason":"j"}
        state needs_you
        question q0 closed
        queue ["You asked whether you may use execute with {\"command\":[\"/bin/bash\",\"-lc\",\"touch c.txt\"],\"cwd\":\"$PROJECT\",\"reason\":\"j\"}. You may: please go on."]
        state loading
        options model gpt-5.4 mode auto
        user i1 "You asked whether you may use execute with {\"command\":[\"/bin/bash\",\"-lc\",\"touch c.txt\"],\"cwd\":\"$PROJECT\",\"reason\":\"j\"}. You may: please go on."
        queue []
        state working
        turn 1 started gpt-5.4
        create message i2
        complete message i2 "Hello from the scripted model."
        turn 1 completed
        state open
    "#]]);
    stories.asking.new.saw(&expect![[r#"
        history
        | user i0 "[[tool:exec_command:{\"cmd\":\"touch c.txt\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"j\"}]]"
        | complete message i1 "I will use exec_command."
        | error tool execute i2 {"command":"touch c.txt","cwd":"$PROJECT"}: Chartroom was stopped in the middle of this turn
        | turn 0 started gpt-5.4
        | turn 0 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "[[tool:exec_command:{\"cmd\":\"touch"
        queue []
        question q0 execute {"command":["/bin/bash","-lc","touch c.txt"],"cwd":"$PROJECT","reason":"j"}
        state needs_you
        > answer allow
        question q0 closed
        queue ["You asked whether you may use execute with {\"command\":[\"/bin/bash\",\"-lc\",\"touch c.txt\"],\"cwd\":\"$PROJECT\",\"reason\":\"j\"}. You may: please go on."]
        state loading
        options model gpt-5.4 mode auto
        user i3 "You asked whether you may use execute with {\"command\":[\"/bin/bash\",\"-lc\",\"touch c.txt\"],\"cwd\":\"$PROJECT\",\"reason\":\"j\"}. You may: please go on."
        queue []
        state working
        turn 1 started gpt-5.4
        create message i4
        complete message i4 "Hello from the scripted model."
        turn 1 completed
        state open
    "#]]);
    stories.working.before.saw(&expect![[r#"
        history
        title "New session"
        options model gpt-5.4 mode full-access
        queue []
        state open
        > send
        user i0 "please [[tool:the call
        title "please [[tool:the call
        state working
        turn 0 started gpt-5.4
        create message i1
        complete message i1 "I will use exec_command."
        create tool execute i2
    "#]]);
    stories.working.back.saw(&expect![[r#"
        error tool execute i0 {"command":"setsid --wait bash -c 'echo $$ > /dev/tcp/127.0.0.1/_; exec sleep 1000'","cwd":"$PROJECT"}: Chartroom was stopped in the middle of this turn
        turn 0 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "please [[tool:the call
        queue []
        state open
        state loading
        options model gpt-5.4 mode auto
        options model gpt-5.4 mode full-access
        state open
    "#]]);
    stories.working.new.saw(&expect![[r#"
        history
        | user i0 "please [[tool:the call
        | complete message i1 "I will use exec_command."
        | error tool execute i2 {"command":"setsid --wait bash -c 'echo $$ > /dev/tcp/127.0.0.1/_; exec sleep 1000'","cwd":"$PROJECT"}: Chartroom was stopped in the middle of this turn
        | turn 0 started gpt-5.4
        | turn 0 failed PROCESS_CRASH: Chartroom was stopped in the middle of this turn
        title "please [[tool:the call
        queue []
        state open
        > load
        state loading
        options model gpt-5.4 mode auto
        options model gpt-5.4 mode full-access
        state open
    "#]]);
    stories.server.stop().await;
}

/// The agent has the message and has not said a word when the server is killed. Whether it has kept the message by then
/// is a matter of its timing: either way the model gets it once, and it stands in the conversation once.
async fn killed_before_the_first_word(cli_type: &str) -> Browser {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut before = server.create(cli_type, None).await;
    before.send(&server, "[[say:hello]]").await;
    before.until_idle().await;
    let pieces = vec![Piece::Gate("late".to_owned()), Piece::Text("late".to_owned())];
    place.api.keep("late", Reply { blocks: vec![Block::Pieces(pieces)], ending: Ending::Stop });
    before.send(&server, "[[answer:late]]").await;
    place.api.reached("late").await;
    before.until("turn 1 started").await;
    let tree = server.descendants();
    server.die().await;
    until_gone(&tree).await;

    place.api.open("late");
    let server = Server::start(&place).await;
    let mut pages = Pages::of(before, &server).await;
    pages.new.post(&server, "load", json!({})).await;
    pages.new.until_idle().await;
    pages.new.send(&server, "[[say:still here]]").await;
    pages.new.until_idle().await;
    let last = place.api.requests().last().unwrap().body.to_string();
    assert_eq!(last.matches("[[answer:late]]").count(), 1, "{last}");
    let history = server.get(&pages.new.path("history")).await;
    let said = history["entries"].as_array().unwrap().iter().map(|entry| entry["content"].as_str().unwrap());
    let said: Vec<_> = said.filter(|text| *text != "late").collect();
    assert_eq!(said, ["[[say:hello]]", "hello", "[[answer:late]]", "[[say:still here]]", "still here"]);
    let turns = history["turns"].as_array().unwrap();
    let n_started = turns.iter().filter(|turn| turn["type"] == "turn_started").count();
    assert_eq!((turns.len(), n_started), (6, 3), "each turn begins once and ends once: {history}");
    server.stop().await;
    pages.before
}

#[tokio::test]
async fn a_message_that_claude_has_just_got_is_given_to_it_once() {
    let mut before = killed_before_the_first_word("claude-code").await;
    before.saw(&expect![[r#"
        history
        title "New session"
        options model - mode -
        queue []
        state open
        > send
        user i0 "[[say:hello]]"
        title "[[say:hello]]"
        state working
        turn 0 started claude-opus-5-5
        options model claude-opus-5-5 mode default
        create message i1
        complete message i1 "hello"
        turn 0 completed
        state open
        > send
        user i2 "[[answer:late]]"
        state working
        turn 1 started claude-opus-5-5
    "#]]);
}

#[tokio::test]
async fn a_message_that_codex_has_just_got_is_given_to_it_once() {
    let mut before = killed_before_the_first_word("codex").await;
    before.saw(&expect![[r#"
        history
        title "New session"
        options model gpt-5.4 mode read-only
        queue []
        state open
        > send
        user i0 "[[say:hello]]"
        title "[[say:hello]]"
        state working
        turn 0 started gpt-5.4
        create message i1
        complete message i1 "hello"
        turn 0 completed
        state open
        > send
        user i2 "[[answer:late]]"
        state working
        turn 1 started gpt-5.4
    "#]]);
}
