//! The three parts as one: an agent that is started here has the others' tools without set-up. The real server
//! binary, the real claude and codex-acp on the scripted model, the real TypeScript 7.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;

use chartroom_testkit::model_api::ModelApi;
use chartroom_testkit::tools;
use program::{Home, Server, processes_of, wait_until};
use serde_json::{Value, json};

const TOKEN: &str = "0123456789abcdef";
const BROKEN: &str = "Type 'string' is not assignable to type 'number'.";

/// A server over a TypeScript project, with agents that have nothing of their own configured.
struct Scene {
    home: Home,
    server: Server,
    api: ModelApi,
}

impl Scene {
    async fn new() -> Self {
        let home = Home::new();
        let project = home.path().join("shop");
        std::fs::create_dir_all(project.join("src")).unwrap();
        for (name, text) in [
            ("package.json", "{\"name\":\"shop\"}\n"),
            ("tsconfig.json", "{\"compilerOptions\":{\"strict\":true,\"types\":[]},\"include\":[\"src\"]}\n"),
            (
                "src/price.ts",
                "export function priceOfOrder(): number {\n  return 1;\n}\nexport const total = priceOfOrder() * 2;\n",
            ),
        ] {
            std::fs::write(project.join(name), text).unwrap();
        }
        let modules = tools::dir().join("ts7").join("node_modules");
        assert!(modules.is_dir(), "run `cargo xtask tools` to install {}", modules.display());
        std::os::unix::fs::symlink(modules, project.join("node_modules")).unwrap();

        let api = ModelApi::start().await;
        let codex = format!(
            "model = \"gpt-5.4\"\nmodel_provider = \"mock\"\ncheck_for_update_on_startup = false\n\
             approval_policy = \"never\"\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"{}\"\n\
             env_key = \"MOCK_API_KEY\"\nwire_api = \"responses\"\n[analytics]\nenabled = false\n[feedback]\nenabled = false\n",
            api.openai_url()
        );
        std::fs::create_dir_all(home.path().join(".codex")).unwrap();
        home.write(".codex/config.toml", &codex);
        let at = home.path();
        let config = format!(
            r#"
[lsp]
firstTouchTimeout = 120000
diagnosticTimeout = 60000
[agents.claude-code]
command = "{claude}"
[agents.claude-code.env]
HOME = "{home}"
CLAUDE_CONFIG_DIR = "{home}/.claude"
ANTHROPIC_BASE_URL = "{url}"
ANTHROPIC_API_KEY = "sk-ant-dummy"
CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = "1"
DISABLE_AUTOUPDATER = "1"
IS_SANDBOX = "1"
[agents.codex]
command = "{codex}"
[agents.codex.env]
HOME = "{home}"
CODEX_HOME = "{home}/.codex"
MOCK_API_KEY = "dummy"
"#,
            claude = tools::claude().display(),
            codex = tools::codex_acp().display(),
            home = at.display(),
            url = api.anthropic_url(),
        );
        let config = home.write("config.toml", &config);
        let mut command = home.command(&["shop", "--trust", "--port", "0"]);
        command
            .env("CHARTROOM_TOKEN", TOKEN)
            .env("CHARTROOM_CONFIG", config)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let server = Server::start(command);
        Self { home, server, api }
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let bearer = format!("Bearer {TOKEN}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.server.request(method, path, &headers, &text);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 20"), "{path}: {answer}");
        serde_json::from_str(body).unwrap_or(Value::Null)
    }

    fn create(&self, cli_type: &str, mode: &str) -> String {
        let project = self.home.path().join("shop");
        let body = json!({ "cliType": cli_type, "projectDir": project, "mode": mode });
        self.ask("POST", "/api/session/create", &body)["sessionId"].as_str().unwrap().to_owned()
    }

    /// Sends a message and waits until the agent has done what it says; a question on the way fails the story.
    fn turn(&self, session: &str, message: &str) {
        let body = json!({ "message": message });
        self.ask("POST", &format!("/api/session/{session}/send"), &body);
        wait_until(&format!("the turn of {message}"), || {
            let status = self.ask("GET", &format!("/api/session/{session}/status"), &Value::Null);
            assert_ne!(status["state"], "needs_you", "{status}");
            status["state"] == "open"
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_reads_the_compilers_word_after_its_own_edit_and_searches_the_index_unasked() {
    let scene = Scene::new().await;
    let session = scene.create("claude-code", "acceptEdits");
    let file = scene.home.path().join("shop/src/a.ts");
    let write = json!({ "file_path": file, "content": "export const a: number = 'x';\n" });
    scene.turn(&session, &format!("[[tool:Write:{write}]]"));
    assert!(scene.api.saw(BROKEN), "the model did not get the diagnostics");

    let index = scene.home.path().join("shop");
    let mut command = scene.home.command(&["index", "create", "shop"]);
    assert!(
        command.env("CHARTROOM_CONFIG", scene.home.path().join("config.toml")).status().unwrap().success()
    );
    let search = json!({ "path": index, "query": "price of an order" });
    scene.turn(&session, &format!("[[tool:mcp__chartroom__search_codebase:{search}]]"));
    assert!(scene.api.saw("priceOfOrder"), "the model did not get the search's answer");
    // The type stands nowhere in the text: only the compiler knows it.
    let hover = json!({ "filePath": "src/price.ts", "line": 4, "symbol": "total" });
    scene.turn(&session, &format!("[[tool:mcp__chartroom__lsp_hover:{hover}]]"));
    assert!(scene.api.saw("const total: number"), "the model did not get the hover");
    let home = scene.home.path();
    assert_eq!(scene.server.stop().0, 0);
    wait_until("everything ends with the server", || processes_of(&home).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_renames_over_five_files_and_edits_in_parallel_and_is_told_exactly_what_was_done() {
    let scene = Scene::new().await;
    let source = scene.home.path().join("shop/src");
    for n in 1..5 {
        let text =
            format!("import {{ priceOfOrder }} from './price';\nexport const p{n} = priceOfOrder();\n");
        std::fs::write(source.join(format!("p{n}.ts")), text).unwrap();
    }
    let session = scene.create("claude-code", "bypassPermissions");
    let rename = json!({ "filePath": "src/price.ts", "symbol": "priceOfOrder", "newName": "orderPrice" });
    scene.turn(&session, &format!("[[tool:mcp__chartroom__rename_symbol:{rename}]]"));
    let told = "Renamed priceOfOrder to orderPrice, 10 places in 5 files: src/p1.ts, src/p2.ts, src/p3.ts, src/p4.ts, src/price.ts.";
    assert!(scene.api.saw(told), "{:?}", scene.api.requests().last());
    for n in 1..5 {
        let text = std::fs::read_to_string(source.join(format!("p{n}.ts"))).unwrap();
        assert_eq!(
            text,
            format!("import {{ orderPrice }} from './price';\nexport const p{n} = orderPrice();\n")
        );
    }
    // Three symbols of one file at once: none is lost, and the error that one brings is told with it.
    let three = "export function a(): number {\n  return 1;\n}\n\nexport function b(): number {\n  return 2;\n}\n\nexport function c(): number {\n  return 3;\n}\n";
    std::fs::write(source.join("three.ts"), three).unwrap();
    let edits: Vec<Value> = [("a", "11"), ("b", "'x'"), ("c", "33")]
        .iter()
        .map(|(name, value)| {
            let text = format!("export function {name}(): number {{\n  return {value};\n}}");
            let input =
                json!({ "filePath": "src/three.ts", "symbol": name, "action": "replace", "text": text });
            json!(["mcp__chartroom__edit_symbol", input])
        })
        .collect();
    scene.turn(&session, &format!("[[tools:{}]]", Value::from(edits)));
    let text = std::fs::read_to_string(source.join("three.ts")).unwrap();
    assert_eq!(text, three.replace("1;", "11;").replace("2;", "'x';").replace("3;", "33;"));
    for name in ["a", "b", "c"] {
        let told = format!("Replaced {name}, 1 place in 1 file: src/three.ts.");
        assert!(scene.api.saw(&told), "{told}");
    }
    assert!(scene.api.saw("ERROR [6:3] Type 'string' is not assignable to type 'number'. (2322)"));
    let home = scene.home.path();
    assert_eq!(scene.server.stop().0, 0);
    wait_until("everything ends with the server", || processes_of(&home).is_empty());
}

/// The blocks of diagnostics that the model has in its last request, by the number of times each is there.
fn told(scene: &Scene) -> Vec<String> {
    const HEAD: &str = "LSP errors detected in this file, please fix:\\n<diagnostics";
    let body = scene.api.requests().last().unwrap().body.to_string();
    let blocks =
        body.split(HEAD).skip(1).filter_map(|rest| Some(rest.split_once("</diagnostics>")?.0.to_owned()));
    blocks.collect()
}

/// A dependency that nobody has opened is changed by `sed -i` in the agent's shell, and changed back.
#[tokio::test(flavor = "multi_thread")]
async fn what_claude_changed_with_sed_counts_in_what_it_is_told_of_its_next_edit() {
    let scene = Scene::new().await;
    let session = scene.create("claude-code", "bypassPermissions");
    let file = scene.home.path().join("shop/src/sum.ts");
    let text = "import { priceOfOrder } from './price';\nexport const sum: number = priceOfOrder() + 1;\n";
    scene.turn(&session, &format!("[[tool:Write:{}]]", json!({ "file_path": file, "content": text })));
    assert_eq!(told(&scene), [] as [&str; 0]);

    let sed = |from: &str, to: &str| json!({ "command": format!("sed -i 's/{from}/{to}/' src/price.ts") });
    let edit = |old: &str, new: &str| json!({ "file_path": file, "old_string": old, "new_string": new });
    let (number, string) = ("(): number {", "(): string {");
    scene.turn(&session, &format!("[[tool:Bash:{}]]", sed(number, string)));
    scene.turn(&session, &format!("[[tool:Edit:{}]]", edit("+ 1", "+ 2")));
    let error = " file=\\\"src/sum.ts\\\">\\nERROR [2:14] Type 'string' is not assignable to type 'number'. (2322)\\n";
    assert_eq!(told(&scene), [error], "broken by sed, told once by the edit");

    scene.turn(&session, &format!("[[tool:Bash:{}]]", sed(string, number)));
    scene.turn(&session, &format!("[[tool:Edit:{}]]", edit("+ 2", "+ 3")));
    assert_eq!(told(&scene), [error], "mended by sed: nothing is added");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text.replace("+ 1", "+ 3"));
    let home = scene.home.path();
    assert_eq!(scene.server.stop().0, 0);
    wait_until("everything ends with the server", || processes_of(&home).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn codex_has_the_tools_without_set_up() {
    let scene = Scene::new().await;
    let session = scene.create("codex", "auto");
    scene.turn(&session, "[[say:hello]]");
    let offered = scene.api.requests().iter().any(|request| {
        let tools = request.body["tools"].to_string();
        ["search_codebase", "lsp_hover", "edit_file"].iter().all(|name| tools.contains(name))
    });
    assert!(offered, "the model was not offered the tools: {:?}", scene.api.requests().last());
    let home = scene.home.path();
    assert_eq!(scene.server.stop().0, 0);
    wait_until("everything ends with the server", || processes_of(&home).is_empty());
}
