//! Maven and Gradle: the build that a module is part of.

use std::path::{Path, PathBuf};

use super::manifest::{Place, lead};

const SETTINGS: &[&str] = &["settings.gradle", "settings.gradle.kts"];

/// The folder of the outermost pom.xml that has the module among its `<modules>`, or has one that does.
pub(super) fn maven_root(place: &Place<'_>) -> Option<PathBuf> {
    let mut root = place.has(place.folder, "pom.xml").then_some(place.folder)?;
    for above in place.above() {
        let modules = place.text(above, "pom.xml").map(|text| modules(&text)).unwrap_or_default();
        let mut modules = modules.iter().filter_map(|module| lead(above, module));
        // A module is a folder, or the file itself.
        if modules
            .any(|module| module == root || module.parent() == Some(root) && module.ends_with("pom.xml"))
        {
            root = above;
        }
    }
    Some(root.to_owned())
}

/// The folder of the nearest settings file, which is the root of a Gradle build.
pub(super) fn gradle_root(place: &Place<'_>) -> Option<PathBuf> {
    let has_settings = |folder: &&Path| SETTINGS.iter().any(|name| place.has(folder, name));
    place.upwards().find(has_settings).map(Path::to_path_buf)
}

/// What stands in the `<module>` elements of a pom.xml, comments left out.
fn modules(text: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        plain.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let elements = plain.split("<module>").skip(1);
    elements.filter_map(|element| Some(element.split_once("</module>")?.0.trim().to_owned())).collect()
}
