//! Both framings, over every way a stream can be cut into reads.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use bytes::{Bytes, BytesMut};
use chartroom_transport::codec::{Codec, Frame, Framing, Json, Received};
use proptest::prelude::*;
use serde_json::json;
use tokio_util::codec::{Decoder, Encoder};

const MAX: usize = 32;

/// Feeds a stream in pieces that end at `cuts`, and returns what came out. Neighbouring garbage is one.
fn decode(framing: Framing, stream: &[u8], cuts: &[usize]) -> Vec<Frame> {
    let mut codec = Codec::new(framing, MAX);
    let mut buffer = BytesMut::new();
    let mut frames = Vec::new();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (stream.len() + 1)).collect();
    cuts.extend([0, stream.len()]);
    cuts.sort_unstable();
    for piece in cuts.windows(2) {
        buffer.extend_from_slice(&stream[piece[0]..piece[1]]);
        while let Some(frame) = codec.decode(&mut buffer).expect("content is no error") {
            frames.push(frame);
        }
    }
    while let Some(frame) = codec.decode_eof(&mut buffer).expect("content is no error") {
        frames.push(frame);
    }
    frames
}

/// Shows frames as text, and checks that whole reads and single bytes give the same.
#[track_caller]
fn check(framing: Framing, stream: &str, expected: &[&str]) {
    let show = |frames: Vec<Frame>| -> Vec<String> {
        frames
            .iter()
            .map(|frame| match frame {
                Frame::Message(bytes) => format!("message {}", String::from_utf8_lossy(bytes)),
                Frame::Oversized { length } => format!("oversized {length}"),
                Frame::Garbage { start, length } => format!("garbage {length} {}", start.escape_ascii()),
            })
            .collect()
    };
    let bytes = stream.as_bytes();
    let every_byte: Vec<usize> = (0..bytes.len()).collect();
    assert_eq!(show(decode(framing, bytes, &[])), expected, "in one read");
    assert_eq!(show(decode(framing, bytes, &every_byte)), expected, "byte by byte");
}

#[track_caller]
fn check_lines(stream: &str, expected: &[&str]) {
    check(Framing::Lines, stream, expected);
}

#[track_caller]
fn check_headers(stream: &str, expected: &[&str]) {
    check(Framing::ContentLength, stream, expected);
}

#[test]
fn lines_are_messages() {
    check_lines("{}\n[1]\n", &["message {}", "message [1]"]);
    check_lines("{}\r\n\r\n  \n[1]", &["message {}", "message [1]"]);
    check_lines("", &[]);
    check_lines("\n\n", &[]);
}

#[test]
fn a_line_over_the_limit_is_drained_and_the_next_one_read() {
    let long = "x".repeat(100);
    check_lines(&format!("{{}}\n{long}\n[1]\n"), &["message {}", "oversized 100", "message [1]"]);
    check_lines(&"x".repeat(MAX), &[&format!("message {}", "x".repeat(MAX))]);
    check_lines(&"x".repeat(MAX + 1), &["oversized 33"]);
    check_lines(&format!("{long}\n{long}"), &["oversized 100", "oversized 100"]);
}

#[test]
fn a_header_gives_the_length_of_a_message() {
    check_headers("Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n[1]", &["message {}", "message [1]"]);
    check_headers("content-LENGTH:2\n\n{}", &["message {}"]);
    check_headers("Content-Type: x/y; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}", &["message {}"]);
    check_headers("Content-Length: 2\r\nContent-Type: x/y\r\n\r\n{}", &["message {}"]);
    check_headers("Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}", &["message ", "message {}"]);
}

#[test]
fn garbage_before_a_header_is_reported_and_skipped() {
    check_headers("starting up!\nContent-Length: 2\r\n\r\n{}", &["garbage 13 starting up!\\n", "message {}"]);
    check_headers("oopsContent-Length: 2\r\n\r\n{}", &["garbage 4 oops", "message {}"]);
    check_headers("\n\n\nContent-Length: 2\r\n\r\n{}", &["message {}"]);
    check_headers("info: a log line\n\nContent-Length: 2\r\n\r\n{}", &["message {}"]);
}

#[test]
fn a_message_longer_than_its_header_says_costs_itself_only() {
    check_headers(
        "Content-Length: 2\r\n\r\n{}tailContent-Length: 3\r\n\r\n[1]",
        &["message {}", "garbage 4 tail", "message [1]"],
    );
}

#[test]
fn a_length_that_is_missing_wrong_or_contradicted_is_garbage() {
    check_headers(
        "Content-Length: two\r\n\r\n{}\nContent-Length: 3\r\n\r\n[1]",
        &["garbage 24 Content-Length: two\\r\\n{}\\n", "message [1]"],
    );
    check_headers(
        "Content-Length: -1\r\n\r\nContent-Length: 3\r\n\r\n[1]",
        &["garbage 20 Content-Length: -1\\r\\n", "message [1]"],
    );
    check_headers(
        "Content-Length: 2\r\nContent-Length: 3\r\n\r\nContent-Length: 3\r\n\r\n[1]",
        &["garbage 19 Content-Length: 3\\r\\n", "message [1]"],
    );
    check_headers("Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", &["message {}"]);
    check_headers(
        "Content-Length: 99999999999999999999999\r\n\r\nContent-Length: 2\r\n\r\n{}",
        &["garbage 41 Content-Length: 99999999999999999999999\\r\\n", "message {}"],
    );
    check_headers(
        "Content-Length: 18446744073709551615\r\n\r\nContent-Length: 2\r\n\r\n{}",
        &["garbage 38 Content-Length: 18446744073709551615\\r\\n", "message {}"],
    );
}

#[test]
fn a_body_over_the_limit_is_drained_and_the_next_one_read() {
    let long = "x".repeat(100);
    check_headers(
        &format!("Content-Length: 100\r\n\r\n{long}Content-Length: 2\r\n\r\n{{}}"),
        &["oversized 100", "message {}"],
    );
}

#[test]
fn a_stream_that_ends_in_the_middle_says_so() {
    check_headers("Content-Length: 10\r\n\r\n{}", &["garbage 2 {}"]);
    check_headers("Content-Len", &["garbage 11 Content-Len"]);
    check_headers("", &[]);
}

#[test]
fn a_flood_without_a_newline_takes_bounded_memory() {
    let mut codec = Codec::new(Framing::ContentLength, MAX);
    let mut buffer = BytesMut::new();
    for _ in 0..1000 {
        buffer.extend_from_slice(&[b'x'; 1000]);
        assert_eq!(codec.decode(&mut buffer).unwrap(), None);
        assert!(buffer.len() <= 10_000, "{} bytes are kept", buffer.len());
    }
    buffer.extend_from_slice(b"Content-Length: 2\r\n\r\n{}");
    let garbage = Frame::Garbage { start: Bytes::from(vec![b'x'; 200]), length: 1_000_000 };
    assert_eq!(codec.decode(&mut buffer).unwrap(), Some(garbage));
    assert_eq!(codec.decode(&mut buffer).unwrap(), Some(Frame::Message(Bytes::from_static(b"{}"))));
}

#[test]
fn what_is_not_json_is_reported_and_the_next_message_read() {
    let mut json = Json::lines();
    let mut buffer = BytesMut::from(&b"Warning: hello\n{\"a\":1}\n\xff\xfe\n[2]\n"[..]);
    let mut received = Vec::new();
    while let Some(next) = json.decode(&mut buffer).unwrap() {
        received.push(next);
    }
    let malformed = |start: &str, length, error: &str| Received::Malformed {
        start: start.to_owned(),
        length,
        error: error.to_owned(),
    };
    assert_eq!(
        received,
        [
            malformed("Warning: hello", 14, "expected value at line 1 column 1"),
            Received::Message(json!({"a": 1})),
            malformed("\u{fffd}\u{fffd}", 2, "expected value at line 1 column 1"),
            Received::Message(json!([2])),
        ]
    );
}

fn framing() -> impl Strategy<Value = Framing> {
    prop_oneof![Just(Framing::Lines), Just(Framing::ContentLength)]
}

/// Bytes that look enough like our framings to be interesting.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"Content-Length: 2\r\n\r\n{}".to_vec()),
        Just(b"Content-Length: 100\r\n\r\n".to_vec()),
        Just(b"Content-Length: 40\n\n".to_vec()),
        Just(b"Content-Length:".to_vec()),
        Just(b"content-length: 99999999999\r\n".to_vec()),
        Just(b"\r\n\r\n".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"{\"a\":[1,2]}\n".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..60),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_of_any_stream_gives_the_same_frames(
        framing in framing(),
        stream in stream(),
        cuts in proptest::collection::vec(any::<usize>(), 0..20),
    ) {
        prop_assert_eq!(decode(framing, &stream, &cuts), decode(framing, &stream, &[]));
    }

    #[test]
    fn what_is_written_is_read_however_it_is_cut(
        framing in framing(),
        messages in proptest::collection::vec("[ -~]{1,32}", 0..10),
        cuts in proptest::collection::vec(any::<usize>(), 0..20),
    ) {
        let messages: Vec<String> =
            messages.into_iter().filter(|message| !message.trim().is_empty()).collect();
        let mut codec = Codec::new(framing, MAX);
        let mut stream = BytesMut::new();
        for message in &messages {
            codec.encode(message.as_bytes(), &mut stream).unwrap();
        }
        let expected: Vec<Frame> =
            messages.into_iter().map(|message| Frame::Message(Bytes::from(message))).collect();
        prop_assert_eq!(decode(framing, &stream, &cuts), expected);
    }

    #[test]
    fn a_good_message_after_any_garbage_is_found(
        garbage in "[^\\r\\n]{0,200}",
        cuts in proptest::collection::vec(any::<usize>(), 0..20),
    ) {
        prop_assume!(!garbage.to_lowercase().contains("content-length"));
        let stream = format!("{garbage}\nContent-Length: 2\r\n\r\n{{}}");
        let frames = decode(Framing::ContentLength, stream.as_bytes(), &cuts);
        prop_assert_eq!(frames.last(), Some(&Frame::Message(Bytes::from_static(b"{}"))));
    }

    #[test]
    fn no_byte_of_a_stream_is_counted_twice(framing in framing(), stream in stream()) {
        let counted: u64 = decode(framing, &stream, &[])
            .iter()
            .map(|frame| match frame {
                Frame::Message(bytes) => bytes.len() as u64,
                Frame::Oversized { length } | Frame::Garbage { length, .. } => *length,
            })
            .sum();
        prop_assert!(counted <= stream.len() as u64);
    }
}
