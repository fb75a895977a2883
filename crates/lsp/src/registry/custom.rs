//! The user's config laid over a built-in server, and servers of the user's own.

use std::collections::BTreeMap;

use chartroom_protocol::lsp::ServerSettings;

use super::{BuiltIn, Program, Quirks, Server, When};

/// A built-in server with what the user changed.
pub(super) fn configured(server: &'static BuiltIn, settings: ServerSettings) -> Server {
    let files = match &settings.extensions {
        None => server.files.clone(),
        Some(extensions) => files(extensions, |extension| {
            settings.language_id.clone().or_else(|| server.files.get(extension).cloned())
        }),
    };
    let program = match &settings.command {
        Some(command) => Program::Configured {
            command: command.clone(),
            args: settings.args.clone().unwrap_or_else(|| {
                server.commands.first().map(|command| command.args.clone()).unwrap_or_default()
            }),
        },
        None if server.id == super::typescript::ID => Program::TypeScript { args: settings.args.clone() },
        None => Program::Search {
            candidates: server
                .commands
                .iter()
                .map(|command| {
                    let args = settings.args.clone().unwrap_or_else(|| command.args.clone());
                    (command.program.clone(), args)
                })
                .collect(),
        },
    };
    Server {
        id: server.id.clone(),
        language: server.language.clone(),
        enabled: settings.enabled,
        files,
        markers: settings.root_markers.clone().unwrap_or_else(|| server.markers.clone()),
        when: if settings == ServerSettings::default() {
            server.when.clone()
        } else {
            explicit(&server.when)
        },
        program,
        chosen_by: server.chosen_by.clone(),
        replaces: server.replaces.clone(),
        absent_when_it_says: server.absent_when_it_says.clone(),
        install: server.install.hint(),
        quirks: server.quirks,
        env: settings.env.clone(),
        built_in: Some(server),
        overrides: settings,
    }
}

/// A server that only this user knows.
pub(super) fn of_the_user(id: String, settings: ServerSettings) -> Server {
    let extensions = settings.extensions.clone().unwrap_or_default();
    let program = match &settings.command {
        Some(command) => {
            Program::Configured { command: command.clone(), args: settings.args.clone().unwrap_or_default() }
        }
        // No command at all: it is listed, and found to be unavailable.
        None => Program::Search { candidates: Vec::new() },
    };
    Server {
        language: extensions.first().map_or_else(|| id.clone(), |extension| bare(extension).to_owned()),
        enabled: settings.enabled,
        files: files(&extensions, |_| settings.language_id.clone()),
        markers: settings.root_markers.clone().unwrap_or_default(),
        when: When::Always,
        chosen_by: Vec::new(),
        replaces: Vec::new(),
        absent_when_it_says: Vec::new(),
        program,
        install: format!("set lsp.servers.{id}.command in your config to the program of this server"),
        quirks: Quirks::default(),
        env: settings.env.clone(),
        built_in: None,
        overrides: settings,
        id,
    }
}

/// A user who names an alternative wants it.
fn explicit(when: &When) -> When {
    match when {
        When::InsteadOf(_) => When::Always,
        When::Always | When::InMarkedProject => when.clone(),
    }
}

fn files(extensions: &[String], language: impl Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
    extensions
        .iter()
        .map(|extension| {
            let id = language(extension).unwrap_or_else(|| bare(extension).to_owned());
            (extension.clone(), id)
        })
        .collect()
}

fn bare(extension: &str) -> &str {
    extension.trim_start_matches('.')
}
