//! How far a server's answer can be believed, in words: with the server's own where it has some.

use chartroom_protocol::lsp::Freshness;

/// Returns why an answer is not all there is to say, and what the server itself says; nothing when there is no doubt.
pub fn doubt(id: &str, freshness: Freshness, said: Option<&str>) -> Option<String> {
    let (what, joint) = match freshness {
        Freshness::Current => return said.map(|said| format!("{id} says: {said}")),
        Freshness::Loading => ("is still loading", "; it says: "),
        Freshness::TimedOut => ("did not answer in time", "; it says: "),
        Freshness::Failed => ("cannot load the project", ": "),
    };
    let said = said.map(|said| format!("{joint}{said}")).unwrap_or_default();
    Some(format!("{id} {what}{said}"))
}
