//! What the sandbox has to do with a tool that failed, said beside the tool's own words.
//!
//! The kernel tells the tool "permission denied" and nobody else. What is said here is therefore about the rules, which
//! we know, and only where the tool names a path or a port that they leave out.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use chartroom_protocol::stream::{FinalizedItem, StreamEvent, StreamEventEnvelope};
use chartroom_transport::sandbox::{Access, Network, Sandbox, SandboxTool};

/// How programs say that the system refused them.
const REFUSED: [&str; 6] =
    ["permission denied", "operation not permitted", "read-only file system", "EACCES", "EPERM", "EROFS"];
/// How they say that a path is not there, as one that bubblewrap hides is not.
const MISSING: [&str; 2] = ["no such file or directory", "ENOENT"];
/// How they say that a connection did not come about.
const UNREACHED: [&str; 3] = ["connect", "ECONNREFUSED", "EACCES"];

/// More than this of a tool's words is not looked at.
const MOST_LINES: usize = 200;
/// More paths than this are not named.
const MOST_NAMED: usize = 5;

/// Adds a note to a tool's result, if the sandbox of its agent leaves out what it failed with.
pub(crate) fn note(sandbox: Option<&Sandbox>, envelope: &mut StreamEventEnvelope) {
    if let Some(sandbox) = sandbox
        && let StreamEvent::ItemDone { final_item, .. } = &mut envelope.payload
        && let FinalizedItem::FunctionCallOutput { output, detail, .. } = final_item
        && let Some(text) = refusals(sandbox, output)
    {
        detail.get_or_insert_default().sandbox = Some(text);
    }
}

fn refusals(sandbox: &Sandbox, output: &str) -> Option<String> {
    let mut unread = BTreeSet::new();
    let mut unwritten = BTreeSet::new();
    let mut unmade = BTreeSet::new();
    let mut closed = BTreeSet::new();
    for line in output.lines().take(MOST_LINES) {
        let lower = line.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(&word.to_ascii_lowercase()));
        let hides = sandbox.tool == SandboxTool::Bubblewrap && says(&MISSING);
        if says(&REFUSED) || hides {
            for path in paths(line) {
                match sandbox.access(&path) {
                    Access::Nothing => unread.insert(path),
                    Access::Read if !hides => unwritten.insert(path),
                    Access::Write if !hides && sandbox.is_beside_hidden(&path) => unmade.insert(path),
                    Access::Read | Access::Write => false,
                };
            }
        }
        if let Network::Ports(open) = &sandbox.network
            && (says(&UNREACHED) || line.contains("/dev/tcp/"))
        {
            closed.extend(ports(line).into_iter().filter(|port| !open.contains(port)));
        }
    }
    let named = |paths: BTreeSet<PathBuf>| {
        paths.iter().take(MOST_NAMED).map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let mut sentences = Vec::new();
    if !unread.is_empty() {
        sentences.push(format!("read {} (sandbox.allowRead in your config would)", named(unread)));
    }
    if !unwritten.is_empty() {
        sentences.push(format!("write {} (sandbox.allowWrite would)", named(unwritten)));
    }
    if !unmade.is_empty() {
        let why = "its folder has something secret in it; $TMPDIR can be written";
        sentences.push(format!("make {} ({why})", named(unmade)));
    }
    if !closed.is_empty() {
        let ports: Vec<String> = closed.iter().take(MOST_NAMED).map(u16::to_string).collect();
        sentences.push(format!("connect to port {} (sandbox.network would)", ports.join(", ")));
    }
    (!sentences.is_empty())
        .then(|| format!("The sandbox does not let this agent {}.", sentences.join("; nor ")))
}

/// The absolute paths that a line names, without the program that speaks: `/bin/bash: line 1: /x: …`.
fn paths(line: &str) -> Vec<PathBuf> {
    match line.split_once(": ").map(|(_, rest)| paths_in(rest)) {
        Some(paths) if !paths.is_empty() => paths,
        _ => paths_in(line),
    }
}

fn paths_in(line: &str) -> Vec<PathBuf> {
    let around = |c: char| c.is_whitespace() || "'\"`‘’“”()[]<>,;".contains(c);
    line.split(around)
        // `bash: /x: Permission denied` and `open('/x')`.
        .map(|word| word.trim_end_matches([':', '.']))
        .flat_map(|word| {
            word.split_once(":/").map_or(vec![word.to_owned()], |(_, rest)| vec![format!("/{rest}")])
        })
        .filter(|word| word.len() > 1 && word.starts_with('/') && !word.starts_with("//"))
        // The shell's name for a connection, which is no file.
        .filter(|word| !word.starts_with("/dev/tcp/"))
        .filter_map(|word| normal(Path::new(&word)))
        .collect()
}

/// Without `.` and `..`, by the name alone.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => drop(normal.pop()),
            Component::RootDir | Component::CurDir => {}
            Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}

/// The ports that a line names: `port 8080`, `localhost:8080`, `tcp/localhost/8080`.
fn ports(line: &str) -> Vec<u16> {
    let word_before = |at: usize| line[..at].trim_end().rsplit([' ', '\t']).next().unwrap_or_default();
    let mut ports = Vec::new();
    let digits: Vec<(usize, &str)> = line
        .match_indices(|c: char| c.is_ascii_digit())
        .filter(|(at, _)| *at == 0 || !line.as_bytes()[at - 1].is_ascii_digit())
        .map(|(at, _)| {
            let end = line[at..].find(|c: char| !c.is_ascii_digit()).map_or(line.len(), |length| at + length);
            (at, &line[at..end])
        })
        .collect();
    for (at, number) in digits {
        let before = line[..at].chars().next_back();
        let is_port = match before {
            Some(':') => line[..at - 1].ends_with(|c: char| c.is_ascii_alphanumeric() || c == ']'),
            Some('/') => line[..at].split("/dev/tcp/").nth(1).is_some_and(|host| host.len() > 1),
            Some(' ') => word_before(at).eq_ignore_ascii_case("port"),
            _ => false,
        };
        ports.extend(number.parse::<u16>().ok().filter(|_| is_port));
    }
    ports
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox(tool: SandboxTool) -> Sandbox {
        Sandbox {
            tool,
            read: vec!["/".into()],
            write: vec!["/home/u/project".into(), "/tmp".into()],
            hidden: vec!["/home/u/.ssh".into()],
            network: Network::Ports(vec![443]),
            apart: false,
        }
    }

    #[track_caller]
    fn check(output: &str, expected: Option<&str>) {
        assert_eq!(refusals(&sandbox(SandboxTool::Landlock), output).as_deref(), expected, "{output}");
    }

    #[test]
    fn a_path_that_the_rules_leave_out_is_named() {
        let read = "The sandbox does not let this agent read /home/u/.ssh/id_x (sandbox.allowRead in your config would).";
        check("cat: /home/u/.ssh/id_x: Permission denied", Some(read));
        check("Error: EACCES: permission denied, open '/home/u/.ssh/id_x'", Some(read));
        let write = "The sandbox does not let this agent write /home/u/.bashrc (sandbox.allowWrite would).";
        check("/bin/bash: line 1: /home/u/.bashrc: Permission denied", Some(write));
        check("PermissionError: [Errno 13] Permission denied: '/home/u/project/../.bashrc'", Some(write));
    }

    #[test]
    fn what_cannot_be_made_beside_something_hidden_is_named() {
        let data = Sandbox { hidden: vec!["/tmp/data".into()], ..sandbox(SandboxTool::Landlock) };
        let made = "The sandbox does not let this agent make /tmp/x (its folder has something secret in it; $TMPDIR can be written).";
        assert_eq!(refusals(&data, "touch: cannot touch '/tmp/x': Permission denied").as_deref(), Some(made));
        assert_eq!(refusals(&data, "touch: cannot touch '/tmp/a/x': Permission denied"), None);
        let mounted = Sandbox { tool: SandboxTool::Bubblewrap, ..data };
        assert_eq!(refusals(&mounted, "touch: cannot touch '/tmp/x': Permission denied"), None);
    }

    #[test]
    fn what_failed_for_another_reason_is_not_the_sandboxs() {
        check("cat: /home/u/project/a: Permission denied", None);
        check("cat: /home/u/.ssh/id_x: No such file or directory", None);
        check("see /home/u/.ssh/id_x", None);
        check("all is well", None);
        check("curl: (7) Failed to connect to localhost port 443", None);
    }

    #[test]
    fn a_port_that_the_rules_leave_out_is_named() {
        let closed = "The sandbox does not let this agent connect to port 8080 (sandbox.network would).";
        check(
            "curl: (7) Failed to connect to 127.0.0.1 port 8080 after 0 ms: Could not connect to server",
            Some(closed),
        );
        check("Error: connect EACCES 127.0.0.1:8080", Some(closed));
        check(
            "bash: connect: Permission denied\nbash: /dev/tcp/127.0.0.1/8080: Permission denied",
            Some(closed),
        );
    }

    #[test]
    fn what_bubblewrap_hides_is_said_to_be_missing() {
        let hidden = sandbox(SandboxTool::Bubblewrap);
        let said = refusals(&hidden, "cat: /home/u/.ssh/id_x: No such file or directory").unwrap();
        assert!(said.contains("read /home/u/.ssh/id_x"), "{said}");
        assert_eq!(refusals(&hidden, "cat: /etc/x: No such file or directory"), None);
    }
}
