//! Cutting a file's lines: along definitions, then along the lines that look like borders.

use super::{ALONE_CHUNK_CHARS, JOINED_CHUNK_CHARS, MAX_CHUNK_CHARS};
use crate::symbols::Symbol;

/// A header, a closing brace: joined with a neighbour even when that is long.
const TINY_CHARS: usize = 150;

/// A text with the places where its lines begin.
pub(super) struct Lines<'a> {
    text: &'a str,
    /// The first byte of each line, and the end of the text.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        Self { text, starts }
    }

    /// The number of lines; an empty text has none.
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn line(&self, at: usize) -> &'a str {
        &self.text[self.starts[at]..self.starts[at + 1]]
    }

    /// Bytes of the lines `from..to`. Sizes are in bytes: for source text that is characters, and it costs nothing.
    pub(super) fn size(&self, from: usize, to: usize) -> usize {
        self.starts[to] - self.starts[from]
    }

    pub(super) fn text(&self, piece: &Piece) -> &'a str {
        &self.text[self.starts[piece.from]..self.starts[piece.to]]
    }

    fn is_blank(&self, at: usize) -> bool {
        self.line(at).trim().is_empty()
    }
}

/// Lines `from..to`, 0-based, that will be a chunk or a part of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) symbol: Option<u32>,
    /// The definition around it: pieces are joined only within the same one.
    around: Option<u32>,
}

impl Piece {
    /// Lines without a definition.
    pub(super) fn plain(from: usize, to: usize) -> Self {
        Self { from, to, symbol: None, around: None }
    }

    /// The first and the last line, 1-based.
    pub(super) fn lines(&self) -> (u32, u32) {
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (small(self.from + 1), small(self.to))
    }
}

/// Cuts a file along its definitions.
pub(super) fn by_definitions(lines: &Lines<'_>, symbols: &[Symbol]) -> Vec<Piece> {
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); symbols.len()];
    let mut top = Vec::new();
    for (at, symbol) in symbols.iter().enumerate() {
        let place = u32::try_from(at).unwrap_or(u32::MAX);
        match symbol.parent {
            Some(parent) => children[parent as usize].push(place),
            None => top.push(place),
        }
    }
    let mut pieces = Vec::new();
    // What is still to be cut, the next part last: from, to, what it is, the definition around it.
    let mut pending = vec![(0, lines.count(), Part::File, None::<u32>)];
    while let Some((from, to, part, around)) = pending.pop() {
        if from >= to {
            continue;
        }
        let (owner, inner): (Option<u32>, &[u32]) = match part {
            Part::File => (None, &top),
            Part::Definition(at) => (Some(at), &children[at as usize]),
            Part::Gap => (around, &[]),
        };
        let whole = match part {
            Part::File => inner.is_empty(),
            Part::Definition(_) => inner.is_empty() || lines.size(from, to) <= MAX_CHUNK_CHARS,
            Part::Gap => true,
        };
        if whole {
            pieces.push(Piece { from, to, symbol: owner, around });
            continue;
        }
        let mut parts = Vec::new();
        let mut at = from;
        for place in inner {
            let span = symbols[*place as usize].span;
            let end = (span.end as usize).min(to);
            let first = (span.start as usize - 1).max(at);
            if end <= first {
                continue; // on a line that another definition already has
            }
            let start = with_leading(lines, at, first);
            parts.push((at, start, Part::Gap, owner));
            parts.push((start, end, Part::Definition(*place), owner));
            at = end;
        }
        parts.push((at, to, Part::Gap, owner));
        pending.extend(parts.into_iter().rev());
    }
    let pieces = pieces.into_iter().flat_map(|piece| shorten(lines, piece)).collect();
    join(lines, pieces)
}

/// What a run of lines is before it is cut further.
#[derive(Clone, Copy)]
enum Part {
    File,
    Definition(u32),
    /// Lines between definitions; they belong to what is around.
    Gap,
}

/// Moves the start of a definition up over the comments and attributes that belong to it.
fn with_leading(lines: &Lines<'_>, floor: usize, start: usize) -> usize {
    let mut at = start;
    while at > floor {
        let line = lines.line(at - 1).trim_start();
        let leads =
            ["//", "#", "/*", "*", "@", "--", "[", "<!--"].iter().any(|prefix| line.starts_with(prefix));
        if !leads {
            break;
        }
        at -= 1;
    }
    at
}

/// Cuts a piece that is too long between lines, where it looks least torn.
pub(super) fn shorten(lines: &Lines<'_>, piece: Piece) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut from = piece.from;
    while from < piece.to && lines.size(from, piece.to) > MAX_CHUNK_CHARS {
        let mut to = from + 1;
        while to < piece.to && lines.size(from, to + 1) <= MAX_CHUNK_CHARS {
            to += 1;
        }
        let cut = best_cut(lines, from, to);
        pieces.push(Piece { from, to: cut, ..piece });
        from = cut;
    }
    if from < piece.to {
        pieces.push(Piece { from, ..piece });
    }
    pieces
}

/// The best border in the second half of `from..to`: after a blank line, at the smallest indentation, as late as
/// possible.
fn best_cut(lines: &Lines<'_>, from: usize, to: usize) -> usize {
    let earliest = from + (to - from).div_ceil(2);
    (earliest.max(from + 1)..=to)
        .min_by_key(|cut| {
            if *cut >= lines.count() {
                return (usize::MAX, usize::MAX);
            }
            let line = lines.line(*cut);
            let indentation = line.len() - line.trim_start().len();
            let torn = if lines.is_blank(*cut - 1) { 0 } else { 2 };
            (indentation + torn, usize::MAX - cut)
        })
        .unwrap_or(to)
}

/// Joins small neighbours of the same definition.
fn join(lines: &Lines<'_>, pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        let Some(last) = joined.last_mut() else {
            joined.push(piece);
            continue;
        };
        let blank = |piece: &Piece| (piece.from..piece.to).all(|at| lines.is_blank(at));
        let size = lines.size(last.from, piece.to);
        let small = lines.size(last.from, last.to).min(lines.size(piece.from, piece.to)) < ALONE_CHUNK_CHARS;
        let siblings =
            last.around == piece.around || last.symbol == piece.around || piece.symbol == last.around;
        let tiny = lines.size(last.from, last.to).min(lines.size(piece.from, piece.to)) < TINY_CHARS;
        let limit = if tiny { MAX_CHUNK_CHARS } else { JOINED_CHUNK_CHARS };
        let fits = small && siblings && size <= limit;
        // Blank lines never stand alone, wherever they belong.
        if fits || blank(&piece) || blank(last) {
            let symbol = if blank(&piece) {
                last.symbol
            } else if blank(last) {
                piece.symbol
            } else {
                common(lines, last, &piece)
            };
            let around = if last.symbol == piece.around { last.around } else { piece.around };
            let around = if blank(&piece) { last.around } else { around };
            *last = Piece { from: last.from, to: piece.to, symbol, around };
        } else {
            joined.push(piece);
        }
    }
    joined
}

/// What two neighbours are about together: the definition that one of them is when the other is only a few lines
/// around it, else what is around both.
fn common(lines: &Lines<'_>, left: &Piece, right: &Piece) -> Option<u32> {
    if left.symbol == right.symbol {
        return left.symbol;
    }
    let around = if left.around == right.around { left.around } else { left.around.min(right.around) };
    let smaller =
        |one: &Piece, other: &Piece| lines.size(one.from, one.to) < lines.size(other.from, other.to);
    match (left.symbol == around, right.symbol == around) {
        (true, false) if around.is_none() || smaller(left, right) => right.symbol,
        (false, true) if around.is_none() || smaller(right, left) => left.symbol,
        _ => around,
    }
}
