//! The user's config laid over a built-in server, and servers of the user's own.

use std::collections::BTreeMap;

use chartroom_protocol::lsp::ServerSettings;

use super::{BuiltIn, Program, Quirks, Server, When};

/// A built-in server with what the user changed.
pub(super) fn configured(server: &'static BuiltIn, settings: ServerSettings) -> Server {
    let files = match &settings.extensions {
        None => {
            server.files.iter().map(|(name, language)| ((*name).to_owned(), (*language).to_owned())).collect()
        }
        Some(extensions) => files(extensions, |extension| {
            settings.language_id.clone().or_else(|| {
                server.files.iter().find(|(name, _)| *name == extension).map(|(_, id)| (*id).to_owned())
            })
        }),
    };
    let program = match &settings.command {
        Some(command) => Program::Configured {
            command: command.clone(),
            args: settings.args.clone().unwrap_or_else(|| {
                server.commands.first().map(|command| owned(command.args)).unwrap_or_default()
            }),
        },
        None if server.id == super::typescript::ID => Program::TypeScript { args: settings.args.clone() },
        None => Program::Search {
            candidates: server
                .commands
                .iter()
                .map(|command| {
                    let args = settings.args.clone().unwrap_or_else(|| owned(command.args));
                    (command.program.to_owned(), args)
                })
                .collect(),
        },
    };
    Server {
        id: server.id.to_owned(),
        language: server.language.to_owned(),
        enabled: settings.enabled,
        files,
        markers: settings.root_markers.clone().unwrap_or_else(|| owned(server.markers)),
        when: if settings == ServerSettings::default() { server.when } else { explicit(server.when) },
        program,
        install: server.install.to_owned(),
        quirks: server.quirks,
        env: settings.env.clone(),
        built_in: Some(server.id),
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
fn explicit(when: When) -> When {
    match when {
        When::InsteadOf(_) => When::Always,
        When::Always | When::InMarkedProject => when,
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

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
