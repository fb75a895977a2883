//! `Content-Length: n` headers before each message, as the Language Server Protocol frames it.
//!
//! Children print banners and stack traces into this stream, and some count their bytes wrong. After anything
//! that cannot be a header the decoder looks for the next `Content-Length:`, also in mid-line, so that one bad
//! message costs that message and not the connection.

use std::io;

use bytes::{BufMut, Bytes, BytesMut};
use tokio_util::codec::{Decoder, Encoder};

use super::{Frame, SNIPPET};

const HEADER: &[u8] = b"content-length:";

/// No header line is this long; past it, what has come without a newline is garbage.
const MAX_HEADER_LINE: usize = 8 * 1024;

/// A length above this is a mistake and not a message: draining it would swallow all that follows.
const MAX_DRAIN: u64 = 1024 * 1024 * 1024;

/// The Content-Length framing.
#[derive(Debug)]
pub struct ContentLength {
    max_message: usize,
    state: State,
    /// How much of the buffer is known to hold no newline, so that a long line is scanned once.
    scanned: usize,
    garbage: Garbage,
}

#[derive(Debug)]
enum State {
    /// Reading header lines; the length once its line was seen.
    Header(Option<u64>),
    Body(usize),
    /// Dropping the rest of an oversized body.
    Drain {
        left: u64,
        length: u64,
    },
}

/// Bytes outside of any message, gathered until there is something better to report.
#[derive(Debug, Default)]
struct Garbage {
    start: Vec<u8>,
    length: u64,
}

impl Garbage {
    fn add(&mut self, bytes: &[u8]) {
        let room = SNIPPET.saturating_sub(self.start.len()).min(bytes.len());
        self.start.extend_from_slice(&bytes[..room]);
        self.length += bytes.len() as u64;
    }

    fn take(&mut self) -> Option<Frame> {
        let Garbage { start, length } = std::mem::take(self);
        (length > 0).then(|| Frame::Garbage { start: Bytes::from(start), length })
    }
}

impl ContentLength {
    /// Makes a framing that keeps messages up to `max_message` bytes.
    pub fn new(max_message: usize) -> Self {
        ContentLength { max_message, state: State::Header(None), scanned: 0, garbage: Garbage::default() }
    }

    /// Takes in one header line. Returns whether it ended the header.
    fn header_line(&mut self, line: &[u8], length: Option<u64>) -> HeaderLine {
        let text = line.trim_ascii();
        if text.is_empty() {
            return match length {
                Some(length) => HeaderLine::End(length),
                None => HeaderLine::More(None),
            };
        }
        let Some(at) = find_header(line) else {
            // Other headers (`Content-Type`) say nothing we need; what is not shaped like one is noise.
            if !is_header(text) {
                self.garbage.add(line);
            }
            return HeaderLine::More(length);
        };
        self.garbage.add(&line[..at]);
        let value = line[at + HEADER.len()..].trim_ascii();
        let parsed = std::str::from_utf8(value).ok().and_then(|value| value.parse::<u64>().ok());
        match (parsed, length) {
            (Some(parsed), None) if parsed <= MAX_DRAIN => HeaderLine::More(Some(parsed)),
            (Some(parsed), Some(length)) if parsed == length => HeaderLine::More(Some(length)),
            // Not a number, absurdly large, or two lengths that contradict each other: the body cannot be
            // found, so that the header is noise and the next good one is looked for.
            _ => {
                self.garbage.add(&line[at..]);
                HeaderLine::More(None)
            }
        }
    }
}

enum HeaderLine {
    More(Option<u64>),
    End(u64),
}

impl Decoder for ContentLength {
    type Item = Frame;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Frame>> {
        loop {
            match self.state {
                State::Header(length) => {
                    let Some(offset) = buffer[self.scanned..].iter().position(|byte| *byte == b'\n') else {
                        self.scanned = buffer.len();
                        if buffer.len() > MAX_HEADER_LINE {
                            // Keep the end: it may be the start of a header.
                            let noise = buffer.split_to(buffer.len() - MAX_HEADER_LINE / 2);
                            self.garbage.add(&noise);
                            self.scanned = buffer.len();
                        }
                        return Ok(None);
                    };
                    let line = buffer.split_to(self.scanned + offset + 1);
                    self.scanned = 0;
                    match self.header_line(&line, length) {
                        HeaderLine::More(length) => self.state = State::Header(length),
                        HeaderLine::End(length) => {
                            self.state = match usize::try_from(length) {
                                Ok(length) if length <= self.max_message => State::Body(length),
                                _ => State::Drain { left: length, length },
                            };
                            if let Some(garbage) = self.garbage.take() {
                                return Ok(Some(garbage));
                            }
                        }
                    }
                }
                State::Body(length) => {
                    if buffer.len() < length {
                        return Ok(None);
                    }
                    self.state = State::Header(None);
                    return Ok(Some(Frame::Message(buffer.split_to(length).freeze())));
                }
                State::Drain { left, length } => {
                    let n_dropped = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    drop(buffer.split_to(n_dropped));
                    let left = left - n_dropped as u64;
                    if left > 0 {
                        self.state = State::Drain { left, length };
                        return Ok(None);
                    }
                    self.state = State::Header(None);
                    return Ok(Some(Frame::Oversized { length }));
                }
            }
        }
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Frame>> {
        if let Some(frame) = self.decode(buffer)? {
            return Ok(Some(frame));
        }
        // What is left is a header or a body that was cut off.
        self.garbage.add(&buffer.split());
        self.scanned = 0;
        self.state = State::Header(None);
        Ok(self.garbage.take())
    }
}

impl Encoder<&[u8]> for ContentLength {
    type Error = io::Error;

    fn encode(&mut self, message: &[u8], buffer: &mut BytesMut) -> io::Result<()> {
        let header = format!("Content-Length: {}\r\n\r\n", message.len());
        buffer.reserve(header.len() + message.len());
        buffer.put_slice(header.as_bytes());
        buffer.put_slice(message);
        Ok(())
    }
}

/// Where the last `Content-Length:` of a line begins.
fn find_header(line: &[u8]) -> Option<usize> {
    let n_windows = (line.len() + 1).checked_sub(HEADER.len())?;
    (0..n_windows).rev().find(|at| line[*at..*at + HEADER.len()].eq_ignore_ascii_case(HEADER))
}

/// Whether a line is shaped like `Name: value`.
fn is_header(line: &[u8]) -> bool {
    match line.iter().position(|byte| *byte == b':') {
        Some(0) | None => false,
        Some(colon) => line[..colon].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-'),
    }
}
