//! The contents that files had: how two of them differ, and their bytes.

use chartroom_protocol::changes::FilePatch;

use crate::place::is_id;
use crate::records::Records;
use crate::{CheckpointError, MAX_FILE_BYTES};

/// A longer patch is cut.
const MAX_PATCH_BYTES: usize = 24 << 20;

impl Records {
    /// Compares two contents of a file with so many lines around each change. Without the one before, the file is new;
    /// without the one after, it is gone.
    pub async fn file_patch(
        &self,
        before: Option<&str>,
        after: Option<&str>,
        context: u32,
    ) -> Result<FilePatch, CheckpointError> {
        for id in [before, after].into_iter().flatten() {
            self.size(id).await?;
        }
        let patch = match (before, after) {
            (Some(before), Some(after)) => {
                let context = format!("-U{context}");
                let question = [
                    "-c",
                    "diff.suppressBlankEmpty=false",
                    "diff",
                    "--no-ext-diff",
                    "--no-textconv",
                    "--no-color",
                    "--text",
                    &context,
                    before,
                    after,
                ];
                hunks(self.git.ask(&question).await?)
            }
            (None, Some(id)) => all_of(&self.content(id).await?, b'+'),
            (Some(id), None) => all_of(&self.content(id).await?, b'-'),
            (None, None) => Vec::new(),
        };
        Ok(told(&patch))
    }

    /// Returns the bytes of a content.
    pub async fn content(&self, id: &str) -> Result<Vec<u8>, CheckpointError> {
        self.size(id).await?;
        self.git.ask(&["cat-file", "blob", id]).await
    }

    /// How large a content is, if it may be shown at all.
    async fn size(&self, id: &str) -> Result<u64, CheckpointError> {
        let none = || CheckpointError::NoContent { id: id.to_owned() };
        // Anything else could be an option or a path.
        if !is_id(id) {
            return Err(none());
        }
        let answer = self.git.line(&["cat-file", "--batch-check=%(objecttype) %(objectsize)"], id.as_bytes());
        let answer = answer.await?;
        let size = answer.strip_prefix("blob ").and_then(|size| size.parse().ok()).ok_or_else(none)?;
        if size > MAX_FILE_BYTES {
            return Err(CheckpointError::TooLarge { id: id.to_owned(), bytes: size });
        }
        Ok(size)
    }
}

/// Leaves out what git writes before the first hunk.
fn hunks(patch: Vec<u8>) -> Vec<u8> {
    let mut left = &patch[..];
    while !left.is_empty() && !left.starts_with(b"@@") {
        let end = left.iter().position(|byte| *byte == b'\n').map_or(left.len(), |end| end + 1);
        left = &left[end..];
    }
    left.to_vec()
}

/// A file that came or went as one hunk.
fn all_of(content: &[u8], sign: u8) -> Vec<u8> {
    if content.is_empty() {
        return Vec::new();
    }
    let whole = content.ends_with(b"\n");
    let lines: Vec<&[u8]> =
        content.strip_suffix(b"\n").unwrap_or(content).split(|byte| *byte == b'\n').collect();
    let head = match sign {
        b'+' => format!("@@ -0,0 +1,{} @@\n", lines.len()),
        _ => format!("@@ -1,{} +0,0 @@\n", lines.len()),
    };
    let mut patch = Vec::with_capacity(content.len() + lines.len() + head.len());
    patch.extend(head.as_bytes());
    for line in lines {
        patch.push(sign);
        patch.extend(line);
        patch.push(b'\n');
    }
    if !whole {
        patch.extend(b"\\ No newline at end of file\n");
    }
    patch
}

/// Bytes that are no text are replaced; it ends with a whole line.
fn told(patch: &[u8]) -> FilePatch {
    let kept = match patch.get(..MAX_PATCH_BYTES) {
        Some(kept) => &kept[..kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)],
        None => patch,
    };
    FilePatch { patch: String::from_utf8_lossy(kept).into_owned(), truncated: kept.len() < patch.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_came_or_went_is_one_hunk() {
        let text = |content: &str, sign| String::from_utf8(all_of(content.as_bytes(), sign)).unwrap();
        assert_eq!(text("a\n\nb\n", b'+'), "@@ -0,0 +1,3 @@\n+a\n+\n+b\n");
        assert_eq!(text("a", b'-'), "@@ -1,1 +0,0 @@\n-a\n\\ No newline at end of file\n");
        assert_eq!(text("", b'+'), "");
    }

    #[test]
    fn what_stands_before_the_first_hunk_is_left_out() {
        let patch = b"diff --git a/1 b/2\nindex 1..2\n--- a/1\n+++ b/2\n@@ -1 +1 @@\n-a\n+@@\n";
        assert_eq!(hunks(patch.to_vec()), b"@@ -1 +1 @@\n-a\n+@@\n");
        assert_eq!(hunks(b"Binary files differ\n".to_vec()), b"");
    }

    #[test]
    fn only_hexadecimal_ids_are_asked_for() {
        let name = "0123456789abcdef0123456789abcdef01234567";
        assert!(is_id(name));
        for wrong in ["", "HEAD", "main", "--help", "-p", "@", ":a.txt", "HEAD:a.txt", "../../etc/passwd"] {
            assert!(!is_id(wrong), "{wrong}");
        }
        assert!(
            !is_id(&format!("{name}^")) && !is_id(&format!("{name}\nHEAD")) && !is_id(&format!(" {name}"))
        );
    }

    #[test]
    fn a_patch_without_end_is_cut_after_a_line() {
        let patch = b"+0123456789abcde\n".repeat(MAX_PATCH_BYTES / 16);
        let told = told(&patch);
        assert!(told.truncated && told.patch.ends_with("e\n") && told.patch.len() <= MAX_PATCH_BYTES);
    }
}
