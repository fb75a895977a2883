//! C and C++: the folder whose compilation database clangd reads, or the outermost CMakeLists.txt.

use std::path::{Path, PathBuf};

use super::manifest::Place;

const DATABASE: &str = "compile_commands.json";

/// The nearest folder upwards with a compilation database, in it or in its `build`, as clangd looks for it; without one
/// the outermost of the CMakeLists.txt, of which every folder has its own.
pub(super) fn root(place: &Place<'_>) -> Option<PathBuf> {
    let has_database =
        |folder: &&Path| place.has(folder, DATABASE) || place.has(&folder.join("build"), DATABASE);
    let database = place.upwards().find(has_database);
    let outermost = || place.upwards().filter(|folder| place.has(folder, "CMakeLists.txt")).last();
    database.or_else(outermost).map(Path::to_path_buf)
}
