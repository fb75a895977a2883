//! What is known about every server, running or not.

use chartroom_protocol::lsp::{Freshness, ServerState, ServerStatus};

use super::Orchestrator;
use super::slot::{NoClient, Slot};
use crate::memory;
use crate::registry::Server;

impl Orchestrator {
    /// Returns every known server: a row per running root, a row for each that does not run. By id, then root.
    pub fn status(&self) -> Vec<ServerStatus> {
        let slots: Vec<_> = self.slots().values().cloned().collect();
        let mut rows = Vec::new();
        for server in self.registry.all() {
            let mut running = slots.iter().filter(|slot| slot.key.id == server.id).peekable();
            if running.peek().is_none() {
                rows.push(self.not_running(server));
            }
            rows.extend(running.map(|slot| self.of_slot(slot)));
        }
        for row in &mut rows {
            row.sandbox = self.launch.sandbox(&row.id);
        }
        rows
    }

    fn of_slot(&self, slot: &Slot) -> ServerStatus {
        let mut row = row(&slot.server);
        row.root = Some(self.relative_root(&slot.key.root));
        row.path = Some(slot.program.to_string_lossy().into_owned());
        match slot.now() {
            Ok(client) => {
                let (activity, timed_out) = client.activity();
                row.status = ServerState::Active;
                let load_error = client.load_error();
                row.freshness = Some(match (&load_error, &activity, timed_out) {
                    (Some(_), _, _) => Freshness::Failed,
                    (None, Some(_), _) if client.is_loading() => Freshness::Loading,
                    (None, _, true) => Freshness::TimedOut,
                    (None, _, false) => Freshness::Current,
                });
                row.reason = load_error.or(activity).or_else(|| client.said());
                row.server_pid = client.pid();
                row.rss_bytes = client.pid().and_then(memory::of_tree);
                row.uptime_ms = u64::try_from(client.started.elapsed().as_millis()).ok();
            }
            Err(NoClient::Starting) => row.status = ServerState::Starting,
            Err(NoClient::Absent(absent)) => {
                row.status = absent.status;
                row.reason = Some(absent.reason);
                row.hint = absent.hint.map(|hint| match absent.status {
                    ServerState::Broken => format!("{hint} {}", slot.key.id),
                    _ => hint,
                });
            }
        }
        row
    }

    fn not_running(&self, server: &Server) -> ServerStatus {
        let mut row = row(server);
        if !server.enabled {
            row.status = ServerState::Disabled;
            return row;
        }
        match self.launch.find(server, self.root.as_path()) {
            Ok(found) => {
                row.status = ServerState::Idle;
                row.reason = Some("it starts with the first file of its language".to_owned());
                row.path = Some(found.program.to_string_lossy().into_owned());
            }
            Err(absent) => {
                row.status = absent.status;
                row.reason = Some(absent.reason);
                row.hint = absent.hint;
            }
        }
        row
    }
}

fn row(server: &Server) -> ServerStatus {
    ServerStatus {
        id: server.id.clone(),
        status: ServerState::Unavailable,
        language: server.language.clone(),
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
