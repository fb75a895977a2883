//! A long text as a JSON string. Every frame has the whole text of its item, so most of what making one costs is to look
//! for what must be escaped; here that is done eight bytes at a time.

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
const HEX: &[u8; 16] = b"0123456789abcdef";

/// Writes what stands between the quotes of a JSON string, as serde does.
pub(super) fn write_escaped(out: &mut Vec<u8>, content: &str) {
    let mut rest = content.as_bytes();
    while let Some(place) = first_special(rest) {
        let (plain, from) = rest.split_at(place);
        out.extend_from_slice(plain);
        if let Some((special, after)) = from.split_first() {
            write_special(out, *special);
            rest = after;
        }
    }
    out.extend_from_slice(rest);
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

fn write_special(out: &mut Vec<u8>, byte: u8) {
    let letter = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 0xf)]];
            out.extend_from_slice(b"\\u00");
            return out.extend_from_slice(&digits);
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::write_escaped;

    #[track_caller]
    fn check(content: &str) {
        let mut written = b"\"".to_vec();
        write_escaped(&mut written, content);
        written.push(b'"');
        assert_eq!(String::from_utf8(written).unwrap(), serde_json::to_string(content).unwrap());
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
