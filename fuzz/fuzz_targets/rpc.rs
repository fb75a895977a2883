//! Any bytes from the other side of a JSON-RPC peer: no panic, no hang, and a good answer afterwards arrives.
#![no_main]

use std::time::Duration;

use chartroom_transport::codec::Framing;
use chartroom_transport::{Handler, PeerOptions, ResponseError, connect};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

struct Echo;

impl Handler for Echo {
    async fn request(&self, method: String, params: Value) -> Result<Value, ResponseError> {
        if method == "hang" { std::future::pending().await } else { Ok(params) }
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run(data));
});

async fn run(data: &[u8]) {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(ours);
    let peer = connect(read, write, PeerOptions::new("fuzz", Framing::Lines), Echo);
    let (mut read, mut write) = tokio::io::split(theirs);
    // Whatever we say is read away, so that the pipe never fills.
    let reader = tokio::spawn(async move {
        let mut buffer = [0; 4096];
        while matches!(read.read(&mut buffer).await, Ok(n_read) if n_read > 0) {}
    });
    write.write_all(data).await.expect("the peer reads");
    write.write_all(b"\n").await.expect("the peer reads");
    let asking = peer.clone();
    let asked = tokio::spawn(async move {
        // The fuzzer may have guessed the first ids; its answers count as answers.
        for _ in 0..3 {
            asking.request("what", json!({})).await.ok();
        }
    });
    let answer = async {
        loop {
            for id in 1..=3 {
                let answer = format!("{{\"id\":{id},\"result\":0}}\n");
                write.write_all(answer.as_bytes()).await.expect("the peer reads");
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        done = asked => done.expect("no panic"),
        () = answer => {}
        () = tokio::time::sleep(Duration::from_secs(20)) => panic!("the peer hangs"),
    }
    peer.close("done");
    reader.await.expect("no panic");
}
