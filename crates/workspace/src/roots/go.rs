//! Go: the `go.work` that uses a module.

use std::path::{Path, PathBuf};

use super::manifest::{Place, lead};

const WORK: &str = "go.work";

/// The folder of the nearest `go.work`, if it uses the module; nothing for a module that stands alone.
pub(super) fn root(place: &Place<'_>) -> Option<PathBuf> {
    let work = place.upwards().find(|folder| place.has(folder, WORK))?;
    let uses = used(&place.text(work, WORK)?).into_iter().filter_map(|path| lead(work, &path));
    let is_used = place.folder == work || uses.into_iter().any(|used| used == place.folder);
    is_used.then(|| Path::to_path_buf(work))
}

/// The paths of the `use` lines, of both forms.
fn used(text: &str) -> Vec<String> {
    let mut in_block = false;
    let mut paths = Vec::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let path = if in_block {
            if line == ")" {
                in_block = false;
                continue;
            }
            line
        } else {
            match line.strip_prefix("use").map(str::trim_start) {
                Some("(") => {
                    in_block = true;
                    continue;
                }
                Some(path) => path,
                None => continue,
            }
        };
        if !path.is_empty() {
            paths.push(path.trim_matches(['"', '`']).to_owned());
        }
    }
    paths
}
