//! One message per line. Empty lines are nothing, and a last line without its newline still counts.

use std::io;

use bytes::{BufMut, Bytes, BytesMut};
use tokio_util::codec::{Decoder, Encoder};

use super::Frame;

/// The newline framing.
#[derive(Debug)]
pub struct Lines {
    max_message: usize,
    /// How much of the buffer is known to hold no newline, so that a long line is scanned once.
    scanned: usize,
    /// How many bytes of an oversized line have been dropped; `None` while the line still fits.
    dropped: Option<u64>,
}

impl Lines {
    /// Makes a framing that keeps lines up to `max_message` bytes.
    pub fn new(max_message: usize) -> Self {
        Lines { max_message, scanned: 0, dropped: None }
    }

    /// Drops what the buffer holds of a line that has become too long.
    fn drop_if_oversized(&mut self, buffer: &mut BytesMut) {
        if self.dropped.is_some() || buffer.len() > self.max_message {
            *self.dropped.get_or_insert(0) += buffer.len() as u64;
            buffer.clear();
        }
        self.scanned = buffer.len();
    }

    /// Judges a line without its newline. A carriage return counts for the limit: it may come in a read of its
    /// own, and the limit must not depend on that.
    fn line(&mut self, mut line: Bytes) -> Option<Frame> {
        if let Some(dropped) = self.dropped.take() {
            return Some(Frame::Oversized { length: dropped + line.len() as u64 });
        }
        if line.len() > self.max_message {
            return Some(Frame::Oversized { length: line.len() as u64 });
        }
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        let blank = line.iter().all(u8::is_ascii_whitespace);
        (!blank).then_some(Frame::Message(line))
    }
}

impl Decoder for Lines {
    type Item = Frame;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Frame>> {
        while let Some(offset) = memchr::memchr(b'\n', &buffer[self.scanned..]) {
            let mut line = buffer.split_to(self.scanned + offset + 1).freeze();
            self.scanned = 0;
            line.truncate(line.len() - 1);
            if let Some(frame) = self.line(line) {
                return Ok(Some(frame));
            }
        }
        self.drop_if_oversized(buffer);
        Ok(None)
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Frame>> {
        if let Some(frame) = self.decode(buffer)? {
            return Ok(Some(frame));
        }
        self.scanned = 0;
        let line = buffer.split().freeze();
        Ok(self.line(line))
    }
}

impl Encoder<&[u8]> for Lines {
    type Error = io::Error;

    fn encode(&mut self, message: &[u8], buffer: &mut BytesMut) -> io::Result<()> {
        buffer.reserve(message.len() + 1);
        buffer.put_slice(message);
        buffer.put_u8(b'\n');
        Ok(())
    }
}
