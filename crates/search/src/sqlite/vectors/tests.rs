//! Rows that are kept by their upper bits find what whole rows find.

use std::collections::HashSet;

use rusqlite::Connection;

use super::block::{ROWS, likeness};
use super::coarse::packed_length;
use super::{Vectors, WHOLE};
use crate::embed::Quantised;
use crate::sqlite::row;

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// From -1 to 1.
    fn part(&mut self) -> f32 {
        (self.next() % 2001) as f32 / 1000.0 - 1.0
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Random,
    /// All nearly the same.
    Alike,
    /// Few dimensions that are not nothing.
    Sparse,
    /// As far from the middle of what is left out as can be.
    Extreme,
}

fn rows(kind: Kind, dimension: usize, n_rows: usize) -> Vec<Quantised> {
    let mut numbers = Numbers(7);
    let base: Vec<f32> = (0..dimension).map(|_| numbers.part()).collect();
    let mut value = |at: usize, base: f32| match kind {
        Kind::Random => numbers.part(),
        Kind::Alike => base + numbers.part() / 8.0,
        Kind::Sparse if at.is_multiple_of(29) => numbers.part(),
        Kind::Sparse => 0.0,
        Kind::Extreme => (127 - 8 * (numbers.next() % 32) as i32) as f32 / 127.0,
    };
    let mut row =
        || Quantised::of(&base.iter().enumerate().map(|(at, base)| value(at, *base)).collect::<Vec<_>>());
    (0..n_rows).map(|_| row()).collect()
}

const TABLES: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE vectors (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
";

/// The rows as a generation has them, in the order of their keys; each is the only chunk of a file.
fn stored(rows: &[Quantised], n_whole: usize) -> (Connection, Vectors) {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(TABLES).unwrap();
    let key = |at: usize| ((at as u64 * 3 + 1).swap_bytes(), at as u64);
    let put = |at: usize| {
        let key = row::key_bytes(key(at));
        db.execute("INSERT INTO vectors VALUES (?1, ?2)", (key.as_slice(), rows[at].to_bytes())).unwrap();
    };
    // The last few come later, as with a sync.
    let n_first = rows.len() - rows.len() / 10;
    (0..n_first).for_each(put);
    let mut vectors = Vectors::read_with(&db, n_whole, rows.len()).unwrap();
    (n_first..rows.len()).for_each(put);
    for at in 0..rows.len() {
        assert!(vectors.add(&db, at as i64, &[row::short_key(key(at))]).unwrap());
    }
    (db, vectors)
}

fn found(
    db: &Connection,
    vectors: &Vectors,
    query: &Quantised,
    limit: usize,
    is_asked: fn(i64) -> bool,
) -> (Vec<(f32, u32)>, usize) {
    let mut n_read = 0;
    let nearest = vectors.nearest(query, limit, &|file, _| is_asked(file));
    let settled = nearest.settle(|row| {
        n_read += 1;
        vectors.likeness(db, query, row)
    });
    (settled.unwrap(), n_read)
}

fn plain(rows: &[Quantised], query: &Quantised, limit: usize, is_asked: fn(i64) -> bool) -> Vec<(f32, u32)> {
    let scored = (0u32..).zip(rows).map(|(at, row)| (likeness(query, &row.values, row.scale), at));
    let mut all: Vec<(f32, u32)> = scored.filter(|(_, at)| is_asked(i64::from(*at))).collect();
    all.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    let last = all.get(limit - 1).map_or(f32::MIN, |(score, _)| *score);
    all.retain(|(score, _)| *score >= last);
    all
}

#[track_caller]
fn check(kind: Kind, dimension: usize, n_rows: usize, n_whole: usize) {
    let mut rows = rows(kind, dimension, n_rows);
    // Some are the same, and one is of another embedder.
    for at in (0..n_rows).step_by(50) {
        rows[at] = rows[at / 2].clone();
    }
    let (db, vectors) = stored(&rows, n_whole);
    let mut numbers = Numbers(99);
    let other = Quantised::of(&(0..dimension).map(|_| numbers.part()).collect::<Vec<_>>());
    for query in [&other, &rows[17], &rows[n_rows - 1]] {
        for limit in [1, 20, 200] {
            for is_asked in [(|_| true) as fn(i64) -> bool, |file| file % 3 == 0, |file| file % 400 == 1] {
                let (found, _) = found(&db, &vectors, query, limit, is_asked);
                assert_eq!(
                    found,
                    plain(&rows, query, limit, is_asked),
                    "{kind:?} {dimension} {n_whole} {limit}"
                );
            }
        }
    }
}

#[test]
fn the_nearest_by_bounds_are_those_of_a_look_at_each_row() {
    for kind in [Kind::Random, Kind::Alike, Kind::Sparse, Kind::Extreme] {
        check(kind, 256, 2 * ROWS + 500, 0);
        check(kind, 128, 900, 0);
    }
    check(Kind::Random, 384, ROWS + 100, 1);
    check(Kind::Random, 1024, 700, 0);
}

#[test]
fn rows_of_other_dimensions_and_the_first_of_all_stay_whole() {
    assert_eq!(
        [8, 100, 128, 200, 256, 4224].map(packed_length),
        [None, None, Some(80), None, Some(160), None]
    );
    check(Kind::Random, 100, 900, 0);
    let rows = rows(Kind::Random, 256, 900);
    let (db, vectors) = stored(&rows, WHOLE);
    assert_eq!(found(&db, &vectors, &rows[3], 20, |_| true).1, 0, "none is read");
}

#[test]
fn few_rows_are_read_to_tell_the_nearest() {
    let rows = rows(Kind::Random, 256, 3 * ROWS);
    let (db, vectors) = stored(&rows, 0);
    let (found, n_read) = found(&db, &vectors, &rows[3], 5, |_| true);
    assert!((found.len()..ROWS / 10).contains(&n_read), "{n_read} of {}", rows.len());
}

#[test]
fn a_row_that_is_gone_leaves_its_place_to_the_next() {
    let rows = rows(Kind::Random, 256, 500);
    let (db, vectors) = stored(&rows, 0);
    let all = plain(&rows, &rows[3], 4, |_| true);
    let gone = row::key_bytes(((u64::from(all[1].1) * 3 + 1).swap_bytes(), u64::from(all[1].1)));
    db.execute("DELETE FROM vectors WHERE key = ?1", [gone.as_slice()]).unwrap();
    let (left, _) = found(&db, &vectors, &rows[3], 3, |_| true);
    assert_eq!(left, [all[0], all[2], all[3]]);
}

#[test]
fn a_row_of_another_dimension_is_like_nothing() {
    let mut rows = rows(Kind::Random, 256, 300);
    rows[10] = Quantised { values: vec![127; 100], scale: 1.0 };
    let (db, vectors) = stored(&rows, 0);
    let rows: HashSet<u32> =
        found(&db, &vectors, &rows[3], 300, |_| true).0.into_iter().map(|(_, row)| row).collect();
    assert_eq!((rows.len(), rows.contains(&10)), (299, false));
}
