//! Stories with real MCP clients: the inspector, and Claude Code. `cargo xtask tools` installs them.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use chartroom_testkit::{project::Project, tools};
use serde_json::{Value, json};

const CHARTROOM: &str = env!("CARGO_BIN_EXE_chartroom");

/// A trusted TypeScript project and a home of its own.
struct Scene {
    project: Project,
    home: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let project = Project::new(
            "//- package.json\n{\"name\":\"x\"}\n//- tsconfig.json\n{\"compilerOptions\":{\"strict\":true,\"types\":[]},\"include\":[\"src\"]}\n//- src/a.ts\nexport const a: number = 1;\n",
        );
        let modules = tools::dir().join("ts7").join("node_modules");
        assert!(modules.is_dir(), "run `cargo xtask tools` to install {}", modules.display());
        std::os::unix::fs::symlink(modules, project.path("node_modules")).unwrap();
        let home = tempfile::tempdir().unwrap();
        // The machine that runs this may be busy with everything else.
        std::fs::write(
            home.path().join("config.toml"),
            "[lsp]\nfirstTouchTimeout = 120000\ndiagnosticTimeout = 60000\n",
        )
        .unwrap();
        let scene = Self { project, home };
        let trusted = scene.chartroom(&["trust", "."]);
        assert!(trusted.status.success(), "{}", text(&trusted.stderr));
        scene
    }

    #[expect(clippy::disallowed_methods, reason = "the test runs the finished program")]
    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(self.project.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .env("TMPDIR", self.home.path())
            .env("CHARTROOM_HOME", self.home.path().join("data"))
            .env("CHARTROOM_CONFIG", self.home.path().join("config.toml"));
        command
    }

    fn chartroom(&self, args: &[&str]) -> Output {
        self.command(CHARTROOM).args(args).output().unwrap()
    }

    /// Asks through the inspector; the answer is its JSON.
    fn inspect(&self, args: &[&str]) -> Value {
        let inspector: PathBuf = tools::npm_bin("inspector", "mcp-inspector");
        let output = self.command(inspector).args(["--cli", CHARTROOM, "mcp"]).args(args).output().unwrap();
        let stdout = text(&output.stdout);
        serde_json::from_str(&stdout)
            .unwrap_or_else(|error| panic!("{error}: {stdout}{}", text(&output.stderr)))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

// BR-51, REQ-NAV-020
#[test]
fn the_inspector_lists_and_calls_the_tools() {
    let scene = Scene::new();
    let listed = scene.inspect(&["--method", "tools/list"]);
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in [
        "apply_patch",
        "code_actions",
        "edit_file",
        "edit_symbol",
        "lsp_calls",
        "lsp_check",
        "lsp_diagnostics",
        "lsp_document_symbols",
        "lsp_find_references",
        "lsp_goto_definition",
        "lsp_hover",
        "lsp_workspace_symbols",
        "rename_symbol",
        "write_file",
    ] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    let edited = scene.inspect(&[
        "--method",
        "tools/call",
        "--tool-name",
        "edit_file",
        "--tool-arg",
        "filePath=src/a.ts",
        "--tool-arg",
        "oldText=number = 1",
        "--tool-arg",
        "newText=number = 'x'",
    ]);
    assert_eq!(
        edited["content"][0]["text"],
        "Edited src/a.ts (1 replacement).\n\nLSP errors detected in this file, please fix:\n<diagnostics file=\"src/a.ts\">\nERROR [1:14] Type 'string' is not assignable to type 'number'. (2322)\n</diagnostics>"
    );
    assert_eq!(edited["isError"], false);
    let only = scene.inspect(&["--only", "edits", "--method", "tools/list"]);
    assert_eq!(only["tools"].as_array().unwrap().len(), 6);
}

// REQ-STATUS-010
#[test]
fn the_command_line_checks_lists_calls_and_tells_the_status() {
    let scene = Scene::new();
    let clean = scene.chartroom(&["check", "src/a.ts"]);
    assert_eq!((clean.status.code(), text(&clean.stdout).as_str()), (Some(0), ""), "{}", text(&clean.stderr));
    scene.project.write("src/a.ts", "export const a: number = 'x';\n");
    let broken = scene.chartroom(&["check", "src/a.ts"]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(
        text(&broken.stdout).starts_with("<diagnostics file=\"src/a.ts\">\nERROR [1:14]"),
        "{}",
        text(&broken.stdout)
    );
    let missing = scene.chartroom(&["check", "src/none.ts"]);
    assert_eq!(missing.status.code(), Some(3));
    let hover = r#"{"filePath":"src/a.ts","line":1,"symbol":"a"}"#;
    let hover = scene.chartroom(&["tool", "call", "lsp_hover", "--args-json", hover]);
    assert_eq!((hover.status.code(), text(&hover.stdout).as_str()), (Some(0), "const a: number\n"));
    let status = scene.chartroom(&["lsp", "status"]);
    let status = text(&status.stdout);
    assert!(status.starts_with("LSP server status:\n"), "{status}");
    assert!(status.contains("\n  bash-language-server: "), "{status}");
    let revoked = scene.chartroom(&["trust", "--revoke", "."]);
    assert!(revoked.status.success());
    let untrusted = scene.chartroom(&["check", "src/a.ts"]);
    assert_eq!(untrusted.status.code(), Some(3));
    assert!(text(&untrusted.stderr).contains("chartroom trust "), "{}", text(&untrusted.stderr));
}

#[test]
fn the_hook_adds_what_the_compiler_says_and_never_fails() {
    let scene = Scene::new();
    scene.project.write("src/a.ts", "export const a: number = 'x';\n");
    let run = |input: String| {
        let file = scene.home.path().join("input.json");
        std::fs::write(&file, input).unwrap();
        let input = std::fs::File::open(file).unwrap();
        scene.command(CHARTROOM).args(["hook", "claude"]).stdin(input).output().unwrap()
    };
    let path = scene.project.path("src/a.ts");
    let edit =
        json!({ "tool_name": "Edit", "cwd": scene.project.root(), "tool_input": { "file_path": path } });
    let output = run(edit.to_string());
    assert_eq!(output.status.code(), Some(0));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("ERROR [1:14] Type 'string' is not assignable"), "{context}");
    for garbage in
        ["", "{", r#"{"tool_name":"Edit","cwd":"/nowhere","tool_input":{"file_path":"/nowhere/a.ts"}}"#]
    {
        let output = run(garbage.to_owned());
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(0), ""), "{garbage}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_code_edits_through_the_tools_and_reads_what_the_compiler_says() {
    let scene = Scene::new();
    let model = chartroom_testkit::model_api::ModelApi::start().await;
    let config = scene.home.path().join("mcp.json");
    let servers = json!({ "mcpServers": { "chartroom": {
        "type": "stdio", "command": CHARTROOM, "args": ["mcp", "--root", scene.project.root()],
        "env": {
            "CHARTROOM_HOME": scene.home.path().join("data"),
            "CHARTROOM_CONFIG": scene.home.path().join("config.toml"),
        },
    } } });
    std::fs::write(&config, servers.to_string()).unwrap();
    let input = json!({ "filePath": "src/a.ts", "oldText": "number = 1", "newText": "number = 'x'" });
    let prompt = format!("[[tool:mcp__chartroom__edit_file:{input}]]");
    let mut command = scene.command(tools::claude());
    command
        .env("ANTHROPIC_BASE_URL", model.anthropic_url())
        .env("ANTHROPIC_API_KEY", "sk-ant-test-000000000000000000000000")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("MCP_TIMEOUT", "120000")
        .env("MCP_TOOL_TIMEOUT", "240000")
        .args([
            "-p",
            &prompt,
            "--allowedTools",
            "mcp__chartroom__edit_file",
            "--strict-mcp-config",
            "--mcp-config",
        ])
        .arg(&config)
        .stdin(std::process::Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let said = text(&output.stdout);
    assert!(
        said.contains("The tool said: Edited src/a.ts (1 replacement)."),
        "{said}{}",
        text(&output.stderr)
    );
    assert!(model.saw("LSP errors detected in this file, please fix:"));
    assert_eq!(scene.project.read("src/a.ts"), "export const a: number = 'x';\n");
}
