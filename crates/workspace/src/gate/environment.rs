//! What a child inherits of our environment: an agent and a shell what a terminal would give it, any other child what its kind
//! needs, and none of them our token.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::ChildKind;

/// What every child but an agent gets. A `*` at the end stands for any ending.
const COMMON: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_*",
    "LANGUAGE",
    "TMPDIR",
    "TZ",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

const PROXY: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
];

/// By name: `CARGO_*` would hand on `CARGO_REGISTRY_TOKEN`, and `GO*` `GOOGLE_API_KEY`. What is missing here, the
/// user's config can pass on by name.
const LANGUAGE_SERVER: &[&str] = &[
    "TERM",
    "CARGO",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_JOBS",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_INCREMENTAL",
    "CARGO_NET_OFFLINE",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTUP_DIST_SERVER",
    "RUSTC",
    "RUSTFLAGS",
    "RUST_SRC_PATH",
    "GO111MODULE",
    "GOARCH",
    "GOBIN",
    "GOCACHE",
    "GOENV",
    "GOEXPERIMENT",
    "GOFLAGS",
    "GOMODCACHE",
    "GONOPROXY",
    "GONOSUMDB",
    "GOOS",
    "GOPATH",
    "GOPRIVATE",
    "GOPROXY",
    "GOROOT",
    "GOSUMDB",
    "GOTMPDIR",
    "GOTOOLCHAIN",
    "GOVCS",
    "GOWORK",
    "CGO_ENABLED",
    "CGO_CFLAGS",
    "CGO_CPPFLAGS",
    "CGO_CXXFLAGS",
    "CGO_LDFLAGS",
    "CC",
    "CXX",
    "PKG_CONFIG",
    "PKG_CONFIG_LIBDIR",
    "PKG_CONFIG_PATH",
    "PKG_CONFIG_SYSROOT_DIR",
    "NODE_PATH",
    "NODE_EXTRA_CA_CERTS",
    "NVM_DIR",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "POETRY_CACHE_DIR",
    "POETRY_VIRTUALENVS_PATH",
    "UV_PROJECT_ENVIRONMENT",
    "PYENV_ROOT",
    "PYTHONPATH",
    "JAVA_HOME",
    "GRADLE_USER_HOME",
    "M2_HOME",
    "DOTNET_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
];

/// The service starts language servers of its own, through a gate of its own.
const SERVICE: &[&str] =
    &["CHARTROOM_HOME", "CHARTROOM_CONFIG", "CHARTROOM_LOG", "RUST_LOG", "RUST_BACKTRACE"];

const GIT: &[&str] = &[];

/// Where the user's package managers are told to look, which the user's own words there are for.
const INSTALLER: &[&str] = &["PIP_*", "NPM_CONFIG_*", "npm_config_*", "REQUESTS_CA_BUNDLE"];

/// Handed to nobody, whoever asks: with it a child could speak as the user.
const NEVER: &[&str] = &["CHARTROOM_TOKEN"];

/// All that an agent does not get: what is ours, and what a shell or an agent says about itself to the programs it
/// starts. An agent of ours would believe to be in another folder, or a child of the Claude Code that we run in.
const NOT_FOR_AGENTS: &[&str] =
    &["CHARTROOM_*", "PWD", "OLDPWD", "SHLVL", "_", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"];

/// Of git's own variables, those that say who the user is and how they reach a remote. The others would lead git to another
/// repository or index than the one that is meant.
const COMMANDS_GIT: &[&str] =
    &["GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_SSH", "GIT_SSH_*", "GIT_ASKPASS", "GIT_CONFIG_GLOBAL"];

/// Puts a child's whole environment together.
pub(super) fn of_child(
    kind: ChildKind,
    parent: &BTreeMap<OsString, OsString>,
    path: &[PathBuf],
    pass: &[String],
    extra: &BTreeMap<OsString, OsString>,
) -> BTreeMap<OsString, OsString> {
    let inherits = |name: &OsStr| match kind {
        // It runs the user's tools for the user, with keys and settings whose names nobody can list.
        ChildKind::Agent | ChildKind::Shell => !contains(&[NOT_FOR_AGENTS], name),
        ChildKind::Command | ChildKind::Test => {
            !contains(&[NOT_FOR_AGENTS], name) && (!matches("GIT_*", name) || contains(&[COMMANDS_GIT], name))
        }
        ChildKind::LanguageServer => contains(&[COMMON, PROXY, LANGUAGE_SERVER], name),
        ChildKind::Service => contains(&[COMMON, PROXY, LANGUAGE_SERVER, SERVICE], name),
        ChildKind::Git | ChildKind::Records => contains(&[COMMON, GIT], name),
        ChildKind::Installer => contains(&[COMMON, PROXY, LANGUAGE_SERVER, INSTALLER], name),
    };
    let wanted = |name: &OsStr| inherits(name) || pass.iter().any(|passed| name == passed.as_str());
    let mut env: BTreeMap<OsString, OsString> = parent
        .iter()
        .filter(|(name, _)| wanted(name))
        .chain(extra)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if !extra.contains_key(OsStr::new("PATH")) {
        // The entries come from a PATH, so that none of them holds a colon.
        if let Ok(path) = std::env::join_paths(path) {
            env.insert("PATH".into(), path);
        }
    }
    env.retain(|name, _| !NEVER.iter().any(|never| name == *never));
    env
}

fn contains(lists: &[&[&str]], name: &OsStr) -> bool {
    lists.iter().any(|list| list.iter().any(|pattern| matches(pattern, name)))
}

fn matches(pattern: &str, name: &OsStr) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.to_str().is_some_and(|name| name.starts_with(start)),
        None => name == pattern,
    }
}
