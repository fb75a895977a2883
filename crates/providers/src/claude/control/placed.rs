//! Where in its file a proposed change is: the CLI tells the old and the new text, a person reads line numbers.

use std::path::Path;

use chartroom_protocol::session::{Question, QuestionBody};
use chartroom_workspace::limits::READ_FILE;
use chartroom_workspace::{CanonicalRoot, boundary};

use crate::json::optional_text;
use serde_json::Value;

/// Moves the diff of an edit that asks for permission to the lines that it is about. A file outside of the project, and a
/// text that is not in its file, leave the numbers as they are: they count from the beginning of the change then.
pub(in crate::claude) fn place(question: &mut Question, input: &Value, project_dir: &Path) {
    let QuestionBody::Permission { detail: Some(detail), .. } = &mut question.body else { return };
    let [diff] = detail.diffs.as_mut_slice() else { return };
    let Some(before) = lines_before(input, project_dir) else { return };
    for hunk in &mut diff.hunks {
        hunk.old_start += before;
        hunk.new_start += before;
    }
}

/// How many lines of the file stand before the text that an edit replaces.
fn lines_before(input: &Value, project_dir: &Path) -> Option<u32> {
    let path = optional_text(input, "/file_path")?;
    let old = optional_text(input, "/old_string").filter(|old| !old.is_empty())?;
    let root = CanonicalRoot::open(project_dir).ok()?;
    let (bytes, _) = boundary::inside(&root, Path::new(path)).ok()?.read(READ_FILE).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let at = text.find(old)?;
    u32::try_from(text[..at].bytes().filter(|byte| *byte == b'\n').count()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::claude::control::Permission;

    #[track_caller]
    fn check(file: &str, old: &str, expected: (u32, u32)) {
        let project = tempfile::tempdir().unwrap();
        std::fs::write(project.path().join("a.rs"), "one\ntwo\nthree\nfour\n").unwrap();
        let path = project.path().join(file);
        let input = json!({"file_path": path, "old_string": old, "new_string": "2"});
        let request = json!({"subtype": "can_use_tool", "tool_name": "Edit", "input": input});
        let mut question = Permission::read("q", &request).question("now".to_owned());
        place(&mut question, &input, project.path());
        let QuestionBody::Permission { detail, .. } = question.body else { panic!("it is a permission") };
        let hunk = detail.unwrap().diffs[0].hunks[0].clone();
        assert_eq!((hunk.old_start, hunk.new_start), expected, "{file} {old}");
    }

    #[test]
    fn an_edit_has_the_line_numbers_of_its_file() {
        check("a.rs", "one", (1, 1));
        check("a.rs", "three", (3, 3));
        check("a.rs", "wo\nthree", (2, 2));
        check("a.rs", "nowhere", (1, 1));
        check("missing.rs", "three", (1, 1));
        check("../outside.rs", "three", (1, 1));
    }
}
