//! Which Python environment a project has: its own folder, what the shell has activated, or one that poetry keeps.
//!
//! It is looked for by names and never run: what lies in a folder that nobody trusts is not executed to find it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::{Folder, Inside};

/// Folders in which uv, pdm, poetry, conda and people keep a project's own environment.
const OWN: &[&str] = &[".venv", "venv", ".conda"];
/// A longer file says nothing that is wanted here.
const MAX_FILE: u64 = 1024 * 1024;
/// More environments of other projects are not looked at.
const MAX_ENVIRONMENTS: usize = 1_000;

/// Returns the folder of a project's environment; `variable` reads the user's environment.
pub(super) fn find(root: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // uv's is relative to the project; the others are absolute.
    let uv = folder("UV_PROJECT_ENVIRONMENT").map(|folder| root.join(folder));
    let own = OWN.iter().map(|name| root.join(name));
    let places = uv.into_iter().chain(own).chain(pdm(root));
    let activated = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(folder);
    let is_environment = |folder: &PathBuf| folder.is_absolute() && interpreter(folder).exists();
    places
        .filter(is_environment)
        .chain(poetry(root, folder).filter(is_environment))
        .chain(activated.filter(is_environment))
        .next()
}

/// The interpreter of an environment.
pub(super) fn interpreter(environment: &Path) -> PathBuf {
    environment.join("bin/python")
}

/// pdm writes down which interpreter it uses.
fn pdm(root: &Path) -> Option<PathBuf> {
    let text = read(root, ".pdm-python")?;
    let interpreter = Path::new(text.trim());
    let folder = interpreter.parent().filter(|folder| folder.ends_with("bin"))?;
    folder.parent().map(Path::to_owned)
}

/// poetry keeps environments in its cache, named by the project and a number of its path. One that could be another
/// project's of the same name is not taken.
fn poetry(root: &Path, folder: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let name = poetry_name(&read(root, "pyproject.toml")?)?;
    let cache = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    let cache = folder("POETRY_CACHE_DIR").or_else(|| cache.map(|cache| cache.join("pypoetry")));
    let environments =
        folder("POETRY_VIRTUALENVS_PATH").or_else(|| cache.map(|cache| cache.join("virtualenvs")))?;
    let names = Folder::of(&CanonicalRoot::open(&environments).ok()?).ok()?;
    let names = names.names(Path::new(""), MAX_ENVIRONMENTS).ok()?;
    let mut found: Vec<((u32, u32), String, PathBuf)> = names
        .into_iter()
        .filter_map(|file_name| {
            let (number, version) = of_project(file_name.to_str()?, &name)?;
            Some((version, number.to_owned(), environments.join(&file_name)))
        })
        .collect();
    found.sort();
    let (_, number, newest) = found.last()?;
    found.iter().all(|(_, other, _)| other == number).then(|| newest.clone())
}

/// Takes `NAME-NUMBER-pyMAJOR.MINOR` apart.
fn of_project<'a>(environment: &'a str, name: &str) -> Option<(&'a str, (u32, u32))> {
    let (number, version) = environment.strip_prefix(name)?.strip_prefix('-')?.rsplit_once("-py")?;
    let (major, minor) = version.split_once('.')?;
    (number.len() == 8).then_some((number, (major.parse().ok()?, minor.parse().ok()?)))
}

/// The project's name, as poetry makes a folder's name of it; nothing for a project that is not poetry's.
fn poetry_name(pyproject: &str) -> Option<String> {
    let mut section = "";
    let mut name = None;
    let mut is_poetry = false;
    for line in pyproject.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
            is_poetry |= section.starts_with("tool.poetry");
        } else if matches!(section, "tool.poetry" | "project")
            && let Some((key, value)) = line.split_once('=')
            && key.trim() == "name"
        {
            name = Some(value.trim().trim_matches(['"', '\'']).to_lowercase());
        } else if line.contains("poetry.core") || line.contains("poetry-core") {
            is_poetry = true;
        }
    }
    let name = name.filter(|name| is_poetry && !name.is_empty())?;
    let is_odd = |c: char| " $`!*@\"\\\r\n\t".contains(c);
    Some(name.chars().map(|c| if is_odd(c) { '_' } else { c }).take(42).collect())
}

fn read(root: &Path, name: &str) -> Option<String> {
    let root = CanonicalRoot::open(root).ok()?;
    let (bytes, _) = Inside::below(&root, name)?.read(MAX_FILE).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Makes environments and files, and looks; the answer is relative to the folder of all.
    #[track_caller]
    fn check(
        environments: &[&str],
        files: &[(&str, &str)],
        variables: &[(&str, &str)],
        expected: Option<&str>,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("project")).unwrap();
        for environment in environments {
            std::fs::create_dir_all(path(environment).join("bin")).unwrap();
            std::fs::write(path(environment).join("bin/python"), "").unwrap();
        }
        for (name, text) in files {
            let text = text.replace("FOLDER", folder.path().to_str().unwrap());
            std::fs::write(path("project").join(name), text).unwrap();
        }
        let variables: BTreeMap<&str, PathBuf> =
            variables.iter().map(|(name, value)| (*name, path(value))).collect();
        let found = find(&path("project"), |name| variables.get(name).map(|value| value.clone().into()));
        assert_eq!(found, expected.map(path), "{environments:?}");
    }

    const POETRY: (&str, &str) = ("pyproject.toml", "[tool.poetry]\nname = \"My App\"\n");

    #[test]
    fn a_projects_own_folder_comes_first() {
        check(&["project/.venv", "shell"], &[], &[("VIRTUAL_ENV", "shell")], Some("project/.venv"));
        check(&["project/venv"], &[], &[], Some("project/venv"));
        check(&["project/.conda"], &[], &[], Some("project/.conda"));
        check(&["project/env"], &[], &[("UV_PROJECT_ENVIRONMENT", "project/env")], Some("project/env"));
        check(&[], &[], &[], None);
    }

    #[test]
    fn what_the_shell_has_activated_is_taken_if_there_is_no_other() {
        check(&["shell", "conda"], &[], &[("CONDA_PREFIX", "conda")], Some("conda"));
        check(
            &["shell", "conda"],
            &[],
            &[("CONDA_PREFIX", "conda"), ("VIRTUAL_ENV", "shell")],
            Some("shell"),
        );
        check(&[], &[], &[("VIRTUAL_ENV", "gone")], None);
    }

    #[test]
    fn pdm_says_itself_which_it_uses() {
        check(&["pdm/x"], &[(".pdm-python", "FOLDER/pdm/x/bin/python\n")], &[], Some("pdm/x"));
        check(&["pdm/x"], &[(".pdm-python", "/bin/sh -c evil")], &[], None);
    }

    #[test]
    fn poetrys_cache_is_looked_through_by_the_projects_name() {
        let places = [
            "cache/pypoetry/virtualenvs/my_app-Ab3_-fGh-py3.9",
            "cache/pypoetry/virtualenvs/my_app-Ab3_-fGh-py3.11",
        ];
        let cache = [("XDG_CACHE_HOME", "cache")];
        check(&places, &[POETRY], &cache, Some(places[1]));
        check(
            &["home/.cache/pypoetry/virtualenvs/my_app-Ab3_-fGh-py3.9"],
            &[POETRY],
            &[("HOME", "home")],
            Some("home/.cache/pypoetry/virtualenvs/my_app-Ab3_-fGh-py3.9"),
        );
        check(
            &["other/my_app-Ab3_-fGh-py3.9"],
            &[POETRY],
            &[("POETRY_VIRTUALENVS_PATH", "other")],
            Some("other/my_app-Ab3_-fGh-py3.9"),
        );
        check(&["cache/pypoetry/virtualenvs/my_app2-Ab3_-fGh-py3.9"], &[POETRY], &cache, None);
        let twice = [
            "cache/pypoetry/virtualenvs/my_app-Ab3_-fGh-py3.9",
            "cache/pypoetry/virtualenvs/my_app-Zz3_-fGh-py3.9",
        ];
        check(&twice, &[POETRY], &cache, None);
        check(&places, &[("pyproject.toml", "[project]\nname = \"my app\"\n")], &cache, None);
        let modern =
            "[project]\nname = \"my app\"\n[build-system]\nbuild-backend = \"poetry.core.masonry.api\"\n";
        check(&places, &[("pyproject.toml", modern)], &cache, Some(places[1]));
    }
}
