//! What commits say, through the real program: search finds by them, and `chartroom index eval` measures on them.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;

use std::path::{Path, PathBuf};

use chartroom_testkit::hostile::git as plain_git;
use program::{Home, finish};
use serde_json::Value;

#[track_caller]
fn git(folder: &Path, args: &[&str]) {
    let output = plain_git(folder, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A shop whose files look alike: what each is for is said by its commits alone.
fn shop(home: &Home) -> PathBuf {
    let folder = home.path().join("shop");
    std::fs::create_dir(&folder).unwrap();
    git(&folder, &["init", "--quiet"]);
    let subjects = [
        (
            "apple.py",
            "Fix parcels that were sent twice",
            "A parcel that the courier had refused was queued again at midnight.",
        ),
        (
            "berry.py",
            "Fix refunds of gift vouchers",
            "The customer got the voucher back and its worth in money as well.",
        ),
        (
            "cherry.py",
            "Fix discounts for regular guests",
            "Whoever came the tenth time paid more than at the ninth visit.",
        ),
    ];
    for (file, ..) in subjects {
        std::fs::write(folder.join(file), format!("def {}_step(value):\n    return value + 1\n", &file[..3]))
            .unwrap();
    }
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message", "First"]);
    for (file, subject, body) in subjects {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        std::fs::write(
            folder.join(file),
            format!("{text}\n\ndef {}_more(value):\n    return value + 2\n", &file[..3]),
        )
        .unwrap();
        git(&folder, &["commit", "--quiet", "--all", "--message", subject, "--message", body]);
    }
    folder
}

/// The first file that a search finds.
fn first(home: &Home, folder: &Path, query: &str) -> Option<String> {
    let (code, stdout, stderr) =
        finish(home.command(&["search", query, "--json", "--path"]).arg(folder).output().unwrap());
    assert_eq!(code, 0, "{stdout} {stderr}");
    let found: Value = serde_json::from_str(&stdout).unwrap();
    found["results"][0]["file"].as_str().map(ToOwned::to_owned)
}

#[test]
fn search_finds_by_what_commits_say_in_a_trusted_repository_and_a_sync_reads_new_ones() {
    let home = Home::new();
    let folder = shop(&home);
    let path = folder.to_str().unwrap();
    assert_eq!(home.run(&["index", "create", path]).0, 0);
    let query = "value of a refund with gift vouchers";
    assert_ne!(
        first(&home, &folder, query).as_deref(),
        Some("berry.py"),
        "git is not asked in a folder nobody trusts"
    );
    assert_eq!(home.run(&["trust", "--yes", path]).0, 0);
    assert_eq!(home.run(&["index", "sync", path]).0, 0);
    assert_eq!(first(&home, &folder, query).as_deref(), Some("berry.py"));
    git(&folder, &["commit", "--quiet", "--allow-empty", "--message", "Nothing"]);
    std::fs::write(folder.join("cherry.py"), "def che_step(value):\n    return value + 3\n").unwrap();
    git(&folder, &["commit", "--quiet", "--all", "--message", "Umbrellas for rainy days"]);
    assert_eq!(home.run(&["index", "sync", path]).0, 0);
    assert_eq!(first(&home, &folder, "`value` of umbrellas on rainy days").as_deref(), Some("cherry.py"));
}

#[test]
fn eval_asks_a_repository_s_own_fixes_of_the_trees_before_them() {
    let home = Home::new();
    let folder = shop(&home);
    let path = folder.to_str().unwrap();
    let (code, _, stderr) = home.run(&["index", "eval", path]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("trust"), "what to do is said: {stderr}");
    assert_eq!(home.run(&["trust", "--yes", path]).0, 0);
    let (code, stdout, stderr) = home.run(&["index", "eval", path, "--ablation"]);
    assert_eq!(code, 0, "{stderr}");
    for part in [
        "### Whole texts",
        "| chartroom | 3 |",
        "| BM25 per file | 3 |",
        "| BM25 per chunk | 3 |",
        "| commits | 3 |",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    let (code, stdout, _) = home.run(&["index", "eval", path, "--json", "--limit", "1"]);
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["n"], 1, "{document}");
    for figure in ["acc1", "acc5", "acc10", "mrr"] {
        assert!(document[figure].is_f64(), "{figure}: {document}");
    }
    assert_eq!(document["baselines"]["BM25 per file"]["n"], 1, "{document}");
    let answers = document["answers"].as_array().unwrap();
    let issue =
        answers.iter().find(|answer| answer["kind"] == "issue" && answer["system"] == "chartroom").unwrap();
    assert_eq!((code, &issue["gold"][0]), (0, &Value::from("cherry.py")), "the newest fix: {issue}");
    let rows = home.path().join("rows.jsonl");
    std::fs::write(&rows, "{\"id\": \"1\"}\n").unwrap();
    let (code, _, stderr) = home.run(&["index", "eval", path, "--set", rows.to_str().unwrap()]);
    assert_eq!((code, stderr.contains("line 1")), (2, true), "{stderr}");
    let (code, _, stderr) = home.run(&["index", "eval", path, "--set", "not/there.jsonl"]);
    assert_eq!((code, stderr.contains("cannot be read")), (3, true), "{stderr}");
    let (code, _, stderr) = home.run(&["index", "eval", "not/there"]);
    assert_eq!(code, 3, "{stderr}");
}

#[test]
fn eval_says_what_is_missing_where_there_is_no_history() {
    let home = Home::new();
    let folder = home.path().join("plain");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.py"), "def a():\n    pass\n").unwrap();
    let path = folder.to_str().unwrap();
    assert_eq!(home.run(&["trust", "--yes", path]).0, 0);
    let (code, _, stderr) = home.run(&["index", "eval", path]);
    assert_eq!((code, stderr.contains("not a git repository")), (3, true), "{stderr}");
    git(&folder, &["init", "--quiet"]);
    let (code, _, stderr) = home.run(&["index", "eval", path]);
    assert_eq!(code, 3, "no commit yet: {stderr}");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message", "First"]);
    let (code, _, stderr) = home.run(&["index", "eval", path]);
    assert_eq!((code, stderr.contains("no commit that can be asked about")), (3, true), "{stderr}");
}
