//! Which language server knows which file: the built-in ones and the user's own.
//!
//! One file per language family below. To add a language, read docs/adding-a-language.md.

use std::collections::BTreeMap;
use std::path::Path;

use chartroom_protocol::lsp::{LspConfig, ServerSettings};
use serde_json::{Value, json};

mod c_family;
mod custom;
mod documents;
mod eslint;
mod go;
mod java;
mod lua;
mod python;
mod rust;
mod shell;
mod typescript;
mod web;
mod zig;

pub(crate) use typescript::flavour_of_tsc;
pub use typescript::{Flavour, flavour};

/// One built-in server. What a project or a user changes is not here but in [`Server`].
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// Names it in the config and in every status.
    pub id: &'static str,
    /// For people.
    pub language: &'static str,
    /// File name ending → the protocol's language id. An ending without a dot is a whole file name.
    pub files: &'static [(&'static str, &'static str)],
    /// The nearest of these above a file is its project's root.
    pub markers: &'static [&'static str],
    /// Which projects it is for.
    pub when: When,
    /// The first program that is found is taken.
    pub commands: &'static [Command],
    /// The command that installs it.
    pub install: &'static str,
    /// What is different about it.
    pub quirks: Quirks,
    /// What it gets for `workspace/configuration`, by section.
    pub settings: fn(&Path) -> Value,
    /// What is sent with `initialize` for a project root.
    pub initialization_options: fn(&Path) -> Value,
}

/// A program and its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// Looked up in the project's tools, then on the PATH.
    pub program: &'static str,
    /// What makes it speak LSP over its pipes.
    pub args: &'static [&'static str],
}

/// When a server is used for a file that it could serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Any project with a file of its kind.
    Always,
    /// Only below one of the markers: a linter without its config file reports nothing but trouble.
    InMarkedProject,
    /// When the other server is not installed, or the project or the user asks for this one: two type checkers
    /// would say everything twice.
    InsteadOf(&'static str),
}

/// Where real servers differ from each other in ways the protocol does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quirks {
    /// It publishes nothing when a change leaves its diagnostics as they were, so silence is an answer.
    pub silent_when_unchanged: bool,
    /// Its first answer after the start may be "clean" for a file that it has not looked at yet, and it never corrects that by
    /// itself: the file is sent once more before the first "clean" is believed.
    pub doubt_first_clean: bool,
    /// After a save it checks in the background, under a progress token that contains this text.
    pub check_on_save: Option<&'static str>,
    /// It answers tsserver's own diagnostic requests, which say exactly when they are complete; its pushes can
    /// carry old semantic errors beside new syntax errors.
    pub tsserver_requests: bool,
    /// It says with `experimental/serverStatus` when it has loaded the project; before that nothing is final.
    pub tells_when_loaded: bool,
}

impl Quirks {
    /// A server that does what the protocol says.
    pub const NONE: Self = Self {
        silent_when_unchanged: false,
        doubt_first_clean: false,
        check_on_save: None,
        tsserver_requests: false,
        tells_when_loaded: false,
    };
}

/// No settings and no options.
pub(crate) fn nothing(_root: &Path) -> Value {
    json!({})
}

/// The built-in servers, by id.
pub fn built_in() -> Vec<&'static BuiltIn> {
    let mut all: Vec<&'static BuiltIn> = [
        c_family::SERVERS,
        documents::SERVERS,
        eslint::SERVERS,
        go::SERVERS,
        java::SERVERS,
        lua::SERVERS,
        python::SERVERS,
        rust::SERVERS,
        shell::SERVERS,
        typescript::SERVERS,
        web::SERVERS,
        zig::SERVERS,
    ]
    .into_iter()
    .flatten()
    .collect();
    all.sort_by_key(|server| server.id);
    all
}

/// A server as this user has it: a built-in one with the config laid over it, or one of the user's own.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// Names it in the config and in every status.
    pub id: String,
    /// What it knows, for people.
    pub language: String,
    /// False when the user switched it off.
    pub enabled: bool,
    /// File name ending (or whole name) → language id.
    pub files: BTreeMap<String, String>,
    /// Files that mark a project's root.
    pub markers: Vec<String>,
    /// Which projects it is for.
    pub when: When,
    /// Where its program comes from.
    pub program: Program,
    /// The command that installs it.
    pub install: String,
    /// What is different about it.
    pub quirks: Quirks,
    /// Added to its environment.
    pub env: BTreeMap<String, String>,
    built_in: Option<&'static str>,
    overrides: ServerSettings,
}

/// How the program is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// The user's own words.
    Configured {
        /// The user's own word.
        command: String,
        /// The user's, or the built-in ones.
        args: Vec<String>,
    },
    /// The first of these that the project or PATH has.
    Search {
        /// Programs with their arguments, the preferred first.
        candidates: Vec<(String, Vec<String>)>,
    },
    /// By the version of TypeScript that the project has.
    TypeScript {
        /// The user's, if any.
        args: Option<Vec<String>>,
    },
}

impl Server {
    /// Returns the language id of a file, or nothing when this server does not know such files.
    pub fn language_id(&self, file: &Path) -> Option<&str> {
        let name = file.file_name()?.to_str()?;
        if let Some(language_id) = self.files.get(name) {
            return Some(language_id);
        }
        // The longest ending wins: `.d.ts` before `.ts`.
        let mut rest = name;
        while let Some(dot) = rest.find('.') {
            if let Some(language_id) = self.files.get(&rest[dot..]) {
                return Some(language_id);
            }
            rest = &rest[dot + 1..];
        }
        None
    }

    /// Returns the settings by section, the user's laid over the built-in ones.
    pub fn settings(&self, root: &Path) -> Value {
        let mut settings = self.find_built_in().map_or_else(|| json!({}), |server| (server.settings)(root));
        if let Some(own) = &self.overrides.settings {
            merge(&mut settings, own);
        }
        settings
    }

    /// Returns the options of `initialize`, the user's laid over the built-in ones.
    pub fn initialization_options(&self, root: &Path) -> Value {
        let mut options =
            self.find_built_in().map_or_else(|| json!({}), |server| (server.initialization_options)(root));
        if let Some(own) = &self.overrides.initialization_options {
            merge(&mut options, own);
        }
        options
    }

    /// Tells whether the user's config says what marks a project.
    pub fn has_own_markers(&self) -> bool {
        self.overrides.root_markers.is_some()
    }

    /// Tells whether the user's config names this server.
    pub fn is_configured(&self) -> bool {
        self.overrides != ServerSettings::default()
    }

    fn find_built_in(&self) -> Option<&'static BuiltIn> {
        let id = self.built_in?;
        built_in().into_iter().find(|server| server.id == id)
    }
}

/// Lays `over` over `under`: objects are merged, everything else is replaced.
fn merge(under: &mut Value, over: &Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                merge(under.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over.clone(),
    }
}

/// Returns what a server asked for by section: `a.b` is looked up as a key, then as a path; none is everything.
pub fn section<'a>(settings: &'a Value, section: Option<&str>) -> &'a Value {
    let Some(section) = section.filter(|section| !section.is_empty()) else {
        return settings;
    };
    if let Some(value) = settings.get(section) {
        return value;
    }
    section.split('.').try_fold(settings, |value, key| value.get(key)).unwrap_or(&Value::Null)
}

/// Every server that this user can have, by id. Immutable.
#[derive(Debug, Clone)]
pub struct Registry {
    servers: Vec<Server>,
}

impl Registry {
    /// Lays the user's config over the built-in servers.
    pub fn new(config: &LspConfig) -> Self {
        let mut settings = config.servers.clone();
        let mut servers: Vec<Server> = built_in()
            .into_iter()
            .map(|server| custom::configured(server, settings.remove(server.id).unwrap_or_default()))
            .collect();
        servers.extend(settings.into_iter().map(|(id, settings)| custom::of_the_user(id, settings)));
        servers.sort_by(|a, b| a.id.cmp(&b.id));
        Self { servers }
    }

    /// Every server, by id.
    pub fn all(&self) -> &[Server] {
        &self.servers
    }

    /// Returns the server of that id.
    pub fn get(&self, id: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.id == id)
    }

    /// Returns the enabled servers that know such a file, by id.
    pub fn for_file(&self, file: &Path) -> Vec<&Server> {
        self.servers.iter().filter(|server| server.enabled && server.language_id(file).is_some()).collect()
    }
}

#[cfg(test)]
mod tests;
