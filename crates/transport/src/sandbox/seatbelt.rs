//! macOS: a profile for `sandbox-exec`, in which the last rule that fits a path counts.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use super::{Network, Sandbox};

/// Where macOS has it.
pub(super) const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Returns the command that starts `program` inside.
pub(super) fn command(sandbox: &Sandbox, program: &OsString, args: &[OsString]) -> (OsString, Vec<OsString>) {
    let mut words: Vec<OsString> = vec!["-p".into(), profile(sandbox).into(), program.clone()];
    words.extend(args.iter().cloned());
    (PROGRAM.into(), words)
}

/// Everything but files and the network is allowed, as it is outside; those are what a sandbox is about.
fn profile(sandbox: &Sandbox) -> String {
    let mut text = String::from("(version 1)\n(allow default)\n(deny file-write*)\n(deny file-read-data)\n");
    let mut rules: Vec<(usize, u8, &Path)> = Vec::new();
    for (rank, paths) in [&sandbox.read, &sandbox.write, &sandbox.hidden].into_iter().enumerate() {
        rules.extend(paths.iter().map(|path| (path.components().count(), rank as u8, path.as_path())));
    }
    // The nearest one above a path decides: the longer ones come later.
    rules.sort();
    for (_, rank, path) in rules {
        let path = quoted(&path.canonicalize().unwrap_or_else(|_| path.to_owned()));
        // Writing to a string cannot fail.
        let written = match rank {
            0 => writeln!(text, "(allow file-read-data (subpath {path}))"),
            1 => writeln!(text, "(allow file-read-data file-write* (subpath {path}))"),
            _ => writeln!(text, "(deny file-read-data file-write* (subpath {path}))"),
        };
        debug_assert!(written.is_ok());
    }
    text.push_str(
        "(allow file-write-data (literal \"/dev/null\") (literal \"/dev/zero\") (regex #\"^/dev/tty\"))\n",
    );
    if let Network::Ports(ports) = &sandbox.network {
        text.push_str("(deny network*)\n(allow network* (local unix-socket) (remote unix-socket))\n");
        for port in ports {
            let written = writeln!(text, "(allow network-outbound (remote tcp \"*:{port}\"))");
            debug_assert!(written.is_ok());
        }
    }
    text
}

fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display().to_string().replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::SandboxTool;

    #[test]
    fn the_nearest_entry_comes_last_and_ports_are_named() {
        let sandbox = Sandbox {
            tool: SandboxTool::Seatbelt,
            read: vec!["/".into(), "/u/.ssh/pub".into()],
            write: vec!["/u/a \"b\"".into()],
            hidden: vec!["/u/.ssh".into()],
            network: Network::Ports(vec![443]),
            apart: true,
        };
        let (program, words) = command(&sandbox, &"/bin/x".into(), &["-y".into()]);
        assert_eq!((program.as_os_str(), words.len()), (OsString::from(PROGRAM).as_os_str(), 4));
        let expected = "(version 1)\n(allow default)\n(deny file-write*)\n(deny file-read-data)\n\
            (allow file-read-data (subpath \"/\"))\n\
            (allow file-read-data file-write* (subpath \"/u/a \\\"b\\\"\"))\n\
            (deny file-read-data file-write* (subpath \"/u/.ssh\"))\n\
            (allow file-read-data (subpath \"/u/.ssh/pub\"))\n\
            (allow file-write-data (literal \"/dev/null\") (literal \"/dev/zero\") (regex #\"^/dev/tty\"))\n\
            (deny network*)\n(allow network* (local unix-socket) (remote unix-socket))\n\
            (allow network-outbound (remote tcp \"*:443\"))\n";
        assert_eq!(words[1].to_str().unwrap(), expected);
    }
}
