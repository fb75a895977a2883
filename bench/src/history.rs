//! A page of history: the newest megabyte of a long conversation beside that of a short one.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use chartroom_sessions::store::{NewRow, RowKind, Store, StoredSession};

use crate::measurement::{Measurement, median_ms};

const SHORT: u64 = 2_000;
const LONG: u64 = 100_000;
/// Of an item; a page has about a thousand.
const BYTES: usize = 1_000;
const PAGE: usize = 1 << 20;
const READS: usize = 21;

pub(crate) fn run() -> anyhow::Result<Vec<Measurement>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (short, long) = (runtime.block_on(measure(SHORT))?, runtime.block_on(measure(LONG))?);
    let row = Measurement::new("history: the newest page of 100,000 items", long, "ms");
    Ok(vec![row.beside("of 2,000 items", short).aim("the page, not the session")])
}

async fn measure(n_items: u64) -> anyhow::Result<f64> {
    let folder = tempfile::tempdir().context("making a folder")?;
    let store = Store::open(&folder.path().join("store.db"))?.store;
    let session = StoredSession {
        session_id: "long".into(),
        cli_type: "played".into(),
        project_id: "project".into(),
        title: None,
        model: None,
        mode: None,
        provider_options: serde_json::Map::new(),
        created_at: String::new(),
        last_activity: String::new(),
        archived: false,
        killed: false,
        held: false,
    };
    let session_id = session.session_id.clone();
    store.insert_session(session).await?;
    let mut rows = Vec::new();
    for seq in 1..=n_items {
        rows.push(row(seq));
        if rows.len() == 256 || seq == n_items {
            store.append(&session_id, std::mem::take(&mut rows)).await?;
        }
    }
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..READS {
        let began = Instant::now();
        let page = store.history(&session_id, None, PAGE).await?;
        times.push(began.elapsed());
        anyhow::ensure!(page.earlier.is_some() && page.entries.len() > 900, "that is no page");
    }
    Ok(median_ms(&mut times))
}

/// Every tenth row ends a turn, and the one after it is a person's.
fn row(seq: u64) -> NewRow {
    let (kind, json) = if seq.is_multiple_of(10) {
        let turn = r#"{"type":"turn_complete","turnId":"t","sessionId":"long","status":"completed",
            "usage":{"inputTokens":10,"outputTokens":5,"costUsd":0.01}}"#;
        (RowKind::Turn, turn.to_owned())
    } else {
        let origin = if seq % 10 == 1 { "user" } else { "agent" };
        let content = "word ".repeat(BYTES / 5);
        (
            RowKind::Upsert(format!("i{seq}").into()),
            format!(r#"{{"origin":"{origin}","content":"{content}"}}"#),
        )
    };
    NewRow { seq, kind, at: String::new(), json: json.into() }
}
