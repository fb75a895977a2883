//! A keeper for the tests of this crate, and a stand-in for the server that owns a child and is killed.

use std::process::ExitCode;

use chartroom_transport::{ChildSpec, Keeper, spawn};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next() {
        Some(mode) if mode == "keeper" => chartroom_transport::keeper::run(args),
        Some(mode) if mode == "own" => own(args.next().unwrap_or_default()),
        _ => ExitCode::from(2),
    }
}

/// Runs a shell script under a keeper, shows what it prints, and waits for it.
#[tokio::main(flavor = "current_thread")]
async fn own(script: std::ffi::OsString) -> ExitCode {
    let keeper = Keeper::current_exe().expect("a program knows itself");
    let spec = ChildSpec {
        label: "sh".to_owned(),
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script],
        cwd: "/".into(),
        folder: None,
        env: [("PATH".into(), "/usr/bin:/bin".into())].into(),
        extra_pipes: false,
        terminal: None,
        sandbox: None,
    };
    let mut child = spawn(&keeper, spec).expect("the keeper starts");
    if let Some(mut stdout) = child.stdout.take() {
        tokio::io::copy(&mut stdout, &mut tokio::io::stdout()).await.expect("stdout is open");
    }
    child.wait().await;
    ExitCode::SUCCESS
}
