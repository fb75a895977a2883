//! A page of history costs the page, not the session.

use super::*;

#[tokio::test]
async fn no_statement_of_the_journal_reads_or_sorts_a_whole_session() {
    let folder = tempfile::tempdir().unwrap();
    let _opened = store_in(folder.path());
    let connection = open::reader(&folder.path().join("store.db")).unwrap();
    let mut statements = journal::STATEMENTS.to_vec();
    statements.extend([rows::KNOWN, rows::REPLACE, usage::BEFORE]);
    for statement in statements {
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
        let mut steps = plan.raw_query();
        let mut n_steps = 0;
        while let Some(step) = steps.next().unwrap() {
            let step: String = step.get(3).unwrap();
            n_steps += 1;
            // The last thousand of a session are sorted the other way round.
            let of_a_thousand = statement.contains("LIMIT 1000") && step.contains("(subquery");
            let of_a_thousand =
                of_a_thousand || step == "USE TEMP B-TREE FOR ORDER BY" && statement.contains("LIMIT 1000)");
            let costs_all = step.starts_with("SCAN") || step.contains("TEMP B-TREE");
            assert!(!costs_all || of_a_thousand, "{statement}: {step}");
            let by_session_only = step.ends_with("(session=?)");
            let ends_early = statement.contains("LIMIT") || statement.contains("max(");
            assert!(!by_session_only || ends_early, "{statement}: {step}");
        }
        assert!(n_steps > 0, "{statement}");
    }
}

/// A store as the first version wrote it.
#[tokio::test]
async fn a_store_of_the_first_version_has_the_same_pages_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(schema::FIRST).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    connection
        .execute_batch(
            "INSERT INTO sessions VALUES (7, 's', 'fake', 'p', NULL, NULL, NULL, '{}', '', '', 0, 0);
             INSERT INTO journal VALUES (7, 1, 1, 'upsert', 'q1', '', '{\"item\":\"q1\",\"origin\":\"user\"}');
             INSERT INTO journal VALUES (7, 2, 2, 'upsert', 'a1', '', '{\"item\":\"a1\",\"was\":\"first\"}');
             INSERT INTO journal VALUES (7, 4, 2, 'upsert', 'a1', '', '{\"item\":\"a1\",\"is\":\"last\"}');
             INSERT INTO journal VALUES (7, 5, 5, 'turn', NULL, '', '{\"type\":\"turn_complete\",\"turnId\":\"t\",
                 \"sessionId\":\"s\",\"status\":\"completed\",
                 \"usage\":{\"inputTokens\":3,\"outputTokens\":1,\"costUsd\":0.5}}');
             INSERT INTO journal VALUES (7, 6, 6, 'turn', NULL, '', '{\"type\":\"turn_started\",\"turnId\":\"u\",
                 \"sessionId\":\"s\",\"modelId\":\"m\",\"providerId\":\"p\"}');
             INSERT INTO journal VALUES (7, 7, 7, 'upsert', 'q2', '', '{\"item\":\"q2\",\"origin\":\"user\"}');",
        )
        .unwrap();
    drop(connection);
    let opened = store_in(folder.path());
    assert_eq!(opened.set_aside, None);
    let session_id = "s".into();
    let page = opened.store.history(&session_id, None, 1).await.unwrap();
    assert_eq!(page.entries, [r#"{"item":"q2","origin":"user"}"#]);
    let used = page.earlier_usage.unwrap();
    assert_eq!((used.input_tokens, used.output_tokens, used.cost_usd), (3, 1, Some(0.5)));
    assert_eq!((used.cache_read_input_tokens, page.earlier), (None, Some(7)));
    let whole = opened.store.history(&session_id, None, usize::MAX).await.unwrap();
    assert_eq!(whole.entries[1], r#"{"item":"a1","is":"last"}"#);
    assert_eq!((whole.seq, whole.entries.len(), whole.turns.len()), (7, 3, 2));
    // What the next turn used is added to it.
    let next = NewRow {
        seq: 8,
        kind: RowKind::Turn,
        at: String::new(),
        json: r#"{"type":"turn_complete","turnId":"u","sessionId":"s","status":"completed",
                  "usage":{"inputTokens":10,"outputTokens":10}}"#
            .into(),
    };
    opened.store.append(&session_id, vec![next, row(9, "q3")]).await.unwrap();
    let used = opened.store.history(&session_id, None, 1).await.unwrap().earlier_usage.unwrap();
    assert_eq!((used.input_tokens, used.output_tokens, used.cost_usd), (13, 11, Some(0.5)));
}
