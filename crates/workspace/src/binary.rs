//! Telling text from binary by its first bytes.

/// How many bytes at the start of a file decide.
pub const PREFIX: usize = 8 * 1024;

/// Whether the start of a file looks like something that is not text.
///
/// A NUL byte decides, as in git; UTF-16 text with a byte order mark counts as text for nobody here and is
/// binary too. Otherwise bytes that are not UTF-8 are forgiven (old encodings) unless control characters
/// abound.
pub fn looks_binary(prefix: &[u8]) -> bool {
    let prefix = &prefix[..prefix.len().min(PREFIX)];
    if prefix.contains(&0) || prefix.starts_with(b"\xff\xfe") || prefix.starts_with(b"\xfe\xff") {
        return true;
    }
    let n_control = prefix.iter().filter(|byte| is_odd_control(**byte)).count();
    n_control * 10 > prefix.len()
}

/// Control characters that text does not have; tabs, line ends, form feeds and escapes do occur in it.
fn is_odd_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x08 | 0x0c | 0x1b)
}
