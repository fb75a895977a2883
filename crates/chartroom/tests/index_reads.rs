//! Commands that only read leave the catalog as it is, byte for byte, whatever a crash left in it: what is damaged,
//! missing or unfinished is told, and settled by the next action that changes something.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;

use std::path::PathBuf;

use program::Home;
use serde_json::Value;

struct Story {
    home: Home,
    project: String,
}

impl Story {
    /// An indexed folder of a few files.
    fn new() -> Self {
        let home = Home::new();
        std::fs::create_dir(home.path().join("shop")).unwrap();
        home.write("shop/a.py", "def alpha(x):\n    return beta(x)\n\n\ndef beta(y):\n    return y\n");
        let project = home.path().join("shop").display().to_string();
        let story = Self { home, project };
        let (code, text, stderr) = story.home.run(&["index", "create", &story.project]);
        assert_eq!(code, 0, "{text}{stderr}");
        story
    }

    fn catalog(&self) -> PathBuf {
        self.home.data().join("codebases.json")
    }

    /// The catalog's bytes; nothing when there is no file.
    fn bytes(&self) -> Option<Vec<u8>> {
        std::fs::read(self.catalog()).ok()
    }

    /// Runs every command that reads the index and shows that none changed the catalog.
    #[track_caller]
    fn read_everything(&self, what: &str) {
        let before = self.bytes();
        let file = format!("{}/a.py", self.project);
        let arguments = format!(r#"{{"path": {:?}, "query": "alpha"}}"#, self.project);
        let commands: &[&[&str]] = &[
            &["index", "status", &self.project],
            &["index", "list"],
            &["search", "alpha", "--path", &self.project],
            &["outline", &file],
            &["calls", &file, "beta"],
            &["doctor", &self.project],
            &["tool", "list"],
            &["tool", "call", "search_codebase", "--args-json", &arguments],
            &["tool", "call", "list_codebases"],
        ];
        for command in commands {
            let (_, text, stderr) = self.home.run(command);
            assert!(self.bytes() == before, "{what}: {command:?} changed the catalog\n{text}\n{stderr}");
        }
    }
}

// INV-1, INV-5
#[test]
fn a_read_after_a_killed_build_leaves_the_catalog_as_it_is() {
    let story = Story::new();
    let mut catalog: Value = serde_json::from_slice(&story.bytes().unwrap()).unwrap();
    let entry = &mut catalog["codebases"][&story.project];
    entry["status"] = "indexing".into();
    entry["indexingPercentage"] = 40.into();
    entry["operation"]["phase"] = "processing".into();
    std::fs::write(story.catalog(), serde_json::to_vec(&catalog).unwrap()).unwrap();
    story.read_everything("a killed build");
    // An action settles it.
    let (code, text, _) = story.home.run(&["index", "sync", &story.project]);
    assert_eq!(code, 0, "{text}");
    let settled: Value = serde_json::from_slice(&story.bytes().unwrap()).unwrap();
    assert_eq!(settled["codebases"][&story.project]["status"], "sync_completed");
}

// INV-1, INV-5
#[test]
fn a_read_without_a_catalog_answers_from_the_markers_and_makes_none() {
    let story = Story::new();
    std::fs::remove_file(story.catalog()).unwrap();
    story.read_everything("no catalog");
    let (code, text, _) = story.home.run(&["search", "alpha", "--path", &story.project]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("a.py"), "{text}");
    let (code, text, _) = story.home.run(&["index", "sync", &story.project]);
    assert_eq!(code, 0, "{text}");
    assert!(story.bytes().is_some(), "an action writes it down");
}

// INV-1, INV-5
#[test]
fn a_read_of_a_damaged_catalog_leaves_it_where_it_is() {
    let story = Story::new();
    std::fs::write(story.catalog(), "{").unwrap();
    story.read_everything("damage");
    let (code, text, _) = story.home.run(&["index", "status", &story.project]);
    assert_eq!(code, 0, "{text}");
}
