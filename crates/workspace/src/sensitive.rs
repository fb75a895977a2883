//! Files that programs run or obey by themselves: whoever may write one of them may run anything, later and unasked.
//!
//! This is the one list of their names. It is for tools of ours that write on behalf of an agent; a person's consent is
//! asked for before such a file is changed.

use std::path::{Component, Path, PathBuf};

use crate::CanonicalRoot;
use crate::boundary::{self, Inside};

/// Folders of which everything counts: version control, agents, editors, hooks, build settings.
const FOLDERS: [&str; 24] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".opencode",
    ".aider",
    ".continue",
    ".windsurf",
    ".roo",
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".devcontainer",
    ".husky",
    ".githooks",
    ".lefthook",
    ".direnv",
    ".cargo",
    ".chartroom",
];

/// Files: start-up files of shells and interpreters, settings that name programs, hooks.
const FILES: [&str; 50] = [
    ".mcp.json",
    ".claude.json",
    ".opencode.json",
    "opencode.json",
    ".aider.conf.yml",
    ".gitconfig",
    ".gitmodules",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".bash_env",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".envrc",
    ".mise.toml",
    "mise.toml",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".ripgreprc",
    ".vimrc",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".dir-locals.el",
    ".emacs",
    ".gdbinit",
    ".lldbinit",
    ".pdbrc",
    ".pythonrc.py",
    ".irbrc",
    ".pryrc",
    ".rprofile",
    ".tmux.conf",
    ".pre-commit-config.yaml",
    "lefthook.yml",
];

/// Returns the name for which a change of this file needs a person's consent, if there is one: that of the file or of a
/// folder on the way, as the caller named it or as links lead there.
pub fn needs_consent(file: &Inside, requested: &Path) -> Option<&'static str> {
    let root = file.root();
    let named = boundary::normalise(root.as_path(), requested);
    let named = named.strip_prefix(root.as_path()).unwrap_or(&named);
    listed(file.relative()).or_else(|| listed(named)).or_else(|| linked(root, &file.name()))
}

/// The first listed name in a path below the root. Case does not count, because on some file systems it does not.
fn listed(below: &Path) -> Option<&'static str> {
    let parts: Vec<String> = below
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(folded(&name.to_string_lossy())),
            _ => None,
        })
        .collect();
    let folder = parts.iter().find_map(|part| FOLDERS.into_iter().find(|name| part == name));
    folder.or_else(|| {
        let last = parts.last()?;
        FILES.into_iter().find(|name| last == name)
    })
}

/// The name in lower case, without what a file system may leave out of it: trailing dots and spaces, characters that
/// have no width.
fn folded(name: &str) -> String {
    let ignored = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let shown: String = name.chars().filter(|c| !ignored(*c)).collect();
    shown.trim_end_matches(['.', ' ']).to_lowercase()
}

/// The listed name in the root that is a link to the file or to a folder around it.
fn linked(root: &CanonicalRoot, file: &Path) -> Option<&'static str> {
    FOLDERS.into_iter().chain(FILES).find(|name| {
        let place: PathBuf = root.as_path().join(name);
        place.is_symlink() && place.canonicalize().is_ok_and(|real| file.starts_with(real))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_programs_run_by_themselves_is_known_by_name_in_any_case_and_through_links() {
        let dir = tempfile::tempdir().unwrap();
        for folder in [".git/hooks", "conf", "src/.vscode"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        std::fs::write(dir.path().join("start"), "").unwrap();
        symlink(".git/hooks", dir.path().join("notes")).unwrap();
        symlink("conf", dir.path().join(".claude")).unwrap();
        symlink("start", dir.path().join(".bashrc")).unwrap();
        let root = CanonicalRoot::open(dir.path()).unwrap();
        let check = |path: &str, expected: Option<&str>| {
            let file = boundary::inside(&root, Path::new(path)).unwrap();
            assert_eq!(needs_consent(&file, Path::new(path)), expected, "{path}");
        };
        check(".git/hooks/pre-commit", Some(".git"));
        check(".GIT/config", Some(".git"));
        check(".git", Some(".git"));
        check("sub/.Git/config", Some(".git"));
        check("src/.vscode/tasks.json", Some(".vscode"));
        check(".mcp.json", Some(".mcp.json"));
        check("sub/.MCP.json", Some(".mcp.json"));
        check(".zshrc ", Some(".zshrc"));
        check(".g\u{200c}it/config", Some(".git"));
        check("src/../.envrc", Some(".envrc"));
        check("notes/post-merge", Some(".git"));
        check(".claude/settings.json", Some(".claude"));
        check("conf/settings.json", Some(".claude"));
        check("start", Some(".bashrc"));
        for path in
            ["src/a.rs", ".gitignore", "git/config", "conf.d/a", "src/profile", ".github/workflows/ci.yml"]
        {
            check(path, None);
        }
    }
}
