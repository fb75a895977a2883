//! Giving room back to the disk, in small steps between other work.

use rusqlite::Connection;

/// How much is given back at once: a commit does not wait longer for it than for another commit.
const STEP_PAGES: u32 = 1024;

/// What is left to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// There may be more to give back.
    More,
    Done,
}

/// Prepares a file that is about to be made: its free pages can be given back without writing it anew.
pub(super) fn prepare(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")
}

/// Tells whether so much of the file is free that it is worth giving back: an earlier run may not have come to it.
pub(super) fn is_wanted(connection: &Connection) -> Result<bool, rusqlite::Error> {
    Ok(number(connection, "freelist_count")?.saturating_mul(4) > number(connection, "page_count")?)
}

/// Gives back one step. A file of an older version is written anew once, when a quarter of it is free; that takes as
/// long as its size.
pub(super) fn give_back(connection: &Connection) -> Result<Room, rusqlite::Error> {
    if number(connection, "auto_vacuum")? == 0 {
        if is_wanted(connection)? {
            prepare(connection)?;
            connection.execute_batch("VACUUM")?;
        }
    } else {
        connection.execute_batch(&format!("PRAGMA incremental_vacuum({STEP_PAGES})"))?;
        if number(connection, "freelist_count")? > 0 {
            return Ok(Room::More);
        }
    }
    // A reader that looks at the old state keeps the log; the next deletion comes to it.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_row| Ok(()))?;
    Ok(Room::Done)
}

fn number(connection: &Connection, pragma: &str) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}
