//! `chartroom lsp install` and `/api/lsp/install`, with package managers that do what the test says.

#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "the program under test is started as a shell would")]

#[path = "common/program.rs"]
mod program;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use program::{Home, Server, finish, processes_of, wait_until};
use serde_json::{Value, json};

const TOKEN: &str = "0123456789abcdef";

/// A home whose PATH has a fake npm and nothing else that installs.
struct Shop {
    home: Home,
}

impl Shop {
    /// `brings` are the lines that the fake npm runs; `$prefix` is the folder to install into.
    fn new(brings: &str) -> Self {
        let shop = Self { home: Home::new() };
        shop.npm(brings);
        std::fs::create_dir(shop.home.path().join("project")).unwrap();
        shop
    }

    fn tools(&self) -> PathBuf {
        let tools = self.home.path().join("tools");
        std::fs::create_dir_all(&tools).unwrap();
        for program in ["sh", "cat", "mkdir", "chmod", "env", "touch", "printf"] {
            let link = tools.join(program);
            if !link.exists() {
                std::os::unix::fs::symlink(Path::new("/usr/bin").join(program), link).unwrap();
            }
        }
        tools
    }

    fn npm(&self, brings: &str) {
        let text = format!(
            "#!/bin/sh\nwhile [ \"$1\" != --prefix ]; do shift; done\nprefix=$2\nbin=$prefix/node_modules/.bin\n{brings}\n"
        );
        let npm = self.tools().join("npm");
        std::fs::write(&npm, text).unwrap();
        std::fs::set_permissions(&npm, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(args);
        command.env("PATH", self.tools()).env("CHARTROOM_TOKEN", TOKEN);
        command
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        finish(self.command(args).output().unwrap())
    }

    fn folder(&self) -> PathBuf {
        self.home.data().join("language-servers")
    }

    /// What is in our folder, without the locks.
    fn installed(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| !name.ends_with(".lock"));
        names.sort();
        names
    }

    /// What the status of a trusted project says about a server.
    fn status(&self, id: &str) -> Value {
        assert_eq!(self.run(&["trust", "project"]).0, 0);
        let (code, text, stderr) = self.run(&["lsp", "status", "--root", "project", "--json"]);
        assert_eq!(code, 0, "{stderr}");
        let status: Value = serde_json::from_str(&text).unwrap();
        let rows = status["servers"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["id"] == id).unwrap()
    }
}

/// Lines that bring a program which runs `command`.
fn bring(name: &str, command: &str) -> String {
    format!(
        "mkdir -p $bin\nprintf '#!/bin/sh\\nexec {command}\\n' > $bin/{name}\nchmod +x $bin/{name}\nenv > $HOME/seen-env"
    )
}

fn good() -> String {
    bring("pyright-langserver", &format!("{} good", chartroom_testkit::fakes::lsp().display()))
}

#[test]
fn a_server_is_installed_into_the_data_folder_and_used_from_there() {
    let shop = Shop::new(&good());
    assert_eq!(shop.status("pyright")["status"], "unavailable");
    let (code, text, stderr) = shop.run(&["lsp", "install", "pyright"]);
    let program = shop.folder().join("pyright/node_modules/.bin/pyright-langserver");
    let expected = format!("pyright was installed with npm and answers: {}\n", program.display());
    assert_eq!((code, text.as_str()), (0, expected.as_str()), "{stderr}");
    let row = shop.status("pyright");
    assert_eq!((&row["status"], &row["path"]), (&json!("idle"), &json!(program)));
    // The package manager gets what it needs and not our token; nothing of it is left running.
    let env = std::fs::read_to_string(shop.home.path().join("seen-env")).unwrap();
    assert!(env.contains("HOME=") && !env.contains("CHARTROOM_TOKEN") && !env.contains(TOKEN), "{env}");
    wait_until("everything ends", || processes_of(&shop.home.path()).is_empty());
    let (code, text, _) = shop.run(&["lsp", "install", "pyright", "--json"]);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, answer), (0, json!({ "id": "pyright", "manager": "npm", "path": program })));
    assert_eq!(shop.installed(), ["pyright"]);
}

#[test]
fn without_an_id_every_server_is_listed_with_how_it_is_installed() {
    let shop = Shop::new(&good());
    let (code, text, stderr) = shop.run(&["lsp", "install", "--json"]);
    assert_eq!(code, 0, "{stderr}");
    let servers: Value = serde_json::from_str(&text).unwrap();
    let servers = servers["servers"].as_array().unwrap();
    assert!(servers.len() >= 45, "{}", servers.len());
    let row = |id: &str| servers.iter().find(|row| row["id"] == id).unwrap();
    assert_eq!((&row("pyright")["manager"], &row("pyright")["installed"]), (&json!("npm"), &json!(false)));
    assert_eq!(row("ruby-lsp").get("manager"), None);
    assert_eq!(row("ruby-lsp")["hints"], json!(["gem install ruby-lsp"]));
    let (_, text, _) = shop.run(&["lsp", "install"]);
    let line = |id: &str| text.lines().find(|line| line.split(' ').next() == Some(id)).unwrap().to_owned();
    assert!(line("pyright").ends_with("chartroom lsp install pyright (npm)"), "{}", line("pyright"));
    assert!(line("ruby-lsp").ends_with("gem install ruby-lsp"), "{}", line("ruby-lsp"));
}

#[test]
fn an_unknown_id_is_wrong_usage_and_the_nearest_is_named() {
    let shop = Shop::new(&good());
    let (code, _, stderr) = shop.run(&["lsp", "install", "pyrigth"]);
    assert_eq!((code, stderr.lines().count()), (2, 1), "{stderr}");
    assert!(
        stderr.contains("there is no language server pyrigth") && stderr.contains("did you mean pyright?"),
        "{stderr}"
    );
    for hostile in ["../../x", "--registry=x", "", "pyright\n"] {
        assert_eq!(shop.run(&["lsp", "install", "--", hostile]).0, 2, "{hostile:?}");
    }
    assert!(!shop.folder().exists());
}

/// Runs an installation that must not work, and returns the one sentence that it says.
#[track_caller]
fn refused(shop: &Shop, id: &str) -> String {
    let (code, text, stderr) = shop.run(&["lsp", "install", id]);
    assert_eq!((code, text.as_str(), stderr.lines().count()), (3, "", 1), "{stderr}");
    stderr
}

#[test]
fn without_a_package_manager_every_way_to_install_it_is_named() {
    let shop = Shop::new("");
    std::fs::remove_file(shop.tools().join("npm")).unwrap();
    let said = refused(&shop, "pyright");
    assert!(said.contains("npm install --global pyright, or pip install pyright"), "{said}");
    assert!(refused(&shop, "sourcekit-lsp").contains("see https://www.swift.org/install/"));
}

#[test]
fn what_a_package_manager_says_is_told_and_nothing_stays() {
    for (brings, words) in [
        (
            "echo 'npm error code ENOTFOUND' >&2\necho 'npm error network request failed' >&2\nexit 1",
            &["npm could not install pyright", "ENOTFOUND", "is the network reachable?"] as &[&str],
        ),
        (
            "mkdir -p $bin\necho 'npm error code ENOSPC' >&2\necho 'npm error nospc no space left on device' >&2\nexit 228",
            &["ENOSPC", "free some space"],
        ),
        ("exit 7", &["npm could not install pyright: it exited with status 7"]),
        ("exit 0", &["does not start", "removed again", "bring no pyright-langserver"]),
        (&bring("pyright-langserver", "/nonexistent/program"), &["does not start", "removed again"]),
        (&bring("pyright-langserver", "cat /dev/null"), &["does not start", "removed again"]),
    ] {
        let shop = Shop::new(brings);
        let said = refused(&shop, "pyright");
        for word in words {
            assert!(said.contains(word), "{word:?} is not in {said}");
        }
        assert_eq!(shop.installed(), Vec::<String>::new(), "{said}");
        wait_until("everything ends", || processes_of(&shop.home.path()).is_empty());
    }
}

#[test]
fn an_older_installation_comes_back_when_a_newer_one_fails() {
    let shop = Shop::new(&good());
    assert_eq!(shop.run(&["lsp", "install", "pyright"]).0, 0);
    shop.npm(&bring("pyright-langserver", "/nonexistent/program"));
    refused(&shop, "pyright");
    assert_eq!(shop.installed(), ["pyright"]);
    let program = shop.folder().join("pyright/node_modules/.bin/pyright-langserver");
    assert!(std::fs::read_to_string(program).unwrap().contains("good"));
    assert_eq!(shop.status("pyright")["status"], "idle");
}

#[test]
fn nothing_is_installed_where_nothing_can_be_written() {
    let shop = Shop::new(&good());
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_chartroom")])
        .args(["lsp", "install", "pyright"])
        .current_dir(shop.home.path())
        .env_clear()
        .env("PATH", shop.tools())
        .env("HOME", shop.home.path())
        .env("CHARTROOM_HOME", shop.home.data())
        .stdin(Stdio::null());
    let (code, _, stderr) = finish(command.output().unwrap());
    let said = stderr.lines().last().unwrap();
    assert!(code == 3 && said.starts_with("chartroom: npm could not install pyright"), "{stderr}");
    assert_eq!(shop.installed(), Vec::<String>::new());
    assert_eq!(shop.run(&["lsp", "install", "pyright"]).0, 0, "it works when there is room again");
}

#[test]
fn of_two_at_once_the_second_is_told_so() {
    let waits = format!("touch $HOME/started\ncat $HOME/go > /dev/null\n{}", good());
    let shop = Shop::new(&waits);
    let fifo = shop.home.path().join("go");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let first =
        shop.command(&["lsp", "install", "pyright"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let first = first.unwrap();
    wait_until("npm runs", || shop.home.path().join("started").exists());
    let said = refused(&shop, "pyright");
    assert!(said.contains("pyright is being installed already"), "{said}");
    std::fs::write(&fifo, "go").unwrap();
    let (code, text, stderr) = finish(first.wait_with_output().unwrap());
    assert_eq!(code, 0, "{text}{stderr}");
    assert_eq!(shop.installed(), ["pyright"]);
}

#[test]
fn the_page_installs_by_id_and_by_nothing_else() {
    let shop = Shop::new(&good());
    let server = Server::start(shop.command(&["serve", "--port", "0"]));
    let ask = |method: &str, body: &Value| {
        let bearer = format!("Bearer {TOKEN}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = server.request(method, "/api/lsp/install", &headers, &body);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str::<Value>(body).unwrap_or_else(|error| panic!("{error}: {answer}")))
    };
    let installed = || {
        let (status, list) = ask("GET", &Value::Null);
        let rows = list["servers"].as_array().unwrap();
        (status, rows.iter().find(|row| row["id"] == "pyright").unwrap()["installed"].clone())
    };
    assert_eq!(installed(), (200, json!(false)));
    let (status, answer) = ask("POST", &json!({ "id": "pyrigth" }));
    assert_eq!((status, &answer["error"]["code"]), (404, &json!("NOT_FOUND")));
    assert!(answer["error"]["message"].as_str().unwrap().contains("did you mean pyright?"), "{answer}");
    for body in [json!({ "id": "pyright", "command": "rm" }), json!({}), json!({ "id": 1 })] {
        assert_eq!(ask("POST", &body).0, 400, "{body}");
    }
    let (status, answer) = ask("POST", &json!({ "id": "ruby-lsp" }));
    assert_eq!((status, &answer["error"]["code"]), (422, &json!("INSTALL_FAILED")), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("gem install ruby-lsp"), "{answer}");
    let (status, answer) = ask("POST", &json!({ "id": "pyright" }));
    let program = shop.folder().join("pyright/node_modules/.bin/pyright-langserver");
    assert_eq!((status, answer), (200, json!({ "id": "pyright", "manager": "npm", "path": program })));
    assert_eq!(installed(), (200, json!(true)));
    assert_eq!(server.stop().0, 0);
}
