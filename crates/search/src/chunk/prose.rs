//! Text without a grammar: Markdown by heading, the rest by paragraphs.

use super::cut::{Lines, Piece, shorten};
use super::{ALONE_CHUNK_CHARS, JOINED_CHUNK_CHARS};
use crate::symbols::Language;

/// Cuts a text that has no definitions.
pub(super) fn split(lines: &Lines<'_>, language: Language) -> Vec<Piece> {
    let borders = match language.name() {
        "markdown" => headings(lines),
        _ => Vec::new(),
    };
    let mut pieces: Vec<Piece> = Vec::new();
    let mut from = 0;
    for to in borders.into_iter().chain([lines.count()]) {
        if to <= from {
            continue;
        }
        let section = Piece::plain(from, to);
        from = to;
        let joins = pieces.last().is_some_and(|last| {
            let small = lines.size(last.from, last.to) < ALONE_CHUNK_CHARS
                || lines.size(section.from, section.to) < 80;
            small && lines.size(last.from, section.to) <= JOINED_CHUNK_CHARS
        });
        match pieces.last_mut() {
            Some(last) if joins => last.to = section.to,
            _ => pieces.extend(shorten(lines, section)),
        }
    }
    pieces
}

/// Lines that open a section, code blocks left out.
fn headings(lines: &Lines<'_>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut fenced = false;
    for at in 0..lines.count() {
        let line = lines.line(at);
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && line.starts_with('#') && line.trim_start_matches('#').starts_with([' ', '\t']) {
            found.push(at);
        }
    }
    found
}
