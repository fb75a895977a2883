//! Which language server knows which file: the built-in ones and the user's own.
//!
//! The built-in ones are data, one file a language in `crates/lsp/languages/`. To add one, read docs/adding-a-language.md.

use std::collections::BTreeMap;
use std::path::Path;

use chartroom_protocol::lsp::{LspConfig, ServerSettings};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

mod custom;
mod eslint;
mod install;
mod placeholders;
mod python;
mod python_environment;
mod table;
mod typescript;

pub use install::{Install, PackageManager};
pub(crate) use placeholders::fill_argument;
pub use table::{BuiltIn, Command, built_in};
pub use typescript::{Flavour, flavour};
pub(crate) use typescript::{executable_of_tsc, flavour_of_tsc};

/// When a server is used for a file that it could serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum When {
    /// Any project with a file of its kind.
    Always,
    /// Only below one of the markers: a linter without its config file reports nothing but trouble.
    InMarkedProject,
    /// When none of the other servers is installed, or the project or the user asks for this one: two type checkers
    /// would say everything twice.
    InsteadOf(Vec<String>),
}

/// Where real servers differ from each other in ways the protocol does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Quirks {
    /// It publishes nothing when a change leaves its diagnostics as they were, so silence is an answer.
    pub silent_when_unchanged: bool,
    /// Its first answer after the start may be "clean" for a file that it has not looked at yet, and it never corrects that by
    /// itself: the file is sent once more before the first "clean" is believed.
    pub doubt_first_clean: bool,
    /// It pushes without versions and late, so that what it says after a change can be about the text before it: no "clean" is
    /// believed before the file was sent once more.
    pub doubt_every_clean: bool,
    /// It answers `textDocument/diagnostic`, though it does not announce it. What it pushes comes in parts, the first of them
    /// with what it found in the text before: only what it answers counts.
    pub answers_pull: bool,
    /// It answers "clean" until it has read its configuration, and then asks to be pulled again.
    pub refreshes_when_loaded: bool,
    /// When it loads the project anew it asks twice to be pulled again, the second time up to 300 ms after the first: one alone may
    /// be left from the time before.
    pub refreshes_twice: bool,
    /// It skips a text that another follows soon, and one that it has looked at before, and publishes nothing then; not when a
    /// change says `wantDiagnostics`, which is clangd's own. It reads files of any name, and keeps what it has read of them
    /// as long as their size and second are the same: `forceRebuild`, its own too, makes it read them again.
    pub wants_to_be_forced: bool,
    /// It has no diagnostics: it is asked questions, and nobody waits for what it says of a file.
    pub reports_nothing: bool,
    /// It asks for its settings when it wants them. Told of them as well, it loads the project a second time, and some say
    /// "clean" in between.
    pub asks_for_settings: bool,
    /// After a save it checks in the background, under a progress token that contains this text.
    #[serde(deserialize_with = "for_ever")]
    pub check_on_save: Option<Word>,
    /// It indexes the whole project in the background, under a progress token that contains this text: what it says of a file
    /// does not wait for that, what it says of all files does.
    #[serde(deserialize_with = "for_ever")]
    pub index_progress: Option<Word>,
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
        doubt_every_clean: false,
        answers_pull: false,
        refreshes_when_loaded: false,
        refreshes_twice: false,
        wants_to_be_forced: false,
        reports_nothing: false,
        asks_for_settings: false,
        check_on_save: None,
        index_progress: None,
        tsserver_requests: false,
        tells_when_loaded: false,
    };
}

/// A word of the built-in table, which lives as long as the program.
type Word = &'static str;

fn for_ever<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Word>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(|word| &*word.leak()))
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
    /// A project that holds one of these asks for this server where another would be preferred.
    pub chosen_by: Vec<String>,
    /// Servers that step aside in a project that is marked for this one.
    pub replaces: Vec<String>,
    /// What its program says when it is only a stand-in for a server that is not installed.
    pub absent_when_it_says: Vec<String>,
    /// The command that installs it.
    pub install: String,
    /// What is different about it.
    pub quirks: Quirks,
    /// Added to its environment.
    pub env: BTreeMap<String, String>,
    built_in: Option<&'static BuiltIn>,
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
        let mut settings = self.built_in.map_or_else(|| json!({}), |server| server.settings.clone());
        if let Some(of_project) = of_project(&self.id, root) {
            merge(&mut settings, &of_project);
        }
        if let Some(own) = &self.overrides.settings {
            merge(&mut settings, own);
        }
        settings
    }

    /// Returns the options of `initialize`, the user's laid over the built-in ones.
    pub fn initialization_options(&self, root: &Path, program: &Path) -> Value {
        let mut options =
            self.built_in.map_or_else(|| json!({}), |server| server.initialization_options.clone());
        placeholders::fill(&mut options, root, program);
        if let Some(own) = &self.overrides.initialization_options {
            merge(&mut options, own);
        }
        options
    }

    /// Tells whether the user's config says what marks a project.
    pub fn has_own_markers(&self) -> bool {
        self.overrides.root_markers.is_some()
    }

    /// Returns what is added to its environment for a project; the user's word counts more than ours.
    pub fn environment(&self, root: &Path) -> BTreeMap<String, String> {
        let mut environment = self.env.clone();
        if let Some((name, value)) = self.built_in.and_then(|server| python::variables(&server.id, root)) {
            environment.entry(name).or_insert(value);
        }
        environment
    }

    /// Tells whether the user's config names this server.
    pub fn is_configured(&self) -> bool {
        self.overrides != ServerSettings::default()
    }
}

/// Settings of a built-in server that no file can hold, because they depend on the project.
fn of_project(id: &str, root: &Path) -> Option<Value> {
    match id {
        "eslint" => Some(eslint::settings(root)),
        "pyright" => python::pyright(root),
        _ => None,
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
            .iter()
            .map(|server| custom::configured(server, settings.remove(&server.id).unwrap_or_default()))
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
