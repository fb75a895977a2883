//! Stories with real language servers at the default time-outs, 10 s for the first touch and 3 s afterwards: an answer comes
//! within them, right or plainly "not known"; on a machine that is quick enough it is right.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/stage.rs"]
mod stage;

use std::time::{Duration, Instant};

use chartroom_protocol::lsp::{CheckParams, FileText, Freshness, LspConfig, ServerOutcome};
use stage::Stage;

/// The limits bound what is waited for; what is done before and after takes a moment on a busy machine.
const MARGIN: Duration = Duration::from_secs(5);
/// How often a server that is not ready yet is asked again: no machine needs ten minutes for these.
const MAX_TRIES: usize = 200;

/// Checks a file; tells whether the answer is current and how many errors it has.
async fn look(stage: &Stage, file: &str, limit: u64) -> (bool, usize) {
    let began = Instant::now();
    let files = vec![FileText { file_path: file.to_owned(), text: None }];
    let response = stage.orchestrator.check(CheckParams { files, ..CheckParams::default() }).await;
    let took = began.elapsed();
    assert!(took < Duration::from_millis(limit) + MARGIN, "{file}: {took:?}");
    let is_current = response.servers.iter().any(|server| {
        matches!(server.outcome, ServerOutcome::Answered { freshness: Freshness::Current, .. })
    });
    (is_current, response.files[0].diagnostics.len())
}

/// Breaks and mends a file at the default limits: no answer is late, none that is said to be current is wrong, and a
/// current one comes.
async fn check(fixture: &str, modules: &[&str], file: &str, broken: &str, fine: &str) {
    let defaults = LspConfig::default();
    let (first, later) = (defaults.first_touch_timeout, defaults.diagnostic_timeout);
    assert_eq!((first, later), (10_000, 3_000));
    let config = format!(
        r#"{{"firstTouchTimeout":{first},"diagnosticTimeout":{later},"servers":{{"ruff":{{"enabled":false}}}}}}"#
    );
    let stage = Stage::with_config(fixture, modules, &config);
    let mut limit = first;
    for (text, n_errors) in [(broken, 1), (fine, 0), (broken, 1), (fine, 0)] {
        stage.project.write(file, text);
        let mut is_known = false;
        for _ in 0..MAX_TRIES {
            let (is_current, n_found) = look(&stage, file, limit).await;
            limit = later;
            assert!(!is_current || n_found == n_errors, "{n_found} errors in {text:?}");
            is_known = is_current;
            if is_known {
                break;
            }
        }
        assert!(is_known, "{file} was never known");
    }
    stage.end().await;
}

#[tokio::test]
async fn typescript_7_at_the_default_limits() {
    let fixture = "//- package.json\n{\"name\":\"x\"}\n//- tsconfig.json\n{\"compilerOptions\":{\"strict\":true,\"types\":[]}}\n";
    check(fixture, &["ts7"], "a.ts", "export const a: number = 'x';\n", "export const a: number = 1;\n")
        .await;
}

#[tokio::test]
async fn typescript_6_at_the_default_limits() {
    let fixture = "//- package.json\n{\"name\":\"x\"}\n//- tsconfig.json\n{\"compilerOptions\":{\"strict\":true,\"types\":[]}}\n";
    check(fixture, &["ts6"], "a.ts", "export const a: number = 'x';\n", "export const a: number = 1;\n")
        .await;
}

#[tokio::test]
async fn pyright_at_the_default_limits() {
    check("//- pyrightconfig.json\n{}\n", &["pyright"], "a.py", "x: int = 'a'\n", "x: int = 1\n").await;
}

#[tokio::test]
async fn gopls_at_the_default_limits() {
    let fixture =
        "//- go.mod\nmodule example.com/x\n\ngo 1.19\n//- main.go\npackage main\n\nfunc main() {}\n";
    let of = |value: &str| format!("package main\n\nvar bad int = {value}\n");
    check(fixture, &[], "bad.go", &of("\"x\""), &of("1")).await;
}

#[tokio::test]
async fn clangd_at_the_default_limits() {
    let of = |value: &str| format!("int bad(void) {{ return {value}; }}\n");
    check("//- compile_flags.txt\n-std=c11\n", &[], "bad.c", &of("missing"), &of("1")).await;
}

#[tokio::test]
async fn rust_analyzer_at_the_default_limits() {
    let fixture = "//- Cargo.toml\n[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n//- src/lib.rs\npub mod bad;\n";
    let of = |value: &str| format!("pub fn bad() -> i32 {{ {value} }}\n");
    check(fixture, &[], "src/bad.rs", &of("\"x\""), &of("1")).await;
}
