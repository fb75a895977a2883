//! TypeScript project references: the outermost tsconfig.json above a project that refers to it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::manifest::{Place, lead};

const CONFIG: &str = "tsconfig.json";
/// More configs than this are not followed.
const MAX_CONFIGS: usize = 200;

/// The folder of the outermost config that leads here by references; nothing when none does.
pub(super) fn root(place: &Place<'_>) -> Option<PathBuf> {
    let own = place.upwards().find(|folder| place.has(folder, CONFIG))?;
    let own = Place { root: place.root, folder: own };
    let above: Vec<&Path> = own.above().filter(|above| place.has(above, CONFIG)).collect();
    above.into_iter().rev().find(|above| leads_to(&own, above)).map(Path::to_path_buf)
}

/// Whether the references of a config, and those of what it refers to, lead to the project.
fn leads_to(own: &Place<'_>, from: &Path) -> bool {
    let mut seen = BTreeSet::from([from.join(CONFIG)]);
    let mut waiting = vec![from.join(CONFIG)];
    while let Some(config) = waiting.pop() {
        let (Some(folder), Some(name)) = (config.parent(), config.file_name().and_then(|name| name.to_str()))
        else {
            continue;
        };
        let Some(parsed) = own.json(folder, name) else { continue };
        let references = parsed.get("references").and_then(Value::as_array).into_iter().flatten();
        for path in references.filter_map(|reference| reference.get("path")?.as_str()) {
            let Some(target) = lead(folder, path) else { continue };
            // A reference names a folder, or the config itself.
            let target = if path.ends_with(".json") { target } else { target.join(CONFIG) };
            if target.parent() == Some(own.folder) {
                return true;
            }
            if seen.len() < MAX_CONFIGS && seen.insert(target.clone()) {
                waiting.push(target);
            }
        }
    }
    false
}
