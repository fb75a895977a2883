//! Places that a model names, and places that a server answers with.

use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::wire;
use crate::client::{Client, Question};
use crate::content;
use crate::orchestrator::{Asked, Orchestrator, ToolError};
use crate::position::{Encoding, Place, nth_line, to_place, to_position};
use crate::symbols::{self, Symbol};
use crate::uri;

/// A longer list is cut, with a line that says so: it would only fill the model's window.
const MAX_LINES: usize = 200;

/// A place in a file; the column can be named by what stands there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PlaceParams {
    /// Path of the file, absolute or relative to the workspace root.
    pub(crate) file_path: String,
    /// Line number, from 1.
    #[serde(default)]
    pub(crate) line: Option<u32>,
    /// Column, from 1, when there is no `symbol`.
    #[serde(default)]
    pub(crate) character: Option<u32>,
    /// With `line`: the text on that line. Without: the path of a symbol of the file, e.g. `Class/method`.
    #[serde(default)]
    pub(crate) symbol: Option<String>,
}

impl PlaceParams {
    /// Finds the place, if need be with the server's list of the file's symbols.
    pub(crate) async fn find(
        &self,
        orchestrator: &Orchestrator,
        file: &Path,
        text: &str,
    ) -> Result<Place, ToolError> {
        match (self.line, &self.symbol) {
            (Some(line), _) => self.on_line(line, text),
            (None, Some(path)) => {
                let (client, symbols) = symbols_of(orchestrator, file).await?;
                let symbol = symbols::find(&symbols, path, None).map_err(ToolError::InvalidArguments)?;
                Ok(name_of(symbol, client.capabilities.encoding, text))
            }
            (None, None) => Err(ToolError::InvalidArguments(
                "say where: `line` with the text on it as `symbol`, or a symbol's path as `symbol`"
                    .to_owned(),
            )),
        }
    }

    fn on_line(&self, line: u32, text: &str) -> Result<Place, ToolError> {
        let content = line.checked_sub(1).and_then(|line| nth_line(text, line)).ok_or_else(|| {
            ToolError::InvalidArguments(format!("{} has no line {line}; lines count from 1", self.file_path))
        })?;
        match (self.character, &self.symbol) {
            (_, Some(symbol)) => match column_of(content, symbol) {
                Some(character) => Ok(Place { line, character }),
                None => Err(ToolError::InvalidArguments(format!(
                    "`{symbol}` does not stand on line {line}: {}",
                    content.trim()
                ))),
            },
            (Some(0), None) => Err(ToolError::InvalidArguments("character counts from 1".to_owned())),
            (Some(character), None) => Ok(Place { line, character }),
            (None, None) => Err(ToolError::InvalidArguments("give `character` or `symbol`".to_owned())),
        }
    }
}

/// Returns what a file defines, and the server that said so.
pub(crate) async fn symbols_of(
    orchestrator: &Orchestrator,
    file: &Path,
) -> Result<(Arc<Client>, Vec<Symbol>), ToolError> {
    let document = json!({ "textDocument": { "uri": uri::of_path(file) } });
    let what = "the list of symbols";
    let asked = orchestrator.ask_about(file, what, Question::DocumentSymbols, |_| document.clone()).await?;
    Ok((asked.client, symbols::read(&asked.answer)))
}

/// Returns where a symbol's name stands. Older servers point at the keyword before it.
pub(crate) fn name_of(symbol: &Symbol, encoding: Encoding, text: &str) -> Place {
    let start = symbol.selection.start;
    let place = to_place(start, encoding, Some(text));
    let line = nth_line(text, start.line).unwrap_or_default();
    let behind: String = line.chars().skip(place.character.saturating_sub(1) as usize).collect();
    match column_of(&behind, symbol.name()) {
        Some(column) => Place { character: place.character.saturating_add(column - 1), ..place },
        None => place,
    }
}

/// Returns the column of a word on a line; a whole word is better than a part of one.
fn column_of(line: &str, symbol: &str) -> Option<u32> {
    if symbol.is_empty() {
        return None;
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let whole = line.match_indices(symbol).find(|(at, _)| {
        !line[..*at].chars().next_back().is_some_and(is_part)
            && !line[at + symbol.len()..].chars().next().is_some_and(is_part)
    });
    let (at, _) = whole.or_else(|| line.match_indices(symbol).next())?;
    u32::try_from(line[..at].chars().count() + 1).ok()
}

/// Asks the server of a file about a place in it, in the server's own units; `context` is what the method wants beside
/// the place.
pub(super) async fn ask_at(
    orchestrator: &Orchestrator,
    params: &PlaceParams,
    what: &str,
    question: Question,
    context: Option<Value>,
) -> Result<Asked, ToolError> {
    let (file, text) = orchestrator.source_file(&params.file_path)?;
    let place = params.find(orchestrator, &file, &text).await?;
    let asked = |client: &Client| {
        let position = to_position(place, client.capabilities.encoding, &text);
        let mut asked = json!({ "textDocument": { "uri": uri::of_path(&file) }, "position": position });
        if let Some(context) = &context {
            asked["context"] = context.clone();
        }
        asked
    };
    orchestrator.ask_about(&file, what, question, asked).await
}

/// Returns the answer's locations as `path:line:col`, one per line, in order, without doubles.
pub(super) fn location_lines(orchestrator: &Orchestrator, asked: &Asked) -> Vec<String> {
    let mut places: Vec<(String, Place)> = wire::locations(&asked.answer)
        .into_iter()
        .filter_map(|location| {
            let file = uri::to_path(&location.uri)?;
            Some((
                orchestrator.display(&file),
                place_in(orchestrator, &asked.client, &file, location.position),
            ))
        })
        .collect();
    places.sort();
    places.dedup();
    places.into_iter().map(|(path, Place { line, character })| format!("{path}:{line}:{character}")).collect()
}

/// Converts a server's position in any file; only files of the workspace are opened for it.
pub(crate) fn place_in(
    orchestrator: &Orchestrator,
    client: &Client,
    file: &Path,
    position: crate::position::Position,
) -> Place {
    let text = client.text(file).or_else(|| content::read(orchestrator.root(), file).ok());
    to_place(position, client.capabilities.encoding, text.as_deref())
}

/// Joins lines, cut to a sensible number.
pub(super) fn joined(mut lines: Vec<String>) -> String {
    let n_more = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    if n_more > 0 {
        lines.push(format!("... and {n_more} more"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(json: &str) -> PlaceParams {
        serde_json::from_str(json).unwrap()
    }

    #[track_caller]
    fn check(json: &str, expected: Result<(u32, u32), &str>) {
        let text = "let total = 1;\n  return subtotal + total;\n";
        let params = params(json);
        let place = params.on_line(params.line.unwrap(), text).map(|place| (place.line, place.character));
        assert_eq!(place, expected.map_err(|message| ToolError::InvalidArguments(message.to_owned())));
    }

    #[test]
    fn a_symbol_stands_for_its_column_and_whole_words_win() {
        check(r#"{"filePath":"a","line":1,"character":5}"#, Ok((1, 5)));
        check(r#"{"filePath":"a","line":2,"symbol":"total"}"#, Ok((2, 21)));
        check(r#"{"filePath":"a","line":2,"symbol":"subtot"}"#, Ok((2, 10)));
    }

    #[test]
    fn a_wrong_place_is_explained() {
        check(
            r#"{"filePath":"a","line":2,"symbol":"x"}"#,
            Err("`x` does not stand on line 2: return subtotal + total;"),
        );
        check(r#"{"filePath":"a","line":0,"symbol":"x"}"#, Err("a has no line 0; lines count from 1"));
        check(r#"{"filePath":"a","line":9,"symbol":"x"}"#, Err("a has no line 9; lines count from 1"));
        check(r#"{"filePath":"a","line":1}"#, Err("give `character` or `symbol`"));
        check(r#"{"filePath":"a","line":1,"character":0}"#, Err("character counts from 1"));
    }
}
