//! Reads the config: file, then environment, then flags.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use figment::Figment;
use figment::providers::{Format, Serialized, Toml};

use super::check::{Problem, check};
use super::{Config, Loaded};

/// What the environment and the command line set over the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `CHARTROOM_TOKEN`.
    pub token: Option<String>,
    /// `--host`.
    pub host: Option<String>,
    /// `--port`.
    pub port: Option<u16>,
}

impl Overrides {
    /// Returns what the environment sets.
    pub fn from_env() -> Self {
        let token = std::env::var("CHARTROOM_TOKEN").ok().filter(|token| !token.is_empty());
        Self { token, ..Self::default() }
    }
}

/// A config that cannot be used. Each message names the file, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there and cannot be read.
    #[error("the config file {} cannot be read ({source}); mend its permissions or unset CHARTROOM_CONFIG", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Others could write it.
    #[error(
        "the config file {} names the commands that are run as you, and others could write to it; run `chmod go-w {}`, and see that it is yours",
        path.display(), path.display()
    )]
    Open {
        /// The file.
        path: PathBuf,
    },
    /// Settings do not exist or have the wrong form.
    #[error("{}", sentence(path, problems))]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Each with its line.
        problems: Vec<Problem>,
    },
    /// An environment variable, say.
    #[error("the config is wrong ({0}); correct the file that CHARTROOM_CONFIG names")]
    Other(String),
}

/// Returns the config file's path: `CHARTROOM_CONFIG`, or `config.toml` in the XDG config folder.
pub fn default_path() -> Option<PathBuf> {
    match std::env::var_os("CHARTROOM_CONFIG").filter(|path| !path.is_empty()) {
        Some(path) => Some(PathBuf::from(path)),
        None => dirs::config_dir().map(|folder| folder.join("chartroom").join("config.toml")),
    }
}

/// Loads the config from `path` (absent is fine unless the user named it) with `overrides` on top.
pub fn load(path: Option<&Path>, overrides: &Overrides) -> Result<Loaded, ConfigError> {
    let text = match path {
        Some(path) => read(path)?,
        None => None,
    };
    if let (Some(path), Some(text)) = (path, &text) {
        let problems = check(text, &Config::schema());
        if !problems.is_empty() {
            return Err(ConfigError::Wrong { path: path.to_owned(), problems });
        }
    }
    let mut figment = Figment::new();
    if let Some(text) = &text {
        figment = figment.merge(Toml::string(text));
    }
    if let Some(token) = &overrides.token {
        figment = figment.merge(Serialized::default("server.token", token));
    }
    if let Some(host) = &overrides.host {
        figment = figment.merge(Serialized::default("server.host", host));
    }
    if let Some(port) = overrides.port {
        figment = figment.merge(Serialized::default("server.port", port));
    }
    let config: Config = figment.extract().map_err(|error| ConfigError::Other(error.to_string()))?;
    if let Some(problem) = config.sandbox.problem() {
        return Err(ConfigError::Other(problem));
    }
    Ok(Loaded { config, file: text.and(path).map(Path::to_owned) })
}

/// Returns every problem of the file at `path`, for `chartroom doctor`.
pub fn problems(path: &Path) -> Result<Vec<Problem>, ConfigError> {
    Ok(read(path)?.map_or_else(Vec::new, |text| check(&text, &Config::schema())))
}

fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let open = || -> std::io::Result<(File, Metadata)> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        Ok((file, metadata))
    };
    match open() {
        // The file names commands that are run as the user: nobody else may have a say in it.
        Ok((_, metadata)) if !is_the_users(&metadata) => Err(ConfigError::Open { path: path.to_owned() }),
        Ok((file, _)) => std::io::read_to_string(file)
            .map(Some)
            .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // A file that the user named must be there; the default one need not.
            if std::env::var_os("CHARTROOM_CONFIG").is_some_and(|named| Path::new(&named) == path) {
                Err(ConfigError::Unreadable { path: path.to_owned(), source: error })
            } else {
                Ok(None)
            }
        }
        Err(source) => Err(ConfigError::Unreadable { path: path.to_owned(), source }),
    }
}

/// As for `trust.json`, but for who owns it: what root wrote for everybody is as good as the user's own.
fn is_the_users(metadata: &Metadata) -> bool {
    let owner = metadata.uid();
    (owner == 0 || owner == rustix::process::geteuid().as_raw()) && metadata.mode() & 0o022 == 0
}

fn sentence(path: &Path, problems: &[Problem]) -> String {
    let first = problems.first().map_or_else(|| path.display().to_string(), |problem| problem.at(path));
    match problems.len() {
        0 | 1 => format!("{first} (correct this line and start again)"),
        n => format!("{first} (and {} more; `chartroom doctor` lists them all)", n - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chartroom_protocol::lsp::LspSetting;

    use crate::config::{AgentProtocol, ServerConfig};

    fn load_text(text: &str, overrides: &Overrides) -> Result<Config, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        load(Some(&path), overrides).map(|loaded| loaded.config)
    }

    #[test]
    fn no_file_is_the_default() {
        let loaded = load(Some(Path::new("/nowhere/config.toml")), &Overrides::default()).unwrap();
        assert_eq!(loaded.config, Config::default());
        assert_eq!(loaded.file, None);
    }

    #[test]
    fn a_file_that_others_could_write_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "").unwrap();
        let load_with = |mode| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            load(Some(&path), &Overrides::default()).map(|loaded| loaded.config)
        };
        for mode in [0o600, 0o644, 0o400] {
            assert!(load_with(mode).is_ok(), "{mode:o}");
        }
        for mode in [0o620, 0o602, 0o666] {
            let error = load_with(mode).unwrap_err().to_string();
            assert!(error.contains("others could write to it; run `chmod go-w "), "{mode:o}: {error}");
        }
    }

    #[test]
    fn the_manual_page_loads() {
        let config = load_text(include_str!("manual.toml"), &Overrides::default()).unwrap();
        let names: Vec<_> =
            config.agent_commands().into_iter().map(|a| (a.name, a.command, a.protocol)).collect();
        assert_eq!(
            names,
            [
                ("claude-code".to_owned(), "claude".to_owned(), AgentProtocol::StreamJson),
                ("codex".to_owned(), "codex-acp".to_owned(), AgentProtocol::Acp),
                ("gemini".to_owned(), "gemini".to_owned(), AgentProtocol::Acp),
            ]
        );
        assert!(matches!(config.lsp, LspSetting::Enabled(lsp) if !lsp.servers["gopls"].enabled));
    }

    #[test]
    fn a_path_of_the_sandbox_that_would_depend_on_the_folder_is_refused() {
        let error = load_text("[sandbox]\nallowWrite = [\"notes\"]\n", &Overrides::default()).unwrap_err();
        assert!(
            error.to_string().contains("`notes` of sandbox.allowWrite must begin with / or ~/"),
            "{error}"
        );
        assert!(load_text("[sandbox]\nallowWrite = [\"~/notes\"]\n", &Overrides::default()).is_ok());
    }

    #[test]
    fn lsp_false_is_off_and_absent_is_on() {
        assert_eq!(load_text("lsp = false\n", &Overrides::default()).unwrap().lsp, LspSetting::Disabled);
        assert_eq!(load_text("", &Overrides::default()).unwrap().lsp, LspSetting::default());
    }

    #[test]
    fn a_flag_wins_over_the_environment_and_the_environment_over_the_file() {
        let overrides = Overrides { token: Some("12345".to_owned()), host: None, port: Some(1) };
        let config = load_text("[server]\ntoken = \"file\"\nport = 2\nhost = \"::1\"\n", &overrides).unwrap();
        let expected = ServerConfig { host: "::1".to_owned(), port: 1, token: Some("12345".to_owned()) };
        assert_eq!(config.server, expected);
    }

    #[test]
    fn a_wrong_file_is_one_sentence_with_its_line() {
        let error = load_text("[server]\nprot = 1\n", &Overrides::default()).unwrap_err().to_string();
        let sentence = "config.toml:2: unknown key `server.prot`, did you mean `server.port`? (correct this line and start again)";
        assert!(error.ends_with(sentence), "{error}");
        let error = load_text("a = 1\nb = 2\n", &Overrides::default()).unwrap_err().to_string();
        assert!(
            error.ends_with("unknown key `a` (and 1 more; `chartroom doctor` lists them all)"),
            "{error}"
        );
    }
}
