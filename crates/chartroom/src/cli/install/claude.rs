//! Claude Code: `mcpServers` in `~/.claude.json`, the PostToolUse hook in `~/.claude/settings.json`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::Act;
use super::file::{Change, read};
use crate::after_edit::TOOLS as HOOK_TOOLS;

const HOOK_EVENT: &str = "PostToolUse";

pub(super) fn changes(
    home: &Path,
    config_dir: Option<PathBuf>,
    program: &Path,
    act: Act,
) -> Result<Vec<Change>, String> {
    let (servers, settings) = match config_dir {
        Some(folder) => (folder.join(".claude.json"), folder.join("settings.json")),
        None => (home.join(".claude.json"), home.join(".claude").join("settings.json")),
    };
    let program = program.display().to_string();
    Ok(vec![
        change(&servers, act, "MCP server chartroom", |root| set_server(root, &program, act))?,
        change(&settings, act, "hook after edits", |root| set_hook(root, &program, act))?,
    ])
}

fn change(
    path: &Path,
    act: Act,
    what: &str,
    edit: impl FnOnce(&mut Map<String, Value>) -> Result<(), &'static str>,
) -> Result<Change, String> {
    let before = read(path)?;
    let text = before.as_deref().unwrap_or_default();
    let alone = |why: &str| format!("{} is left alone: {why}; mend it first", path.display());
    let mut root = if text.trim().is_empty() {
        Map::new()
    } else {
        serde_json::from_str::<Map<String, Value>>(text)
            .map_err(|error| alone(&format!("it is not a JSON object ({error})")))?
    };
    let untouched = root.clone();
    edit(&mut root).map_err(alone)?;
    // Equal data keeps its own spaces and line breaks.
    let after = if root == untouched {
        text.to_owned()
    } else {
        let mut text = serde_json::to_string_pretty(&root).map_err(|error| alone(&error.to_string()))?;
        text.push('\n');
        text
    };
    let what = match act {
        Act::Install => format!("add the {what}"),
        Act::Uninstall => format!("remove the {what}"),
    };
    Ok(Change::new(path, &what, before, after))
}

fn set_server(root: &mut Map<String, Value>, program: &str, act: Act) -> Result<(), &'static str> {
    match act {
        Act::Install => {
            let servers = root.entry("mcpServers").or_insert_with(|| json!({}));
            let servers = servers.as_object_mut().ok_or("its mcpServers is not an object")?;
            servers.insert(
                "chartroom".to_owned(),
                json!({ "type": "stdio", "command": program, "args": ["mcp"], "env": {} }),
            );
        }
        Act::Uninstall => {
            if let Some(servers) = root.get_mut("mcpServers").and_then(Value::as_object_mut) {
                servers.shift_remove("chartroom");
            }
        }
    }
    Ok(())
}

fn set_hook(root: &mut Map<String, Value>, program: &str, act: Act) -> Result<(), &'static str> {
    let command = format!("{} hook claude", shell_word(program));
    if act == Act::Uninstall {
        if let Some(groups) =
            root.get_mut("hooks").and_then(|hooks| hooks.get_mut(HOOK_EVENT)).and_then(Value::as_array_mut)
        {
            remove_ours(groups);
        }
        return Ok(());
    }
    let hooks = root.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or("its hooks is not an object")?;
    let groups = hooks.entry(HOOK_EVENT).or_insert_with(|| json!([]));
    let groups = groups.as_array_mut().ok_or("its hooks.PostToolUse is not a list")?;
    let ours = json!({ "matcher": HOOK_TOOLS, "hooks": [{ "type": "command", "command": command }] });
    if !groups.contains(&ours) {
        remove_ours(groups);
        groups.push(ours);
    }
    Ok(())
}

/// Takes our command out of every group, and groups out that it leaves empty.
fn remove_ours(groups: &mut Vec<Value>) {
    groups.retain_mut(|group| {
        let Some(hooks) = group.get_mut("hooks").and_then(Value::as_array_mut) else { return true };
        let before = hooks.len();
        hooks.retain(|hook| !is_ours(hook));
        hooks.len() == before || !hooks.is_empty()
    });
}

fn is_ours(hook: &Value) -> bool {
    let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
    command
        .strip_suffix(" hook claude")
        .is_some_and(|program| program.trim_matches('\'').ends_with("chartroom"))
}

fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(home: &Path, program: &str, act: Act) -> Vec<bool> {
        let changes = changes(home, None, Path::new(program), act).unwrap();
        changes
            .iter()
            .map(|change| {
                change.write().unwrap();
                change.is_needed()
            })
            .collect()
    }

    fn json_of(path: &Path) -> Value {
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn install_adds_keeps_the_rest_and_is_idempotent_and_uninstall_takes_it_back() {
        let home = tempfile::tempdir().unwrap();
        let (servers, settings) =
            (home.path().join(".claude.json"), home.path().join(".claude/settings.json"));
        let before = json!({
            "numStartups": 3,
            "mcpServers": { "other": { "command": "other" } },
            "projects": { "/p": { "allowedTools": [] } },
        });
        std::fs::write(&servers, before.to_string()).unwrap();
        std::fs::create_dir(home.path().join(".claude")).unwrap();
        let hook = json!({ "matcher": "Bash", "hooks": [{ "type": "command", "command": "mine" }] });
        let hooks = json!({ "model": "opus", "hooks": { "PostToolUse": [hook], "Stop": [] } });
        std::fs::write(&settings, hooks.to_string()).unwrap();

        assert_eq!(apply(home.path(), "/opt/chartroom", Act::Install), [true, true]);
        let mut expected = before.clone();
        expected["mcpServers"]["chartroom"] =
            json!({ "type": "stdio", "command": "/opt/chartroom", "args": ["mcp"], "env": {} });
        assert_eq!(json_of(&servers), expected);
        let ours = |program: &str| json!({ "matcher": HOOK_TOOLS, "hooks": [{ "type": "command", "command": format!("{program} hook claude") }] });
        assert_eq!(json_of(&settings)["hooks"]["PostToolUse"], json!([hook, ours("/opt/chartroom")]));
        assert_eq!(json_of(&settings)["model"], "opus");

        assert_eq!(apply(home.path(), "/opt/chartroom", Act::Install), [false, false]);
        // A binary that moved replaces its old entry.
        assert_eq!(apply(home.path(), "/my bin/chartroom", Act::Install), [true, true]);
        assert_eq!(json_of(&settings)["hooks"]["PostToolUse"], json!([hook, ours("'/my bin/chartroom'")]));

        assert_eq!(apply(home.path(), "/my bin/chartroom", Act::Uninstall), [true, true]);
        assert_eq!((json_of(&servers), json_of(&settings)), (before, hooks));
        assert_eq!(apply(home.path(), "/my bin/chartroom", Act::Uninstall), [false, false]);
    }

    #[test]
    fn missing_files_are_made_and_nothing_is_made_by_uninstall() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(apply(home.path(), "/opt/chartroom", Act::Uninstall), [false, false]);
        assert!(!home.path().join(".claude.json").exists());
        assert_eq!(apply(home.path(), "/opt/chartroom", Act::Install), [true, true]);
        assert!(home.path().join(".claude/settings.json").exists());
    }

    #[test]
    fn a_file_that_is_not_understood_is_left_alone() {
        for text in ["{", "[]", "{\"mcpServers\": 1}"] {
            let home = tempfile::tempdir().unwrap();
            let path = home.path().join(".claude.json");
            std::fs::write(&path, text).unwrap();
            let error = changes(home.path(), None, Path::new("/c"), Act::Install).unwrap_err();
            assert!(error.contains("is left alone"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
