//! Codex: `[mcp_servers.chartroom]` in `~/.codex/config.toml`, comments and order kept.

use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::Act;
use super::file::{Change, read, was_made, without_ours};
use super::record::Record;

pub(super) fn changes(
    home: &Path,
    codex_home: Option<PathBuf>,
    program: &Path,
    act: Act,
    record: &Record,
) -> Result<Vec<Change>, String> {
    let path = codex_home.unwrap_or_else(|| home.join(".codex")).join("config.toml");
    let before = read(&path)?;
    let text = before.clone().unwrap_or_default();
    let alone = |why: &str| format!("{} is left alone: {why}; mend it first", path.display());
    let parsed = |text: &str| -> Result<DocumentMut, String> {
        text.parse()
            .map_err(|error: toml_edit::TomlError| alone(&format!("it is not TOML ({})", error.message())))
    };
    let mut document = parsed(&text)?;
    let base = without_ours(&path, &text, record).filter(|base| parsed(base).is_ok());
    match act {
        Act::Install => {
            install(&mut document, &program.display().to_string()).map_err(alone)?;
            let what = "add the MCP server chartroom";
            let mut after = document.to_string();
            // A file that ended without a line break does so still.
            if !text.is_empty() && !text.ends_with('\n') && after.ends_with('\n') {
                after.pop();
            }
            Ok(vec![Change::new(&path, what, before, after).over(base)])
        }
        Act::Uninstall => {
            let what = "remove the MCP server chartroom";
            if let Some(servers) = document.get_mut("mcp_servers").and_then(Item::as_table_like_mut) {
                servers.remove("chartroom");
            }
            let change = match base.filter(|base| parsed(base).is_ok_and(|base| !has_ours(&base))) {
                Some(base) if base.is_empty() && was_made(&path, record) => {
                    Change::removal(&path, what, before)
                }
                Some(base) => Change::new(&path, what, before, base),
                None => Change::new(&path, what, before, document.to_string()),
            };
            Ok(vec![change])
        }
    }
}

fn has_ours(document: &DocumentMut) -> bool {
    let servers = document.get("mcp_servers").and_then(Item::as_table_like);
    servers.is_some_and(|servers| servers.contains_key("chartroom"))
}

fn install(document: &mut DocumentMut, program: &str) -> Result<(), &'static str> {
    let mut parent = Table::new();
    // Only its children have a header of their own.
    parent.set_implicit(true);
    let servers = document.entry("mcp_servers").or_insert(Item::Table(parent));
    let servers = servers.as_table_like_mut().ok_or("its mcp_servers is not a table")?;
    if servers.get("chartroom").is_none() {
        servers.insert("chartroom", Item::Table(Table::new()));
    }
    let server = servers
        .get_mut("chartroom")
        .and_then(Item::as_table_like_mut)
        .ok_or("its mcp_servers.chartroom is not a table")?;
    // What is right already keeps its comments.
    let right_command = server.get("command").and_then(Item::as_str) == Some(program);
    let right_args = server
        .get("args")
        .and_then(Item::as_array)
        .is_some_and(|args| args.iter().map(|arg| arg.as_str()).eq([Some("mcp")]));
    if !right_command {
        server.insert("command", value(program));
    }
    if !right_args {
        server.insert("args", value(Array::from_iter(["mcp"])));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(before: &str, act: Act, expected: Expect) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(".codex/config.toml");
        std::fs::create_dir(home.path().join(".codex")).unwrap();
        std::fs::write(&path, before).unwrap();
        let apply = || {
            let mut record = Record::default();
            let changes = changes(home.path(), None, Path::new("/opt/chartroom"), act, &record).unwrap();
            changes[0].write(&mut record).unwrap();
            changes[0].is_needed()
        };
        apply();
        expected.assert_eq(&std::fs::read_to_string(&path).unwrap());
        assert!(!apply(), "the second time changes nothing");
    }

    #[test]
    fn install_keeps_comments_and_order() {
        check(
            "# mine\nmodel = \"gpt\" # the best\n\n[mcp_servers.other]\ncommand = \"other\"\n\n[tui]\ntheme = 1\n",
            Act::Install,
            expect![[r#"
                # mine
                model = "gpt" # the best

                [mcp_servers.other]
                command = "other"

                [mcp_servers.chartroom]
                command = "/opt/chartroom"
                args = ["mcp"]

                [tui]
                theme = 1
            "#]],
        );
        check(
            "",
            Act::Install,
            expect![[r#"
            [mcp_servers.chartroom]
            command = "/opt/chartroom"
            args = ["mcp"]
        "#]],
        );
    }

    #[test]
    fn install_again_keeps_what_the_user_added_to_our_entry() {
        check(
            "[mcp_servers.chartroom]\ncommand = \"/old/chartroom\"\nargs = [\"mcp\"] # ours\nstartup_timeout_sec = 20\n",
            Act::Install,
            expect![[r#"
                [mcp_servers.chartroom]
                command = "/opt/chartroom"
                args = ["mcp"] # ours
                startup_timeout_sec = 20
            "#]],
        );
    }

    #[test]
    fn uninstall_takes_only_ours() {
        check(
            "a = 1\n[mcp_servers.other]\ncommand = \"o\"\n[mcp_servers.chartroom]\ncommand = \"c\"\nargs = [\"mcp\"]\n",
            Act::Uninstall,
            expect![[r#"
                a = 1
                [mcp_servers.other]
                command = "o"
            "#]],
        );
    }

    #[test]
    fn uninstall_leaves_the_file_as_it_was_byte_for_byte() {
        let others =
            "# mine\nmodel = \"gpt\"   # the best\n\n[mcp_servers.other]\ncommand = \"o\"\n\n[tui]\ntheme=1";
        for text in [Some(others), Some("a = 1\n"), Some(""), None] {
            let home = tempfile::tempdir().unwrap();
            let path = home.path().join(".codex/config.toml");
            if let Some(text) = text {
                std::fs::create_dir(home.path().join(".codex")).unwrap();
                std::fs::write(&path, text).unwrap();
            }
            let mut record = Record::default();
            for act in [Act::Install, Act::Install, Act::Uninstall] {
                let changes = changes(home.path(), None, Path::new("/opt/chartroom"), act, &record).unwrap();
                changes[0].write(&mut record).unwrap();
            }
            assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), text);
            assert_eq!(home.path().join(".codex").exists(), text.is_some());
        }
    }

    #[test]
    fn a_file_that_is_not_toml_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".codex")).unwrap();
        std::fs::write(home.path().join(".codex/config.toml"), "a = ").unwrap();
        let error =
            changes(home.path(), None, Path::new("/c"), Act::Install, &Record::default()).unwrap_err();
        assert!(error.contains("is left alone: it is not TOML"), "{error}");
    }
}
