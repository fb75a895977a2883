//! The names that a sandbox goes by: where people keep keys, caches and compilers, and which variables say so.

/// Below the home: keys, logins and tokens. A file that is not there hides nothing.
pub(super) const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".password-store",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".oci",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".vault-token",
    ".terraform.d",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/containers/auth.json",
    ".config/google-chrome",
    ".config/chromium",
    ".mozilla",
    ".local/share/keyrings",
    "Library/Keychains",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
];

/// Variables that name a file or a folder with keys in it, or several with a colon between them.
pub(super) const NAMED_SECRETS: &[&str] = &[
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AZURE_CONFIG_DIR",
    "CLOUDSDK_CONFIG",
    "DOCKER_CONFIG",
    "GH_CONFIG_DIR",
    "GNUPGHOME",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "KUBECONFIG",
    "NETRC",
    "NPM_CONFIG_USERCONFIG",
    "npm_config_userconfig",
    "PASSWORD_STORE_DIR",
    "PGPASSFILE",
    "RCLONE_CONFIG",
    "REGISTRY_AUTH_FILE",
];

/// Variables that name a cache.
pub(super) const NAMED_CACHES: &[&str] = &[
    "XDG_CACHE_HOME",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "GOCACHE",
    "GOMODCACHE",
    "npm_config_cache",
    "NPM_CONFIG_CACHE",
    "YARN_CACHE_FOLDER",
    "BUN_INSTALL_CACHE_DIR",
    "DENO_DIR",
    "PIP_CACHE_DIR",
    "UV_CACHE_DIR",
    "CCACHE_DIR",
    "SCCACHE_DIR",
];

/// Where the system has its cache, its settings, its data and its state: a variable, and the place below the home that
/// counts without it.
pub(super) const CACHE: (&str, &str) = ("XDG_CACHE_HOME", ".cache");
pub(super) const CONFIG: (&str, &str) = ("XDG_CONFIG_HOME", ".config");
pub(super) const DATA: (&str, &str) = ("XDG_DATA_HOME", ".local/share");
pub(super) const STATE: (&str, &str) = ("XDG_STATE_HOME", ".local/state");

/// Read by every program that runs.
pub(super) const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc",
    "/opt",
    "/nix",
    "/snap",
    "/proc",
    "/sys",
    "/dev",
    "/run/current-system",
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/System",
    "/Library",
    "/private/etc",
    "/private/var/db",
];

/// Below the home: where people keep their compilers and interpreters.
pub(super) const TOOLCHAINS: &[&str] = &[
    ".cargo/bin",
    ".rustup",
    ".nvm",
    ".volta",
    ".fnm",
    ".local/share/fnm",
    ".bun",
    ".deno",
    ".pyenv",
    ".rbenv",
    ".sdkman",
    ".asdf",
    ".local/share/mise",
    ".local/bin",
    ".local/lib",
    ".gitconfig",
    ".config/git",
];

/// What cargo keeps of registries beside its credentials and programs, which are not a child's to write.
pub(super) const CARGO_FOLDERS: &[&str] = &["registry", "git"];
pub(super) const CARGO_FILES: &[&str] = &[".package-cache", ".package-cache-mutate", ".global-cache"];
