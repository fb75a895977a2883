//! A text as a JSON string. Every frame has the whole text of its item, so most of what making one costs is to look
//! for what must be escaped; here that is done eight bytes at a time.

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
const HEX: &[u8; 16] = b"0123456789abcdef";

/// Writes a JSON string, as serde does.
pub(super) fn write_string(out: &mut String, content: &str) {
    out.push('"');
    let mut rest = content;
    while let Some(place) = first_special(rest.as_bytes()) {
        // What is special is ASCII, so that no character is cut.
        let (plain, from) = rest.split_at(place);
        out.push_str(plain);
        write_special(out, from.as_bytes().first().copied().unwrap_or_default());
        rest = from.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
    out.push('"');
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn first_special(bytes: &[u8]) -> Option<usize> {
    let (eights, _) = bytes.as_chunks::<8>();
    let n_plain = eights.iter().take_while(|eight| !has_special(**eight)).count() * 8;
    bytes[n_plain..].iter().position(|byte| is_special(*byte)).map(|place| n_plain + place)
}

/// Tells whether one of eight bytes is special. A borrow from one byte to the next may make more of them look so, but never
/// fewer than one.
fn has_special(eight: [u8; 8]) -> bool {
    let eight = u64::from_ne_bytes(eight);
    let zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
    let quote = zero(eight ^ (ONES * u64::from(b'"')));
    let backslash = zero(eight ^ (ONES * u64::from(b'\\')));
    let control = eight.wrapping_sub(ONES * 0x20) & !eight;
    (quote | backslash | control) & HIGH != 0
}

fn write_special(out: &mut String, byte: u8) {
    let letter = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            out.push_str("\\u00");
            out.extend([byte >> 4, byte & 0xf].map(|half| char::from(HEX[usize::from(half)])));
            return;
        }
    };
    out.extend(['\\', char::from(letter)]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::write_string;

    #[track_caller]
    fn check(content: &str) {
        let mut written = String::new();
        write_string(&mut written, content);
        assert_eq!(written, serde_json::to_string(content).unwrap());
    }

    #[test]
    fn every_character_is_written_as_serde_writes_it_wherever_it_stands() {
        for code in 0..0x300 {
            let Some(character) = char::from_u32(code) else { continue };
            for n_before in 0..17 {
                let before = "a".repeat(n_before);
                check(&format!("{before}{character}"));
                check(&format!("{before}{character}and more behind it"));
                check(&format!("{before}{character}{character}\u{20}!#[]"));
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_written_as_serde_writes_it(content in "([ -~]{0,40}|[\\x00-\\x7f]|\\PC){0,12}") {
            check(&content);
        }
    }
}
