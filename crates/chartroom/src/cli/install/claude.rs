//! Claude Code: `mcpServers` in `~/.claude.json`, the PostToolUse hook in `~/.claude/settings.json`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::super::words::shell_word;
use super::Act;
use super::file::{Change, read, was_made, without_ours};
use super::insert::{insert, pretty, unit_of};
use super::record::Record;
use crate::after_edit::TOOLS as HOOK_TOOLS;

const HOOK_EVENT: &str = "PostToolUse";

pub(super) fn changes(
    home: &Path,
    config_dir: Option<PathBuf>,
    program: &Path,
    act: Act,
    record: &Record,
) -> Result<Vec<Change>, String> {
    let (servers, settings) = match config_dir {
        Some(folder) => (folder.join(".claude.json"), folder.join("settings.json")),
        None => (home.join(".claude.json"), home.join(".claude").join("settings.json")),
    };
    let program = program.display().to_string();
    let server = Part {
        what: "MCP server chartroom",
        path: &["mcpServers"],
        key: Some("chartroom"),
        value: server(&program),
        set: &|root, act| set_server(root, &program, act),
    };
    let hook = Part {
        what: "hook after edits",
        path: &["hooks", HOOK_EVENT],
        key: None,
        value: hook(&program),
        set: &|root, act| set_hook(root, &program, act),
    };
    Ok(vec![change(&servers, act, &server, record)?, change(&settings, act, &hook, record)?])
}

type Set<'a> = dyn Fn(&mut Map<String, Value>, Act) -> Result<(), &'static str> + 'a;

/// What is put into a file, and where.
struct Part<'a> {
    what: &'a str,
    path: &'a [&'a str],
    key: Option<&'a str>,
    value: Value,
    /// Puts it into the data or takes it out, whatever is there.
    set: &'a Set<'a>,
}

fn change(path: &Path, act: Act, part: &Part<'_>, record: &Record) -> Result<Change, String> {
    let before = read(path)?;
    let text = before.clone().unwrap_or_default();
    let alone = |why: &str| format!("{} is left alone: {why}; mend it first", path.display());
    let parsed = |text: &str| -> Result<Map<String, Value>, String> {
        if text.trim().is_empty() {
            return Ok(Map::new());
        }
        serde_json::from_str(text).map_err(|error| alone(&format!("it is not a JSON object ({error})")))
    };
    let root = parsed(&text)?;
    let mut wanted = root.clone();
    (part.set)(&mut wanted, act).map_err(alone)?;
    let what = match act {
        Act::Install => format!("add the {}", part.what),
        Act::Uninstall => format!("remove the {}", part.what),
    };
    // Equal data keeps its own spaces and line breaks.
    if wanted == root {
        return Ok(Change::new(path, &what, before, text));
    }
    // What an earlier install put in goes first, exactly; if it stands there no more, the data is changed instead.
    let base = without_ours(path, &text, record).filter(|base| parsed(base).is_ok());
    let written = |root: &Map<String, Value>| -> Result<String, String> {
        let mut after =
            pretty(&Value::Object(root.clone()), &unit_of(&text)).ok_or_else(|| alone("it is odd"))?;
        if text.is_empty() || text.ends_with('\n') {
            after.push('\n');
        }
        Ok(after)
    };
    match act {
        Act::Install => {
            let from = base.clone().unwrap_or_else(|| text.clone());
            let mut wanted = parsed(&from)?;
            (part.set)(&mut wanted, act).map_err(alone)?;
            let put = insert(&from, part.path, part.key, part.value.clone());
            let after = match put.filter(|put| parsed(put).is_ok_and(|put| put == wanted)) {
                Some(put) => put,
                None => written(&wanted)?,
            };
            Ok(Change::new(path, &what, before, after).over(base))
        }
        Act::Uninstall => match base.filter(|base| {
            parsed(base).is_ok_and(|root| {
                let mut left = root.clone();
                (part.set)(&mut left, act).is_ok() && left == root
            })
        }) {
            Some(base) if base.trim().is_empty() && was_made(path, record) => {
                Ok(Change::removal(path, &what, before))
            }
            Some(base) => Ok(Change::new(path, &what, before, base)),
            None => Ok(Change::new(path, &what, before, written(&wanted)?)),
        },
    }
}

fn server(program: &str) -> Value {
    json!({ "type": "stdio", "command": program, "args": ["mcp"], "env": {} })
}

fn hook(program: &str) -> Value {
    let command = format!("{} hook claude", shell_word(program));
    json!({ "matcher": HOOK_TOOLS, "hooks": [{ "type": "command", "command": command }] })
}

fn set_server(root: &mut Map<String, Value>, program: &str, act: Act) -> Result<(), &'static str> {
    match act {
        Act::Install => {
            let servers = root.entry("mcpServers").or_insert_with(|| json!({}));
            let servers = servers.as_object_mut().ok_or("its mcpServers is not an object")?;
            servers.insert("chartroom".to_owned(), server(program));
        }
        Act::Uninstall => {
            if let Some(servers) = root.get_mut("mcpServers").and_then(Value::as_object_mut)
                && servers.shift_remove("chartroom").is_some()
                && servers.is_empty()
            {
                root.shift_remove("mcpServers");
            }
        }
    }
    Ok(())
}

fn set_hook(root: &mut Map<String, Value>, program: &str, act: Act) -> Result<(), &'static str> {
    if act == Act::Uninstall {
        take_out_hook(root);
        return Ok(());
    }
    let hooks = root.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or("its hooks is not an object")?;
    let groups = hooks.entry(HOOK_EVENT).or_insert_with(|| json!([]));
    let groups = groups.as_array_mut().ok_or("its hooks.PostToolUse is not a list")?;
    let ours = hook(program);
    if !groups.contains(&ours) {
        remove_ours(groups);
        groups.push(ours);
    }
    Ok(())
}

/// Takes our hook out, and with it the lists that it leaves empty.
fn take_out_hook(root: &mut Map<String, Value>) {
    let Some(hooks) = root.get_mut("hooks").and_then(Value::as_object_mut) else { return };
    let Some(groups) = hooks.get_mut(HOOK_EVENT).and_then(Value::as_array_mut) else { return };
    let before = groups.len();
    remove_ours(groups);
    if groups.is_empty() && before > 0 {
        hooks.shift_remove(HOOK_EVENT);
        if hooks.is_empty() {
            root.shift_remove("hooks");
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn apply_with(record: &mut Record, home: &Path, program: &str, act: Act) -> Vec<bool> {
        let changes = changes(home, None, Path::new(program), act, record).unwrap();
        changes
            .iter()
            .map(|change| {
                change.write(record).unwrap();
                change.is_needed()
            })
            .collect()
    }

    /// As after an install by a program that remembered nothing.
    fn apply(home: &Path, program: &str, act: Act) -> Vec<bool> {
        apply_with(&mut Record::default(), home, program, act)
    }

    #[test]
    fn uninstall_leaves_the_files_as_they_were_byte_for_byte() {
        let odd = "{ \"numStartups\":3,\n   \"mcpServers\": {  } ,\n\"x\":[1,\n2] }";
        let compact = r#"{"model":"opus","hooks":{"PostToolUse":[],"Stop":[]}}"#;
        for (servers_text, settings_text) in [
            (Some(odd), Some(compact)),
            (Some("{}"), Some("{}\n")),
            (Some("{\n\t\"a\": 1\n}\n"), Some("{\n  \"hooks\": {}\n}")),
            (Some(""), None),
            (None, None),
        ] {
            let home = tempfile::tempdir().unwrap();
            let (servers, settings) =
                (home.path().join(".claude.json"), home.path().join(".claude/settings.json"));
            if let Some(text) = servers_text {
                std::fs::write(&servers, text).unwrap();
            }
            if let Some(text) = settings_text {
                std::fs::create_dir(home.path().join(".claude")).unwrap();
                std::fs::write(&settings, text).unwrap();
            }
            let mut record = Record::default();
            assert_eq!(apply_with(&mut record, home.path(), "/old/chartroom", Act::Install), [true, true]);
            assert_eq!(apply_with(&mut record, home.path(), "/opt/chartroom", Act::Install), [true, true]);
            assert_eq!(apply_with(&mut record, home.path(), "/opt/chartroom", Act::Install), [false, false]);
            assert_eq!(json_of(&servers)["mcpServers"]["chartroom"]["command"], "/opt/chartroom");
            apply_with(&mut record, home.path(), "/opt/chartroom", Act::Uninstall);
            assert_eq!(std::fs::read_to_string(&servers).ok().as_deref(), servers_text);
            assert_eq!(std::fs::read_to_string(&settings).ok().as_deref(), settings_text);
            assert_eq!(home.path().join(".claude").exists(), settings_text.is_some());
        }
    }

    #[test]
    fn what_the_client_wrote_meanwhile_stays() {
        let home = tempfile::tempdir().unwrap();
        let servers = home.path().join(".claude.json");
        std::fs::write(&servers, "{\n  \"numStartups\": 1\n}").unwrap();
        let mut record = Record::default();
        apply_with(&mut record, home.path(), "/opt/chartroom", Act::Install);
        let text = std::fs::read_to_string(&servers).unwrap();
        std::fs::write(&servers, text.replace("\"numStartups\": 1", "\"numStartups\": 2")).unwrap();
        apply_with(&mut record, home.path(), "/opt/chartroom", Act::Uninstall);
        assert_eq!(std::fs::read_to_string(&servers).unwrap(), "{\n  \"numStartups\": 2\n}");
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
            let error =
                changes(home.path(), None, Path::new("/c"), Act::Install, &Record::default()).unwrap_err();
            assert!(error.contains("is left alone"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
