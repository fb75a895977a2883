//! Places in a text: a server counts in its encoding from 0, people and models count characters from 1.

use serde::{Deserialize, Serialize};

/// The unit in which a server counts within a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    Utf8,
    /// What a server speaks that says nothing.
    #[default]
    Utf16,
    Utf32,
}

impl Encoding {
    /// Reads the server's choice.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "utf-8" => Self::Utf8,
            "utf-32" => Self::Utf32,
            _ => Self::Utf16,
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

/// A place as the protocol has it: from 0, in the encoding of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) character: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) start: Position,
    pub(crate) end: Position,
}

/// A place for people: line and character from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) character: u32,
}

/// Converts a server's position; a column behind the end of the line becomes its end.
pub(crate) fn to_place(position: Position, encoding: Encoding, text: Option<&str>) -> Place {
    let line = position.line.saturating_add(1);
    let Some(content) = text.and_then(|text| nth_line(text, position.line)) else {
        // Without the text the units are all we know; they are characters in all but exotic lines.
        return Place { line, character: position.character.saturating_add(1) };
    };
    let mut units = 0;
    let mut characters = 0;
    for c in content.chars() {
        if units >= position.character as usize {
            break;
        }
        units += encoding.width(c);
        characters += 1;
    }
    Place { line, character: characters + 1 }
}

/// Converts a place of ours to the server's units; a place behind the end of its line becomes the end.
pub(crate) fn to_position(place: Place, encoding: Encoding, text: &str) -> Position {
    let line = place.line.saturating_sub(1);
    let n_before = place.character.saturating_sub(1) as usize;
    let content = nth_line(text, line).unwrap_or("");
    let units: usize = content.chars().take(n_before).map(|c| encoding.width(c)).sum();
    Position { line, character: u32::try_from(units).unwrap_or(u32::MAX) }
}

/// Returns where a server's position is in a text, in bytes. A column behind the end of its line is its end; nothing for a
/// line that the text does not have, and for a place in the middle of a character.
pub(crate) fn to_offset(position: Position, encoding: Encoding, text: &str) -> Option<usize> {
    let mut line_start = 0;
    for _ in 0..position.line {
        line_start += text[line_start..].find('\n')? + 1;
    }
    let line = text[line_start..].split('\n').next().unwrap_or_default();
    let line = line.strip_suffix('\r').unwrap_or(line);
    let mut units = 0;
    for (at, c) in line.char_indices() {
        match units.cmp(&(position.character as usize)) {
            std::cmp::Ordering::Less => units += encoding.width(c),
            std::cmp::Ordering::Equal => return Some(line_start + at),
            std::cmp::Ordering::Greater => return None,
        }
    }
    (units <= position.character as usize).then_some(line_start + line.len())
}

/// Returns a line by its number from 0, without its line break.
pub(crate) fn nth_line(text: &str, line: u32) -> Option<&str> {
    let content = text.split('\n').nth(line as usize)?;
    Some(content.strip_suffix('\r').unwrap_or(content))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The bear is one character, two UTF-16 units, four bytes.
    const TEXT: &str = "let ä🐻x = 1;\r\nsecond";

    #[track_caller]
    fn check(encoding: Encoding, character: u32, expected: u32) {
        let place = to_place(Position { line: 0, character }, encoding, Some(TEXT));
        assert_eq!(place, Place { line: 1, character: expected });
        assert_eq!(to_position(place, encoding, TEXT), Position { line: 0, character });
    }

    #[test]
    fn the_x_after_a_bear_is_the_seventh_character_in_every_encoding() {
        check(Encoding::Utf8, 10, 7);
        check(Encoding::Utf16, 7, 7);
        check(Encoding::Utf32, 6, 7);
    }

    // EC-22, REQ-FMT-080
    #[test]
    fn line_zero_is_shown_as_one() {
        let zero = Position { line: 0, character: 0 };
        assert_eq!(to_place(zero, Encoding::Utf16, Some(TEXT)), Place { line: 1, character: 1 });
        assert_eq!(to_place(zero, Encoding::Utf16, None), Place { line: 1, character: 1 });
    }

    #[test]
    fn a_place_behind_the_end_becomes_the_end() {
        let far = Position { line: 1, character: 99 };
        assert_eq!(to_place(far, Encoding::Utf16, Some(TEXT)), Place { line: 2, character: 7 });
        let nowhere = Place { line: 9, character: 9 };
        assert_eq!(to_position(nowhere, Encoding::Utf8, TEXT), Position { line: 8, character: 0 });
        let huge = Position { line: u32::MAX, character: u32::MAX };
        assert_eq!(to_place(huge, Encoding::Utf8, Some(TEXT)).line, u32::MAX);
    }

    #[track_caller]
    fn check_offset(line: u32, character: u32, encoding: Encoding, expected: Option<&str>) {
        let found = to_offset(Position { line, character }, encoding, TEXT);
        assert_eq!(found.map(|at| &TEXT[at..]), expected);
    }

    #[test]
    fn a_position_is_a_byte_of_the_text_or_nothing() {
        for (encoding, x) in [(Encoding::Utf8, 10), (Encoding::Utf16, 7), (Encoding::Utf32, 6)] {
            check_offset(0, x, encoding, Some("x = 1;\r\nsecond"));
            check_offset(0, 99, encoding, Some("\r\nsecond"));
            check_offset(1, 99, encoding, Some(""));
            check_offset(2, 0, encoding, None);
        }
        check_offset(0, 6, Encoding::Utf16, None);
        check_offset(0, 8, Encoding::Utf8, None);
        assert_eq!(to_offset(Position { line: 1, character: 0 }, Encoding::Utf16, "a\n"), Some(2));
    }

    proptest! {
        #[test]
        fn every_character_of_a_line_comes_back(text in "[a-zäöü🐻漢\n\r]{0,30}", line in 1u32..4, character in 1u32..12) {
            let place = Place { line, character };
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                let n = nth_line(&text, line - 1).map_or(0, |content| content.chars().count());
                if (character as usize) <= n {
                    prop_assert_eq!(to_place(to_position(place, encoding, &text), encoding, Some(&text)), place);
                }
            }
        }
    }
}
