//! Children in a sandbox, under a real keeper: what they cannot read, write and reach, and that they end all the same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]
#![cfg(target_os = "linux")]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chartroom_transport::sandbox::Network;
use chartroom_transport::{Child, ChildSpec, Exit, Keeper, Sandbox, SandboxSupport, SandboxTool, spawn};
use tokio::io::AsyncReadExt;

/// Generous, for a loaded machine: only a failing test waits this long.
const LIMIT: Duration = Duration::from_secs(60);

/// A home with a secret in it, a project and a profile.
struct Home {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        for (name, text) in [
            (".ssh/id_x", "PRIVATE"),
            (".ssh/known_hosts", "hosts"),
            (".netrc", "PASSWORD"),
            (".bashrc", "old"),
            ("project/a.txt", "code"),
        ] {
            std::fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
            std::fs::write(path.join(name), text).unwrap();
        }
        Home { _folder: folder, path }
    }

    fn sandbox(&self, tool: SandboxTool) -> Sandbox {
        Sandbox {
            tool,
            read: vec!["/".into()],
            write: vec![self.path.join("project")],
            hidden: vec![self.path.join(".ssh"), self.path.join(".netrc")],
            network: Network::All,
            apart: false,
        }
    }

    fn start(&self, sandbox: Sandbox, script: &str) -> Child {
        let keeper =
            Keeper { program: env!("CARGO_BIN_EXE_transport-keeper").into(), args: vec!["keeper".into()] };
        let spec = ChildSpec {
            label: "bash".to_owned(),
            program: "/bin/bash".into(),
            args: vec!["-c".into(), script.into()],
            cwd: self.path.join("project"),
            folder: None,
            env: [("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), self.path.clone().into())].into(),
            extra_pipes: false,
            terminal: None,
            sandbox: Some(sandbox),
        };
        spawn(&keeper, spec).expect("the keeper starts")
    }

    /// Runs a script and returns what it printed.
    async fn run(&self, sandbox: Sandbox, script: &str) -> String {
        let mut child = self.start(sandbox, &format!("exec 2>&1; {script}"));
        let mut out = String::new();
        child.stdout.take().unwrap().read_to_string(&mut out).await.unwrap();
        let exit = tokio::time::timeout(LIMIT, child.wait()).await.expect("the child ends");
        assert!(matches!(exit, Exit::Code(_)), "{exit}: {out}{}", child.stderr_tail());
        out
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path.join(name)).unwrap()
    }
}

/// The tools of this machine; a test of one that is missing has to say so.
fn tools() -> [SandboxTool; 2] {
    let support = SandboxSupport::of_this_system();
    assert_eq!(support.landlock_refusal(), None, "these tests need landlock");
    assert!(support.bubblewrap.is_some(), "these tests need /usr/bin/bwrap");
    [SandboxTool::Landlock, SandboxTool::Bubblewrap]
}

#[tokio::test]
async fn secrets_cannot_be_read_and_the_rest_can() {
    let home = Home::new();
    for tool in tools() {
        let script =
            "cat ~/.ssh/id_x ~/.netrc; ls ~ >/dev/null && cat ~/.bashrc a.txt; cat /etc/hostname | wc -l";
        let out = home.run(home.sandbox(tool), script).await;
        assert!(!out.contains("PRIVATE") && !out.contains("PASSWORD"), "{tool:?}: {out}");
        assert!(out.contains("oldcode"), "{tool:?}: {out}");
        // What is named below something hidden is there again.
        let known = home.path.join(".ssh/known_hosts");
        let sandbox = Sandbox { read: vec!["/".into(), known], ..home.sandbox(tool) };
        let out = home.run(sandbox, "cat ~/.ssh/known_hosts ~/.ssh/id_x").await;
        assert!(out.contains("hosts") && !out.contains("PRIVATE"), "{tool:?}: {out}");
    }
}

#[tokio::test]
async fn nothing_is_written_but_where_it_may_be() {
    let home = Home::new();
    for tool in tools() {
        let script = "echo new > ~/.bashrc; truncate -s 0 ~/.bashrc; rm ~/.bashrc; mv ~/.bashrc x; echo x > ~/b; \
                      echo x > ~/.ssh/authorized_keys && echo came off; ln a.txt ~/hard; mkdir ~/c; ln -s /etc ~/d; \
                      mkdir -p made && mv a.txt made/ && mv made/a.txt . && echo new >> a.txt; echo x > /dev/null; echo end";
        let out = home.run(home.sandbox(tool), script).await;
        assert!(out.ends_with("end\n") && !out.contains("came off"), "{tool:?}: {out}");
        assert_eq!(home.read(".bashrc"), "old", "{tool:?}: {out}");
        assert_eq!(home.read("project/a.txt"), "codenew\n", "{tool:?}: {out}");
        let mut names: Vec<_> =
            std::fs::read_dir(&home.path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".bashrc", ".netrc", ".ssh", "project"], "{tool:?}: {out}");
        assert!(!home.path.join(".ssh/authorized_keys").exists(), "{tool:?}: {out}");
        std::fs::write(home.path.join("project/a.txt"), "code").unwrap();
    }
}

#[tokio::test]
async fn what_is_not_named_cannot_be_read_when_not_everything_may_be() {
    let home = Home::new();
    for tool in tools() {
        let read = ["/usr", "/bin", "/lib", "/lib64", "/etc", "/proc", "/dev"].map(PathBuf::from).to_vec();
        let sandbox = Sandbox { read, ..home.sandbox(tool) };
        let out = home.run(sandbox, "cat ~/.bashrc; cat a.txt").await;
        assert!(out.ends_with("code") && !out.contains("old"), "{tool:?}: {out}");
    }
}

#[tokio::test]
async fn only_the_named_ports_can_be_reached() {
    let home = Home::new();
    let listeners = [0, 0].map(|port| TcpListener::bind(("127.0.0.1", port)).unwrap());
    let [open, closed] = [0, 1].map(|at| listeners[at].local_addr().unwrap().port());
    let script = format!(
        "for port in {open} {closed}; do (exec 9<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && echo $port; done; echo end"
    );
    for tool in tools() {
        for (network, reached) in [
            (Network::All, format!("{open}\n{closed}\nend\n")),
            (Network::Ports(vec![open]), format!("{open}\nend\n")),
            (Network::Ports(Vec::new()), "end\n".to_owned()),
        ] {
            let sandbox = Sandbox { network: network.clone(), ..home.sandbox(tool) };
            assert_eq!(home.run(sandbox, &script).await, reached, "{tool:?} {network:?}");
        }
    }
}

#[tokio::test]
async fn a_child_in_a_sandbox_is_signalled_and_ended_with_everything_below() {
    let home = Home::new();
    for tool in tools() {
        // `apart` keeps signals among the sandbox's own processes; the keeper is one of them.
        let sandbox = || Sandbox { apart: true, ..home.sandbox(tool) };
        let script = "trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.1; done";
        let mut child = home.start(sandbox(), script);
        let mut stdout = child.stdout.take().unwrap();
        let mut ready = [0; 6];
        stdout.read_exact(&mut ready).await.unwrap();
        child.terminate();
        let mut said = String::new();
        stdout.read_to_string(&mut said).await.unwrap();
        let exit = tokio::time::timeout(LIMIT, child.wait()).await.unwrap();
        assert_eq!((said.as_str(), exit), ("asked\n", Exit::Code(3)), "{tool:?}");
        let script =
            "setsid bash -c 'trap \"\" TERM; while :; do touch alive; sleep 0.05; done' & echo ready; wait";
        let mut child = home.start(sandbox(), script);
        child.stdout.take().unwrap().read_exact(&mut ready).await.unwrap();
        let exit = tokio::time::timeout(LIMIT, child.end(Duration::from_millis(100))).await.unwrap();
        assert!(!matches!(exit, Exit::Lost | Exit::NotStarted(_)), "{tool:?}: {exit}");
        let left = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
            std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == home.path.join("project"))
        });
        assert_eq!(left.count(), 0, "{tool:?}");
    }
}

#[tokio::test]
async fn a_sandbox_that_cannot_be_had_is_a_child_that_does_not_start() {
    let home = Home::new();
    // No such thing on this system: whatever the reason, the script must not have run.
    let child = home.start(home.sandbox(SandboxTool::Seatbelt), "touch ran");
    let exit = tokio::time::timeout(LIMIT, child.wait()).await.unwrap();
    assert!(matches!(exit, Exit::NotStarted(_)), "{exit}");
    assert!(!Path::new(&home.path).join("project/ran").exists());
}
