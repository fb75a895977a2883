//! Framing: cuts a byte stream into messages, and goes on after whatever a child prints in between.
//!
//! A decoder never fails on content: trouble in the stream is a [`Frame`] of its own, so that the reader can
//! log it and read on. Only the I/O below can end a stream.

use std::io;

use bytes::{Bytes, BytesMut};
use serde_json::Value;
use tokio_util::codec::{Decoder, Encoder};

use crate::aside;

mod content_length;
mod lines;
mod weight;

pub use content_length::ContentLength;
pub use lines::Lines;

/// The longest message that is kept, unless told otherwise. Longer ones are drained and reported.
pub const DEFAULT_MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// How many bytes of unusable input an event carries along, for the log.
pub(crate) const SNIPPET: usize = 200;

/// How messages are told apart on a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One JSON text per line: Claude's stream-json, ACP, MCP over stdio.
    Lines,
    /// `Content-Length: n` headers before each JSON text: the Language Server Protocol.
    ContentLength,
}

/// What a framing found in the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The bytes of one message, not yet parsed.
    Message(Bytes),
    /// A message longer than the limit: its bytes were read and dropped.
    Oversized {
        /// Its length in bytes.
        length: u64,
    },
    /// Bytes that belong to no message: a start of them, and how many there were.
    Garbage {
        /// Its first bytes, for a message to the user.
        start: Bytes,
        /// Its length in bytes.
        length: u64,
    },
}

/// One thing read from a child: a JSON message, or what stood in its place.
#[derive(Clone, Debug, PartialEq)]
pub enum Received {
    /// JSON.
    Message(Value),
    /// A frame that is not JSON: its start, and what the parser said.
    Malformed {
        /// How it begins, for a message to the user.
        start: String,
        /// Its length in bytes.
        length: u64,
        /// What the parser says.
        error: String,
    },
    /// A message longer than the limit, or whose values would take far more than its bytes: it was read and dropped.
    Oversized {
        /// Its length in bytes.
        length: u64,
    },
    /// Bytes outside of any frame.
    Garbage {
        /// How it begins, for a message to the user.
        start: String,
        /// Its length in bytes.
        length: u64,
    },
}

/// A decoder of either framing, and an encoder for it.
#[derive(Debug)]
pub enum Codec {
    /// One JSON value a line.
    Lines(Lines),
    /// A `Content-Length` header before each value, as language servers speak.
    ContentLength(ContentLength),
}

impl Codec {
    /// Makes a codec that keeps messages up to `max_message` bytes.
    pub fn new(framing: Framing, max_message: usize) -> Self {
        match framing {
            Framing::Lines => Codec::Lines(Lines::new(max_message)),
            Framing::ContentLength => Codec::ContentLength(ContentLength::new(max_message)),
        }
    }
}

impl Decoder for Codec {
    type Item = Frame;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Frame>> {
        match self {
            Codec::Lines(lines) => lines.decode(buffer),
            Codec::ContentLength(content_length) => content_length.decode(buffer),
        }
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Frame>> {
        match self {
            Codec::Lines(lines) => lines.decode_eof(buffer),
            Codec::ContentLength(content_length) => content_length.decode_eof(buffer),
        }
    }
}

impl Encoder<&[u8]> for Codec {
    type Error = io::Error;

    fn encode(&mut self, message: &[u8], buffer: &mut BytesMut) -> io::Result<()> {
        match self {
            Codec::Lines(lines) => lines.encode(message, buffer),
            Codec::ContentLength(content_length) => content_length.encode(message, buffer),
        }
    }
}

/// A decoder that also parses: `FramedRead::new(stdout, Json::lines())` yields [`Received`] values.
#[derive(Debug)]
pub struct Json(Codec);

impl Json {
    /// Makes a parsing decoder that keeps messages up to `max_message` bytes.
    pub fn new(framing: Framing, max_message: usize) -> Self {
        Json(Codec::new(framing, max_message))
    }

    /// Reads one JSON text per line, with the default limit.
    pub fn lines() -> Self {
        Self::new(Framing::Lines, DEFAULT_MAX_MESSAGE)
    }

    /// Reads `Content-Length` framed JSON, with the default limit.
    pub fn content_length() -> Self {
        Self::new(Framing::ContentLength, DEFAULT_MAX_MESSAGE)
    }
}

impl Decoder for Json {
    type Item = Received;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Received>> {
        Ok(self.0.decode(buffer)?.map(parse))
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Received>> {
        Ok(self.0.decode_eof(buffer)?.map(parse))
    }
}

impl Encoder<&Value> for Json {
    type Error = io::Error;

    fn encode(&mut self, message: &Value, buffer: &mut BytesMut) -> io::Result<()> {
        self.0.encode(&serde_json::to_vec(message)?, buffer)
    }
}

/// Parses a frame, turning what is not JSON into a value that says so.
pub fn parse(frame: Frame) -> Received {
    match frame {
        Frame::Message(bytes) if weight::is_too_heavy(&bytes) => {
            Received::Oversized { length: bytes.len() as u64 }
        }
        Frame::Message(bytes) => match aside(bytes.len(), || serde_json::from_slice(&bytes)) {
            Ok(value) => Received::Message(value),
            Err(error) => Received::Malformed {
                start: snippet(&bytes),
                length: bytes.len() as u64,
                error: error.to_string(),
            },
        },
        Frame::Oversized { length } => Received::Oversized { length },
        Frame::Garbage { start, length } => Received::Garbage { start: snippet(&start), length },
    }
}

fn snippet(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(SNIPPET)]).into_owned()
}
