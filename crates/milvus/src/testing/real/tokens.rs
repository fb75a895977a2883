//! Who is let in: the real engine behind tokens and rights, which the lite server has not by itself.

use chartroom_protocol::index::{IndexStatus, ManageAction};
use chartroom_testkit::milvus::{Guard, Lite};

use super::line::{Line, PATIENT};
use crate::grpc::{Address, MilvusServer};
use crate::names::Names;
use crate::server::Server;
use crate::testing::machine::{Facts, Machine, PROJECT};
use crate::trouble::TroubleKind;

struct Guarded {
    _dir: tempfile::TempDir,
    lite: Lite,
}

impl Guarded {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let tokens = dir.path().join("tokens");
        std::fs::write(&tokens, r#"{"ci:writes": "all", "laptop:reads": "read"}"#).unwrap();
        let lite = Lite::guarded(&dir.path().join("milvus"), Guard { tokens, tls: None });
        Self { _dir: dir, lite }
    }

    fn address(&self, token: Option<&str>) -> Address {
        Address { uri: self.lite.address(), token: token.map(Into::into), database: None, ca_file: None }
    }

    fn line(&self, token: &str) -> Line {
        Line::to(self.address(Some(token)))
    }
}

#[test]
fn a_token_that_is_refused_is_told_and_changes_nothing() {
    let guarded = Guarded::new();
    let ci = Machine::new(guarded.line("ci:writes"));
    assert_eq!(ci.share().status, IndexStatus::Ok);
    for token in [Some("ci:wrong"), None] {
        let server = MilvusServer::new(guarded.address(token)).unwrap().with_patience(PATIENT);
        let trouble = server.version().unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::Auth, "{trouble}");
        assert!(trouble.text.contains("auth check failure"), "{trouble}");
        assert!(trouble.text.contains("`tokenEnv`"), "{trouble}");
        assert!(trouble.text.contains(&guarded.lite.address()), "{trouble}");
        let told = server.last_trouble().expect("doctor shows it").0;
        assert!(told.contains("auth check failure"), "{told}");
    }
    let stranger = Machine::new(guarded.line("stranger:x"));
    let adopted = stranger.adopt();
    assert_eq!(adopted.status, IndexStatus::Error, "{}", adopted.message);
    assert!(adopted.message.contains("auth check failure"), "{}", adopted.message);
    assert!(adopted.message.contains("Nothing was changed"), "{}", adopted.message);
    assert!(stranger.bytes().is_empty());
    let shared = stranger.share();
    assert_eq!(shared.status, IndexStatus::Error, "{}", shared.message);
    assert!(shared.message.contains("What the team has is as it was"), "{}", shared.message);
    assert_eq!(stranger.facts(), Facts::ok(), "it has an index of its own, and is bound to nothing");
    assert_eq!(ci.facts(), Facts::ok());
}

#[test]
fn a_token_that_may_only_read_adopts_and_searches_and_cannot_share() {
    let guarded = Guarded::new();
    let writer = guarded.line("ci:writes");
    let ci = Machine::new(writer.clone());
    assert_eq!(ci.share().status, IndexStatus::Ok);
    let laptop = Machine::new(guarded.line("laptop:reads"));
    let adopted = laptop.adopt();
    assert_eq!(adopted.status, IndexStatus::Ok, "{}", adopted.message);
    assert_eq!((laptop.embedded(), laptop.facts()), (0, Facts::ok()));

    laptop.write("c.rs", "fn more() {}\n");
    assert!(laptop.finds("more"));
    let current = Names::of(PROJECT).current();
    let before = writer.alias(&current).unwrap();
    let shared = laptop.share();
    assert_eq!(shared.status, IndexStatus::Error, "{}", shared.message);
    assert!(shared.message.contains("permission deny"), "{}", shared.message);
    assert!(shared.message.contains("the token has no right to do this"), "{}", shared.message);
    assert!(shared.message.contains("What the team has is as it was"), "{}", shared.message);
    assert_eq!(writer.alias(&current).unwrap(), before);
    assert_eq!(laptop.facts(), Facts::ok(), "it reads as before");
    // It stays a reader: a sync does not try to share.
    assert_eq!(laptop.manage(ManageAction::Sync).status, IndexStatus::Ok);
    assert_eq!(ci.manage(ManageAction::Sync).status, IndexStatus::Ok, "the writer is not in anybody's way");
}
