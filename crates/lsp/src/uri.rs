//! `file:` addresses, made and read. Servers spell them differently, so both sides normalise.

use std::path::{Path, PathBuf};

/// Returns the address of an absolute path; everything but unreserved characters and `/` is percent-encoded.
pub fn of_path(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char)
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// Returns the path of a `file:` address, or nothing for any other scheme, host or broken encoding.
pub fn to_path(uri: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return None;
    }
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let mut bytes = Vec::with_capacity(rest.len());
    let mut input = rest.bytes();
    while let Some(byte) = input.next() {
        if byte == b'%' {
            let digits = [input.next()?, input.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blanks_umlauts_and_percent_signs_survive() {
        assert_eq!(of_path(Path::new("/a b/Maß%/@x.ts")), "file:///a%20b/Ma%C3%9F%25/%40x.ts");
        assert_eq!(to_path("file:///a%20b/Ma%c3%9f%25/@x.ts"), Some(PathBuf::from("/a b/Maß%/@x.ts")));
    }

    #[test]
    fn what_is_no_local_file_has_no_path() {
        for uri in ["untitled:1", "file://host/x", "http://x/", "file:///a%2", "file:///a%zz", "deno:/x"] {
            assert_eq!(to_path(uri), None, "{uri}");
        }
    }

    proptest! {
        #[test]
        fn a_path_is_the_same_after_the_round_trip(segments in proptest::collection::vec("[^/\0]{1,8}", 1..4)) {
            let path = PathBuf::from(format!("/{}", segments.join("/")));
            prop_assert_eq!(to_path(&of_path(&path)), Some(path));
        }

        #[test]
        fn no_address_panics(uri in ".{0,40}") {
            to_path(&uri);
            to_path(&format!("file://{uri}"));
        }
    }
}
