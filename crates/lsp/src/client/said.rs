//! What a server says about itself and the project: that it cannot load it, what is wrong with its configuration.
//!
//! Plain data, events in; the clock is an argument. The words are the server's own: one line, bounded, never trusted.

use std::path::Path;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::wire;

/// A server that puts its trouble into a progress says so in the title (gopls: "Error loading workspace").
const TROUBLE_TITLE: &str = "error";
/// `MessageType.Error` of the protocol.
pub(super) const ERROR: u64 = 1;

/// Words and when they were said.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Words {
    text: String,
    at: Instant,
}

/// What a server has said about itself so far.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// Why it cannot load the project.
    load_error: Option<Words>,
    /// The progress under which it says so, where it is one: its end is the end of the trouble.
    load_error_token: Option<String>,
    /// The last error that it wrote about one of the files that configure the project.
    complaint: Option<Words>,
    /// The last error that it wrote about anything.
    last_error: Option<Words>,
    /// When one of those files was changed last: what was said before may not be so any more.
    configured: Option<Instant>,
}

/// Reads Solidity's `custom/validation-job-status` as what `experimental/serverStatus` would say.
pub(super) fn health_of_validation(params: &Value) -> Value {
    if params.get("validationRun").and_then(Value::as_bool).unwrap_or(true) {
        return json!({ "health": "ok" });
    }
    let text = |key: &str| params.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let why = text("reason").or_else(|| text("displayText")).unwrap_or("it could not compile");
    json!({ "health": "error", "message": why })
}

impl Said {
    /// Takes in a `window/showMessage` or `window/logMessage`; `markers` are the files that configure a project.
    pub(crate) fn message(&mut self, params: &Value, markers: &[String], now: Instant) {
        if params.get("type").and_then(Value::as_u64) != Some(ERROR) {
            return;
        }
        let Some(text) = params.get("message").and_then(Value::as_str) else { return };
        let words = Words { text: wire::words(text), at: now };
        if markers.iter().any(|marker| words.text.contains(marker.as_str())) {
            self.complaint = Some(words.clone());
        }
        self.last_error = Some(words);
    }

    /// Takes in a `$/progress`; tells whether it is not work but trouble.
    pub(crate) fn progress(&mut self, token: &str, value: &Value, now: Instant) -> bool {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        let is_ours = self.load_error_token.as_deref() == Some(token);
        match text("kind") {
            "begin" if text("title").to_lowercase().starts_with(TROUBLE_TITLE) => {
                let words = if text("message").is_empty() { text("title") } else { text("message") };
                self.load_error = Some(Words { text: wire::words(words), at: now });
                self.load_error_token = Some(token.to_owned());
                true
            }
            "report" if is_ours => {
                // Said again: it is still so.
                if let Some(error) = &mut self.load_error {
                    error.at = now;
                    if !text("message").is_empty() {
                        error.text = wire::words(text("message"));
                    }
                }
                true
            }
            "end" if is_ours => {
                self.load_error = None;
                self.load_error_token = None;
                true
            }
            _ => false,
        }
    }

    /// Takes in an `experimental/serverStatus`.
    pub(crate) fn health(&mut self, params: &Value, now: Instant) {
        if params.get("health").and_then(Value::as_str) == Some("error") {
            let text = params.get("message").and_then(Value::as_str).unwrap_or("it reports an error");
            self.load_error = Some(Words { text: wire::words(text), at: now });
        } else if self.load_error_token.is_none() {
            self.load_error = None;
        }
    }

    /// A file that configures the project was changed: what was said about it may be mended.
    pub(crate) fn configured(&mut self, now: Instant) {
        self.configured = Some(now);
        self.complaint = None;
        self.last_error = None;
    }

    /// Since when the server says that it cannot load the project; nothing when that is older than the configuration.
    pub(crate) fn failed_since(&self) -> Option<Instant> {
        self.failure().map(|words| words.at)
    }

    /// Why it cannot load the project.
    pub(crate) fn load_error(&self) -> Option<&str> {
        self.failure().map(|words| words.text.as_str())
    }

    /// What it says is wrong with the configuration.
    pub(crate) fn complaint(&self) -> Option<&str> {
        self.complaint.as_ref().map(|words| words.text.as_str())
    }

    /// The last error that it wrote since then.
    pub(crate) fn error_since(&self, since: Instant) -> Option<&str> {
        self.last_error.as_ref().filter(|words| words.at >= since).map(|words| words.text.as_str())
    }

    fn failure(&self) -> Option<&Words> {
        let is_newer = |words: &&Words| self.configured.is_none_or(|configured| words.at > configured);
        self.load_error.as_ref().filter(is_newer)
    }
}

/// Tells whether a file configures the projects of a server.
pub(crate) fn is_configuration(file: &Path, markers: &[String]) -> bool {
    file.file_name().is_some_and(|name| markers.iter().any(|marker| name == marker.as_str()))
}

/// The last error in what a server wrote to its stderr, with the place that follows it.
pub(crate) fn error_in(stderr: &str) -> Option<String> {
    let lines: Vec<&str> = stderr.lines().map(str::trim).collect();
    let is_error =
        |line: &&str| ["error", "fatal", "panic"].iter().any(|word| line.to_lowercase().starts_with(word));
    let at = lines.iter().rposition(is_error)?;
    let place = lines.get(at + 1).filter(|line| line.starts_with("-->"));
    Some(wire::words(&[Some(&lines[at]), place].into_iter().flatten().copied().collect::<Vec<_>>().join(" ")))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn markers() -> Vec<String> {
        vec!["go.mod".to_owned()]
    }

    #[tokio::test(start_paused = true)]
    async fn a_progress_that_is_an_error_lasts_until_its_end_or_until_the_configuration_changes() {
        let mut said = Said::default();
        let now = Instant::now();
        let value = |kind: &str, message: &str| json!({ "kind": kind, "title": "Error loading workspace", "message": message });
        assert!(!said.progress("1", &json!({ "kind": "begin", "title": "Loading" }), now));
        assert!(said.progress("2", &value("begin", "go.mod:3: bad"), now));
        assert_eq!(said.load_error(), Some("go.mod:3: bad"));
        said.configured(now + Duration::from_secs(1));
        assert_eq!(said.load_error(), None, "it may be mended");
        assert!(said.progress("2", &value("report", "go.mod:4: bad"), now + Duration::from_secs(2)));
        assert_eq!(said.load_error(), Some("go.mod:4: bad"), "and is not");
        assert!(said.progress("2", &value("end", ""), now + Duration::from_secs(3)));
        assert_eq!(said.load_error(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn of_what_is_logged_only_errors_about_the_configuration_are_complaints() {
        let mut said = Said::default();
        let now = Instant::now();
        said.message(&json!({ "type": 3, "message": "go.mod is fine" }), &markers(), now);
        assert_eq!((said.complaint(), said.error_since(now)), (None, None));
        said.message(&json!({ "type": 1, "message": "a cache\nis cold" }), &markers(), now);
        assert_eq!((said.complaint(), said.error_since(now)), (None, Some("a cache is cold")));
        said.message(&json!({ "type": 1, "message": "go.mod: bad" }), &markers(), now);
        assert_eq!(said.complaint(), Some("go.mod: bad"));
        said.configured(now);
        assert_eq!((said.complaint(), said.error_since(now)), (None, None));
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_server_says_is_bounded() {
        let mut said = Said::default();
        let text = format!("go.mod {}", "x".repeat(100_000));
        said.message(&json!({ "type": 1, "message": text }), &markers(), Instant::now());
        assert!(said.complaint().is_some_and(|text| text.len() < 600));
    }

    #[test]
    fn the_last_error_of_a_stderr_is_told_with_its_place() {
        let stderr = "INFO fine\nerror: old\nstderr:\nerror: string values must be quoted\n --> Cargo.toml:3:11\n  |\n3 | version =\n";
        assert_eq!(
            error_in(stderr).as_deref(),
            Some("error: string values must be quoted --> Cargo.toml:3:11")
        );
        assert_eq!(error_in("INFO fine\n"), None);
    }
}
