//! Golden answers and round trips of the index. A change here is a change of what clients read.

use expect_test::{Expect, expect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

/// The value is written as expected and read back the same.
#[track_caller]
fn golden<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T, expected: Expect) {
    let text = serde_json::to_string(value).unwrap();
    expected.assert_eq(&text);
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), *value);
}

/// Every name of an enum as it stands on the wire.
#[track_caller]
fn names<T: Serialize>(values: &[T], expected: Expect) {
    let names: Vec<String> = values
        .iter()
        .map(|value| serde_json::to_value(value).unwrap().as_str().unwrap().to_owned())
        .collect();
    expected.assert_eq(&names.join(" "));
}

#[test]
fn every_status_and_reason_has_its_name() {
    use IndexStatus::*;
    names(
        &[Ok, NotReady, NotIndexed, RequiresReindex, Blocked, Error, NotFound, Unsupported, Ambiguous],
        expect!["ok not_ready not_indexed requires_reindex blocked error not_found unsupported ambiguous"],
    );
    names(
        &[
            NonOkReason::Indexing,
            NonOkReason::RequiresReindex,
            NonOkReason::NotIndexed,
            NonOkReason::MissingSymbol,
            NonOkReason::UnsupportedLanguage,
            NonOkReason::MissingSidecar,
        ],
        expect!["indexing requires_reindex not_indexed missing_symbol unsupported_language missing_sidecar"],
    );
    names(
        &[
            ManageReason::Indexing,
            ManageReason::NotIndexed,
            ManageReason::RequiresReindex,
            ManageReason::UnnecessaryReindexIgnoreOnly,
            ManageReason::PreflightUnknown,
            ManageReason::MutationInProgress,
            ManageReason::RuntimeOwnerConflict,
            ManageReason::NeedsCreate,
        ],
        expect![
            "indexing not_indexed requires_reindex unnecessary_reindex_ignore_only preflight_unknown mutation_in_progress runtime_owner_conflict needs_create"
        ],
    );
    let reasons = [
        ProofReason::MissingMarkerDoc,
        ProofReason::InvalidMarkerKind,
        ProofReason::InvalidPayload,
        ProofReason::PathMismatch,
        ProofReason::FingerprintMismatch,
        ProofReason::ProbeFailed,
    ];
    names(
        &reasons,
        expect![
            "missing_marker_doc invalid_marker_kind invalid_payload path_mismatch fingerprint_mismatch probe_failed"
        ],
    );
    for reason in reasons {
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
    }
}

#[test]
fn every_freshness_mode_has_its_name() {
    use FreshnessMode::*;
    names(
        &[
            Synced,
            SkippedRecent,
            Coalesced,
            SkippedIndexing,
            SkippedRequiresReindex,
            SkippedMissingPath,
            SkippedVanishedFiles,
            ReconciledIgnoreChange,
            IgnoreReloadFailed,
            SyncFailed,
        ],
        expect![
            "synced skipped_recent coalesced skipped_indexing skipped_requires_reindex skipped_missing_path skipped_vanished_files reconciled_ignore_change ignore_reload_failed sync_failed"
        ],
    );
}

#[test]
fn a_stale_search_answer_is_as_promised() {
    let create = ManageHint::new(ManageAction::Create, "/repo");
    let response = SearchCodebaseResponse {
        status: IndexStatus::NotIndexed,
        reason: Some(NonOkReason::NotIndexed),
        path: "/repo".into(),
        codebase_path: Some("/repo".into()),
        query: "q".into(),
        scope: SearchScope::Runtime,
        group_by: GroupBy::Symbol,
        limit: 25,
        result_mode: ResultMode::Grouped,
        freshness_decision: None,
        warnings: Vec::new(),
        message: Some("stale".into()),
        hints: Some(Hints {
            create: Some(create.clone()),
            stale_local: Some(StaleLocal {
                completion_proof: ProofReason::MissingMarkerDoc,
                recommended_action: create,
            }),
            ..Hints::default()
        }),
        indexing: None,
        compatibility: None,
        results: Vec::new(),
        bundle: None,
    };
    golden(
        &response,
        expect![[
            r#"{"status":"not_indexed","reason":"not_indexed","path":"/repo","codebasePath":"/repo","query":"q","scope":"runtime","groupBy":"symbol","limit":25,"resultMode":"grouped","message":"stale","hints":{"create":{"tool":"manage_index","args":{"action":"create","path":"/repo"}},"staleLocal":{"completionProof":"missing_marker_doc","recommendedAction":{"tool":"manage_index","args":{"action":"create","path":"/repo"}}}},"results":[]}"#
        ]],
    );
}

#[test]
fn a_manage_answer_is_as_promised() {
    let response = ManageIndexResponse {
        tool: "manage_index".into(),
        version: 1,
        action: ManageAction::Reindex,
        path: "/repo".into(),
        status: IndexStatus::Blocked,
        reason: Some(ManageReason::UnnecessaryReindexIgnoreOnly),
        message: "m".into(),
        human_text: "m".into(),
        warnings: vec![Warning::new("REINDEX_UNNECESSARY_IGNORE_ONLY", "w")],
        hints: Some(Hints { sync: Some(ManageHint::new(ManageAction::Sync, "/repo")), ..Hints::default() }),
        preflight: Some(Preflight {
            outcome: PreflightOutcome::ReindexUnnecessaryIgnoreOnly,
            confidence: Confidence::High,
            probe_failed: false,
        }),
        repair_proof: None,
        compatibility: None,
        freshness_decision: None,
        operation: None,
        skipped: None,
    };
    golden(
        &response,
        expect![[
            r#"{"tool":"manage_index","version":1,"action":"reindex","path":"/repo","status":"blocked","reason":"unnecessary_reindex_ignore_only","message":"m","humanText":"m","warnings":[{"code":"REINDEX_UNNECESSARY_IGNORE_ONLY","severity":"warning","blocksUse":false,"message":"w"}],"hints":{"sync":{"tool":"manage_index","args":{"action":"sync","path":"/repo"}}},"preflight":{"outcome":"reindex_unnecessary_ignore_only","confidence":"high","probeFailed":false}}"#
        ]],
    );
}

#[test]
fn a_search_group_is_as_promised() {
    let span = Span { start_line: 1, end_line: 9 };
    let group = SearchResult::Group(Box::new(SearchGroup {
        group_id: "sym_1".into(),
        file: "a.rs".into(),
        span,
        language: "rust".into(),
        symbol_id: Some("sym_1".into()),
        symbol_label: None,
        role: None,
        score: 0.5,
        indexed_at: None,
        staleness_bucket: StalenessBucket::Fresh,
        collapsed_chunk_count: 2,
        call_graph_hint: CallGraphHint::unsupported(CallGraphUnsupported::MissingSymbol),
        navigation_fallback: Some(NavigationFallback {
            message: NavigationFallback::MESSAGE.into(),
            context: NavigationContext {
                codebase_root: "/r".into(),
                relative_file: "a.rs".into(),
                absolute_path: "/r/a.rs".into(),
            },
            read_span: ToolHint {
                tool: "read_file".into(),
                args: json!({"path": "/r/a.rs", "start_line": 1, "end_line": 9}),
            },
            file_outline_window: None,
        }),
        preview_line: 1,
        preview: "fn".into(),
        debug: None,
    }));
    golden(
        &group,
        expect![[
            r#"{"kind":"group","groupId":"sym_1","file":"a.rs","span":{"startLine":1,"endLine":9},"language":"rust","symbolId":"sym_1","symbolLabel":null,"score":0.5,"indexedAt":null,"stalenessBucket":"fresh","collapsedChunkCount":2,"callGraphHint":{"supported":false,"reason":"missing_symbol"},"navigationFallback":{"message":"Call graph not available for this result; use readSpan or fileOutlineWindow to navigate.","context":{"codebaseRoot":"/r","relativeFile":"a.rs","absolutePath":"/r/a.rs"},"readSpan":{"tool":"read_file","args":{"path":"/r/a.rs","start_line":1,"end_line":9}}},"preview":"fn","previewLine":1}"#
        ]],
    );
}

#[test]
fn inputs_are_strict_and_have_their_defaults() {
    let search: SearchCodebaseParams = serde_json::from_value(json!({"path": "/r", "query": "q"})).unwrap();
    assert_eq!((search.scope, search.result_mode, search.group_by), Default::default());
    assert_eq!((search.ranking_mode, search.ask), (RankingMode::AutoChangedFirst, SearchAsk::Find));
    let graph =
        json!({"path": "/r", "symbolRef": {"file": "a", "symbolId": "s"}, "direction": "bidirectional"});
    assert_eq!(serde_json::from_value::<CallGraphParams>(graph).unwrap().direction, CallDirection::Both);
    let refuse = |ok: bool| assert!(!ok, "unknown or missing fields are refused");
    refuse(serde_json::from_value::<ListCodebasesParams>(json!({"x": 1})).is_ok());
    refuse(serde_json::from_value::<ManageIndexParams>(json!({"action": "create"})).is_ok());
    refuse(serde_json::from_value::<ManageIndexParams>(json!({"action": "drop", "path": "/r"})).is_ok());
    refuse(
        serde_json::from_value::<SearchCodebaseParams>(json!({"path": "/r", "query": "q", "depth": 1}))
            .is_ok(),
    );
    refuse(serde_json::from_value::<ReadFileParams>(json!({"path": "/r", "startLine": 1})).is_ok());
    let read: ReadFileParams =
        serde_json::from_value(json!({"path": "/r", "start_line": 3, "open_symbol": {"symbolId": "s"}}))
            .unwrap();
    assert_eq!(read.start_line, Some(3));
}

#[test]
fn the_teams_server_is_told_with_its_trouble() {
    golden(&TeamServerResponse { server: None }, expect!["{}"]);
    let last_trouble = TeamTrouble { text: "late".into(), at: "2026-01-01T00:00:00Z".into() };
    let server = TeamServer {
        address: "http://m:19530".into(),
        version: Some("2.6".into()),
        latency_ms: 4,
        trouble: None,
        last_trouble: Some(last_trouble),
    };
    golden(
        &TeamServerResponse { server: Some(server.clone()) },
        expect![[
            r#"{"server":{"address":"http://m:19530","version":"2.6","latencyMs":4,"lastTrouble":{"text":"late","at":"2026-01-01T00:00:00Z"}}}"#
        ]],
    );
    let silent =
        TeamServer { version: None, trouble: Some("no answer".into()), last_trouble: None, ..server };
    golden(
        &TeamServerResponse { server: Some(silent) },
        expect![[r#"{"server":{"address":"http://m:19530","latencyMs":4,"trouble":"no answer"}}"#]],
    );
}

#[test]
fn every_tool_has_schemas_of_objects() {
    let check = |schema: serde_json::Map<String, Value>, required: &[&str]| {
        assert_eq!(schema["type"], "object", "{schema:?}");
        for field in required {
            assert!(
                schema["required"].as_array().is_some_and(|fields| fields.contains(&json!(field))),
                "{field}"
            );
        }
    };
    check(json_schema::<ManageIndexParams>(), &["action", "path"]);
    check(json_schema::<SearchCodebaseParams>(), &["path", "query"]);
    check(json_schema::<FileOutlineParams>(), &["path", "file"]);
    check(json_schema::<CallGraphParams>(), &["path", "symbolRef"]);
    check(json_schema::<ReadFileParams>(), &["path"]);
    check(json_schema::<ListCodebasesParams>(), &[]);
    assert_eq!(json_schema::<ManageIndexParams>()["additionalProperties"], false);
    assert_eq!(
        json_schema::<CallGraphParams>()["properties"]["symbolRef"]["type"],
        "object",
        "no $ref to follow"
    );
    check(json_schema::<SearchCodebaseResponse>(), &["status", "results"]);
    check(json_schema::<ManageIndexResponse>(), &["status", "humanText"]);
    check(json_schema::<ReadFileResponse>(), &["status", "path"]);
}

#[test]
fn a_list_of_words_in_a_schema_is_one_enum_that_says_what_they_mean() {
    let scope = &input_schema::<SearchCodebaseParams>()["properties"]["scope"];
    assert_eq!((&scope["type"], &scope["enum"]), (&json!("string"), &json!(["runtime", "mixed", "docs"])));
    assert_eq!(
        scope["description"],
        "Which kinds of files are searched. runtime: Code that runs: no docs, no tests. mixed: Everything. docs: Docs and tests only."
    );
}

#[test]
fn the_config_table_reads_as_documented() {
    let read = |value: Value| serde_json::from_value::<IndexConfig>(value);
    assert_eq!(read(json!({})).unwrap(), IndexConfig::default());
    let config = read(json!({"embedding": {"provider": "none"}, "store": {"provider": "embedded"}})).unwrap();
    assert_eq!(config.embedding, EmbeddingConfig::None);
    let config = read(
        json!({"embedding": {"provider": "openai", "baseUrl": "http://127.0.0.1/v1", "model": "m", "dimension": 8}}),
    );
    assert!(matches!(config.unwrap().embedding, EmbeddingConfig::Openai { dimension: 8, .. }));
    assert!(read(json!({"embeding": {}})).is_err());
    assert!(read(json!({"embedding": {"provider": "magic"}})).is_err());
}
