//! The real Claude Code (2.1.325) through HTTP and WebSocket, against the scripted model API: every frame of every
//! story, in order (`common/browser.rs` says in which form).

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/story.rs"]
mod story;

use expect_test::expect;
use serde_json::json;
use story::{Place, Server, SleepingTool, lives};

const BYPASS: Option<&str> = Some("bypassPermissions");

// TC-8.1a, TC-7.1a
#[tokio::test]
async fn create_send_and_stream_with_thinking() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("claude-code", None).await;
    browser.send(&server, "[[say:hello there]]").await;
    browser.until_idle().await;
    // Half of an answer is on the page while the model has not said the other half: it waits at a gate for that.
    browser.send(&server, "[[gate:half]]").await;
    browser.until_said("before").await;
    place.api.open("half");
    browser.until_idle().await;
    browser.send(&server, "[[think]]").await;
    browser.until_idle().await;
    browser.saw(&expect![[r#"
        history
        title "New session"
        options model - mode -
        queue []
        state open
        > send
        user i0 "[[say:hello there]]"
        title "[[say:hello there]]"
        state working
        turn 0 started claude-opus-5-5
        options model claude-opus-5-5 mode default
        create message i1
        complete message i1 "hello there"
        turn 0 completed
        state open
        > send
        user i2 "[[gate:half]]"
        state working
        turn 1 started claude-opus-5-5
        create message i3
        complete message i3 "before after"
        turn 1 completed
        state open
        > send
        user i4 "[[think]]"
        state working
        turn 2 started claude-opus-5-5
        create thinking i5
        complete thinking i5 "Let me think about this."
        create message i6
        complete message i6 "I have thought."
        turn 2 completed
        state open
    "#]]);
    server.stop().await;
}

// TC-8.1b, TC-7.1c
#[tokio::test]
async fn a_tool_is_allowed_and_denied() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("claude-code", None).await;
    let file = place.project.path("b.txt");
    browser
        .send(&server, &format!("write [[tool:Write:{}]]", json!({"file_path": file, "content": "x\n"})))
        .await;
    browser.until_asked().await;
    assert_eq!(server.get(&browser.path("status")).await["state"], "needs_you");
    let question = browser.question_id().to_owned();
    browser.answer(&server, json!({"decision": "allow"})).await;
    // The second tab comes too late.
    let late = json!({"questionId": question, "decision": "deny"});
    let late = server.ask("POST", &browser.path("answer"), late).await;
    assert_eq!((late.0, &late.1["error"]["code"]), (404, &json!("QUESTION_NOT_FOUND")));
    browser.until_idle().await;
    assert_eq!(place.project.read("b.txt"), "x\n");
    browser.send(&server, r#"[[tool:Bash:{"command":"touch c.txt","description":"d"}]]"#).await;
    browser.until_asked().await;
    browser.answer(&server, json!({"decision": "deny", "message": "not now"})).await;
    browser.until_idle().await;
    assert!(!place.project.path("c.txt").exists());
    browser.saw(&expect![[r#"
        history
        title "New session"
        options model - mode -
        queue []
        state open
        > send
        user i0 "write [[tool:Write:{\"file_path\":\"$PROJECT/b.txt\",\"content\":\"x\\n\"}]]"
        title "write"
        state working
        turn 0 started claude-opus-5-5
        options model claude-opus-5-5 mode default
        create message i1
        complete message i1 "I will use Write."
        create tool Write i2
        question q0 Write {"file_path":"$PROJECT/b.txt","content":"x\n"}
        state needs_you
        > answer allow
        question q0 closed
        state working
        complete tool Write i2 {"file_path":"$PROJECT/b.txt","content":"x\n"} -> "File created successfully at: $PROJECT/b.txt (file state is current in your context — no need to Read it back)"
        create message i3
        complete message i3 "Done. The tool said: File created successfully at: $PROJECT/b.txt (file state is current in your context — no need to Read it back)"
        turn 0 completed
        state open
        > send
        user i4 "[[tool:Bash:{\"command\":\"touch c.txt\",\"description\":\"d\"}]]"
        state working
        turn 1 started claude-opus-5-5
        create message i5
        complete message i5 "I will use Bash."
        create tool Bash i6
        question q1 Bash {"command":"touch c.txt","description":"d"}
        state needs_you
        > answer deny
        question q1 closed
        state working
        complete tool Bash i6 {"command":"touch c.txt","description":"d"} !> "The user refused this: not now"
        create message i7
        complete message i7 "Done. The tool said: The user refused this: not now"
        turn 1 completed
        state open
    "#]]);
    server.stop().await;
}

#[tokio::test]
async fn parallel_tools_each_complete_their_own_card() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("claude-code", BYPASS).await;
    // The second waits for the first, so that the order of their results is known. (Claude runs what may write one
    // after the other anyway, and what only reads at once.)
    let tools = json!([
        ["Bash", {"command": "echo A; touch a.done", "description": "a"}],
        ["Bash", {"command": "until [ -e a.done ]; do sleep 0.05; done; echo B", "description": "b"}],
    ]);
    browser.send(&server, &format!("[[tools:{tools}]]")).await;
    browser.until_idle().await;
    browser.saw(&expect![[r#"
        history
        title "New session"
        options model - mode -
        queue []
        state open
        > send
        user i0 "[[tools:[[\"Bash\",{\"command\":\"echo A; touch a.done\",\"description\":\"a\"}],[\"Bash\",{\"command\":\"until [ -e a.done ]; do sleep 0.05; done; echo B\",\"description\":\"b\"}]]]]"
        title "[[tools:[[\"Bash\",{\"command\":\"echo A; touch"
        state working
        turn 0 started claude-opus-5-5
        options model claude-opus-5-5 mode bypassPermissions
        create tool Bash i1
        create tool Bash i2
        complete tool Bash i1 {"command":"echo A; touch a.done","description":"a"} -> "A"
        complete tool Bash i2 {"command":"until [ -e a.done ]; do sleep 0.05; done; echo B","description":"b"} -> "B"
        create message i3
        complete message i3 "Done. The tool said: B"
        turn 0 completed
        state open
    "#]]);
    server.stop().await;
}

#[tokio::test]
async fn a_question_is_answered_with_a_choice() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("claude-code", None).await;
    let question = json!({"questions": [{"question": "Which db?", "header": "DB", "multiSelect": false,
        "options": [{"label": "PG", "description": "p"}, {"label": "SQLite", "description": "s"}]}]});
    browser.send(&server, &format!("[[tool:AskUserQuestion:{question}]]")).await;
    browser.until_asked().await;
    browser.answer(&server, json!({"decision": "allow", "answers": {"Which db?": "PG"}})).await;
    browser.until_idle().await;
    assert!(place.api.saw("\"Which db?\"=\"PG\""), "the model did not see the answer");
    browser.saw(&expect![[r#"
        history
        title "New session"
        options model - mode -
        queue []
        state open
        > send
        user i0 "[[tool:AskUserQuestion:{\"questions\":[{\"question\":\"Which db?\",\"header\":\"DB\",\"multiSelect\":false,\"options\":[{\"label\":\"PG\",\"description\":\"p\"},{\"label\":\"SQLite\",\"description\":\"s\"}]}]}]]"
        title "[[tool:AskUserQuestion:{\"questions\":[{\"question\":\""
        state working
        turn 0 started claude-opus-5-5
        options model claude-opus-5-5 mode default
        create message i1
        complete message i1 "I will use AskUserQuestion."
        create tool AskUserQuestion i2
        question q0 Which db?
        state needs_you
        > answer allow
        question q0 closed
        state working
        complete tool AskUserQuestion i2 {"questions":[{"question":"Which db?","header":"DB","multiSelect":false,"options":[{"label":"PG","description":"p"},{"label":"SQLite","description":"s"}]}]} -> "Your questions have been answered: \"Which db?\"=\"PG\". You can now continue with these answers in mind."
        create message i3
        complete message i3 "Done. The tool said: Your questions have been answered: \"Which db?\"=\"PG\". You can now continue with these answers in mind."
        turn 0 completed
        state open
    "#]]);
    server.stop().await;
}

// TC-8.1c, TC-5.4d, TC-5.4e
#[tokio::test]
async fn an_interrupt_ends_a_stream_and_a_running_tool() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("claude-code", BYPASS).await;
    browser.send(&server, "[[gate:one]]").await;
    browser.until_said("before").await;
    browser.post(&server, "cancel", json!({})).await;
    browser.until_idle().await;
    let tool = SleepingTool::new().await;
    let call = json!({"command": tool.command, "description": "d"});
    browser.send(&server, &format!("please [[tool:Bash:{call}]]")).await;
    let pid = tool.pid().await;
    assert!(lives(pid));
    browser.until("create tool").await;
    browser.post(&server, "cancel", json!({})).await;
    browser.until_idle().await;
    browser.send(&server, "[[say:still here]]").await;
    browser.until_idle().await;
    browser.without("Bash:{", "the call").saw(&expect![[r#"
        history
        title "New session"
        options model - mode -
        queue []
        state open
        > send
        user i0 "[[gate:one]]"
        title "[[gate:one]]"
        state working
        turn 0 started claude-opus-5-5
        options model claude-opus-5-5 mode bypassPermissions
        create message i1
        > cancel
        stopped message i1 "before "
        turn 0 cancelled
        state open
        > send
        user i2 "please [[tool:the call
        state working
        turn 1 started claude-opus-5-5
        create message i3
        complete message i3 "I will use Bash."
        create tool Bash i4
        > cancel
        stopped tool Bash i4 {"command":"echo $$ > /dev/tcp/127.0.0.1/_; exec sleep 1000","description":"d"}
        turn 1 cancelled
        state open
        > send
        user i5 "[[say:still here]]"
        state working
        turn 2 started claude-opus-5-5
        create message i6
        complete message i6 "still here"
        turn 2 completed
        state open
    "#]]);
    server.stop().await;
}

#[tokio::test]
async fn a_message_during_a_turn_waits_and_is_delivered_after_it() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("claude-code", None).await;
    browser.send(&server, "[[gate:one]]").await;
    browser.until_said("before").await;
    browser.send(&server, "[[say:second]]").await;
    browser.until("queue").await;
    place.api.open("one");
    browser.until_idle().await;
    browser.saw(&expect![[r#"
        history
        title "New session"
        options model - mode -
        queue []
        state open
        > send
        user i0 "[[gate:one]]"
        title "[[gate:one]]"
        state working
        turn 0 started claude-opus-5-5
        options model claude-opus-5-5 mode default
        create message i1
        > send, queued
        queue ["[[say:second]]"]
        complete message i1 "before after"
        turn 0 completed
        user i2 "[[say:second]]"
        queue []
        turn 1 started claude-opus-5-5
        create message i3
        complete message i3 "second"
        turn 1 completed
        state open
    "#]]);
    server.stop().await;
}

// TC-5.4a
#[tokio::test]
async fn api_errors_fail_the_turn_or_are_retried_and_the_session_goes_on() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("claude-code", None).await;
    for message in ["[[err:400]]", "[[err:529:1]]", "[[midfail]]"] {
        browser.send(&server, message).await;
        browser.until_idle().await;
    }
    browser.saw(&expect![[r#"
        history
        title "New session"
        options model - mode -
        queue []
        state open
        > send
        user i0 "[[err:400]]"
        title "[[err:400]]"
        state working
        turn 0 started claude-opus-5-5
        options model claude-opus-5-5 mode default
        turn 0 failed RESPONSE_ERROR: API Error: 400 scripted 400
        state open
        > send
        user i1 "[[err:529:1]]"
        state working
        turn 1 started claude-opus-5-5
        state working (API overloaded (529), retry 1 of 2 in _ s)
        state working
        create message i2
        complete message i2 "It works again."
        turn 1 completed
        state open
        > send
        user i3 "[[midfail]]"
        state working
        turn 2 started claude-opus-5-5
        error message i4 "partial answer then": the stream broke off here; the agent asked again
        complete message i5 "It works again."
        turn 2 completed
        state open
    "#]]);
    server.stop().await;
}

#[tokio::test]
async fn claude_tells_what_fills_its_context_between_turns_and_during_one() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("claude-code", None).await;
    browser.send(&server, "[[say:hello]]").await;
    browser.until_idle().await;
    let quiet = server.get(&browser.path("context")).await;
    browser.send(&server, "[[gate:one]]").await;
    browser.until_said("before").await;
    let busy = server.get(&browser.path("context")).await;
    place.api.open("one");
    browser.until_idle().await;
    for told in [&quiet, &busy] {
        assert_eq!(told["status"], "known", "{told}");
        let context = &told["context"];
        let number = |name: &str| context[name].as_u64().unwrap_or_else(|| panic!("no {name}: {told}"));
        assert!(number("totalTokens") > 0 && number("totalTokens") <= number("maxTokens"), "{told}");
        assert!(number("maxTokens") >= 200_000 && number("reservedTokens") < number("maxTokens"), "{told}");
        let categories = context["categories"].as_array().unwrap();
        let mut names: Vec<_> =
            categories.iter().map(|category| category["name"].as_str().unwrap()).collect();
        // The messages are the rest of what the model counts, if there is one: the scripted model counts as it likes.
        names.retain(|name| *name != "Messages");
        assert_eq!(names, ["System prompt", "System tools", "MCP server instructions", "Skills"]);
        assert!(categories.iter().all(|category| category["tokens"].as_u64().unwrap() > 0), "{told}");
    }
    server.post(&browser.path("kill"), json!({})).await;
    assert_eq!(server.get(&browser.path("context")).await, json!({"status": "not_running"}));
    server.stop().await;
}

#[tokio::test]
async fn kill_and_server_exit_leave_no_process_of_the_agents_tree() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut pids = Vec::new();
    let mut browsers = Vec::new();
    for _ in 0..2 {
        let mut browser = server.create("claude-code", BYPASS).await;
        let tool = SleepingTool::in_its_own_session().await;
        let call = json!({"command": tool.command, "description": "d"});
        browser.send(&server, &format!("please [[tool:Bash:{call}]]")).await;
        pids.push(tool.pid().await);
        browser.until("create tool").await;
        browsers.push(browser);
    }
    assert!(pids.iter().all(|pid| lives(*pid)));
    let browser = &mut browsers[0];
    browser.post(&server, "kill", json!({})).await;
    assert!(!lives(pids[0]), "the tool outlived the kill");
    assert!(lives(pids[1]), "the other session's tool was killed too");
    browser.until("state dead").await;
    browser.without("Bash:{", "the call").saw(&expect![[r#"
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
        > kill
        error tool Bash i2 {"command":"setsid --wait bash -c 'echo $$ > /dev/tcp/127.0.0.1/_; exec sleep 1000'","description":"d"}: the session was ended
        turn 0 failed PROCESS_CRASH: the session was ended
        state dead
    "#]]);
    // Another page sees the same, and so does everybody after a load.
    let mut second = server.follow(&browser.session_id).await;
    second.without("Bash:{", "the call").saw(&expect![[r#"
        history
        | user i0 "please [[tool:the call
        | complete message i1 "I will use Bash."
        | error tool Bash i2 {"command":"setsid --wait bash -c 'echo $$ > /dev/tcp/127.0.0.1/_; exec sleep 1000'","description":"d"}: the session was ended
        | turn 0 started claude-opus-5-5
        | turn 0 failed PROCESS_CRASH: the session was ended
        title "please [[tool:the call
        options model claude-opus-5-5 mode bypassPermissions
        queue []
        state dead
    "#]]);
    second.post(&server, "load", json!({})).await;
    second.until_idle().await;
    let mut third = server.follow(&browser.session_id).await;
    third.without("Bash:{", "the call").saw(&expect![[r#"
        history
        | user i0 "please [[tool:the call
        | complete message i1 "I will use Bash."
        | error tool Bash i2 {"command":"setsid --wait bash -c 'echo $$ > /dev/tcp/127.0.0.1/_; exec sleep 1000'","description":"d"}: the session was ended
        | turn 0 started claude-opus-5-5
        | turn 0 failed PROCESS_CRASH: the session was ended
        title "please [[tool:the call
        options model - mode -
        queue []
        state open
    "#]]);
    let agents = server.descendants();
    assert!(agents.contains(&pids[1]), "{agents:?}");
    server.stop().await;
    assert_eq!(agents.into_iter().filter(|pid| lives(*pid)).collect::<Vec<_>>(), [0; 0]);
}

/// The user's environment reaches an agent as in a terminal, the config's values stand above it, and ours stays here.
#[tokio::test]
async fn an_agent_inherits_the_users_environment_and_nothing_of_ours() {
    let place = Place::new().await;
    let planted = [
        ("ANTHROPIC_API_KEY", "sk-ant-of-the-outside"),
        ("CLAUDE_CODE_PLANTED", "1"),
        ("GITHUB_TOKEN", "secret"),
        ("DATABASE_URL", "secret"),
    ];
    let server = Server::start_with(&place, &place.config(0), &planted).await;
    let browser = server.create("claude-code", None).await;
    let agents = story::agents(&server);
    let (pid, _) = agents.iter().find(|(_, id)| *id == browser.session_id).unwrap();
    let environment = std::fs::read_to_string(format!("/proc/{pid}/environ")).unwrap();
    let value = |name: &str| {
        environment.split('\0').find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
    };
    assert_eq!(value("ANTHROPIC_API_KEY").as_deref(), Some("sk-ant-dummy"));
    assert_eq!(value("CLAUDE_CODE_PLANTED").as_deref(), Some("1"));
    for name in ["GITHUB_TOKEN", "DATABASE_URL"] {
        assert_eq!(value(name).as_deref(), Some("secret"), "{name}");
    }
    for name in ["CHARTROOM_TOKEN", "CHARTROOM_HOME", "CHARTROOM_CONFIG"] {
        assert_eq!(value(name), None, "{name}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_warm_process_becomes_the_next_sessions_own() {
    let place = Place::new().await;
    let server = Server::start_warm(&place, 1).await;
    let first = server.create("claude-code", None).await;
    // The pool starts a process for the next session: the second one below the server.
    let warm = loop {
        let mut agents = story::agents(&server);
        agents.retain(|(_, session_id)| *session_id != first.session_id);
        if let Some(warm) = agents.pop() {
            break warm;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    };
    // It is taken once it is ready; a session that comes earlier gets a process of its own.
    let mut taken = None;
    let mut others = Vec::new();
    for _ in 0..60 {
        let browser = server.create("claude-code", None).await;
        if browser.session_id == warm.1 {
            taken = Some(browser);
            break;
        }
        others.push(browser.session_id.clone());
        server.post(&browser.path("kill"), json!({})).await;
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    let mut browser = taken.unwrap_or_else(|| panic!("{warm:?} was never taken, but {others:?}"));
    browser.send(&server, "[[say:hello]]").await;
    browser.until_idle().await;
    assert!(story::agents(&server).contains(&warm), "the session runs in another process");
    browser.saw(&expect![[r#"
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
    "#]]);
    server.stop().await;
}
