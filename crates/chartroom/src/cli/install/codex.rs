//! Codex: `[mcp_servers.chartroom]` in `~/.codex/config.toml`, comments and order kept.

use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::Act;
use super::file::{Change, read};

pub(super) fn changes(
    home: &Path,
    codex_home: Option<PathBuf>,
    program: &Path,
    act: Act,
) -> Result<Vec<Change>, String> {
    let path = codex_home.unwrap_or_else(|| home.join(".codex")).join("config.toml");
    let before = read(&path)?;
    let text = before.clone().unwrap_or_default();
    let alone = |why: &str| format!("{} is left alone: {why}; mend it first", path.display());
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| alone(&format!("it is not TOML ({})", error.message())))?;
    let what = match act {
        Act::Install => {
            install(&mut document, &program.display().to_string()).map_err(alone)?;
            "add the MCP server chartroom"
        }
        Act::Uninstall => {
            if let Some(servers) = document.get_mut("mcp_servers").and_then(Item::as_table_like_mut) {
                servers.remove("chartroom");
            }
            "remove the MCP server chartroom"
        }
    };
    Ok(vec![Change::new(&path, what, before, document.to_string())])
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
            let changes = changes(home.path(), None, Path::new("/opt/chartroom"), act).unwrap();
            changes[0].write().unwrap();
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
    fn a_file_that_is_not_toml_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".codex")).unwrap();
        std::fs::write(home.path().join(".codex/config.toml"), "a = ").unwrap();
        let error = changes(home.path(), None, Path::new("/c"), Act::Install).unwrap_err();
        assert!(error.contains("is left alone: it is not TOML"), "{error}");
    }
}
