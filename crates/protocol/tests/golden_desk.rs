//! Every message about files and terminals, as it stands on the wire.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/lines.rs"]
mod lines;

use chartroom_protocol::file::{
    BlameResponse, BlameRun, FileKind, FilePlace, FilePlacesResponse, WholeFileResponse,
};
use chartroom_protocol::terminal::{
    OpenTerminalParams, TerminalCommand, TerminalFrame, TerminalInfo, TerminalListResponse,
};
use expect_test::expect_file;
use lines::lines;

#[test]
fn bodies_about_one_file() {
    let whole = |kind, text: Option<&str>, cut| WholeFileResponse {
        path: "src/a.rs".to_owned(),
        kind,
        bytes: 9,
        text: text.map(str::to_owned),
        cut,
    };
    let place = |text| FilePlace { path: "src/a.rs".to_owned(), line: 2, column: 3, text };
    let run = |commit| BlameRun {
        line: 1,
        lines: 2,
        commit,
        author: "An Author".to_owned(),
        at: 5,
        summary: "fix it".to_owned(),
    };
    let text = [
        lines(&[
            whole(FileKind::Text, Some("fn a() {}\n"), false),
            whole(FileKind::Text, Some("a\n"), true),
            whole(FileKind::Image, None, false),
            whole(FileKind::Binary, None, false),
        ]),
        lines(&[
            FilePlacesResponse { places: vec![place(None), place(Some("a()".to_owned()))], note: None },
            FilePlacesResponse { places: Vec::new(), note: Some("no server".to_owned()) },
        ]),
        lines(&[BlameResponse { runs: vec![run(None), run(Some("ab".to_owned()))] }]),
    ];
    expect_file!["golden/files.jsonl"].assert_eq(&text.concat());
}

#[test]
fn bodies_and_frames_of_terminals() {
    let open = |session_id| OpenTerminalParams { project_id: "p".into(), session_id, columns: 80, rows: 24 };
    let info = |ended| TerminalInfo {
        terminal_id: "t".to_owned(),
        shell: "bash".to_owned(),
        folder: "/home/you/code".to_owned(),
        ended,
    };
    let text = [
        lines(&[open(None), open(Some("s".into()))]),
        lines(&[TerminalListResponse {
            terminals: vec![info(None), info(Some("exited with status 0".to_owned()))],
        }]),
        lines(&[
            TerminalFrame::Attached { replayed: 7 },
            TerminalFrame::Skipped,
            TerminalFrame::Refused { bytes: 9 },
            TerminalFrame::Ended { how: "exited with status 0".to_owned(), success: true },
        ]),
        lines(&[TerminalCommand::Read { bytes: 5 }, TerminalCommand::Resize { columns: 100, rows: 30 }]),
    ];
    expect_file!["golden/terminals.jsonl"].assert_eq(&text.concat());
}
