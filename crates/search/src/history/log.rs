//! Reading `git log`.

use super::{Commit, MAX_FILES, MAX_MESSAGE};

/// How `git log -z --name-only` is asked for what [`read_log`] reads: a byte that no message has begins each commit.
pub const FORMAT: &str = "--format=%x01%H%x02%B%x03";

/// The commits of an answer of git. What cannot be read is left out; a commit that was cut off too.
pub fn read_log(log: &[u8]) -> Vec<Commit> {
    log.split(|byte| *byte == 1).filter_map(read_commit).collect()
}

/// `HASH 2 message 3 [NUL] [newline] path NUL path NUL …`
fn read_commit(text: &[u8]) -> Option<Commit> {
    let end = text.iter().position(|byte| *byte == 2)?;
    let id = std::str::from_utf8(&text[..end]).ok()?;
    let rest = &text[end + 1..];
    let end = rest.iter().position(|byte| *byte == 3)?;
    let files: Vec<String> = rest[end + 1..]
        .split(|byte| *byte == 0)
        .map(|path| path.strip_prefix(b"\n").unwrap_or(path))
        .filter(|path| !path.is_empty())
        .filter_map(|path| std::str::from_utf8(path).ok().map(ToOwned::to_owned))
        .take(MAX_FILES + 1)
        .collect();
    let is_commit = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let message = String::from_utf8_lossy(&rest[..end]).chars().take(MAX_MESSAGE).collect();
    (is_commit && (1..=MAX_FILES).contains(&files.len())).then(|| Commit {
        id: id.to_owned(),
        message,
        files,
    })
}

#[cfg(test)]
mod tests {
    use super::read_log;

    #[test]
    fn commits_are_read_and_bulk_edits_left_out() {
        let mut log = b"\x01ab12\x02Mend the reader\n\nIt hung.\n\x03\0\na/b.rs\0c d.rs\0".to_vec();
        log.extend(b"\x01ab13\x02Empty\x03\0");
        log.extend(b"\x01ab14\x02Rename all\x03\0\n");
        for at in 0..21 {
            log.extend(format!("f{at}.rs\0").bytes());
        }
        log.extend(b"\x01ab15\x02\xff odd\x03\0\nx.rs\0");
        log.extend(b"\x01ab16\x02cut o");
        let found: Vec<String> = read_log(&log)
            .iter()
            .map(|commit| format!("{} {:?} {:?}", commit.id, commit.message, commit.files))
            .collect();
        assert_eq!(
            found,
            [
                "ab12 \"Mend the reader\\n\\nIt hung.\\n\" [\"a/b.rs\", \"c d.rs\"]",
                "ab15 \"\u{fffd} odd\" [\"x.rs\"]"
            ]
        );
    }

    #[test]
    fn any_bytes_are_read() {
        for log in [&b""[..], b"\x01", b"\x02\x03", b"\x01\x02\x03", b"fatal: bad object", &[1, 2, 3, 0, 255]]
        {
            assert_eq!(read_log(log), []);
        }
    }
}
