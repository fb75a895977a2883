//! What cannot be, on the real server: each says what is wrong, where, and what to do, and nothing is lost.

use std::io::{Read, Write};
use std::net::TcpListener;

use chartroom_protocol::index::IndexStatus;

use super::{connect, fingerprint, lite};
use crate::names;
use crate::server::Server;
use crate::testing::machine::{Facts, Machine};

#[test]
fn an_address_that_is_no_milvus_is_told() {
    // Whatever comes, it says something that is no HTTP/2.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let garbage = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut some = [0; 64];
            if stream.read(&mut some).is_ok_and(|n_read| n_read > 0) {
                drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"));
            }
        }
    });
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (address, says) in [
        (garbage, "what answers there is no Milvus"),
        (format!("http://{nobody}"), "no connection (Connection refused"),
    ] {
        let server = connect(address.clone());
        let trouble = server.version().unwrap_err();
        assert!(trouble.is_outage(), "{trouble:?}");
        assert!(trouble.text.contains(&address), "{trouble:?}");
        assert!(trouble.text.contains(says), "{trouble:?}");
        let again = server.version().unwrap_err();
        assert!(again.text.contains("not asked again"), "{again:?}");
        assert!(server.last_trouble().is_some());

        let machine = Machine::new(server);
        let adopted = machine.adopt();
        assert_eq!(adopted.status, IndexStatus::Error, "{}", adopted.message);
        assert!(adopted.message.contains(&address) && machine.bytes().is_empty(), "{}", adopted.message);
        let shared = machine.share();
        assert_eq!(shared.status, IndexStatus::Error, "{}", shared.message);
        assert!(shared.message.contains("What the team has is as it was"), "{}", shared.message);
        assert_eq!(machine.facts(), Facts::ok(), "its own index answers");
    }
}

#[test]
fn a_collection_of_another_dimension_on_a_real_server_fails_the_share() {
    let (_dir, lite) = lite();
    let server = connect(lite.address());
    let name = names::vectors(&fingerprint());
    server.create(&name, 7).unwrap();
    let machine = Machine::new(connect(lite.address()));
    let shared = machine.share();
    assert_eq!(shared.status, IndexStatus::Error);
    assert!(
        shared.message.contains(&format!("{name} has vectors of 7 dimensions, not 4")),
        "{}",
        shared.message
    );
    assert!(shared.message.contains(&lite.address()), "{}", shared.message);
    assert!(shared.message.contains("drop or rename it"), "{}", shared.message);
    assert_eq!(machine.facts(), Facts::ok(), "its own index answers");
    assert_eq!(server.dimension(&name), Ok(Some(7)), "what is not ours is not touched");
}

#[test]
fn a_collection_with_other_columns_is_told_by_its_name() {
    use milvus::v2::prelude::*;
    let (_dir, lite) = lite();
    let name = names::files(&fingerprint());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = ClientV2::new(&ConnectConfig::new().uri(lite.address())).await.unwrap();
        let schema = CollectionSchema::new()
            .add_field(FieldSchema::new().name("pk").data_type(DataType::Int64).primary_key(true))
            .add_field(FieldSchema::new().name("v").data_type(DataType::FloatVector).dimension(2));
        let request =
            CreateCollectionRequest::builder().collection_name(name.as_str()).schema(schema).build().unwrap();
        client.create_collection(request).await.unwrap();
    });
    let machine = Machine::new(connect(lite.address()));
    let shared = machine.share();
    assert_eq!(shared.status, IndexStatus::Error);
    assert!(shared.message.contains(&name) && shared.message.contains("other columns"), "{}", shared.message);
    let told = format!("drop or rename it at {}", lite.address());
    assert!(shared.message.contains(&told), "{}", shared.message);
    assert_eq!(machine.facts(), Facts::ok(), "its own index answers");
}
