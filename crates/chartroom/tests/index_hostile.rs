//! A repository whose files are made to take a reader down, through the real MCP server: it stays, answers, and says
//! what it left out.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;
#[path = "common/stdio.rs"]
mod stdio;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chartroom_testkit::hostile_files::{self, repeated};
use program::{Home, wait_until};
use serde_json::{Value, json};
use stdio::McpClient;

/// A server that does not answer a small question within this hangs; a loaded machine is slow.
const LIMIT: Duration = Duration::from_secs(10);
/// What the server may take on top of an idle one.
const MEMORY_KB: u64 = 300 * 1024;

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

    fn restart(&mut self) {
        self.mcp = McpClient::start(self.home.command(&["mcp", "--only", "index"]));
    }

    fn folder(&self) -> PathBuf {
        let folder = self.home.path().join("hostile");
        std::fs::create_dir_all(folder.join(".git/info")).unwrap();
        std::fs::write(folder.join("good.py"), "def good_function():\n    return 1\n").unwrap();
        folder
    }

    #[track_caller]
    fn manage(&mut self, action: &str, path: &Path) -> Value {
        let asked = Instant::now();
        let answer = self.mcp.tool("manage_index", json!({"action": action, "path": path.to_str().unwrap()}));
        assert_ne!(answer["isError"], true, "{answer}");
        assert!(action != "status" || asked.elapsed() < LIMIT, "{action}: {:?}", asked.elapsed());
        answer["structuredContent"].clone()
    }

    /// Builds and waits; what status says then.
    #[track_caller]
    fn build(&mut self, action: &str, path: &Path) -> Value {
        let started = self.manage(action, path);
        assert_eq!(started["status"], "ok", "{started}");
        let mut status = Value::Null;
        wait_until("the build ends", || {
            status = self.manage("status", path);
            status["status"] != "not_ready"
        });
        status
    }

    #[track_caller]
    fn finds(&mut self, path: &Path, query: &str, file: &str) {
        let arguments =
            json!({"path": path.to_str().unwrap(), "query": query, "scope": "mixed", "detail": "full"});
        let answer = self.mcp.tool("search_codebase", arguments);
        assert_eq!(answer["structuredContent"]["status"], "ok", "{answer}");
        assert_eq!(answer["structuredContent"]["results"][0]["file"], file, "{answer}");
    }

    fn peak_memory_kb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.mcp.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Files that are known to take a parser down.
    fn n_remembered(&self) -> usize {
        let text = std::fs::read_to_string(self.home.data().join("index/unparsed")).unwrap_or_default();
        text.lines().count().saturating_sub(1)
    }
}

/// The message of a warning.
#[track_caller]
fn warning(envelope: &Value, code: &str) -> String {
    let warnings = envelope["warnings"].as_array().cloned().unwrap_or_default();
    let found = warnings.iter().find(|warning| warning["code"] == code);
    found.unwrap_or_else(|| panic!("no {code}: {envelope}"))["message"].as_str().unwrap().to_owned()
}

// One overflows the stack when its time is over, one takes gigabytes.
#[test]
fn a_source_file_that_takes_the_parser_down_is_indexed_by_lines_and_told() {
    let mut story = Story::new();
    let folder = story.folder();
    std::fs::write(folder.join("overflow.c"), repeated("a=>", 357_000) + "int needle_in_c;\n").unwrap();
    std::fs::write(folder.join("Memory.java"), repeated("A<", 20_000) + "// needleInJava\n").unwrap();
    let idle = story.peak_memory_kb();
    let status = story.build("create", &folder);
    assert_eq!(status["status"], "ok", "{status}");
    let told = warning(&status, "FILES_UNPARSED");
    assert!(told.contains("2 file(s)") && told.contains("'Memory.java', 'overflow.c'"), "{told}");
    story.finds(&folder, "good_function", "good.py");
    story.finds(&folder, "needle_in_c", "overflow.c");
    story.finds(&folder, "needleInJava", "Memory.java");
    let more = story.peak_memory_kb() - idle;
    assert!(more < MEMORY_KB, "{more} kB");
    assert_eq!(story.n_remembered(), 2);

    // After a restart they are known; a copy and a new index of the same folder try them no more.
    story.restart();
    std::fs::copy(folder.join("overflow.c"), folder.join("copy.c")).unwrap();
    let synced = story.manage("sync", &folder);
    let told = warning(&synced, "FILES_UNPARSED");
    assert!(told.contains("'Memory.java', 'copy.c', 'overflow.c'"), "{told}");
    let status = story.build("reindex", &folder);
    assert!(warning(&status, "FILES_UNPARSED").contains("3 file(s)"), "{status}");
    assert_eq!(story.n_remembered(), 2);

    // Mended, they are told no more.
    std::fs::write(folder.join("overflow.c"), "int mended(void) { return 1; }\n").unwrap();
    std::fs::remove_file(folder.join("copy.c")).unwrap();
    let synced = story.manage("sync", &folder);
    assert!(warning(&synced, "FILES_UNPARSED").contains("1 file(s)"), "{synced}");
    let outline = json!({"path": folder.to_str().unwrap(), "file": "overflow.c"});
    let outline = story.mcp.tool("file_outline", outline);
    assert!(outline.to_string().contains("mended"), "{outline}");
}

#[test]
fn ignore_files_that_are_devices_or_endless_are_left_out_by_name() {
    let mut story = Story::new();
    let folder = story.folder();
    hostile_files::ignore_files(&folder);
    let idle = story.peak_memory_kb();
    for status in
        [story.build("create", &folder), story.manage("sync", &folder), story.manage("status", &folder)]
    {
        let told = warning(&status, "IGNORE_FILES_LEFT_OUT");
        for name in hostile_files::IGNORE_FILES {
            assert!(told.contains(&format!("{name} (")), "{name}: {told}");
        }
    }
    story.finds(&folder, "good_function", "good.py");
    let more = story.peak_memory_kb() - idle;
    assert!(more < MEMORY_KB, "{more} kB");
}

#[test]
fn a_repository_of_50_hostile_files_is_indexed_and_searched_while_the_server_answers() {
    let mut story = Story::new();
    let folder = story.folder();
    let n_files = hostile_files::plant(&folder);
    assert!(n_files >= 50);
    let idle = story.peak_memory_kb();
    // `build` asks for the status all the time, and each answer comes within the limit.
    let status = story.build("create", &folder);
    assert_eq!(status["status"], "ok", "{status}");
    story.finds(&folder, "good_function", "good.py");
    story.finds(&folder, "odd_name", "new\nline.py");
    for secret in ["root:x:0:0", "daemon"] {
        let arguments = json!({"path": folder.to_str().unwrap(), "query": secret, "scope": "mixed"});
        let answer = story.mcp.tool("search_codebase", arguments).to_string();
        assert!(!answer.contains("outside.py") && !answer.contains("passwd"), "{answer}");
    }
    let synced = story.manage("sync", &folder);
    assert!(warning(&synced, "IGNORE_FILES_LEFT_OUT").contains(".gitignore"), "{synced}");
    let more = story.peak_memory_kb() - idle;
    assert!(more < MEMORY_KB, "{more} kB");
}
