//! The status listing: first `LSP server status:`, then a line per server.

use chartroom_protocol::lsp::{Freshness, ServerStatus};

use super::escape::one_line;

/// What is said when the config has `lsp = false`.
pub const DISABLED: &str = "LSP disabled by configuration";

/// Returns the single line for a service that is not there.
pub fn unavailable(reason: &str) -> String {
    format!("LSP unavailable: {}", one_line(reason))
}

/// Returns the listing, by id and root whatever the order of `servers`.
pub fn status_lines(servers: &[ServerStatus]) -> String {
    let mut sorted: Vec<_> = servers.iter().collect();
    sorted.sort_by(|a, b| (&a.id, &a.root).cmp(&(&b.id, &b.root)));
    let mut text = String::from("LSP server status:");
    for server in sorted {
        text.push_str("\n  ");
        text.push_str(&status_line(server));
    }
    text
}

fn status_line(server: &ServerStatus) -> String {
    let mut line = format!("{}: {}", server.id, server.status.as_str());
    let mut details = Vec::new();
    if let Some(root) = server.root.as_deref().filter(|root| *root != ".") {
        details.push(format!("in {root}"));
    }
    match server.freshness {
        Some(Freshness::Current) => details.push("current".to_owned()),
        Some(Freshness::Loading) => details.push("still loading".to_owned()),
        Some(Freshness::Failed) => details.push("cannot load the project".to_owned()),
        Some(Freshness::TimedOut) => details.push("the last check timed out".to_owned()),
        None => {}
    }
    if let Some(pid) = server.server_pid {
        details.push(format!("pid {pid}"));
    }
    if let Some(rss) = server.rss_bytes {
        details.push(format!("{} MiB", rss / (1024 * 1024)));
    }
    if let Some(uptime) = server.uptime_ms {
        details.push(format!("up {} s", uptime / 1000));
    }
    if let Some(sandbox) = &server.sandbox {
        details.push(format!("sandbox {}", one_line(sandbox)));
    }
    if let Some(reason) = &server.reason {
        details.push(one_line(reason));
    }
    if let Some(path) = &server.path {
        details.push(path.clone());
    }
    if let Some(hint) = &server.hint {
        details.push(format!("try: {}", one_line(hint)));
    }
    if !details.is_empty() {
        line.push_str(" (");
        line.push_str(&details.join("; "));
        line.push(')');
    }
    line
}

#[cfg(test)]
mod tests {
    use chartroom_protocol::lsp::ServerState;
    use expect_test::expect;

    use super::*;

    fn server(id: &str, status: ServerState) -> ServerStatus {
        ServerStatus {
            id: id.to_owned(),
            status,
            language: "Foo".into(),
            server_pid: None,
            root: None,
            freshness: None,
            reason: None,
            hint: None,
            path: None,
            sandbox: None,
            rss_bytes: None,
            uptime_ms: None,
        }
    }

    // EC-41, BR-41, REQ-STATUS-045, REQ-STATUS-010
    #[test]
    fn servers_are_listed_by_id() {
        let mut active = server("typescript", ServerState::Active);
        active.root = Some("packages/web".into());
        active.freshness = Some(Freshness::Current);
        active.server_pid = Some(12);
        active.rss_bytes = Some(3 * 1024 * 1024);
        active.uptime_ms = Some(61_500);
        active.path = Some("/bin/tsc".into());
        active.sandbox = Some("workspace (landlock)".into());
        let mut missing = server("gopls", ServerState::Unavailable);
        missing.reason = Some("gopls was not found".into());
        missing.hint = Some("go install golang.org/x/tools/gopls@latest".into());
        let servers = [active, missing, server("eslint", ServerState::Disabled)];
        expect![[r#"
            LSP server status:
              eslint: disabled
              gopls: unavailable (gopls was not found; try: go install golang.org/x/tools/gopls@latest)
              typescript: active (in packages/web; current; pid 12; 3 MiB; up 61 s; sandbox workspace (landlock); /bin/tsc)"#]]
        .assert_eq(&status_lines(&servers));
    }

    // EC-40, BR-42, REQ-STATUS-050
    #[test]
    fn one_line_says_why_there_is_no_service() {
        assert_eq!(unavailable("service startup failed"), "LSP unavailable: service startup failed");
        assert_eq!(DISABLED, "LSP disabled by configuration");
    }
}
