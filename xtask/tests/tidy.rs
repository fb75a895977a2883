//! Tidy: what the map says about the house is true, rooms are small, docs name files that exist.

#![allow(clippy::unwrap_used)]

#[path = "tidy/dependencies.rs"]
mod dependencies;
#[path = "tidy/docs.rs"]
mod docs;
#[path = "tidy/files.rs"]
mod files;
#[path = "tidy/invariants.rs"]
mod invariants;
#[path = "tidy/modules.rs"]
mod modules;
#[path = "tidy/sizes.rs"]
mod sizes;

use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Every file that git would track, as a path relative to the root.
fn files() -> Vec<PathBuf> {
    let walk =
        ignore::WalkBuilder::new(root()).hidden(false).filter_entry(|e| e.file_name() != ".git").build();
    let mut files: Vec<PathBuf> = walk
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(|entry| entry.path().strip_prefix(root()).unwrap().to_owned())
        .collect();
    files.sort();
    files
}
