//! Children under a real keeper.

use std::path::PathBuf;
use std::time::Duration;

use chartroom_transport::{Child, ChildSpec, Exit, Keeper, spawn};
use tokio::io::AsyncReadExt;

fn keeper() -> Keeper {
    Keeper { program: PathBuf::from(env!("CARGO_BIN_EXE_transport-keeper")), args: vec!["keeper".into()] }
}

fn shell(script: &str) -> Child {
    let spec = ChildSpec {
        label: "sh".to_owned(),
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        cwd: "/".into(),
        env: [("PATH".into(), "/usr/bin:/bin".into())].into(),
        extra_pipes: false,
    };
    spawn(&keeper(), spec).expect("the keeper starts")
}

#[tokio::test]
async fn a_child_says_what_it_has_to_say_and_ends() {
    let mut child = shell("echo out; echo err >&2; exit 7");
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).await.unwrap();
    assert_eq!(
        (out.as_str(), child.wait().await, child.stderr_tail().as_str()),
        ("out\n", Exit::Code(7), "err")
    );
    assert!(child.pid().is_some());
    let _exit = child.end(Duration::from_secs(1)).await;
}
