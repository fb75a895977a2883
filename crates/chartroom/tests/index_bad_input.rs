//! Folders and queries that nobody should give, through the real MCP server: each has a clear answer, none an end.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;
#[path = "common/stdio.rs"]
mod stdio;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use program::{Home, wait_until};
use serde_json::{Value, json};
use stdio::McpClient;

struct Story {
    home: Home,
    mcp: McpClient,
}

impl Story {
    fn new() -> Self {
        let home = Home::new();
        let mcp = McpClient::start(home.command(&["mcp", "--only", "index"]));
        Self { home, mcp }
    }

    /// A folder with one good file in it.
    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.home.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("good.py"), "def good_function():\n    return 1\n").unwrap();
        folder
    }

    /// The envelope of an action; an envelope is never an error of the protocol.
    #[track_caller]
    fn manage(&mut self, action: &str, path: &Path) -> Value {
        let answer = self.mcp.tool("manage_index", json!({"action": action, "path": path.to_str().unwrap()}));
        assert_ne!(answer["isError"], true, "{answer}");
        answer["structuredContent"].clone()
    }

    /// Builds and waits; what status says then.
    #[track_caller]
    fn create(&mut self, path: &Path) -> Value {
        let started = self.manage("create", path);
        assert_eq!(started["status"], "ok", "{started}");
        let mut status = Value::Null;
        wait_until("the build ends", || {
            status = self.manage("status", path);
            status["status"] != "not_ready"
        });
        status
    }

    /// The files that a search finds.
    #[track_caller]
    fn search(&mut self, path: &Path, query: &str) -> Vec<String> {
        let answer = self.mcp.tool(
            "search_codebase",
            json!({"path": path.to_str().unwrap(), "query": query, "scope": "mixed", "detail": "full"}),
        );
        assert_ne!(answer["isError"], true, "{query}: {answer}");
        assert_eq!(answer["structuredContent"]["status"], "ok", "{query}: {answer}");
        let results = answer["structuredContent"]["results"].as_array().unwrap();
        results.iter().map(|result| result["file"].as_str().unwrap().to_owned()).collect()
    }
}

fn codes(envelope: &Value) -> Vec<&str> {
    envelope["warnings"].as_array().map_or(Vec::new(), |warnings| {
        warnings.iter().map(|warning| warning["code"].as_str().unwrap()).collect()
    })
}

#[test]
fn an_agent_is_told_of_a_slip_in_an_operator_of_tests_left_out_and_of_files_that_are_not_indexed() {
    let mut story = Story::new();
    let folder = story.folder("told");
    std::fs::write(folder.join("picture.png"), "x").unwrap();
    std::fs::write(folder.join("one_line.js"), "a=1;".repeat(3_000)).unwrap();
    let status = story.create(&folder);
    let said = status["humanText"].as_str().unwrap();
    let counted = "2 files are not indexed: 1 of a kind that is not read; 1 with lines of more than 1,000 characters on average: one_line.js.";
    assert!(said.contains(counted), "{said}");
    let mut search = |query: &str, scope: &str| {
        let params = json!({"path": folder.to_str().unwrap(), "query": query, "scope": scope});
        let answer = story.mcp.tool("search_codebase", params);
        assert_ne!(answer["isError"], true, "{answer}");
        answer["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let text = search("langg:python good_function", "runtime");
    let first = text.lines().next().unwrap();
    assert!(first.ends_with("(code that runs; scope='mixed' has tests and docs too)"), "{first}");
    assert!(
        text.contains("'langg:' is no operator and is searched as a word; did you mean lang:?"),
        "{text}"
    );
    let text = search("lang:pyhton good_function", "mixed");
    assert!(text.contains("nobody has the language 'pyhton'; did you mean lang:python?"), "{text}");
    assert!(!text.contains("scope='mixed' has"), "{text}");
}

#[test]
fn a_path_that_is_not_there_and_a_file_instead_of_a_folder_are_told() {
    let mut story = Story::new();
    let gone = story.home.path().join("gone");
    let file = story.folder("shop").join("good.py");
    for action in ["create", "reindex", "sync", "repair"] {
        let answer = story.manage(action, &gone);
        let expected = format!("Path '{}' does not exist.", gone.display());
        assert_eq!((&answer["status"], &answer["message"]), (&json!("error"), &json!(expected)));
        let answer = story.manage(action, &file);
        let expected =
            format!("Path '{}' is not a directory. Give the folder that holds the code.", file.display());
        assert_eq!((&answer["status"], &answer["message"]), (&json!("error"), &json!(expected)));
    }
    for action in ["status", "clear"] {
        assert_eq!(story.manage(action, &gone)["status"], "not_indexed");
    }
    for path in [&gone, &file] {
        let answer = story.mcp.tool("search_codebase", json!({"path": path, "query": "x"}));
        assert_eq!(answer["isError"], true, "{answer}");
        assert!(answer["content"][0]["text"].as_str().unwrap().starts_with("Path '"), "{answer}");
    }
    assert_eq!(story.mcp.tool("list_codebases", json!({}))["structuredContent"]["total"], 0);
}

/// Starts the server as somebody who must keep to permissions: root does not, so it becomes nobody.
fn server_that_may_not_read_everything(home: &Home) -> McpClient {
    let plain = home.command(&["mcp", "--only", "index"]);
    if !rustix::process::geteuid().is_root() {
        return McpClient::start(plain);
    }
    std::fs::create_dir_all(home.data()).unwrap();
    for folder in [home.path(), home.data()] {
        std::os::unix::fs::chown(&folder, Some(65534), Some(65534)).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    // It starts helpers of its own, so its file must be where nobody may look.
    let program = home.path().join("chartroom");
    if std::fs::hard_link(plain.get_program(), &program).is_err() {
        std::fs::copy(plain.get_program(), &program).unwrap();
    }
    #[allow(clippy::disallowed_methods, reason = "the program under test is started as another user would")]
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(plain.get_args())
        .current_dir(home.path())
        .env_clear()
        .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    McpClient::start(command)
}

#[test]
fn a_folder_without_permission_is_told_and_one_inside_is_left_out_by_name() {
    let home = Home::new();
    let mcp = server_that_may_not_read_everything(&home);
    let mut story = Story { home, mcp };
    let closed =
        |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
    let open = |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let whole = story.folder("closed");
    closed(&whole);
    let answer = story.manage("create", &whole);
    assert_eq!(answer["status"], "error", "{answer}");
    let expected = format!("Path '{}' cannot be read: Permission denied (os error 13).", whole.display());
    assert_eq!(answer["message"], expected);
    open(&whole);

    let shop = story.folder("shop");
    let inner = story.folder("shop/inner");
    std::fs::write(inner.join("hidden.py"), "def hidden_function():\n    pass\n").unwrap();
    let secret = shop.join("secret.py");
    std::fs::write(&secret, "def secret_function():\n    pass\n").unwrap();
    closed(&inner);
    closed(&secret);
    let status = story.create(&shop);
    assert_eq!(status["status"], "ok", "{status}");
    assert_eq!(codes(&status), ["FOLDERS_UNREADABLE", "FILES_UNREADABLE"], "{status}");
    assert!(status["warnings"][0]["message"].as_str().unwrap().contains("'inner'"), "{status}");
    assert_eq!(story.search(&shop, "good_function"), ["good.py"]);

    // Mended, both come; closed again, what is indexed stays: not to be read is not to be gone.
    open(&inner);
    open(&secret);
    let synced = story.manage("sync", &shop);
    assert_eq!((&synced["status"], codes(&synced)), (&json!("ok"), Vec::new()), "{synced}");
    closed(&inner);
    let synced = story.manage("sync", &shop);
    assert_eq!(synced["freshnessDecision"]["stats"]["removed"], 0, "{synced}");
    assert_eq!(story.search(&shop, "hidden_function")[0], "inner/hidden.py");
    open(&inner);
}

#[test]
fn symlink_loops_end_and_nothing_outside_is_indexed() {
    let mut story = Story::new();
    let shop = story.folder("shop");
    symlink(&shop, shop.join("itself")).unwrap();
    symlink("loop-b", shop.join("loop-a")).unwrap();
    symlink("loop-a", shop.join("loop-b")).unwrap();
    std::fs::create_dir(shop.join("deep")).unwrap();
    symlink("..", shop.join("deep/up")).unwrap();
    symlink("/", shop.join("deep/all")).unwrap();
    symlink("nowhere.py", shop.join("dangling.py")).unwrap();
    let status = story.create(&shop);
    assert_eq!(status["status"], "ok", "{status}");
    assert!(status["message"].as_str().unwrap().contains(": 1 files,"), "{status}");
    assert_eq!(story.search(&shop, "good_function"), ["good.py"]);

    // A link to the folder is the same codebase; a link that leads to itself is no folder.
    let link = story.home.path().join("link");
    symlink(&shop, &link).unwrap();
    assert_eq!(story.manage("status", &link)["path"], shop.to_str().unwrap());
    let answer = story.manage("create", &shop.join("loop-a"));
    assert_eq!(answer["status"], "error", "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("loop-a"), "{answer}");
}

#[test]
fn names_that_are_not_utf8_are_counted_and_the_rest_is_indexed() {
    let mut story = Story::new();
    let shop = story.folder("shop");
    std::fs::write(shop.join(OsStr::from_bytes(b"caf\xe9.py")), "def cafe():\n    pass\n").unwrap();
    let folder = shop.join(OsStr::from_bytes(b"\xff\xfe"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("inside.py"), "def inside():\n    pass\n").unwrap();
    let status = story.create(&shop);
    assert_eq!((&status["status"], codes(&status)), (&json!("ok"), vec!["NAMES_NOT_UTF8"]), "{status}");
    assert_eq!(
        status["warnings"][0]["message"],
        "2 file(s) or folder(s) have names that are not UTF-8 and are not indexed."
    );
    assert_eq!(story.search(&shop, "good_function"), ["good.py"]);
    let synced = story.manage("sync", &shop);
    assert_eq!((&synced["status"], codes(&synced)), (&json!("ok"), vec!["NAMES_NOT_UTF8"]), "{synced}");
}

#[test]
fn a_log_of_two_gigabytes_is_neither_read_nor_indexed() {
    let mut story = Story::new();
    let shop = story.folder("shop");
    for name in ["server.log", "trace.md"] {
        std::fs::File::create(shop.join(name)).unwrap().set_len(2 << 30).unwrap();
    }
    let status = story.create(&shop);
    assert_eq!((&status["status"], codes(&status)), (&json!("ok"), vec!["FILES_TOO_LARGE"]), "{status}");
    assert!(status["message"].as_str().unwrap().contains(": 1 files,"), "{status}");
    assert_eq!(story.search(&shop, "good_function"), ["good.py"]);
    let memory = std::fs::read_to_string(format!("/proc/{}/status", story.mcp.pid())).unwrap();
    let peak: u64 = memory
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    assert!(peak < 600_000, "the log was not read into memory: {peak} kB");
    let answer = story.mcp.tool("read_file", json!({"path": shop.join("trace.md")}));
    assert_eq!(answer["isError"], true, "{answer}");
    assert!(
        answer["content"][0]["text"].as_str().unwrap().contains("files over 16777216 are not read"),
        "{answer}"
    );
}

#[test]
fn a_folder_that_changes_while_it_is_indexed_is_whole_after_the_next_sync() {
    let mut story = Story::new();
    let shop = story.folder("shop");
    for file in 0..200 {
        std::fs::write(
            shop.join(format!("stable_{file}.py")),
            format!("def stable_{file}():\n    pass\n").repeat(20),
        )
        .unwrap();
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (stop, changed) = (&stop, &shop);
        scope.spawn(move || {
            for round in 0.. {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let file = changed.join(format!("stable_{}.py", round % 200));
                match round % 5 {
                    0 => std::fs::remove_file(file).unwrap_or_default(),
                    1 => {
                        // A folder comes and goes.
                        let folder = changed.join("moving");
                        std::fs::create_dir_all(&folder).unwrap();
                        std::fs::write(folder.join("x.py"), "def moving():\n    pass\n").unwrap();
                        std::fs::remove_dir_all(&folder).unwrap();
                    }
                    _ => std::fs::write(file, format!("def changed_{round}():\n    pass\n")).unwrap(),
                }
            }
        });
        let status = story.create(&shop);
        assert_eq!(status["status"], "ok", "{status}");
        for _ in 0..3 {
            let synced = story.manage("sync", &shop);
            assert_eq!(synced["status"], "ok", "{synced}");
            story.search(&shop, "stable");
        }
        stop.store(true, Ordering::SeqCst);
    });
    std::fs::write(shop.join("last.py"), "def the_last_word():\n    pass\n").unwrap();
    assert_eq!(story.manage("sync", &shop)["status"], "ok");
    assert_eq!(story.search(&shop, "the_last_word")[0], "last.py");
    let fresh = tempfile::tempdir().unwrap();
    let mut create = story.home.command(&["index", "create", shop.to_str().unwrap()]);
    assert!(create.env("CHARTROOM_HOME", fresh.path()).output().unwrap().status.success());
    let digests = |data: &Path| {
        let store = chartroom_search::sqlite::SqliteStore::open(data).unwrap();
        store.file_digests(shop.to_str().unwrap()).unwrap()
    };
    assert_eq!(digests(&story.home.data()), digests(fresh.path()));
}

#[test]
fn queries_that_are_empty_huge_or_only_operators_have_answers() {
    let mut story = Story::new();
    let shop = story.folder("shop");
    assert_eq!(story.create(&shop)["status"], "ok");
    for (query, says) in [
        (String::new(), "The query is empty"),
        (" \n\t ".to_owned(), "The query is empty"),
        ("x".repeat(20_001), "longer than 20000 characters"),
        ("good ".repeat(1_000_000), "longer than 20000 characters"),
    ] {
        let answer = story.mcp.tool("search_codebase", json!({"path": shop, "query": query}));
        assert_eq!(answer["isError"], true, "{answer}");
        assert!(answer["content"][0]["text"].as_str().unwrap().contains(says), "{answer}");
    }
    assert_eq!(story.search(&shop, &"good_function ".repeat(1400)), ["good.py"], "long, but not too long");
    // Only operators: there is nothing to look for but their own text, and the answer says so.
    for query in
        ["lang:python", "must:good_function", "exclude:good_function path:good.py", "lang: path: must:"]
    {
        let arguments = json!({"path": shop, "query": query, "scope": "mixed", "detail": "full"});
        let answer = story.mcp.tool("search_codebase", arguments)["structuredContent"].clone();
        assert_eq!(answer["status"], "ok", "{query}: {answer}");
        assert!(codes(&answer).contains(&"QUERY_ONLY_OPERATORS"), "{query}: {answer}");
    }
    assert_eq!(story.search(&shop, "lang:python path:*.py must:good_function"), ["good.py"]);
    assert_eq!(story.search(&shop, "exclude:good_function path:good.py"), [""; 0]);
    assert_eq!(story.search(&shop, "lang:python good"), ["good.py"]);
    assert_eq!(story.search(&shop, "lang:rust good"), [""; 0]);
    for odd in
        ["\"", "\\", "must:\"", "((((", "* ? [ ] { }", "AND OR NOT", "a:b:c:d", "\u{0}", "🦀🦀", "-path:"]
    {
        story.search(&shop, odd);
    }
}
