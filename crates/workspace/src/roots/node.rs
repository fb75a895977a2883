//! npm, pnpm, yarn, bun: the package whose `workspaces` name a package, or the folder of its lock file.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::manifest::Place;
use super::members;

/// What a package manager leaves where it installed.
const LOCKS: &[&str] =
    &["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"];

/// The folder from which the package's dependencies are installed; nothing for a package that stands alone.
pub(super) fn root(place: &Place<'_>) -> Option<PathBuf> {
    let package = place.upwards().find(|folder| place.has(folder, "package.json"));
    let of_workspace = package.and_then(|package| {
        let package = Place { root: place.root, folder: package };
        package.upwards().find(|above| takes(&package, above)).map(Path::to_path_buf)
    });
    of_workspace.or_else(|| {
        let is_installed = |folder: &&Path| LOCKS.iter().any(|lock| place.has(folder, lock));
        place.upwards().find(is_installed).map(Path::to_path_buf)
    })
}

/// Whether the folder has workspaces to which the package belongs.
fn takes(package: &Place<'_>, above: &Path) -> bool {
    let Some(patterns) = workspaces(package, above) else { return false };
    above == package.folder || members::include(&patterns, above, package.folder)
}

/// The patterns of a folder's workspaces; nothing when it has none.
fn workspaces(place: &Place<'_>, folder: &Path) -> Option<Vec<String>> {
    if let Some(text) = place.text(folder, "pnpm-workspace.yaml") {
        return Some(pnpm_packages(&text));
    }
    let manifest = place.json(folder, "package.json")?;
    let workspaces = manifest.get("workspaces")?;
    // Yarn 1 has them one level deeper.
    let list = workspaces.as_array().or_else(|| workspaces.get("packages").and_then(Value::as_array))?;
    Some(list.iter().filter_map(|pattern| Some(pattern.as_str()?.to_owned())).collect())
}

/// The list `packages` of a pnpm-workspace.yaml, in either of the two forms that YAML has for a list of words.
fn pnpm_packages(text: &str) -> Vec<String> {
    let mut lines = text.lines();
    let Some(rest) = lines.find_map(|line| line.strip_prefix("packages:")) else { return Vec::new() };
    let rest = without_comment(rest);
    if let Some(list) = rest.strip_prefix('[') {
        // It may go on over several lines.
        let list: String = std::iter::once(list).chain(lines).map(without_comment).collect();
        let list = list.split(']').next().unwrap_or_default();
        return list.split(',').map(unquoted).filter(|word| !word.is_empty()).collect();
    }
    lines
        .map(without_comment)
        .filter(|line| !line.is_empty())
        .map_while(|line| line.strip_prefix('-'))
        .map(unquoted)
        .collect()
}

fn without_comment(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with('#') { "" } else { line.split(" #").next().unwrap_or_default().trim() }
}

fn unquoted(word: &str) -> String {
    word.trim().trim_matches(['"', '\'']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_of_a_pnpm_workspace_are_read_in_both_forms() {
        let check = |text: &str, expected: &[&str]| assert_eq!(pnpm_packages(text), expected, "{text}");
        check(
            "packages:\n  - 'packages/*' # all\n  # none\n\n  - \"!**/test/**\"\ncatalog:\n  - x\n",
            &["packages/*", "!**/test/**"],
        );
        check("catalog: {}\npackages: [ a, 'b/*',\n  \"c\" ]\n", &["a", "b/*", "c"]);
        check("packages:\n- a\n- b\n", &["a", "b"]);
        check("packages:\n", &[]);
        check("onlyBuiltDependencies:\n  - esbuild\n", &[]);
    }
}
