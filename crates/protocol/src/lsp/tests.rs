use expect_test::{Expect, expect};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;

/// Prints the value as the wire has it, and shows that reading it back gives the same value.
#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T, expected: Expect) {
    let wire = serde_json::to_string(value).unwrap();
    expected.assert_eq(&wire);
    let back: T = serde_json::from_str(&wire).unwrap();
    assert_eq!(&back, value);
}

fn full_diagnostic() -> Diagnostic {
    Diagnostic {
        file: "src/a.ts".into(),
        line: 42,
        character: 5,
        severity: Severity::Error,
        message: "Type 'string' is not assignable to type 'Array<number>'.".into(),
        code: Some(Code::Number(2322)),
        source: Some("ts".into()),
    }
}

// REQ-DRIFT-020, BR-92
#[test]
fn a_full_diagnostic_is_the_same_after_the_pipe() {
    check(
        &full_diagnostic(),
        expect![[
            r#"{"file":"src/a.ts","line":42,"character":5,"severity":"error","message":"Type 'string' is not assignable to type 'Array<number>'.","code":2322,"source":"ts"}"#
        ]],
    );
}

#[test]
fn a_code_may_be_text_and_absent_fields_stay_absent() {
    let diagnostic = Diagnostic { code: Some(Code::Text("E0308".into())), source: None, ..full_diagnostic() };
    check(
        &diagnostic,
        expect![[
            r#"{"file":"src/a.ts","line":42,"character":5,"severity":"error","message":"Type 'string' is not assignable to type 'Array<number>'.","code":"E0308"}"#
        ]],
    );
}

#[test]
fn a_status_row_has_what_mends_it() {
    let status = ServerStatus {
        id: "gopls".into(),
        status: ServerState::Unavailable,
        language: "Go".into(),
        server_pid: None,
        root: None,
        freshness: None,
        reason: Some("gopls was not found".into()),
        hint: Some("go install golang.org/x/tools/gopls@latest".into()),
        path: None,
        sandbox: None,
        rss_bytes: None,
        uptime_ms: None,
    };
    check(
        &LspStatusResponse { root: "/p".into(), unavailable: None, servers: vec![status] },
        expect![[
            r#"{"root":"/p","servers":[{"id":"gopls","status":"unavailable","language":"Go","reason":"gopls was not found","hint":"go install golang.org/x/tools/gopls@latest"}]}"#
        ]],
    );
}

#[test]
fn a_running_server_tells_its_process() {
    check(
        &ServerStatus {
            id: "typescript".into(),
            status: ServerState::Active,
            language: "TypeScript".into(),
            server_pid: Some(7),
            root: Some(".".into()),
            freshness: Some(Freshness::TimedOut),
            reason: Some("loading".into()),
            hint: None,
            path: Some("/usr/bin/tsc".into()),
            sandbox: None,
            rss_bytes: Some(1),
            uptime_ms: Some(2),
        },
        expect![[
            r#"{"id":"typescript","status":"active","language":"TypeScript","serverPid":7,"root":".","freshness":"timed-out","reason":"loading","path":"/usr/bin/tsc","rssBytes":1,"uptimeMs":2}"#
        ]],
    );
}

#[test]
fn the_requests_of_the_service() {
    check(
        &CheckFileParams { file_path: "/p/a.ts".into(), text: Some("x".into()) },
        expect![[r#"{"filePath":"/p/a.ts","text":"x"}"#]],
    );
    check(
        &DiagnosticsAfterParams { after_epoch: 3, wait_ms: 50 },
        expect![[r#"{"afterEpoch":3,"waitMs":50}"#]],
    );
    check(&RestartParams { id: None }, expect!["{}"]);
    check(&InstallParams { id: "gopls".into() }, expect![[r#"{"id":"gopls"}"#]]);
    check(
        &InstallResponse { id: "ty".into(), manager: "pip".into(), path: "/d/bin/ty".into() },
        expect![[r#"{"id":"ty","manager":"pip","path":"/d/bin/ty"}"#]],
    );
    let servers = vec![Installable {
        id: "ty".into(),
        language: "Python".into(),
        installed: false,
        manager: Some("pip".into()),
        hints: vec!["pip install ty".into()],
    }];
    check(
        &InstallListResponse { servers },
        expect![[
            r#"{"servers":[{"id":"ty","language":"Python","installed":false,"manager":"pip","hints":["pip install ty"]}]}"#
        ]],
    );
    check(&ReadyParams { workspace_root: "/p".into() }, expect![[r#"{"workspaceRoot":"/p"}"#]]);
    check(
        &CallToolParams { name: "lsp_hover".into(), arguments: serde_json::json!({ "line": 1 }) },
        expect![[r#"{"name":"lsp_hover","arguments":{"line":1}}"#]],
    );
    check(
        &CallToolAnswer { text: "nothing".into(), is_error: false },
        expect![[r#"{"text":"nothing","isError":false}"#]],
    );
    check(
        &LspMetrics { server_starts: 1, collection_ms_longest: 7, ..LspMetrics::default() },
        expect![[
            r#"{"serverStarts":1,"serverStartFailures":0,"serverCrashes":0,"collections":0,"collectionTimeouts":0,"collectionMsTotal":0,"collectionMsLongest":7,"checkedFiles":0,"diagnostics":0}"#
        ]],
    );
    check(
        &CheckParams {
            files: vec![FileText { file_path: "a.ts".into(), text: None }],
            scope: CheckScope::Project,
            removed: vec!["b.ts".into()],
            ..CheckParams::default()
        },
        expect![[r#"{"files":[{"filePath":"a.ts"}],"scope":"project","removed":["b.ts"]}"#]],
    );
    check(
        &CheckParams {
            include_severities: vec![Severity::Warning],
            patience_ms: Some(60_000),
            ..CheckParams::default()
        },
        expect![[r#"{"files":[],"scope":"files","includeSeverities":["warning"],"patienceMs":60000}"#]],
    );
}

#[test]
fn the_answer_of_a_check_tells_what_each_server_did() {
    check(
        &CheckResponse {
            files: vec![FileDiagnostics {
                file: "a.ts".into(),
                diagnostics: vec![full_diagnostic()],
                refused: None,
                servers: vec![CheckOutcome {
                    id: "typescript".into(),
                    root: ".".into(),
                    outcome: ServerOutcome::Answered { freshness: Freshness::Current, said: None },
                }],
            }],
            others: vec![FileDiagnostics {
                file: "b.ts".into(),
                diagnostics: vec![],
                refused: Some("no".into()),
                servers: vec![],
            }],
            unknown: vec!["c.ts".into()],
            servers: vec![
                CheckOutcome {
                    id: "eslint".into(),
                    root: ".".into(),
                    outcome: ServerOutcome::Absent {
                        status: ServerState::Broken,
                        reason: Some("exited".into()),
                        hint: None,
                    },
                },
                CheckOutcome {
                    id: "typescript".into(),
                    root: ".".into(),
                    outcome: ServerOutcome::Answered {
                        freshness: Freshness::Failed,
                        said: Some("go.mod:3: bad".into()),
                    },
                },
            ],
            epoch: 4,
        },
        expect![[
            r#"{"files":[{"file":"a.ts","diagnostics":[{"file":"src/a.ts","line":42,"character":5,"severity":"error","message":"Type 'string' is not assignable to type 'Array<number>'.","code":2322,"source":"ts"}],"servers":[{"id":"typescript","root":".","outcome":"answered","freshness":"current"}]}],"others":[{"file":"b.ts","diagnostics":[],"refused":"no"}],"unknown":["c.ts"],"servers":[{"id":"eslint","root":".","outcome":"absent","status":"broken","reason":"exited"},{"id":"typescript","root":".","outcome":"answered","freshness":"failed","said":"go.mod:3: bad"}],"epoch":4}"#
        ]],
    );
}

// BR-89
#[test]
fn the_bootstrap_is_one_value_and_needs_a_root() {
    check(
        &Bootstrap {
            workspace_root: "/p".into(),
            config: LspConfig { diagnostic_timeout: 5, ..LspConfig::default() },
            data_dir: Some("/d".into()),
        },
        expect![[
            r#"{"workspaceRoot":"/p","config":{"diagnosticTimeout":5,"firstTouchTimeout":10000,"maxDiagnosticsPerFile":20,"maxProjectDiagnosticsFiles":5,"includeSeverities":["error"],"navigationTools":true,"idleTimeout":1800000,"markNew":false,"servers":{}},"dataDir":"/d"}"#
        ]],
    );
    // REQ-START-030: as the seed writes it.
    let seed = serde_json::from_str::<Bootstrap>(r#"{"workspaceRoot":"/p","config":{}}"#).unwrap();
    assert_eq!((seed.workspace_root.as_str(), seed.data_dir), ("/p", None));
    assert!(serde_json::from_str::<Bootstrap>(r#"{"dataDir":"/d"}"#).is_err());
    assert!(
        serde_json::from_str::<Bootstrap>(r#"{"workspaceRoot":"/p","dataDir":"/d","config":3}"#).is_err()
    );
}

#[track_caller]
fn setting(json: &str) -> Result<LspSetting, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

// EC-30, BR-25
#[test]
fn false_switches_everything_off() {
    assert_eq!(setting("false"), Ok(LspSetting::Disabled));
    assert_eq!(serde_json::to_string(&LspSetting::Disabled).unwrap(), "false");
}

// EC-31, EC-32, BR-26, BR-27, REQ-CFG-015, REQ-CFG-020
#[test]
fn nothing_or_an_empty_table_is_enabled_with_the_defaults() {
    assert_eq!(setting("{}"), Ok(LspSetting::default()));
    assert_eq!(LspSetting::default().enabled(), Some(&LspConfig::default()));
}

// BR-27, REQ-CFG-020
#[test]
fn there_is_no_enabled_flag_and_unknown_keys_are_named() {
    for (json, named) in [
        (r#"{"enabled":true}"#, "`enabled`"),
        (r#"{"servers":{"gopls":{"cmd":"x"}}}"#, "`cmd`"),
        ("true", "`false`"),
    ] {
        let error = setting(json).unwrap_err();
        assert!(error.contains(named), "{error}");
    }
}

// BR-62, BR-63, BR-64
#[test]
fn a_custom_server_and_every_key_is_read() {
    let config = setting(
        r#"{"diagnosticTimeout":1,"firstTouchTimeout":15000,"includeSeverities":["warning","hint"],"navigationTools":false,
        "servers":{"mine":{"command":"my-ls","args":["--stdio"],"extensions":[".foo"],"env":{"A":"b"},"initializationOptions":{"x":1}},"gopls":{"enabled":false}}}"#,
    )
    .unwrap();
    let config = config.enabled().unwrap();
    assert_eq!((config.diagnostic_timeout, config.first_touch_timeout), (1, 15_000));
    assert_eq!(config.include_severities, vec![Severity::Warning, Severity::Hint]);
    assert!(!config.navigation_tools);
    assert!(!config.servers["gopls"].enabled);
    assert_eq!(
        config.servers["mine"],
        ServerSettings {
            command: Some("my-ls".into()),
            args: Some(vec!["--stdio".into()]),
            extensions: Some(vec![".foo".into()]),
            env: [("A".to_owned(), "b".to_owned())].into(),
            initialization_options: Some(serde_json::json!({"x": 1})),
            ..ServerSettings::default()
        }
    );
}

#[test]
fn a_proposed_change_is_the_same_after_the_pipe() {
    let edits = vec![ProposedEdit { start: 1, end: 2, new_text: "漢".into() }];
    let base = fingerprint("text");
    let steps = vec![
        ProposedStep::Edit { file: "/p/a".into(), base: base.clone(), edits },
        ProposedStep::Create { file: "/p/b".into(), overwrite: false, ignore_if_exists: true },
        ProposedStep::Rename {
            from: "/p/b".into(),
            to: "/p/c".into(),
            overwrite: true,
            ignore_if_exists: false,
        },
        ProposedStep::Delete { file: "/p/d".into(), ignore_if_not_exists: true },
    ];
    let (confirm, scope) = (vec!["in comments".into()], CheckScope::Project);
    check(
        &ProposeResponse::Change(ProposedChange { title: "Renamed a to b".into(), steps, confirm, scope }),
        expect![[
            r#"{"outcome":"change","title":"Renamed a to b","steps":[{"step":"edit","file":"/p/a","base":"87214fb52f310fef","edits":[{"start":1,"end":2,"newText":"漢"}]},{"step":"create","file":"/p/b","overwrite":false,"ignoreIfExists":true},{"step":"rename","from":"/p/b","to":"/p/c","overwrite":true,"ignoreIfExists":false},{"step":"delete","file":"/p/d","ignoreIfNotExists":true}],"confirm":["in comments"],"scope":"project"}"#
        ]],
    );
    check(&ProposeResponse::Told { text: "none".into() }, expect![[r#"{"outcome":"told","text":"none"}"#]]);
    check(
        &ProposeResponse::Refused { reason: "why".into() },
        expect![[r#"{"outcome":"refused","reason":"why"}"#]],
    );
    assert_ne!(base, fingerprint("other"));
}
