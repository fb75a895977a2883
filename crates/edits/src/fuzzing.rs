//! What the fuzz targets feed: a patch, and the text of the file that it is applied to.

use crate::patch::{self, Change};
use crate::text::Text;

/// Reads a patch and applies each of its updates to the text. What comes out is text that can be written.
pub fn apply_patch(patch: &str, text: &str) {
    let Ok(changes) = patch::parse(patch) else { return };
    let text = Text::of(text.to_owned());
    for change in changes {
        if let Change::Update { hunks, .. } = change
            && let Ok(changed) = patch::apply(&text, "a", &hunks)
        {
            // A patch can add no more than it says itself.
            assert!(changed.content.len() <= (text.content.len() + patch.len()) * 2 + 16);
        }
    }
}
