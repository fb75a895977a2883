use super::*;
use chartroom_protocol::lsp::LspConfig;

fn registry(config: &str) -> Registry {
    Registry::new(&serde_json::from_str::<LspConfig>(config).unwrap())
}

fn ids(registry: &Registry, file: &str) -> Vec<String> {
    registry.for_file(Path::new(file)).into_iter().map(|server| server.id.clone()).collect()
}

// REQ-LANG-020, BR-65
#[test]
fn the_built_in_servers() {
    let registry = registry("{}");
    let ids: Vec<_> = registry.all().iter().map(|server| server.id.as_str()).collect();
    for id in ["eslint", "gopls", "pyright", "rust-analyzer", "typescript"] {
        assert!(ids.contains(&id), "{id}");
    }
    assert!(ids.len() >= 45 && ids.is_sorted(), "{}: {ids:?}", ids.len());
    for server in registry.all() {
        assert!(!server.install.is_empty() && !server.files.is_empty(), "{}", server.id);
    }
}

// REQ-LANG-010, REQ-LANG-040, EC-7
#[test]
fn a_file_is_known_by_its_ending_to_one_or_more_servers() {
    let registry = registry("{}");
    let of_typescript = ["angular", "biome", "deno", "eslint", "oxlint", "typescript"];
    assert_eq!(ids(&registry, "/p/a.ts"), of_typescript);
    assert_eq!(ids(&registry, "/p/a.rs"), ["rust-analyzer"]);
    assert_eq!(ids(&registry, "/p/go.mod"), ["gopls"]);
    assert_eq!(ids(&registry, "/p/a.d.ts"), of_typescript);
    assert_eq!(ids(&registry, "/p/a.py"), ["pyright", "ruff", "ty"]);
}

// EC-39
#[test]
fn an_unknown_ending_has_no_server() {
    let registry = registry("{}");
    assert_eq!(ids(&registry, "/p/a.xyz"), Vec::<String>::new());
    assert_eq!(ids(&registry, "/p/README"), Vec::<String>::new());
    assert_eq!(ids(&registry, "/"), Vec::<String>::new());
}

// REQ-CFG-030, BR-28
#[test]
fn a_disabled_server_is_listed_but_serves_nothing() {
    let registry = registry(r#"{"servers":{"eslint":{"enabled":false}}}"#);
    assert!(!ids(&registry, "/p/a.ts").contains(&"eslint".to_owned()));
    assert!(!registry.get("eslint").unwrap().enabled);
}

// REQ-CFG-040, REQ-LANG-030, BR-66
#[test]
fn a_server_of_the_users_own_serves_its_endings() {
    let registry = registry(
        r#"{"servers":{"mine":{"command":"my-ls","args":["--stdio"],"extensions":[".foo",".bar.foo"],"languageId":"foolang"}}}"#,
    );
    assert_eq!(ids(&registry, "/p/x.bar.foo"), ["mine"]);
    let server = registry.get("mine").unwrap();
    assert_eq!(server.language_id(Path::new("/p/x.foo")), Some("foolang"));
    assert_eq!(server.program, Program::Configured { command: "my-ls".into(), args: vec!["--stdio".into()] });
}

#[test]
fn a_user_changes_what_differs_and_keeps_the_rest() {
    let registry = registry(
        r#"{"servers":{"pyright":{"command":"/opt/pyright","settings":{"python":{"analysis":{"diagnosticMode":"workspace"}}}},"gopls":{"args":["-v"]}}}"#,
    );
    let pyright = registry.get("pyright").unwrap();
    assert_eq!(
        pyright.program,
        Program::Configured { command: "/opt/pyright".into(), args: vec!["--stdio".into()] }
    );
    let settings = pyright.settings(Path::new("/p"));
    assert_eq!(section(&settings, Some("python.analysis"))["diagnosticMode"], "workspace");
    assert_eq!(section(&settings, Some("python.analysis"))["autoSearchPaths"], true);
    assert_eq!(
        registry.get("gopls").unwrap().program,
        Program::Search { candidates: vec![("gopls".into(), vec!["-v".into()])] }
    );
}

#[test]
fn a_section_is_a_key_or_a_path_and_none_is_everything() {
    let settings = json!({ "a": { "b": 1 }, "a.c": 2 });
    assert_eq!(section(&settings, Some("a.b")), &json!(1));
    assert_eq!(section(&settings, Some("a.c")), &json!(2));
    assert_eq!(section(&settings, Some("zzz.y")), &Value::Null);
    assert_eq!(section(&settings, None), &settings);
    assert_eq!(section(&settings, Some("")), &settings);
}

#[test]
fn the_compiler_itself_is_started_and_not_the_script_that_starts_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    // As npm lays it out, and as pnpm does.
    for modules in ["node_modules", "node_modules/.pnpm/typescript@7.0.2/node_modules"] {
        write(&format!("{modules}/typescript/package.json"), r#"{"name":"typescript","version":"7.0.2"}"#);
        write(&format!("{modules}/typescript/bin/tsc"), "#!/usr/bin/env node\n");
        let tsc = root.join(modules).join("typescript/bin/tsc");
        assert_eq!(executable_of_tsc(&tsc), None);
        let platform = [
            ("x86_64", "linux", "linux-x64"),
            ("aarch64", "linux", "linux-arm64"),
            ("aarch64", "macos", "darwin-arm64"),
            ("x86_64", "macos", "darwin-x64"),
        ];
        let (.., name) = platform
            .into_iter()
            .find(|(architecture, system, _)| {
                (*architecture, *system) == (std::env::consts::ARCH, std::env::consts::OS)
            })
            .unwrap();
        let program = format!("{modules}/@typescript/typescript-{name}/lib/tsc");
        write(&program, "");
        assert_eq!(executable_of_tsc(&tsc), Some(root.join(program)));
    }
    write("bin/tsc", "#!/bin/sh\n");
    assert_eq!(executable_of_tsc(&root.join("bin/tsc")), None);
}

#[test]
fn the_projects_own_typescript_chooses_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let write = |path: &str, version: &str| {
        let package = root.join(path).join("node_modules/typescript");
        std::fs::create_dir_all(&package).unwrap();
        let text = format!(r#"{{"name":"typescript","version":"{version}"}}"#);
        std::fs::write(package.join("package.json"), text).unwrap();
    };
    let web = root.join("packages/web");
    assert_eq!(flavour(&web, root), None);
    write("", "6.0.3");
    assert_eq!(flavour(&web, root), Some(Flavour::Wrapped));
    write("packages/web", "7.0.1-rc");
    let tsc = web.join("node_modules/typescript/bin/tsc");
    assert_eq!(flavour(&web, root), Some(Flavour::Native { tsc }));
    assert_eq!(flavour(root, root), Some(Flavour::Wrapped));
}
