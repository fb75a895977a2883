//! What the index tools say, in the command line's own words: a hint is a command that can be run as it stands.

use chartroom_protocol::index::{Hints, ManageAction, ManageHint};

/// Turns the names of tools and their arguments into commands on `root`.
pub(super) fn in_own_words(text: &str, root: &str) -> String {
    let word = shell_word(root);
    let mut own =
        text.replace("create with force=true", &format!("`chartroom index create --force {word}`")).replace(
            "reindex with allowUnnecessaryReindex=true",
            &format!("`chartroom index reindex --force {word}`"),
        );
    own = own.replace("scope='mixed'", "--scope mixed");
    for action in ["create", "reindex", "sync", "status", "clear", "repair"] {
        let command = format!("`chartroom index {action} {word}`");
        let named = format!("action='{action}'");
        for said in
            [format!("manage_index with {named} on '{root}'"), format!("manage_index with {named}"), named]
        {
            own = own.replace(&said, &command);
        }
    }
    own
}

/// The command that mends what an answer complains about, if there is one.
pub(super) fn mending(hints: Option<&Hints>) -> Option<String> {
    let hints = hints?;
    let stale = hints.stale_local.as_ref().map(|stale| &stale.recommended_action);
    let hint = hints.reindex.as_ref().or(stale).or(hints.create.as_ref()).or(hints.status.as_ref())?;
    Some(command(hint))
}

fn command(hint: &ManageHint) -> String {
    let args = &hint.args;
    let action = match args.action {
        ManageAction::Create => "create",
        ManageAction::Reindex => "reindex",
        ManageAction::Sync => "sync",
        ManageAction::Status => "status",
        ManageAction::Clear => "clear",
        ManageAction::Repair => "repair",
    };
    let forced = args.force == Some(true) || args.allow_unnecessary_reindex == Some(true);
    format!("chartroom index {action} {}{}", if forced { "--force " } else { "" }, shell_word(&args.path))
}

/// A word as a shell reads it.
pub(super) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_tool_is_left() {
        for (said, own) in [
            ("Run manage_index with action='reindex' on '/p'.", "Run `chartroom index reindex /p`."),
            ("gone; run manage_index with action='status'.", "gone; run `chartroom index status /p`."),
            (
                "Use action='sync' to bring it up to date, or create with force=true to rebuild it.",
                "Use `chartroom index sync /p` to bring it up to date, or `chartroom index create --force /p` to rebuild it.",
            ),
        ] {
            assert_eq!(in_own_words(said, "/p"), own);
        }
        assert_eq!(in_own_words("action='create'", "/a b"), "`chartroom index create '/a b'`");
    }
}
