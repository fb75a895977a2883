//! The tail: rows of the journal and messages that were accepted and are not in the database yet.
//!
//! A row is written here with one system call before anybody sees it, and the database takes it over with others in
//! one transaction. What is in a file survives the death of this process as well as a committed transaction does, at
//! a hundredth of the cost. A message is written here in the same way and synced to the disk before its sender is answered;
//! most are taken by the agent before the database would have them, and never get there. There are two files: while
//! the database takes over what is in the one, what is new goes to
//! the other; the first is emptied when the transaction is committed. Taking over is idempotent (a row that the
//! database has is skipped by its seq, a message by its id), so a death between the commit and the emptying does no harm.
//!
//! A record is the length of its body, the checksum of its body, and the body. The checksum is for a power cut, after
//! which a file may hold less than what was written; reading ends at the first record that is not whole, or at an end
//! mark. An emptied file keeps its blocks, which the next rows are written over: a file that grows costs more than
//! twice as much a write. What lies behind the end mark, the database has had; if a power cut takes the mark away, it
//! skips those rows by their seq.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chartroom_protocol::ids::{ItemId, QueuedId, SessionId, TurnId};

use super::journal::{NewRow, RowKind};
use super::queue::{Accepted, SessionNote, StoredMessage};
use super::to_json;

/// What the files are called, behind the store's own name.
pub(super) const SUFFIXES: [&str; 2] = ["-tail-a", "-tail-b"];

/// What lies in the files.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// By their seq.
    pub(super) rows: Vec<(SessionId, NewRow)>,
    /// In the order in which they were accepted.
    pub(super) messages: Vec<Accepted>,
}

enum Record {
    Row(SessionId, NewRow),
    Message(u64, Accepted),
}

const HEAD: usize = 8;
/// The head of a record without a body, behind the last record.
const END: [u8; HEAD] = [0; HEAD];
/// How many bytes an emptied file keeps at most: more than may wait for the database, so that a file that grew to that in a
/// lively hour does not grow anew with every row of the next.
const KEPT: u64 = 16 << 20;
const TURN: u8 = 0;
const UPSERT: u8 = 1;
const MESSAGE: u8 = 2;

/// The file that takes what is new.
pub(super) struct Tail {
    active: Part,
    buffer: Vec<u8>,
    /// How many messages were written: it tells their order when they are read from both files.
    n_messages: u64,
}

/// One of the two files.
pub(super) struct Part {
    file: Arc<File>,
    /// Where the next record goes; what lies behind it is an end mark, or of a write that failed.
    length: u64,
    /// How many bytes the file has.
    size: u64,
}

impl Tail {
    /// Opens both files: the one that takes what is new, the one that is spare, and what is in them.
    pub(super) fn open(store: &Path) -> io::Result<(Self, Part, Kept)> {
        let mut records = Vec::new();
        let is_new = SUFFIXES.iter().any(|suffix| !beside(store, suffix).exists());
        let [active, spare] = SUFFIXES.map(|suffix| Part::open(&beside(store, suffix), &mut records));
        let (mut rows, mut messages) = (Vec::new(), Vec::new());
        for record in records {
            match record {
                Record::Row(session_id, row) => rows.push((session_id, row)),
                Record::Message(number, accepted) => messages.push((number, accepted)),
            }
        }
        // What is new goes to one file and then to the other; which came first is told by the numbers.
        rows.sort_by_key(|(_, row): &(SessionId, NewRow)| row.seq);
        messages.sort_by_key(|(number, _)| *number);
        let messages = messages.into_iter().map(|(_, accepted)| accepted).collect();
        let (active, spare) = (active?, spare?);
        if is_new && let Some(folder) = store.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            // A message in a file without a name would not survive a power cut.
            File::open(folder)?.sync_all()?;
        }
        Ok((Self { active, buffer: Vec::new(), n_messages: 0 }, spare, Kept { rows, messages }))
    }

    /// Adds rows with one system call. When it fails none of them counts.
    pub(super) fn append(&mut self, session_id: &SessionId, rows: &[NewRow]) -> io::Result<()> {
        self.buffer.clear();
        for row in rows {
            encode_row(session_id, row, &mut self.buffer)?;
        }
        self.write()
    }

    /// Adds a message. It is on the disk when the file has been synced.
    pub(super) fn append_message(&mut self, accepted: &Accepted) -> io::Result<()> {
        self.buffer.clear();
        self.n_messages += 1;
        encode_message(self.n_messages, accepted, &mut self.buffer)?;
        self.write()
    }

    /// Returns the file that takes what is new.
    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.active.file)
    }

    fn write(&mut self) -> io::Result<()> {
        self.buffer.extend_from_slice(&END);
        self.active.append(&self.buffer)
    }

    /// New rows go to the other file from here on, and the one they were in is the other. That is not done while the
    /// other holds rows: the last attempt to take them over failed.
    pub(super) fn seal(&mut self, spare: &mut Part) {
        if spare.is_empty() {
            std::mem::swap(&mut self.active, spare);
        }
    }

    /// The database has every row.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.active.clear()
    }

    /// Leaves nothing in the file but its rows.
    pub(super) fn shrink(&mut self) -> io::Result<()> {
        self.active.shrink()
    }
}

impl Part {
    fn open(path: &Path, records: &mut Vec<Record>) -> io::Result<Self> {
        // Conversations are the user's own business.
        let file =
            File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        let size = file.metadata()?.len();
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        file.read_exact_at(&mut bytes, 0)?;
        let mut rest = bytes.as_slice();
        records.extend(std::iter::from_fn(|| decode(&mut rest)));
        Ok(Self { file: Arc::new(file), length: size - rest.len() as u64, size })
    }

    fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Adds whole records with an end mark behind them.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.length)?;
        let end = self.length + bytes.len() as u64;
        self.length = end - END.len() as u64;
        self.size = self.size.max(end);
        Ok(())
    }

    /// The database has every row of it.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        if self.size > KEPT {
            self.file.set_len(0)?;
            self.size = 0;
        } else {
            self.file.write_all_at(&END, 0)?;
        }
        self.length = 0;
        Ok(())
    }

    /// Leaves nothing in the file but its rows.
    pub(super) fn shrink(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.size = self.length;
        Ok(())
    }
}

fn beside(store: &Path, suffix: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn encode_row(session_id: &SessionId, row: &NewRow, buffer: &mut Vec<u8>) -> io::Result<()> {
    let (kind, item_id) = match &row.kind {
        RowKind::Turn => (TURN, ""),
        RowKind::Upsert(item_id) => (UPSERT, item_id.as_str()),
    };
    encode(kind, row.seq, &[session_id.as_str(), item_id, &row.at, &row.json], buffer)
}

fn encode_message(number: u64, accepted: &Accepted, buffer: &mut Vec<u8>) -> io::Result<()> {
    let Accepted { session_id, message, note } = accepted;
    let params = to_json(&message.params);
    let mut texts = vec![
        session_id.as_str(),
        message.queued_id.as_str(),
        message.turn_id.as_str(),
        &message.queued_at,
        &params,
    ];
    if let Some(SessionNote { title, last_activity }) = note {
        texts.extend([title.as_str(), last_activity]);
    }
    encode(MESSAGE, number, &texts, buffer)
}

fn encode(kind: u8, number: u64, texts: &[&str], buffer: &mut Vec<u8>) -> io::Result<()> {
    let head = buffer.len();
    buffer.extend_from_slice(&[0; HEAD]);
    buffer.push(kind);
    buffer.extend_from_slice(&number.to_le_bytes());
    for text in texts {
        buffer.extend_from_slice(&length(text.len())?);
        buffer.extend_from_slice(text.as_bytes());
    }
    let body = length(buffer.len() - head - HEAD)?;
    let checksum = crc32fast::hash(&buffer[head + HEAD..]).to_le_bytes();
    buffer[head..head + 4].copy_from_slice(&body);
    buffer[head + 4..head + HEAD].copy_from_slice(&checksum);
    Ok(())
}

fn length(n_bytes: usize) -> io::Result<[u8; 4]> {
    let n_bytes = u32::try_from(n_bytes).map_err(|_too_long| io::Error::from(io::ErrorKind::FileTooLarge))?;
    Ok(n_bytes.to_le_bytes())
}

/// Reads one whole record and moves past it.
fn decode(rest: &mut &[u8]) -> Option<Record> {
    let mut after = *rest;
    let n_bytes = take_number(&mut after)?;
    let checksum = take_number(&mut after)?;
    let mut body = take(&mut after, n_bytes as usize)?;
    if n_bytes == 0 || crc32fast::hash(body) != checksum {
        return None;
    }
    let kind = take(&mut body, 1)?;
    let number = u64::from_le_bytes(take(&mut body, 8)?.try_into().ok()?);
    let record = match kind {
        [TURN] => decode_row(number, |_| RowKind::Turn, body)?,
        [UPSERT] => decode_row(number, RowKind::Upsert, body)?,
        [MESSAGE] => Record::Message(number, decode_message(body)?),
        _ => return None,
    };
    *rest = after;
    Some(record)
}

fn decode_row(seq: u64, kind: impl FnOnce(ItemId) -> RowKind, mut body: &[u8]) -> Option<Record> {
    let session_id = SessionId::from(take_text(&mut body)?);
    let kind = kind(ItemId::from(take_text(&mut body)?));
    let at = take_text(&mut body)?.to_owned();
    let json = take_text(&mut body)?.into();
    Some(Record::Row(session_id, NewRow { seq, kind, at, json }))
}

fn decode_message(mut body: &[u8]) -> Option<Accepted> {
    let session_id = SessionId::from(take_text(&mut body)?);
    let message = StoredMessage {
        queued_id: QueuedId::from(take_text(&mut body)?),
        turn_id: TurnId::from(take_text(&mut body)?),
        queued_at: take_text(&mut body)?.to_owned(),
        params: serde_json::from_str(take_text(&mut body)?).ok()?,
    };
    let note = match take_text(&mut body) {
        Some(title) => {
            Some(SessionNote { title: title.to_owned(), last_activity: take_text(&mut body)?.to_owned() })
        }
        None => None,
    };
    Some(Accepted { session_id, message, note })
}

fn take<'a>(rest: &mut &'a [u8], n_bytes: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(n_bytes)?;
    *rest = after;
    Some(taken)
}

fn take_number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(take(rest, 4)?.try_into().ok()?))
}

fn take_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let n_bytes = take_number(rest)?;
    std::str::from_utf8(take(rest, n_bytes as usize)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seq: u64, json: &str) -> NewRow {
        let kind = if seq.is_multiple_of(2) { RowKind::Turn } else { RowKind::Upsert("i".into()) };
        NewRow { seq, kind, at: "now".to_owned(), json: json.into() }
    }

    fn reopened(store: &Path) -> Vec<u64> {
        let (_, _, kept) = Tail::open(store).unwrap();
        kept.rows.into_iter().map(|(_, row)| row.seq).collect()
    }

    #[test]
    fn rows_come_back_as_they_were_written_from_both_files() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.db");
        let session_id = SessionId::new("s");
        let (mut tail, mut spare, found) = Tail::open(&store).unwrap();
        assert_eq!((found.rows, found.messages), (Vec::new(), Vec::new()));
        tail.append(&session_id, &[row(1, "one"), row(2, "two \u{e4}")]).unwrap();
        tail.seal(&mut spare);
        tail.append(&session_id, &[row(3, "three")]).unwrap();
        let rows = Tail::open(&store).unwrap().2.rows;
        let expected = [row(1, "one"), row(2, "two \u{e4}"), row(3, "three")];
        assert_eq!(rows, expected.map(|row| (session_id.clone(), row)));
        spare.clear().unwrap();
        assert_eq!(reopened(&store), [3]);
        tail.clear().unwrap();
        assert!(reopened(&store).is_empty());
    }

    #[test]
    fn a_file_that_could_not_be_taken_over_is_kept_until_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.db");
        let session_id = SessionId::new("s");
        let (mut tail, mut spare, _) = Tail::open(&store).unwrap();
        tail.append(&session_id, &[row(1, "one")]).unwrap();
        tail.seal(&mut spare);
        tail.append(&session_id, &[row(2, "two")]).unwrap();
        // The first attempt failed: the second finds the other file in use.
        tail.seal(&mut spare);
        tail.append(&session_id, &[row(3, "three")]).unwrap();
        assert_eq!(reopened(&store), [1, 2, 3]);
        spare.clear().unwrap();
        assert_eq!(reopened(&store), [2, 3]);
    }

    #[test]
    fn rows_are_written_over_those_that_the_database_has() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.db");
        let session_id = SessionId::new("s");
        let (mut tail, _, _) = Tail::open(&store).unwrap();
        let file = || std::fs::read(beside(&store, SUFFIXES[0])).unwrap();
        let has = |word: &str| file().windows(word.len()).any(|window| window == word.as_bytes());
        // Of one length: what lies behind the new row begins where a record began.
        tail.append(&session_id, &[row(1, "one"), row(3, "two"), row(5, "six")]).unwrap();
        let n_bytes = file().len();
        tail.clear().unwrap();
        assert!(reopened(&store).is_empty());
        tail.append(&session_id, &[row(7, "new")]).unwrap();
        assert_eq!(reopened(&store), [7]);
        tail.append(&session_id, &[row(9, "ten")]).unwrap();
        assert_eq!(reopened(&store), [7, 9]);
        assert_eq!((file().len(), has("six")), (n_bytes, true));
        tail.shrink().unwrap();
        assert_eq!((reopened(&store), has("six")), (vec![7, 9], false));
        // It does not keep more than it should.
        tail.append(&session_id, &[row(11, &"long ".repeat(4_000_000))]).unwrap();
        tail.clear().unwrap();
        assert_eq!(file().len(), 0);
        tail.append(&session_id, &[row(13, "new")]).unwrap();
        assert_eq!(reopened(&store), [13]);
    }

    #[test]
    fn a_record_that_is_not_whole_ends_the_reading() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.db");
        let (mut tail, _, _) = Tail::open(&store).unwrap();
        tail.append(&SessionId::new("s"), &[row(1, "one"), row(2, "two")]).unwrap();
        let path = beside(&store, SUFFIXES[0]);
        let whole = std::fs::read(&path).unwrap();
        let whole = &whole[..whole.len() - END.len()];
        for n_bytes in 0..whole.len() {
            std::fs::write(&path, &whole[..n_bytes]).unwrap();
            let expected: &[u64] = if n_bytes < whole.len().div_ceil(2) { &[] } else { &[1] };
            assert_eq!(reopened(&store), expected, "cut after {n_bytes} of {} bytes", whole.len());
        }
        // A power cut may leave the right length and nothing in it.
        let mut torn = whole.to_vec();
        torn[whole.len() - 3..].fill(0);
        std::fs::write(&path, torn).unwrap();
        assert_eq!(reopened(&store), [1]);
        std::fs::write(&path, [0; 100]).unwrap();
        assert!(reopened(&store).is_empty());
    }
}
