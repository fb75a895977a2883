//! codex-acp as npm installs it: a script that starts the real program of another package and waits for it.
//!
//! The script is a Node process for every session, 40 ms later and 45 MB larger than the program itself, and it stands
//! between our SIGTERM and the agent: it dies of it and leaves the agent to be killed. So the program is started itself.

use std::path::{Path, PathBuf};

const SCOPE: &str = "@zed-industries";
const SCRIPT: &str = "codex-acp.js";
const PROGRAM: &str = "bin/codex-acp";

/// Returns the program that npm's script would start on this machine, if `program` is that script.
pub(super) fn program_behind(program: &Path) -> Option<PathBuf> {
    // PATH has a link to it.
    let script = program.canonicalize().ok()?;
    let package = script.parent()?.parent()?;
    let scope = package.parent()?;
    if script.file_name()? != SCRIPT || scope.file_name()? != SCOPE {
        return None;
    }
    let native = format!("codex-acp-{}-{}", node_platform(), node_arch());
    // Where Node looks for it: under the package itself, then beside it.
    [package.join("node_modules").join(SCOPE), scope.to_path_buf()]
        .into_iter()
        .map(|packages| packages.join(&native).join(PROGRAM))
        .find(|program| program.is_file())
}

/// This system as Node calls it.
fn node_platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

fn node_arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use chartroom_testkit::project::Project;

    use super::*;

    const SCRIPT_FILE: &str = "lib/node_modules/@zed-industries/codex-acp/bin/codex-acp.js";

    /// Returns what is started for the link on PATH when these files are installed.
    fn started(files: &[String]) -> Option<String> {
        let home = Project::new("");
        for file in files {
            home.write(file, "");
        }
        std::fs::create_dir(home.path("bin")).unwrap();
        symlink(home.path(&files[0]), home.path("bin/codex-acp")).unwrap();
        let root = home.root().canonicalize().unwrap();
        let program = program_behind(&home.path("bin/codex-acp"))?;
        Some(program.strip_prefix(root).unwrap().display().to_string())
    }

    fn native(packages: &str) -> String {
        format!("{packages}/@zed-industries/codex-acp-{}-{}/bin/codex-acp", node_platform(), node_arch())
    }

    #[test]
    fn the_program_behind_npms_script_is_started_and_anything_else_as_it_is() {
        let beside = native("lib/node_modules");
        let inside = native("lib/node_modules/@zed-industries/codex-acp/node_modules");
        assert_eq!(started(&[SCRIPT_FILE.into(), beside.clone()]), Some(beside.clone()));
        assert_eq!(started(&[SCRIPT_FILE.into(), beside.clone(), inside.clone()]), Some(inside));
        let other_system = "lib/node_modules/@zed-industries/codex-acp-plan9-mips/bin/codex-acp";
        assert_eq!(started(&[SCRIPT_FILE.into(), other_system.into()]), None);
        assert_eq!(started(&["opt/codex-acp".into(), beside.clone()]), None);
        let of_another = "lib/node_modules/@someone/codex-acp/bin/codex-acp.js";
        assert_eq!(started(&[of_another.into(), beside]), None);
    }

    #[test]
    fn a_program_that_is_not_there_has_nothing_behind_it() {
        assert_eq!(program_behind(Path::new("/nowhere/codex-acp")), None);
    }
}
