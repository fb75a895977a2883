//! From the bytes of `codebases.json` to entries, old formats included.

use std::collections::BTreeMap;

use chartroom_protocol::index::{FingerprintSource, ReindexReason};
use serde_json::{Map, Value, json};

use super::entry::{BuildStatus, CodebaseInfo, CodebaseState};

/// The only version that is written.
pub(crate) const FORMAT_VERSION: &str = "v3";

/// All tracked codebases.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CatalogDoc {
    /// By canonical root.
    pub codebases: BTreeMap<String, CodebaseInfo>,
    /// Entries that cannot be understood. They are written back as they are: a bug of one version must not lose
    /// what another one wrote.
    pub unreadable: BTreeMap<String, Value>,
}

/// Parses a catalog; `Err` says in words why the whole file is unusable.
pub(crate) fn parse(bytes: &[u8]) -> Result<CatalogDoc, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let Value::Object(mut object) = value else {
        return Err("it is not a JSON object".into());
    };
    match object.get("formatVersion").and_then(Value::as_str) {
        Some("v3") => entries(&mut object),
        Some("v2") => {
            let mut doc = entries(&mut object)?;
            for info in doc.codebases.values_mut() {
                info.fingerprint_source = Some(FingerprintSource::AssumedV2);
            }
            Ok(doc)
        }
        Some(other) => Err(format!("its format {other:?} is not known to this version")),
        None => first_format(&object),
    }
}

fn entries(object: &mut Map<String, Value>) -> Result<CatalogDoc, String> {
    let Some(Value::Object(codebases)) = object.remove("codebases") else {
        return Err("it has no codebases".into());
    };
    let mut doc = CatalogDoc::default();
    for (root, value) in codebases {
        match serde_json::from_value::<CodebaseInfo>(value.clone()) {
            Ok(info) => {
                doc.codebases.insert(root, info);
            }
            Err(error) => {
                tracing::warn!(%root, %error, "an entry of the catalog cannot be understood and is left alone");
                doc.unreadable.insert(root, value);
            }
        }
    }
    Ok(doc)
}

/// The first format: a list of paths.
fn first_format(object: &Map<String, Value>) -> Result<CatalogDoc, String> {
    let Some(Value::Array(paths)) = object.get("indexedCodebases") else {
        return Err("it has no formatVersion".into());
    };
    let mut doc = CatalogDoc::default();
    for path in paths.iter().filter_map(Value::as_str) {
        let state = CodebaseState::Indexed {
            indexed_files: 0,
            total_chunks: 0,
            index_status: BuildStatus::Completed,
        };
        let mut info = CodebaseInfo::new(state, "1970-01-01T00:00:00Z");
        info.fingerprint_source = Some(FingerprintSource::AssumedV2);
        info.reindex_reason = Some(ReindexReason::LegacyUnverifiedFingerprint);
        doc.codebases.insert(path.to_owned(), info);
    }
    Ok(doc)
}

impl CatalogDoc {
    /// The bytes of the file, keys sorted.
    pub(crate) fn to_bytes(&self, now: &str) -> Vec<u8> {
        let mut entries: BTreeMap<&str, Value> =
            self.unreadable.iter().map(|(root, value)| (root.as_str(), value.clone())).collect();
        for (root, info) in &self.codebases {
            let value = serde_json::to_value(info).expect("an entry of plain fields serialises");
            entries.insert(root, value);
        }
        let document = json!({
            "formatVersion": FORMAT_VERSION,
            "codebases": entries,
            "lastUpdated": now,
        });
        let mut bytes = serde_json::to_vec_pretty(&document).expect("a JSON value serialises");
        bytes.push(b'\n');
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_whole() {
        let mut doc = CatalogDoc::default();
        for (root, state) in [
            ("/b", CodebaseState::Indexing { indexing_percentage: 12.5 }),
            (
                "/a",
                CodebaseState::IndexFailed {
                    error_message: "x".into(),
                    last_attempted_percentage: Some(3.0),
                },
            ),
            ("/c", CodebaseState::RequiresReindex { message: "old".into() }),
        ] {
            doc.codebases.insert(root.into(), CodebaseInfo::new(state, "2026-01-01T00:00:00Z"));
        }
        doc.unreadable.insert("/ab".into(), json!({"status": "from_the_future"}));
        let bytes = doc.to_bytes("2026-01-01T00:00:00Z");
        assert_eq!(parse(&bytes).unwrap(), doc);
        let text = String::from_utf8(bytes).unwrap();
        let positions: Vec<_> =
            ["\"/a\"", "\"/ab\"", "\"/b\"", "\"/c\""].iter().map(|key| text.find(key).unwrap()).collect();
        assert!(positions.is_sorted(), "keys are sorted: {text}");
    }

    #[test]
    fn older_formats_are_kept_as_members_that_need_a_reindex() {
        let doc = parse(br#"{"indexedCodebases":["/a","/b"],"lastUpdated":"x"}"#).unwrap();
        assert_eq!(doc.codebases.keys().collect::<Vec<_>>(), ["/a", "/b"]);
        assert_eq!(doc.codebases["/a"].fingerprint_source, Some(FingerprintSource::AssumedV2));
        let doc = parse(
            br#"{"formatVersion":"v2","codebases":{"/a":{"status":"indexed","indexedFiles":1,"totalChunks":2,"indexStatus":"completed","lastUpdated":"x"}}}"#,
        )
        .unwrap();
        assert_eq!(doc.codebases["/a"].fingerprint_source, Some(FingerprintSource::AssumedV2));
    }

    #[test]
    fn a_file_that_is_no_catalog_is_refused_with_a_reason() {
        for (bytes, reason) in [
            (&b"{"[..], "EOF"),
            (b"[]", "not a JSON object"),
            (b"{}", "no formatVersion"),
            (br#"{"formatVersion":"v9"}"#, "\"v9\""),
            (br#"{"formatVersion":"v3"}"#, "no codebases"),
            (b"\xff\xfe", "expected value"),
        ] {
            let error = parse(bytes).unwrap_err();
            assert!(error.contains(reason), "{error} / {reason}");
        }
    }
}
