//! What Claude Code suggests for "always", in words: rules, folders and modes. What we cannot put into words is not
//! offered, and what is chosen is sent back alone: the CLI would take all of its suggestions at once.

use chartroom_protocol::session::{Grant, GrantScope};
use serde_json::Value;

use crate::json::{list, text};

/// A suggestion of the CLI's, with its words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Suggested {
    pub(super) grant: Grant,
    /// As it came.
    pub(super) update: Value,
    width: Width,
}

/// How much a suggestion lets through, the narrowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Width {
    Exact,
    Rule,
    Folder,
    Tool,
    Mode,
}

/// Reads the suggestions of a `can_use_tool` request, narrow before wide. `command` is what is asked about, if it is one.
pub(super) fn suggested(suggestions: &[Value], command: Option<&str>) -> Vec<Suggested> {
    let mut all: Vec<Suggested> = suggestions
        .iter()
        .enumerate()
        .filter_map(|(index, update)| {
            let scope = scope(text(update, "/destination"))?;
            let (what, width) = words(update, command)?;
            let is_wider = width != Width::Exact;
            let grant = Grant { grant_id: format!("suggested-{index}"), what, scope, is_wider };
            Some(Suggested { grant, update: update.clone(), width })
        })
        .collect();
    all.sort_by_key(|suggested| suggested.width);
    all
}

fn scope(destination: &str) -> Option<GrantScope> {
    match destination {
        "session" => Some(GrantScope::Session),
        "localSettings" => Some(GrantScope::Project),
        "projectSettings" => Some(GrantScope::SharedProject),
        "userSettings" => Some(GrantScope::Everywhere),
        _ => None,
    }
}

fn words(update: &Value, command: Option<&str>) -> Option<(String, Width)> {
    match text(update, "/type") {
        "addRules" if text(update, "/behavior") == "allow" => {
            let rules: Vec<(String, Width)> =
                list(update, "/rules").iter().map(|rule| rule_words(rule, command)).collect();
            let width = rules.iter().map(|(_, width)| *width).max()?;
            let what: Vec<String> = rules.into_iter().map(|(what, _)| what).collect();
            Some((what.join(" and "), width))
        }
        "addDirectories" => {
            let folders: Vec<&str> = list(update, "/directories").iter().filter_map(Value::as_str).collect();
            let named = (!folders.is_empty()).then(|| folders.join("`, `"))?;
            Some((format!("work in the folder `{named}`"), Width::Folder))
        }
        "setMode" => {
            let what = match text(update, "/mode") {
                "acceptEdits" => {
                    "every change to files of this project, and commands such as `rm`, `mv`, `cp`, `mkdir` on them \
                     (mode Accept edits)"
                }
                "default" => "what is asked about now, and back to asking (mode Ask)",
                "bypassPermissions" => "everything, without any question",
                _ => return None,
            };
            Some((what.to_owned(), Width::Mode))
        }
        _ => None,
    }
}

fn rule_words(rule: &Value, command: Option<&str>) -> (String, Width) {
    let tool = text(rule, "/toolName");
    let content = text(rule, "/ruleContent");
    if content.is_empty() {
        let what = match tool {
            "Bash" => "every command".to_owned(),
            _ => format!("`{tool}` with any arguments"),
        };
        return (what, Width::Tool);
    }
    if tool != "Bash" {
        return match content.strip_prefix("domain:") {
            Some(domain) => (format!("`{tool}` on `{domain}`"), Width::Rule),
            None => (format!("`{tool}` on `{content}`"), Width::Rule),
        };
    }
    let any = content.strip_suffix(":*").or_else(|| content.strip_suffix(" *"));
    match any {
        Some(prefix) if !prefix.contains('*') => (format!("`{prefix}` with any arguments"), Width::Rule),
        _ if content.contains('*') => {
            (format!("commands like `{content}`, where `*` is anything"), Width::Rule)
        }
        _ if command == Some(content) => ("exactly this command".to_owned(), Width::Exact),
        _ => (format!("exactly the command `{content}`"), Width::Rule),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(suggestions: &Value, expected: &Expect) {
        let lines: Vec<String> = suggested(suggestions.as_array().expect("a list"), Some("rm -rf aaa"))
            .into_iter()
            .map(|Suggested { grant, .. }| {
                let wider = if grant.is_wider { "wider " } else { "" };
                format!("{} {wider}{:?}: {}\n", grant.grant_id, grant.scope, grant.what)
            })
            .collect();
        expected.assert_eq(&lines.concat());
    }

    #[test]
    fn narrow_comes_first_and_each_says_its_width() {
        check(
            &json!([
                {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
                {"type": "addDirectories", "directories": ["/tmp/x"], "destination": "session"},
                {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "userSettings"},
                {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "rm:*"}], "behavior": "allow",
                    "destination": "projectSettings"},
                {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "rm -rf aaa"}], "behavior": "allow",
                    "destination": "localSettings"},
            ]),
            &expect![[r#"
                suggested-4 Project: exactly this command
                suggested-3 wider SharedProject: `rm` with any arguments
                suggested-1 wider Session: work in the folder `/tmp/x`
                suggested-2 wider Everywhere: every command
                suggested-0 wider Session: every change to files of this project, and commands such as `rm`, `mv`, `cp`, `mkdir` on them (mode Accept edits)
            "#]],
        );
    }

    #[test]
    fn rules_are_said_as_the_cli_reads_them() {
        let rule = |tool: &str, content: &str| {
            json!({"type": "addRules", "rules": [{"toolName": tool, "ruleContent": content}], "behavior": "allow",
                "destination": "session"})
        };
        check(
            &json!([
                rule("Bash", "npm run test *"),
                rule("Bash", "git * main"),
                rule("Bash", "ls"),
                rule("WebFetch", "domain:example.com"),
                rule("Read", "//etc/**"),
            ]),
            &expect![[r#"
                suggested-0 wider Session: `npm run test` with any arguments
                suggested-1 wider Session: commands like `git * main`, where `*` is anything
                suggested-2 wider Session: exactly the command `ls`
                suggested-3 wider Session: `WebFetch` on `example.com`
                suggested-4 wider Session: `Read` on `//etc/**`
            "#]],
        );
    }

    #[test]
    fn what_has_no_words_is_not_offered() {
        check(
            &json!([
                {"type": "addRules", "rules": [], "behavior": "allow", "destination": "session"},
                {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "deny", "destination": "session"},
                {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "moon"},
                {"type": "setMode", "mode": "new mode", "destination": "session"},
                {"type": "later"},
            ]),
            &expect![[""]],
        );
    }
}
