//! The real binary: its ready line, its exit codes, and its one sentence for everything that can be wrong.

#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "the program under test is started as a shell would")]

#[path = "common/program.rs"]
mod program;

use std::io::{BufReader, Read as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use program::{Home, finish, text_of_files};
use rustix::process::Signal;

#[track_caller]
fn check_impossible(result: (i32, String, String), sentence: &str) {
    assert_eq!(result, (3, String::new(), format!("chartroom: {sentence}\n")));
}

#[test]
fn serve_prints_one_line_and_ends_with_a_signal() {
    for signal in [Signal::TERM, Signal::INT] {
        let home = Home::new();
        let server = home.serve(&[]);
        let expected = format!("Chartroom is ready: http://{}/?token={}\n", server.host(), server.code());
        assert_eq!(server.ready_line, expected);
        assert!(server.host().starts_with("127.0.0.1:"), "{}", server.host());
        let mode = |path: std::path::PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(home.data()), mode(home.data().join("token"))), (0o700, 0o600));
        server.signal(signal);
        assert_eq!(server.stop(), (0, String::new(), String::new()));
        assert!(!home.data().join("token").exists(), "a token that opens nothing is not left behind");
    }
}

#[test]
fn serve_without_its_name_takes_folders_too() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("shop")).unwrap();
    let mut command = home.command(&["shop", "--trust", "--port", "0"]);
    command.env("CHARTROOM_TOKEN", "0123456789abcdef");
    let server = program::Server::start(command);
    let answer = server.request("GET", "/api/project", &[("authorization", "Bearer 0123456789abcdef")], "");
    let path = home.path().join("shop");
    assert!(
        answer.contains(&format!("\"path\":\"{}\",\"name\":\"shop\",\"trusted\":true", path.display())),
        "{answer}"
    );
}

#[test]
fn a_port_in_use_is_one_sentence() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let sentence = format!(
        "port {port} on 127.0.0.1 is in use; stop the program that has it, or choose another with --port (0 takes a free one)"
    );
    check_impossible(home.run(&["serve", "--port", &port]), &sentence);
}

#[test]
fn a_broken_config_is_one_sentence_with_its_line() {
    let home = Home::new();
    let path = home.write("config.toml", "[server]\nprot = 1\n");
    let run = |args: &[&str]| finish(home.command(args).env("CHARTROOM_CONFIG", &path).output().unwrap());
    let sentence = format!(
        "{}:2: unknown key `server.prot`, did you mean `server.port`? (correct this line and start again)",
        path.display()
    );
    check_impossible(run(&["serve"]), &sentence);
    home.write("config.toml", "[server\n");
    let (code, stdout, stderr) = run(&["serve"]);
    assert_eq!((code, stdout.as_str(), stderr.lines().count()), (3, "", 1), "{stderr}");
    assert!(stderr.starts_with(&format!("chartroom: {}:1: not valid TOML: ", path.display())), "{stderr}");
}

// REQ-START-030, BR-89
#[test]
fn the_service_takes_the_bootstrap_as_the_seed_writes_it() {
    let home = Home::new();
    let bootstrap =
        format!("{{\"workspaceRoot\": {:?}, \"config\": {{}}}}", home.path().display().to_string());
    let mut command = home.command(&["lsp-service"]);
    command.env("LSP_BOOTSTRAP", bootstrap).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut service = command.spawn().unwrap();
    // Its input stays open until it has spoken: the end of it is the end of the service.
    let (stdin, stdout) = (service.stdin.take(), service.stdout.take().unwrap());
    let mut said = String::new();
    for byte in BufReader::new(stdout).bytes() {
        said.push(char::from(byte.unwrap()));
        if said.contains("lsp/ready") {
            break;
        }
    }
    assert!(said.contains("lsp/ready"), "it ended and said only: {said}");
    drop(stdin);
    assert_eq!(service.wait().unwrap().code(), Some(0));
}

#[test]
fn a_config_that_was_named_must_be_there() {
    let home = Home::new();
    let missing = home.path().join("none.toml");
    let output = home.command(&["serve"]).env("CHARTROOM_CONFIG", &missing).output().unwrap();
    let sentence = format!(
        "the config file {} cannot be read (No such file or directory (os error 2)); mend its permissions or unset CHARTROOM_CONFIG",
        missing.display()
    );
    check_impossible(finish(output), &sentence);
}

#[test]
fn an_unwritable_data_folder_is_one_sentence() {
    let home = Home::new();
    let file = home.write("file", "");
    let folder = file.join("data");
    let output = home.command(&["serve"]).env("CHARTROOM_HOME", &folder).output().unwrap();
    let sentence = format!(
        "the data folder {} cannot be written (Not a directory (os error 20)); mend its permissions or set CHARTROOM_HOME to a folder you can write",
        folder.display()
    );
    check_impossible(finish(output), &sentence);
}

#[test]
fn a_folder_in_the_place_of_a_file_of_ours_is_one_sentence() {
    for name in ["sessions.db", "token"] {
        let home = Home::new();
        let folder = home.data().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let sentence =
            format!("{} is a folder, but should be a file of Chartroom's; move it away", folder.display());
        check_impossible(home.run(&["serve", "--port", "0"]), &sentence);
    }
}

#[test]
fn a_session_store_without_a_version_is_one_sentence() {
    let home = Home::new();
    assert_eq!(home.serve(&[]).stop().0, 0);
    let path = home.data().join("sessions.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // Where SQLite keeps the number that says what a program has made of the file.
    bytes[60..64].fill(0);
    std::fs::write(&path, bytes).unwrap();
    let sentence = format!(
        "cannot use {}: it is a database without a version of ours; move it away, and a new one is begun",
        path.display()
    );
    check_impossible(home.run(&["serve", "--port", "0"]), &sentence);
}

#[test]
fn what_a_server_kept_is_in_the_main_file_when_it_has_stopped() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("shop")).unwrap();
    let server = home.serve(&["shop"]);
    let bearer = |home: &Home| {
        let token = std::fs::read_to_string(home.data().join("token")).unwrap();
        format!("Bearer {token}")
    };
    // Somebody has read it too, so that the writer's is not the only connection to the file.
    server.request("GET", "/api/project", &[("authorization", &bearer(&home))], "");
    assert_eq!(server.stop().0, 0);
    for suffix in ["-wal", "-shm"] {
        // A copy of the one file is a whole copy.
        std::fs::remove_file(home.data().join(format!("sessions.db{suffix}"))).ok();
    }
    let server = home.serve(&[]);
    let answer = server.request("GET", "/api/project", &[("authorization", &bearer(&home))], "");
    assert!(answer.contains("\"name\":\"shop\""), "{answer}");
}

#[test]
fn a_second_server_is_told_about_the_first_and_other_commands_work_beside_it() {
    let home = Home::new();
    let server = home.serve(&[]);
    let sentence = format!(
        "another Chartroom (pid {}) already serves from the data folder {}; use that one, stop it, or set CHARTROOM_HOME to another folder",
        server.child.id(),
        home.data().display()
    );
    check_impossible(home.run(&["serve", "--port", "0"]), &sentence);
    assert_eq!(home.run(&["trust", "--list"]), (0, String::new(), String::new()));
    assert_eq!(home.run(&["doctor"]).0, 0);
}

#[test]
fn an_address_that_others_can_reach_wants_a_token_of_the_user() {
    let home = Home::new();
    check_impossible(
        home.run(&["serve", "--host", "192.0.2.1"]),
        "listening on 192.0.2.1, which others can reach, needs a token of yours; set CHARTROOM_TOKEN to at least 16 random letters and digits",
    );
    check_impossible(
        home.run(&["serve", "--host", "0.0.0.0"]),
        "listening on 0.0.0.0 would answer to any name; give --host the one address that people will open",
    );
    let output = home.command(&["serve"]).env("CHARTROOM_TOKEN", "short").output().unwrap();
    check_impossible(
        finish(output),
        "the token is too weak; set CHARTROOM_TOKEN (or server.token) to at least 16 random letters and digits",
    );
}

#[test]
fn wrong_usage_is_2_and_the_version_is_said() {
    let home = Home::new();
    for args in [&["serve", "--nonsense"][..], &["serve", "--port", "x"], &["trust"], &["install"]] {
        let (code, stdout, stderr) = home.run(args);
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}");
        assert!(stderr.contains("try '--help'"), "{stderr}");
    }
    let version = format!("chartroom {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(home.run(&["--version"]), (0, version, String::new()));
}

#[test]
fn secrets_are_in_no_log_no_argument_and_no_answer() {
    let home = Home::new();
    let token = "a-very-secret-token-0123456789";
    let mut command = home.command(&["serve", "--port", "0"]);
    command.env("CHARTROOM_TOKEN", token).env("CHARTROOM_LOG", "trace");
    let server = program::Server::start(command);
    let pid = server.child.id();
    let code = server.code();

    let entered = server.request("GET", &format!("/?token={code}"), &[], "");
    let cookie = entered.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    assert!(!entered.contains(&code) && !entered.contains(token), "{entered}");
    let origin = format!("http://{}", server.host());
    let enter = entered.lines().find_map(|line| line.strip_prefix("location: /#enter=")).unwrap().to_owned();
    let json = ("content-type", "application/json");
    let answer = server.request(
        "POST",
        "/api/enter",
        &[("cookie", &cookie), ("origin", &origin), json],
        &format!("{{\"code\":\"{enter}\"}}"),
    );
    let key = answer.split("\"key\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let mut answers = String::new();
    for (method, path) in [("GET", "/"), ("GET", "/api/health"), ("POST", "/api/launch"), ("GET", "/metrics")]
    {
        let browser = [("cookie", cookie.as_str()), ("origin", &origin), ("x-chartroom-key", &key)];
        let answer = server.request(method, path, &browser, "");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answers.push_str(&answer);
        let bearer = format!("Bearer {token}");
        answers.push_str(&server.request(method, path, &[("authorization", &bearer)], ""));
    }
    answers.push_str(&server.request("GET", &format!("/?token={code}"), &[], ""));
    answers.push_str(&server.request("GET", &format!("/api/health?token={token}"), &[], ""));
    let arguments = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    let (exit, _, stderr) = server.stop();
    assert_eq!(exit, 0);

    let logs = text_of_files(&home.data().join("logs"));
    assert!(logs.contains("/api/health"), "the log has the requests:\n{logs}");
    let value = cookie.split_once('=').unwrap().1;
    let kept = std::fs::read_to_string(home.data().join("devices.json")).unwrap();
    for secret in [token, code.as_str(), value, enter.as_str(), key.as_str()] {
        for (place, text) in [
            ("logs", &logs),
            ("stderr", &stderr),
            ("arguments", &arguments),
            ("answers", &answers),
            ("devices.json", &kept),
        ] {
            assert!(!text.contains(secret), "a secret is in the {place}");
        }
    }
}

#[test]
fn link_prints_a_new_link_to_the_running_server() {
    let home = Home::new();
    check_impossible(home.run(&["link"]), "no Chartroom is running here; start one with `chartroom serve`");
    let server = home.serve(&[]);
    let (code, link, stderr) = home.run(&["link"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let path = link.trim_end().strip_prefix(&format!("http://{}", server.host())).unwrap();
    assert!(server.request("GET", path, &[], "").starts_with("HTTP/1.1 303"));
    assert!(server.request("GET", path, &[], "").starts_with("HTTP/1.1 401"), "it opens once");
}

#[test]
fn browsers_are_listed_and_put_out_while_the_server_runs() {
    let home = Home::new();
    let server = home.serve(&[]);
    let browser = server.let_in();
    assert_eq!(server.status(&browser), "200");
    let (code, list, stderr) = home.run(&["link", "--list"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let (id, rest) = list.split_once("  ").unwrap();
    assert_eq!(rest, "30 days left  Fox/1\n");
    let unknown = (1, "no browser none was let in\n".to_owned(), String::new());
    assert_eq!(home.run(&["link", "--revoke", "none"]), unknown);
    assert_eq!(server.status(&browser), "200");
    let done = (0, "signed out 1 browser\n".to_owned(), String::new());
    assert_eq!(home.run(&["link", "--revoke", id]), done);
    assert_eq!(server.status(&browser), "401");

    let (_, unused, _) = home.run(&["link"]);
    let path = unused.trim_end().strip_prefix(&format!("http://{}", server.host())).unwrap();
    let none = (0, "signed out 0 browsers\n".to_owned(), String::new());
    for args in [&["link", "--revoke"][..], &["link", "--revoke", "--all"], &["link", "--all"]] {
        assert_eq!(home.run(args), none, "{args:?}");
    }
    assert!(server.request("GET", path, &[], "").starts_with("HTTP/1.1 401"), "the link is revoked too");
    for args in [&["link", "--list", "--all"][..], &["link", "--revoke", "x", "--all"]] {
        assert_eq!(home.run(args).0, 2, "{args:?}");
    }
}

#[test]
fn a_browser_that_was_let_in_stays_in_over_a_restart_until_it_is_put_out() {
    let home = Home::new();
    let server = home.serve(&[]);
    let port = server.host().split_once(':').unwrap().1.to_owned();
    let browser = server.let_in();
    assert_eq!(server.stop().0, 0);
    let start = || program::Server::start(home.command(&["serve", "--port", &port]));
    let server = start();
    assert_eq!(server.status(&browser), "200");
    assert_eq!(server.stop().0, 0);

    assert_eq!(home.run(&["link", "--list"]).1.lines().count(), 1);
    assert_eq!(home.run(&["link", "--revoke"]), (0, "signed out 1 browser\n".to_owned(), String::new()));
    assert_eq!(home.run(&["link", "--list"]), (0, String::new(), String::new()));
    assert_eq!(start().status(&browser), "401");
}

#[test]
fn trust_is_given_shown_and_taken_back() {
    let home = Home::new();
    let folder = home.path().join("shop");
    std::fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(&folder, home.path().join("link")).unwrap();
    let path = folder.display();
    assert_eq!(home.run(&["trust", "link"]), (0, format!("trusted {path}\n"), String::new()));
    assert_eq!(home.run(&["trust", "--list"]), (0, format!("{path}\n"), String::new()));
    assert_eq!(
        home.run(&["trust", "--revoke", "shop"]),
        (0, format!("no longer trusted {path}\n"), String::new())
    );
    assert_eq!(
        home.run(&["trust", "--revoke", "shop"]),
        (1, format!("was not trusted {path}\n"), String::new())
    );
    assert_eq!(home.run(&["trust", "--list"]), (0, String::new(), String::new()));
    check_impossible(
        home.run(&["trust", "none"]),
        "none cannot be opened: No such file or directory (os error 2); name a folder that exists",
    );
}

#[test]
fn an_agent_of_ours_can_take_trust_back_and_not_give_it() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("shop")).unwrap();
    let as_agent = |args: &[&str]| finish(home.command(args).env("CHARTROOM_AGENT", "1").output().unwrap());
    for args in [
        &["trust", "shop"][..],
        &["trust", "--yes", "shop"],
        &["check", "--trust", "--root", "shop", "shop/a.rs"],
        &["serve", "--port", "0", "--trust", "shop"],
        &["link"],
    ] {
        check_impossible(
            as_agent(args),
            "an agent that Chartroom started cannot trust a folder or let a browser in; do it on the page or in a terminal of your own",
        );
    }
    assert_eq!(home.run(&["trust", "--list"]), (0, String::new(), String::new()));
    assert_eq!(home.run(&["trust", "--yes", "shop"]).0, 0);
    assert_eq!(as_agent(&["trust", "--revoke", "shop"]).0, 0);
    for args in [&["trust", "shop", "--list"][..], &["trust", "--yes", "--list"], &["trust", "--yes"]] {
        assert_eq!(home.run(args).0, 2, "{args:?}");
    }
}

#[test]
fn a_person_at_a_terminal_is_asked_before_a_folder_is_trusted() {
    let home = Home::new();
    let folder = home.path().join("shop");
    std::fs::create_dir(&folder).unwrap();
    for (answer, code) in [("n", 1), ("y", 0)] {
        let program = env!("CARGO_BIN_EXE_chartroom");
        let line = format!("echo {answer} | script -qefc '{program} trust shop' /dev/null");
        let mut command = home.command(&[]);
        let environment: Vec<_> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        command = std::process::Command::new("/bin/sh");
        command.args(["-c", &line]).current_dir(home.path()).env_clear().envs(environment);
        let (exit, said, _) = finish(command.output().unwrap());
        assert_eq!(exit, code, "{said}");
        assert!(said.contains(&format!("Programs of {} may then run as you.", folder.display())), "{said}");
    }
}

#[test]
fn a_folder_that_was_replaced_is_listed_as_not_trusted() {
    let home = Home::new();
    let folder = home.path().join("shop");
    std::fs::create_dir(&folder).unwrap();
    home.run(&["trust", "shop"]);
    std::fs::rename(&folder, home.path().join("old")).unwrap();
    std::fs::create_dir(&folder).unwrap();
    let line = format!("{} (replaced since: not trusted)\n", folder.display());
    assert_eq!(home.run(&["trust", "--list"]), (0, line, String::new()));
}

#[test]
fn doctor_names_what_is_wrong_with_its_line_and_what_mends_it() {
    let home = Home::new();
    let config = home.write("config.toml", "[server]\nprot = 1\n\n[agents.mine]\ncommand = \"my-agent\"\n");
    home.write("main.rs", "fn main() {}\n");
    let output = home.command(&["doctor", "--json"]).env("CHARTROOM_CONFIG", &config).output().unwrap();
    let (code, stdout, _) = finish(output);
    assert_eq!(code, 1);
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let wrong = &report["checks"][0];
    assert_eq!((&wrong["area"], &wrong["state"]), (&"config".into(), &"wrong".into()));
    assert_eq!(wrong["detail"], "line 2: unknown key `server.prot`, did you mean `server.port`?");
    let check = |name: &str| {
        report["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).cloned().unwrap()
    };
    assert_eq!(check("Claude Code")["mend"], "npm install -g @anthropic-ai/claude-code");
    assert_eq!(check(&home.path().display().to_string())["mend"], "chartroom trust .");
    let server = check("rust-analyzer (Rust)");
    assert_eq!((&server["area"], &server["state"]), (&"server".into(), &"untrusted".into()), "{server}");
    assert!(server["mend"].as_str().is_some_and(|mend| !mend.is_empty()), "{server}");
}

#[test]
fn doctor_says_what_state_the_index_of_this_folder_is_in() {
    let home = Home::new();
    home.write("main.rs", "fn main() {}\n");
    let index_check = || {
        let (_, stdout, _) = home.run(&["doctor", "--json"]);
        let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        let checks = report["checks"].as_array().unwrap();
        checks.iter().find(|check| check["area"] == "index").cloned().unwrap()
    };
    let before = index_check();
    assert_eq!(
        (&before["state"], &before["mend"]),
        (&"missing".into(), &"chartroom index create .".into()),
        "{before}"
    );
    let (code, _, stderr) = home.run(&["index", "create", "."]);
    assert_eq!(code, 0, "{stderr}");
    let after = index_check();
    assert_eq!((&after["state"], after.get("mend")), (&"ok".into(), None), "{after}");
}

#[test]
fn completions_know_the_commands() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, stderr) = home.run(&["completions", shell]);
        assert_eq!((code, stderr.as_str()), (0, ""));
        assert!(script.contains("uninstall"), "{shell}");
    }
}

#[test]
fn install_says_what_it_would_do_and_does_it() {
    let home = Home::new();
    for client in ["claude", "codex"] {
        let (code, would, _) = home.run(&["install", "--client", client, "--dry-run"]);
        assert_eq!(code, 0);
        assert!(would.lines().all(|line| line.starts_with("would write ")), "{would}");
        let (_, wrote, _) = home.run(&["install", "--client", client]);
        assert_eq!(wrote, would.replace("would write", "wrote"));
        let (_, again, _) = home.run(&["install", "--client", client]);
        assert!(again.lines().all(|line| line.starts_with("unchanged ")), "{again}");
        let (_, removed, _) = home.run(&["uninstall", "--client", client]);
        assert!(removed.lines().all(|line| line.starts_with("wrote ")), "{removed}");
    }
}

#[test]
fn uninstall_leaves_no_trace_of_install() {
    let home = Home::new();
    let servers = home.write(".claude.json", "{ \"mcpServers\": {},\n \"n\":[1 ,2]}");
    let before = std::fs::read(&servers).unwrap();
    for client in ["claude", "codex"] {
        assert_eq!(home.run(&["install", "--client", client]).0, 0);
        assert_eq!(home.run(&["uninstall", "--client", client]).0, 0);
    }
    assert_eq!(std::fs::read(&servers).unwrap(), before);
    for made in [".claude", ".codex"] {
        assert!(!home.path().join(made).exists(), "{made}");
    }
}

#[test]
fn garbage_on_the_stdin_of_mcp_gets_a_json_rpc_error() {
    use std::io::Write as _;
    let home = Home::new();
    let mut command = home.command(&["mcp", "--only", "index"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let mut stdin = child.stdin.take().unwrap();
    write!(stdin, "hello?\n{initialize}\n{initialized}\n{{\"id\": 5}}\n").unwrap();
    drop(stdin);
    let (code, stdout, _) = finish(child.wait_with_output().unwrap());
    assert_eq!(code, 0, "{stdout}");
    let answers: Vec<serde_json::Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |id: serde_json::Value| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(of(serde_json::Value::Null)["error"]["code"], -32700, "{stdout}");
    assert_eq!(of(serde_json::json!(5))["error"]["code"], -32600, "{stdout}");
    assert!(of(serde_json::json!(1))["result"]["serverInfo"].is_object(), "{stdout}");
}
