//! Stories with real language servers. `cargo xtask tools` installs them.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/stage.rs"]
mod stage;

use serde_json::json;
use stage::Stage;

const TSCONFIG: &str = "//- package.json\n{\"name\":\"x\",\"type\":\"module\"}\n//- tsconfig.json\n{\"compilerOptions\":{\"strict\":true,\"module\":\"esnext\",\"target\":\"esnext\",\"moduleResolution\":\"bundler\",\"skipLibCheck\":true,\"types\":[]},\"include\":[\"src\"]}\n";

async fn typescript(set: &str) {
    let fixture = format!(
        "{TSCONFIG}//- src/types.ts\nexport interface User {{ name: string }}\n//- src/app.ts\nimport type {{ User }} from './types';\nexport function greet(user: User) {{ return user.name; }}\n//- src/use.ts\nimport {{ greet }} from './app';\ngreet({{ name: 'x' }});\n"
    );
    let stage = Stage::new(&fixture, &[set]);
    // First touch, cold.
    let lines = stage.write("src/bad.ts", "export const a: number = 'x';\n").await;
    assert_eq!(lines, ["ERROR [1:14] Type 'string' is not assignable to type 'number'. (2322)"]);
    stage
        .never_stale(
            "src/bad.ts",
            |n| format!("export const a: number = 'x{n}';\n"),
            |n| format!("export const a: number = {n};\n"),
        )
        .await;
    // An importer is broken by a write to a file that is fine itself, and mended by the next.
    let others =
        stage.write_and_look_around("src/types.ts", "export interface User { title: string }\n").await;
    assert!(others.contains(&"src/app.ts".to_owned()), "{others:?}");
    let others =
        stage.write_and_look_around("src/types.ts", "export interface User { name: string }\n").await;
    assert_eq!(others, Vec::<String>::new());
    let place = json!({ "filePath": "src/use.ts", "line": 2, "symbol": "greet" });
    assert_eq!(stage.ask("lsp_goto_definition", place.clone()).await, "src/app.ts:2:17");
    let references = stage.ask("lsp_find_references", place.clone()).await;
    assert!(references.contains("src/app.ts:2:17") && references.contains("src/use.ts:2:1"), "{references}");
    assert!(stage.ask("lsp_hover", place).await.contains("greet(user: User): string"));
    let symbols = stage.ask("lsp_document_symbols", json!({ "filePath": "src/app.ts" })).await;
    assert!(symbols.contains("greet - 2:17"), "{symbols}");
    let symbols = stage.ask("lsp_workspace_symbols", json!({ "query": "greet" })).await;
    assert!(symbols.contains("greet - src/app.ts:2:"), "{symbols}");
    stage.end().await;
}

#[tokio::test]
async fn typescript_7_is_its_own_server() {
    typescript("ts7").await;
}

#[tokio::test]
async fn typescript_6_is_served_by_a_wrapper() {
    typescript("ts6").await;
}

// EC-7
#[tokio::test]
async fn typescript_and_eslint_speak_about_one_file_together() {
    let fixture = format!(
        "{TSCONFIG}//- eslint.config.js\nexport default [{{ files: ['**/*.js'], rules: {{ 'no-unused-vars': 'error' }} }}];\n//- jsconfig.json\n{{}}\n//- src/a.js\n// @ts-check\nconst unused = 1;\n/** @type {{number}} */\nexport const a = 'x';\n"
    );
    let stage = Stage::new(&fixture, &["ts7", "eslint"]);
    let lines = stage.check("src/a.js").await;
    assert!(lines.iter().any(|line| line.contains("(no-unused-vars)")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("(2322)")), "{lines:?}");
    stage
        .never_stale(
            "src/a.js",
            |n| format!("// @ts-check\nconst unused{n} = 1;\nexport const a = 1;\n"),
            |n| format!("// @ts-check\nexport const a = {n};\n"),
        )
        .await;
    let ids: Vec<_> = stage.running().into_iter().map(|(id, _, _)| id).collect();
    assert_eq!(ids, ["eslint", "typescript"]);
    stage.end().await;
}

// BR-22
#[tokio::test]
async fn a_monorepo_has_a_server_for_each_root_and_ten_agents_share_it() {
    let package = |name: &str| {
        TSCONFIG
            .replace("package.json", &format!("{name}/package.json"))
            .replace("tsconfig.json", &format!("{name}/tsconfig.json"))
    };
    let fixture = format!(
        "{}{}//- one/src/a.ts\nexport const a: number = 'x';\n//- two/src/b.ts\nexport const b: string = 1;\n",
        package("one"),
        package("two")
    );
    let stage = Stage::new(&fixture, &["ts7"]);
    // Ten agents at once, on both roots.
    let checks = (0..10).map(|n| {
        let stage = &stage;
        async move { stage.check(if n % 2 == 0 { "one/src/a.ts" } else { "two/src/b.ts" }).await }
    });
    let answers = futures_util::future::join_all(checks).await;
    for (n, lines) in answers.into_iter().enumerate() {
        let expected = if n % 2 == 0 { "to type 'number'" } else { "to type 'string'" };
        assert!(lines.len() == 1 && lines[0].contains(expected), "{lines:?}");
    }
    let roots: Vec<_> = stage.running().into_iter().map(|(id, root, _)| (id, root)).collect();
    assert_eq!(roots, [("typescript".into(), "one".into()), ("typescript".into(), "two".into())]);
    let memory = stage.orchestrator.status().into_iter().filter_map(|row| row.rss_bytes).min();
    assert!(memory.is_some_and(|bytes| bytes > 1024 * 1024));
    stage.end().await;
}

async fn python(stage: Stage, server: &str) {
    let lines = stage.write("bad.py", "x: int = 'a'\n").await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    stage.never_stale("bad.py", |n| format!("x: int = 'a{n}'\n"), |n| format!("x: int = {n}\n")).await;
    let others = stage.write_and_look_around("types_.py", "class User:\n    title: str = ''\n").await;
    assert_eq!(others, ["app.py"]);
    let others = stage.write_and_look_around("types_.py", "class User:\n    name: str = ''\n").await;
    assert_eq!(others, Vec::<String>::new());
    let place = json!({ "filePath": "use.py", "line": 3, "symbol": "greet" });
    assert_eq!(stage.ask("lsp_goto_definition", place.clone()).await, "app.py:3:5");
    assert!(stage.ask("lsp_find_references", place.clone()).await.contains("use.py:3:1"));
    assert!(stage.ask("lsp_hover", place).await.contains("greet"));
    assert!(stage.ask("lsp_document_symbols", json!({ "filePath": "app.py" })).await.contains("greet - 3:5"));
    let ids: Vec<_> = stage.running().into_iter().map(|(id, _, _)| id).collect();
    assert_eq!(ids, [server]);
    stage.end().await;
}

const PYTHON: &str = "//- types_.py\nclass User:\n    name: str = ''\n//- app.py\nfrom types_ import User\n\ndef greet(user: User) -> str:\n    return user.name\n//- use.py\nfrom app import greet\nfrom types_ import User\ngreet(User())\n";

#[tokio::test]
async fn pyright_checks_python() {
    let fixture = format!("//- pyrightconfig.json\n{{}}\n{PYTHON}");
    python(
        Stage::with_config(&fixture, &["pyright"], r#"{"servers":{"ruff":{"enabled":false}}}"#),
        "pyright",
    )
    .await;
}

#[tokio::test]
async fn pyright_finds_what_is_installed_in_the_projects_environment() {
    let fixture =
        "//- pyrightconfig.json\n{}\n//- app.py\nfrom installed import answer\n\nnumber: int = answer()\n";
    let stage = Stage::untrusted(fixture, &["pyright"], r#"{"servers":{"ruff":{"enabled":false}}}"#);
    // What `python3 -m venv` makes, without its pip.
    let site = stage.project.path(".venv/lib");
    let python = std::path::Path::new("/usr/bin/python3").canonicalize().unwrap();
    let version = python.file_name().unwrap().to_string_lossy().into_owned();
    stage.project.write(".venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n");
    stage.project.write(".venv/bin/.keep", "");
    std::os::unix::fs::symlink(&python, stage.project.path(".venv/bin/python")).unwrap();
    let module = site.join(&version).join("site-packages/installed.py");
    std::fs::create_dir_all(module.parent().unwrap()).unwrap();
    std::fs::write(&module, "def answer() -> int:\n    return 42\n").unwrap();
    stage.be_trusted();
    assert_eq!(stage.check("app.py").await, Vec::<String>::new());
    stage.end().await;
}

/// pdm and poetry keep the environment elsewhere; both servers find what is installed there.
#[tokio::test]
async fn pyright_and_ty_find_what_is_installed_in_an_environment_elsewhere() {
    let elsewhere = tempfile::tempdir().unwrap();
    let environment = elsewhere.path().canonicalize().unwrap().join("environment");
    let python = std::path::Path::new("/usr/bin/python3").canonicalize().unwrap();
    let version = python.file_name().unwrap().to_string_lossy().into_owned();
    let site = environment.join("lib").join(version).join("site-packages");
    std::fs::create_dir_all(&site).unwrap();
    std::fs::create_dir_all(environment.join("bin")).unwrap();
    std::fs::write(environment.join("pyvenv.cfg"), "home = /usr/bin\n").unwrap();
    std::os::unix::fs::symlink(&python, environment.join("bin/python")).unwrap();
    std::fs::write(site.join("installed.py"), "def answer() -> int:\n    return 42\n").unwrap();
    let fixture = "//- pyproject.toml\n[project]\nname = \"x\"\nversion = \"1\"\n//- app.py\nfrom installed import answer\n\nnumber: int = answer()\n";
    for (other, modules) in [("ty", ["pyright"].as_slice()), ("pyright", &[])] {
        let config = format!(r#"{{"servers":{{"ruff":{{"enabled":false}},"{other}":{{"enabled":false}}}}}}"#);
        let stage = Stage::untrusted(fixture, modules, &config);
        stage.project.write(".pdm-python", &format!("{}\n", environment.join("bin/python").display()));
        stage.be_trusted();
        assert_eq!(stage.check("app.py").await, Vec::<String>::new(), "without {other}");
        stage.end().await;
    }
}

#[tokio::test]
async fn ty_checks_python_where_the_project_asks_for_it() {
    let fixture = format!("//- ty.toml\n\n{PYTHON}");
    let config = r#"{"servers":{"ruff":{"enabled":false},"pyright":{"enabled":false}}}"#;
    python(Stage::with_config(&fixture, &[], config), "ty").await;
}

#[tokio::test]
async fn gopls_checks_go() {
    let fixture = "//- go.mod\nmodule example.com/x\n\ngo 1.19\n//- types/types.go\npackage types\n\ntype User struct{ Name string }\n//- app.go\npackage main\n\nimport \"example.com/x/types\"\n\nfunc greet(user types.User) string { return user.Name }\n//- main.go\npackage main\n\nimport \"example.com/x/types\"\n\nfunc main() {\n\tprintln(greet(types.User{}))\n}\n";
    let stage = Stage::new(fixture, &[]);
    let lines = stage.write("bad.go", "package main\n\nvar bad int = \"x\"\n").await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    stage
        .never_stale(
            "bad.go",
            |n| format!("package main\n\nvar bad int = \"x{n}\"\n"),
            |n| format!("package main\n\nvar bad int = {n}\n"),
        )
        .await;
    let others = stage
        .write_and_look_around("types/types.go", "package types\n\ntype User struct{ Title string }\n")
        .await;
    assert!(others.contains(&"app.go".to_owned()), "{others:?}");
    stage.write("types/types.go", "package types\n\ntype User struct{ Name string }\n").await;
    let place = json!({ "filePath": "main.go", "line": 6, "symbol": "greet" });
    assert_eq!(stage.ask("lsp_goto_definition", place.clone()).await, "app.go:5:6");
    assert!(stage.ask("lsp_find_references", place.clone()).await.contains("main.go:6:10"));
    assert!(stage.ask("lsp_hover", place).await.contains("func greet(user types.User) string"));
    assert!(stage.ask("lsp_document_symbols", json!({ "filePath": "app.go" })).await.contains("greet - 5:6"));
    stage.end().await;
}

/// An edit does not wait for rustc when there is an error without it; who looks again is told all.
#[tokio::test]
async fn rust_analyzer_tells_at_the_second_look_what_only_rustc_finds() {
    let manifest = "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let stage = Stage::new(&format!("//- Cargo.toml\n{manifest}//- src/lib.rs\npub fn a() {{}}\n"), &[]);
    assert_eq!(stage.check("src/lib.rs").await, Vec::<String>::new());
    let moved = "pub fn b() { let s = String::new(); drop(s); drop(s); }\n";
    let lines = stage.write("src/lib.rs", &format!("pub fn a() -> i32 {{ \"x\" }}\n{moved}")).await;
    assert!(lines.iter().any(|line| line.contains("(E0308)")), "{lines:?}");
    let lines = stage.check("src/lib.rs").await;
    assert!(
        ["(E0308)", "(E0382)"].iter().all(|code| lines.iter().any(|line| line.contains(code))),
        "{lines:?}"
    );
    stage.end().await;
}

#[tokio::test]
async fn rust_analyzer_checks_rust() {
    let fixture = "//- Cargo.toml\n[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n//- src/types.rs\npub struct User { pub name: String }\n//- src/app.rs\nuse crate::types::User;\npub fn greet(user: &User) -> &str { &user.name }\n//- src/bad.rs\npub fn bad() -> i32 { 0 }\n//- src/main.rs\nmod app;\nmod bad;\nmod types;\nfn main() {\n    let user = types::User { name: String::new() };\n    println!(\"{} {}\", app::greet(&user), bad::bad());\n}\n";
    let stage = Stage::new(fixture, &[]);
    let lines = stage.write("src/bad.rs", "pub fn bad() -> i32 { \"x\" }\n").await;
    assert!(lines.iter().any(|line| line.contains("(E0308)")), "{lines:?}");
    // The compiler finds it too, a while later: then it is still one error.
    let compiled = async {
        loop {
            let known = stage.orchestrator.diagnostics().remove("src/bad.rs").unwrap_or_default();
            if known.iter().any(|one| one.source.as_deref() == Some("rustc")) {
                return known;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let known = tokio::time::timeout(std::time::Duration::from_secs(240), compiled).await.unwrap();
    assert_eq!(known.len(), 1, "{known:?}");
    stage
        .never_stale(
            "src/bad.rs",
            |n| format!("pub fn bad() -> i32 {{ \"x{n}\" }}\n"),
            |n| format!("pub fn bad() -> i32 {{ {n} }}\n"),
        )
        .await;
    let others = stage.write_and_look_around("src/types.rs", "pub struct User { pub title: String }\n").await;
    assert!(others.contains(&"src/app.rs".to_owned()), "{others:?}");
    stage.write("src/types.rs", "pub struct User { pub name: String }\n").await;
    let place = json!({ "filePath": "src/main.rs", "line": 6, "symbol": "greet" });
    assert_eq!(stage.ask("lsp_goto_definition", place.clone()).await, "src/app.rs:2:8");
    assert!(stage.ask("lsp_find_references", place.clone()).await.contains("src/main.rs:6:"));
    assert!(stage.ask("lsp_hover", place).await.contains("fn greet(user: &User) -> &str"));
    assert!(
        stage.ask("lsp_document_symbols", json!({ "filePath": "src/app.rs" })).await.contains("greet - 2:8")
    );
    stage.end().await;
}

#[tokio::test]
async fn clangd_checks_c() {
    let fixture = "//- compile_flags.txt\n-std=c11\n//- app.h\nint greet(int times);\n//- app.c\n#include \"app.h\"\nint greet(int times) { return times; }\n//- main.c\n#include \"app.h\"\nint main(void) { return greet(1); }\n";
    let stage = Stage::new(fixture, &[]);
    let lines = stage.write("bad.c", "int bad(void) { return missing; }\n").await;
    assert_eq!(lines, ["ERROR [1:24] Use of undeclared identifier 'missing' (undeclared_var_use)"]);
    stage
        .never_stale(
            "bad.c",
            |n| format!("int bad(void) {{ return missing{n}; }}\n"),
            |n| format!("int bad(void) {{ return {n}; }}\n"),
        )
        .await;
    let place = json!({ "filePath": "main.c", "line": 2, "symbol": "greet" });
    assert_eq!(stage.ask("lsp_goto_definition", place.clone()).await, "app.h:1:5");
    assert!(stage.ask("lsp_hover", place).await.contains("greet"));
    assert!(stage.ask("lsp_document_symbols", json!({ "filePath": "app.c" })).await.contains("greet - 2:5"));
    stage.end().await;
}

/// It skips a text that it has looked at before, and says nothing then: what it said may be from before the other changed.
#[tokio::test]
async fn clangd_looks_again_at_a_file_when_another_has_changed() {
    let stage = Stage::new("//- a.c\nint a(void) { return 1; }\n//- b.c\nint b(void) { return 1; }\n", &[]);
    assert_eq!(stage.check("b.c").await, Vec::<String>::new());
    for n in 0..3 {
        assert_eq!(stage.write("a.c", &format!("int a(void) {{ return {n}; }}\n")).await.len(), 0);
        assert_eq!(stage.check("b.c").await, Vec::<String>::new());
    }
    stage.end().await;
}

/// clang compares headers by their size and the second in which they were written: `mv` and a quick second edit change neither.
#[tokio::test]
async fn clangd_sees_a_header_that_changed_within_its_second_and_kept_its_size() {
    let old = "touch -d '2020-01-01 12:00:00'";
    let stage = Stage::new(
        "//- one.hpp\nconstexpr int one = 1;\n//- a.cpp\n#include \"one.hpp\"\nint a = one;\n",
        &[],
    );
    stage.shell(&format!("{old} one.hpp"));
    assert_eq!(stage.check("a.cpp").await, Vec::<String>::new());
    stage.shell(&format!("sed -i s/one/two/ one.hpp && {old} one.hpp"));
    assert_eq!(stage.check("a.cpp").await.len(), 1, "the name is gone");
    stage.shell(&format!("sed -i s/two/one/ one.hpp && {old} one.hpp"));
    assert_eq!(stage.check("a.cpp").await, Vec::<String>::new());
    // Changed by our own tools at the same time: the text of the file that includes it is another, too.
    stage.shell(&format!("sed -i s/one/two/ one.hpp && {old} one.hpp"));
    assert_eq!(stage.write("a.cpp", "#include \"one.hpp\"\nint b = one;\n").await.len(), 1);
    stage.end().await;
}

/// What was not there is not among the headers that clang compares.
#[tokio::test]
async fn clangd_sees_a_header_that_was_not_there() {
    let text = "#if __has_include(\"made.hpp\")\n#include \"made.hpp\"\n#endif\nint a = made;\n";
    let stage = Stage::new(&format!("//- a.cpp\n{text}"), &[]);
    assert_eq!(stage.check("a.cpp").await.len(), 1);
    stage.shell("echo 'constexpr int made = 1;' > made.hpp");
    assert_eq!(stage.check("a.cpp").await, Vec::<String>::new());
    stage.shell("rm made.hpp");
    assert_eq!(stage.check("a.cpp").await.len(), 1);
    stage.end().await;
}

/// Files of any name can be included.
#[tokio::test]
async fn clangd_hears_of_an_included_file_that_is_no_header_by_name() {
    let stage = Stage::new(
        "//- names.def\nconstexpr int one = 1;\n//- a.cpp\n#include \"names.def\"\nint a = one;\n",
        &[],
    );
    assert_eq!(stage.check("a.cpp").await, Vec::<String>::new());
    stage.shell("sed -i s/one/three/ names.def");
    assert_eq!(stage.check("a.cpp").await.len(), 1);
    stage.shell("sed -i s/three/one/ names.def");
    assert_eq!(stage.check("a.cpp").await, Vec::<String>::new());
    stage.end().await;
}

/// Without its background index clangd knows of the uses in the files that somebody has opened.
#[tokio::test]
async fn clangd_knows_the_uses_in_files_that_nobody_opened() {
    let uses: String = (1..=6)
        .map(|n| {
            format!("//- src/use{n}.c\n#include \"../app.h\"\nint use{n}(void) {{ return greet({n}); }}\n")
        })
        .collect();
    let fixture = format!(
        "//- app.h\nint greet(int times);\n//- app.c\n#include \"app.h\"\nint greet(int times) {{ return times; }}\n{uses}"
    );
    let stage = Stage::untrusted(&fixture, &[], "{}");
    let root = stage.project.root().canonicalize().unwrap();
    let files = ["app.c".to_owned()].into_iter().chain((1..=6).map(|n| format!("src/use{n}.c")));
    let commands: Vec<_> = files
        .map(|file| json!({ "directory": root, "file": file, "command": format!("cc -c {file}") }))
        .collect();
    stage.project.write("compile_commands.json", &json!(commands).to_string());
    stage.be_trusted();
    let place = json!({ "filePath": "app.c", "line": 2, "symbol": "greet" });
    let references = stage.ask("lsp_find_references", place).await;
    for n in 1..=6 {
        assert!(references.contains(&format!("src/use{n}.c:2:25")), "{references}");
    }
    let symbols = stage.ask("lsp_workspace_symbols", json!({ "query": "use6" })).await;
    assert_eq!(symbols, "use6 - src/use6.c:2:5");
    stage.end().await;
}

#[tokio::test]
async fn clangd_is_never_behind_a_header() {
    let header =
        |name: &str| format!("#include <bits/stdc++.h>\ninline int {name}(int times) {{ return times; }}\n");
    let fixture = format!(
        "//- compile_flags.txt\n-std=c++17\n//- app.hpp\n{}//- main.cpp\n#include \"app.hpp\"\nint main() {{ return greet(1); }}\n",
        header("greet")
    );
    let stage = Stage::new(&fixture, &[]);
    assert_eq!(stage.check("main.cpp").await, Vec::<String>::new());
    for _ in 0..3 {
        assert_eq!(stage.write_and_look_around("app.hpp", &header("hello")).await, ["main.cpp"]);
        assert_eq!(stage.check("main.cpp").await.len(), 1);
        assert_eq!(stage.write_and_look_around("app.hpp", &header("greet")).await, Vec::<String>::new());
        assert_eq!(stage.check("main.cpp").await, Vec::<String>::new());
    }
    stage.end().await;
}

#[tokio::test]
async fn the_hostile_repository_is_live_once_it_is_trusted() {
    let hostile = chartroom_testkit::hostile::Hostile::new();
    std::fs::write(hostile.root().join("a.py"), "x = 1\n").unwrap();
    let stage = Stage::of_folder(&hostile.root());
    for file in ["index.ts", "a.py", "crate/src/lib.rs"] {
        // What is planted is no server, so that nothing comes of it but its marker.
        stage.orchestrator.check_file(file, None).await;
    }
    let expected = [
        "build-rs",
        "cargo-rustc-wrapper",
        "node-modules-bin-pyright-langserver",
        "node-modules-bin-tsc",
        "node-modules-bin-vscode-eslint-language-server",
    ];
    // What the planted programs and the build script left behind, some of it a moment after the check.
    for _ in 0..1_200 {
        let markers = hostile.markers();
        if expected.iter().all(|name| markers.contains(*name)) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let markers = hostile.markers();
    for name in expected {
        assert!(markers.contains(name), "{name} is not in {markers:?}");
    }
    stage.orchestrator.shutdown().await;
}
