//! TLS with the user's own certificate authority.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use chartroom_protocol::index::IndexStatus;
use chartroom_testkit::milvus::{Guard, Lite};
use chartroom_testkit::tools;

use super::line::{IMPATIENT, Line, PATIENT};
use crate::grpc::{Address, MilvusServer};
use crate::server::Server;
use crate::testing::machine::{Facts, Machine};

/// An authority, and a certificate for loopback that it has signed.
struct Authority {
    certificate: PathBuf,
    server: (PathBuf, PathBuf),
}

impl Authority {
    fn new(folder: &Path, name: &str) -> Self {
        let file = |end: &str| folder.join(format!("{name}-{end}.pem"));
        let (certificate, key) = (file("ca"), file("ca-key"));
        let make =
            ["req", "-x509", "-nodes", "-days", "2", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];
        openssl(&make, &["-subj", &format!("/CN={name}")], &[("-keyout", &key), ("-out", &certificate)]);
        let server = (file("server"), file("server-key"));
        openssl(
            &make,
            &[
                "-subj",
                "/CN=127.0.0.1",
                "-addext",
                "subjectAltName=IP:127.0.0.1",
                "-addext",
                "basicConstraints=critical,CA:FALSE",
            ],
            &[("-CA", &certificate), ("-CAkey", &key), ("-keyout", &server.1), ("-out", &server.0)],
        );
        Self { certificate, server }
    }
}

fn openssl(make: &[&str], more: &[&str], files: &[(&str, &PathBuf)]) {
    #[allow(clippy::disallowed_methods, reason = "a tool of the tests; nothing of a project is run")]
    let mut command = Command::new(tools::system_bin("openssl"));
    command.args(make).args(more).stderr(Stdio::piped());
    for (flag, path) in files {
        command.arg(flag).arg(path);
    }
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_server_is_known_by_the_users_authority_and_by_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, another) = (Authority::new(dir.path(), "ours"), Authority::new(dir.path(), "another"));
    let tokens = dir.path().join("tokens");
    std::fs::write(&tokens, r#"{"ci:writes": "all"}"#).unwrap();
    let lite = Lite::guarded(&dir.path().join("milvus"), Guard { tokens, tls: Some(ours.server.clone()) });
    assert!(lite.address().starts_with("https://"));
    let address = |ca_file: Option<&PathBuf>| Address {
        uri: lite.address(),
        token: Some("ci:writes".into()),
        database: None,
        ca_file: ca_file.cloned(),
    };

    // With it, a machine shares and another adopts.
    let (first, second) = (
        Machine::new(Line::to(address(Some(&ours.certificate)))),
        Machine::new(Line::to(address(Some(&ours.certificate)))),
    );
    assert_eq!(first.share().status, IndexStatus::Ok);
    assert_eq!((second.adopt().status, second.facts()), (IndexStatus::Ok, Facts::ok()));

    // Without it, or with another one, nothing is sent: not even the token.
    for ca_file in [None, Some(&another.certificate)] {
        let server = MilvusServer::new(address(ca_file)).unwrap().with_patience(IMPATIENT);
        let trouble = server.version().unwrap_err();
        assert!(trouble.is_outage(), "{trouble:?}");
        let why = "the server's certificate is not trusted";
        assert!(trouble.text.contains(why) && trouble.text.contains("UnknownIssuer"), "{trouble}");
        assert!(trouble.text.contains("`caFile`") && trouble.text.contains(&lite.address()), "{trouble}");
        let stranger = Machine::new(server);
        let adopted = stranger.adopt();
        assert_eq!(adopted.status, IndexStatus::Error);
        assert!(adopted.message.contains(why), "{}", adopted.message);
        assert!(stranger.bytes().is_empty());
    }
    // And a file that is none is told by its name.
    let none = dir.path().join("none.pem");
    let server = MilvusServer::new(address(Some(&none))).unwrap().with_patience(PATIENT);
    let trouble = server.version().unwrap_err();
    assert!(trouble.text.contains("none.pem"), "{trouble}");
    // One that speaks no TLS is told how it is reached.
    let plain = Lite::start(&dir.path().join("plain"));
    let uri = plain.address().replace("http", "https");
    let server = MilvusServer::new(Address { uri, ..address(None) }).unwrap().with_patience(PATIENT);
    let trouble = server.version().unwrap_err();
    assert!(trouble.text.contains("does not speak TLS") && trouble.text.contains("http://"), "{trouble}");
    // An address without TLS does not get through to a server that has it.
    let plain = Address { uri: lite.address().replace("https", "http"), ..address(None) };
    assert!(MilvusServer::new(plain).unwrap().with_patience(IMPATIENT).version().unwrap_err().is_outage());
}
