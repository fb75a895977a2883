use proptest::prelude::*;
use similar::TextDiff;

use super::*;
use crate::text::Text;

/// Applies a patch of one file to a text.
fn patched(content: &str, patch: &str) -> Result<String, String> {
    let changes = parse(patch).map_err(|error| error.to_string())?;
    match changes.as_slice() {
        [Change::Update { path, hunks, .. }] => {
            let text = Text::of(content.to_owned());
            apply(&text, path, hunks).map(|text| text.content).map_err(|error| error.to_string())
        }
        other => Err(format!("{other:?}")),
    }
}

#[track_caller]
fn check(content: &str, patch: &str, expected: Result<&str, &str>) {
    assert_eq!(patched(content, patch).as_deref().map_err(String::as_str), expected);
}

const HEAD: &str = "--- a/f\n+++ b/f\n";

#[test]
fn a_unified_diff_is_applied_where_its_lines_are() {
    check("a\nb\nc\n", &format!("{HEAD}@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"), Ok("a\nx\nc\n"));
    // The numbers are wrong, the lines are not.
    check("0\n1\na\nb\nc\n", &format!("{HEAD}@@ -40,3 +40,3 @@\n a\n-b\n+x\n c\n"), Ok("0\n1\na\nx\nc\n"));
    // Of two places the nearer one is taken.
    check("a\na\na\n", &format!("{HEAD}@@ -2 +2 @@\n-a\n+x\n"), Ok("a\nx\na\n"));
    check("", &format!("{HEAD}@@ -0,0 +1 @@\n+x\n"), Ok("x\n"));
}

#[test]
fn line_endings_and_the_final_newline_stay_unless_the_patch_says_otherwise() {
    check("a\r\nb\r\n", &format!("{HEAD}@@ -1,2 +1,3 @@\n a\n+x\n b\n"), Ok("a\r\nx\r\nb\r\n"));
    check("a\nb", &format!("{HEAD}@@ -2 +2 @@\n-b\n+x\n"), Ok("a\nx"));
    check("a\nb", &format!("{HEAD}@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+x\n"), Ok("a\nx\n"));
    check("a\nb\n", &format!("{HEAD}@@ -2 +2 @@\n-b\n+x\n\\ No newline at end of file\n"), Ok("a\nx"));
}

#[test]
fn a_hunk_without_a_place_says_what_was_looked_for_and_what_is_there() {
    check(
        "let total = 1;\n",
        &format!("{HEAD}@@ -1 +1 @@\n-let totl = 1;\n+x\n"),
        Err("the text was not found in f:\nlet totl = 1;\nthe nearest match is at line 1:\nlet total = 1;"),
    );
}

#[test]
fn the_envelope_updates_by_context_and_anchor() {
    let patch = |body: &str| format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n");
    check("a\nb\nc\n", &patch("@@\n a\n-b\n+x\n"), Ok("a\nx\nc\n"));
    check(
        "fn one()\n  x\nfn two()\n  x\n",
        &patch("@@ fn two()\n-  x\n+  y\n"),
        Ok("fn one()\n  x\nfn two()\n  y\n"),
    );
    check("a\nb\n", &patch("@@\n+end\n"), Ok("a\nb\nend\n"));
    check("a\nb\na\n", &patch("@@\n-a\n+z\n*** End of File\n"), Ok("a\nb\nz\n"));
    check("a\n", &patch("@@ nowhere\n-a\n+z\n"), Err("the text was not found in f:\nnowhere\n"));
}

#[test]
fn both_forms_add_delete_and_move() {
    let envelope = "*** Begin Patch\n*** Add File: n\n+one\n+two\n*** Delete File: d\n*** Update File: o\n*** Move to: m\n@@\n-a\n+b\n*** End Patch";
    let unified = "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+one\n+two\n\
        diff --git a/d b/d\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
        diff --git a/o b/m\nsimilarity index 50%\nrename from o\nrename to m\n--- a/o\n+++ b/m\n@@ -1 +1 @@\n-a\n+b\n";
    let names = |patch: &str| -> Vec<String> {
        parse(patch)
            .unwrap()
            .into_iter()
            .map(|change| match change {
                Change::Add { path, content } => format!("add {path} {content:?}"),
                Change::Delete { path } => format!("delete {path}"),
                Change::Update { path, move_to, hunks } => {
                    format!("update {path} {move_to:?} {}", hunks.len())
                }
            })
            .collect()
    };
    let expected = ["add n \"one\\ntwo\\n\"", "delete d", "update o Some(\"m\") 1"];
    assert_eq!(names(envelope), expected);
    assert_eq!(names(unified), expected);
    let rename = "diff --git a/o b/m\nsimilarity index 100%\nrename from o\nrename to m\n";
    assert_eq!(names(rename), ["update o Some(\"m\") 0"]);
}

#[test]
fn what_is_no_patch_is_said_to_be_none() {
    for (patch, part) in [
        ("hello", "it names no file"),
        ("*** Begin Patch\n*** Update File: f\n", "`*** End Patch` is missing"),
        ("*** Begin Patch\nnonsense\n*** End Patch", "this line is not understood: nonsense"),
        ("@@ -1 +1 @@\n-a\n+b\n", "before `---` and `+++` name its file"),
        ("--- a/f\n+++ b/f\n", "the change of f is empty"),
    ] {
        let error = parse(patch).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_hunk_that_only_adds_does_not_move_the_ones_behind_it() {
    // Without context, both lines `c` fit the second hunk; its number says which is meant.
    let patch = "--- a/f\n+++ b/f\n@@ -1,0 +2 @@\n+n\n@@ -2 +3 @@\n-c\n+d\n";
    assert_eq!(patched("a\nc\nc\n", patch), Ok("a\nn\nd\nc\n".to_owned()));
}

proptest! {
    /// What a diff tool writes turns the old text into the new one, byte for byte.
    #[test]
    fn a_diff_of_two_texts_turns_one_into_the_other(
        old in "([a-d]{0,2}\n){0,12}[a-d]{0,2}",
        new in "([a-d]{0,2}\n){0,12}[a-d]{0,2}",
        context in 0usize..4,
    ) {
        prop_assume!(old != new && !old.is_empty());
        let diff = TextDiff::from_lines(&old, &new);
        let patch = diff.unified_diff().context_radius(context).header("a/f", "b/f").to_string();
        // Without context a diff of repeated lines has several readings; its line numbers decide.
        prop_assert_eq!(patched(&old, &patch), Ok(new));
    }

    #[test]
    fn no_patch_panics(patch in "(\\*\\*\\* |--- |\\+\\+\\+ |@@ |[-+ ]|\n|[a-z0-9,/]){0,40}", content in "[a-c\n\r]{0,20}") {
        if let Ok(changes) = parse(&patch) {
            for change in changes {
                if let Change::Update { hunks, .. } = change {
                    drop(apply(&Text::of(content.clone()), "f", &hunks));
                }
            }
        }
    }
}
