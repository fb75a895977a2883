//! The end of what a terminal printed, by place: the first byte that it ever printed is at 0.

use std::collections::VecDeque;

/// A bounded end of a stream.
#[derive(Debug)]
pub(crate) struct Scrollback {
    /// The place of the first byte that is kept.
    start: u64,
    bytes: VecDeque<u8>,
    limit: usize,
}

impl Scrollback {
    pub(crate) fn new(limit: usize) -> Self {
        Scrollback { start: 0, bytes: VecDeque::new(), limit }
    }

    /// Adds what was printed, and forgets the oldest lines of what is too much.
    pub(crate) fn push(&mut self, printed: &[u8]) {
        self.bytes.extend(printed);
        // By a quarter at a time: with one byte at a time each read would look for a line's end.
        if self.bytes.len() > self.limit {
            let too_much = self.bytes.len() - self.limit + self.limit / 4;
            let mut cut = too_much.min(self.bytes.len());
            // A cut within a line could be one within a colour's sequence, whose rest would be drawn as text.
            if let Some(end) = self.bytes.iter().skip(cut).position(|byte| *byte == b'\n') {
                cut += end + 1;
            }
            self.bytes.drain(..cut);
            self.start += cut as u64;
        }
    }

    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    pub(crate) fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Returns what was printed from a place on, `most` bytes at most; `from` must not lie before the start.
    pub(crate) fn read(&self, from: u64, most: usize) -> Vec<u8> {
        let skipped = usize::try_from(from.saturating_sub(self.start)).unwrap_or(usize::MAX);
        let skipped = skipped.min(self.bytes.len());
        let n_read = most.min(self.bytes.len() - skipped);
        self.bytes.range(skipped..skipped + n_read).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_and_begins_with_a_line() {
        let mut scrollback = Scrollback::new(100);
        let mut all = Vec::new();
        for n in 0..500 {
            let line = format!("line {n}\n");
            all.extend_from_slice(line.as_bytes());
            scrollback.push(line.as_bytes());
            let kept = scrollback.read(scrollback.start(), usize::MAX);
            assert!(kept.len() <= 100, "{} bytes", kept.len());
            assert!(kept.starts_with(b"line "), "{}", String::from_utf8_lossy(&kept));
            assert!(all.ends_with(&kept));
            assert_eq!(scrollback.end(), all.len() as u64);
        }
    }

    #[test]
    fn a_line_without_an_end_is_cut_anywhere() {
        let mut scrollback = Scrollback::new(100);
        scrollback.push(&[b'x'; 1000]);
        assert_eq!((scrollback.start(), scrollback.end()), (925, 1000));
    }

    #[test]
    fn a_part_is_read_by_its_place() {
        let mut scrollback = Scrollback::new(100);
        scrollback.push(b"abcdef");
        assert_eq!(scrollback.read(2, 3), b"cde");
        assert_eq!(scrollback.read(5, 9), b"f");
        assert_eq!(scrollback.read(6, 9), b"");
        assert_eq!(scrollback.read(99, 9), b"");
    }
}
