//! Every hint of the doctor, of `lsp`, `link` and `check` is a command that mends what it stands beside: each is run, as a
//! shell reads it, and what it stood beside is asked again.

#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "hints are run as a shell would")]

#[path = "common/program.rs"]
mod program;

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use program::{Home, finish};
use serde_json::Value;

/// What stands beside something that no command can mend: a decision, or a file to correct by hand.
const NO_COMMANDS: [&str; 4] = ["set ", "boot ", "correct ", "make "];

/// A home with a project, and a package manager that brings every program that is asked for here.
struct Story {
    home: Home,
    shop: PathBuf,
}

impl Story {
    fn new() -> Self {
        let home = Home::new();
        let shop = home.path().join("shop");
        std::fs::create_dir(&shop).unwrap();
        std::fs::write(shop.join("a.py"), "def alpha():\n    return 1\n").unwrap();
        let bin = home.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let npm = "#!/bin/sh\ncase $* in\n\
                   *claude-code*) name=claude ;;\n\
                   *codex-acp*) name=codex-acp ;;\n\
                   *pyright*) name=pyright-langserver ;;\n\
                   *) exit 1 ;;\nesac\n\
                   printf '#!/bin/sh\\n' > ${0%/*}/$name && chmod +x ${0%/*}/$name\n";
        std::fs::write(bin.join("npm"), npm).unwrap();
        std::fs::set_permissions(bin.join("npm"), std::fs::Permissions::from_mode(0o755)).unwrap();
        // The one thing on PATH that is called chartroom is the one that is tested.
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_chartroom"), bin.join("chartroom")).unwrap();
        Self { home, shop }
    }

    /// Runs a command line in the project, in the environment of the home.
    fn shell(&self, line: &str) -> (i32, String) {
        let own = self.home.command(&[]);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).current_dir(&self.shop).env_clear();
        for (name, value) in own.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        command.env("PATH", format!("{}:/usr/bin:/bin", self.home.path().join("bin").display()));
        let (code, stdout, stderr) = finish(command.output().unwrap());
        (code, format!("{stdout}{stderr}"))
    }

    /// What the doctor has to say, as rows of area, name, state and the command beside it.
    fn doctor(&self) -> Vec<(String, String, Option<String>)> {
        let report: Value = serde_json::from_str(&self.shell("chartroom doctor --json").1).unwrap();
        let text = |check: &Value, key: &str| check[key].as_str().map(str::to_owned);
        let rows = report["checks"].as_array().unwrap().iter();
        rows.map(|check| {
            let name = format!("{} {}", check["area"], check["name"]);
            (name, text(check, "state").unwrap(), text(check, "mend"))
        })
        .collect()
    }

    /// The first command of ours that a text names.
    #[track_caller]
    fn hint(said: &str) -> String {
        let at = said.find("chartroom ").unwrap_or_else(|| panic!("no command in: {said}"));
        let end = said[at..].find(['`', '\n', ';', ',', ')']).map_or(said.len(), |length| at + length);
        said[at..end].trim().to_owned()
    }
}

#[test]
fn what_the_doctor_says_mends_what_it_found() {
    let story = Story::new();
    std::fs::create_dir_all(story.home.path().join(".config/chartroom")).unwrap();
    let config =
        story.home.write(".config/chartroom/config.toml", "[server]\ntoken = \"0123456789abcdef\"\n");
    std::fs::set_permissions(&config, std::fs::Permissions::from_mode(0o644)).unwrap();
    let mut run = Vec::new();
    // A mended thing may show what stood behind it: an untrusted folder hides what is not installed.
    for _ in 0..3 {
        for (name, state, mend) in story.doctor() {
            let Some(mend) = mend else {
                assert_eq!(state, "ok", "{name} has nothing that mends it");
                continue;
            };
            if NO_COMMANDS.iter().any(|start| mend.starts_with(start)) || run.contains(&mend) {
                continue;
            }
            let (code, said) = story.shell(&mend);
            assert_eq!(code, 0, "{name}: `{mend}`: {said}");
            let now = story.doctor();
            let after = now.iter().filter(|(other, ..)| *other == name);
            let left: Vec<_> = after.filter(|(_, _, hint)| hint.as_ref() == Some(&mend)).collect();
            assert!(left.is_empty(), "`{mend}` did not mend {left:?}");
            run.push(mend);
        }
    }
    for expected in
        ["chartroom trust .", "chartroom index create .", "npm install -g @anthropic-ai/claude-code"]
    {
        assert!(run.iter().any(|mend| mend == expected), "{expected}: {run:?}");
    }
    for expected in ["chmod 600 ", "npm install --global pyright"] {
        assert!(run.iter().any(|mend| mend.starts_with(expected)), "{expected}: {run:?}");
    }
}

#[test]
fn what_lsp_and_check_say_of_an_untrusted_folder_mends_it() {
    let story = Story::new();
    story.shell("npm install --global pyright");
    let row = |text: &str| {
        let mut rows = text.lines().skip_while(|line| !line.contains("pyright"));
        rows.by_ref().take(3).collect::<Vec<_>>().join("\n")
    };
    let (_, before) = story.shell("chartroom lsp status");
    assert!(row(&before).contains("untrusted"), "{before}");
    let (code, said) = story.shell("chartroom check a.py");
    assert_eq!(code, 3, "{said}");
    assert_eq!(Story::hint(&said), Story::hint(&row(&before)), "both name the same command");
    let (code, said) = story.shell(&Story::hint(&row(&before)));
    assert_eq!(code, 0, "{said}");
    let (_, after) = story.shell("chartroom lsp status");
    assert!(!after.contains("untrusted"), "{after}");
}

#[test]
fn what_link_and_no_wait_say_without_a_server_mends_them() {
    let story = Story::new();
    for line in ["chartroom link", "chartroom index create --no-wait ."] {
        let (code, said) = story.shell(line);
        assert_eq!((code, Story::hint(&said).as_str()), (3, "chartroom serve"), "{line}: {said}");
    }
    let server = story.home.serve(&[]);
    for line in ["chartroom link", "chartroom index create --no-wait ."] {
        let (code, said) = story.shell(line);
        assert_eq!(code, 0, "{line}: {said}");
    }
    server.stop();
}
