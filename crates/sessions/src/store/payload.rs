//! The payload of a row: JSON text that is made once.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// JSON text. What a session says live is a part of the frame in which readers get it, and shares its memory.
#[derive(Clone)]
pub struct Payload {
    text: Arc<str>,
    place: Range<usize>,
}

impl Payload {
    /// Returns a part of a text; the whole of it, if it has no such part.
    pub(crate) fn within(text: Arc<str>, place: Range<usize>) -> Self {
        if text.get(place.clone()).is_some() { Self { text, place } } else { Self::from(text) }
    }
}

impl Deref for Payload {
    type Target = str;

    fn deref(&self) -> &str {
        self.text.get(self.place.clone()).unwrap_or_default()
    }
}

impl From<Arc<str>> for Payload {
    fn from(text: Arc<str>) -> Self {
        let place = 0..text.len();
        Self { text, place }
    }
}

impl From<String> for Payload {
    fn from(text: String) -> Self {
        Arc::<str>::from(text).into()
    }
}

impl From<&str> for Payload {
    fn from(text: &str) -> Self {
        Arc::<str>::from(text).into()
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Payload {}

impl std::fmt::Debug for Payload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&**self, f)
    }
}
