//! What crosses the pipe to a helper: a file there, what it says back. Numbers are varints, texts have their length.

use super::Unparsed;
use crate::symbols::{Binding, Import, Reference, Use};
use crate::symbols::{Extracted, LineSpan, Symbol, SymbolKind};

const EXTRACTED: u8 = 1;
const TOO_SLOW: u8 = 2;

/// How many labels of the scopes around a symbol it carries.
const BREADCRUMBS: usize = 2;

/// The question: a path and a text.
pub(super) fn question(path: &str, text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len() + text.len() + 10);
    put_text(&mut out, path);
    out.extend_from_slice(text.as_bytes());
    out
}

/// Reads a question.
pub(super) fn asked(bytes: &[u8]) -> Option<(&str, &str)> {
    let mut input = Input(bytes);
    let path = input.text()?;
    Some((path, std::str::from_utf8(input.0).ok()?))
}

/// The answer.
pub(super) fn answer(said: &Result<Extracted, Unparsed>) -> Vec<u8> {
    let extracted = match said {
        Ok(extracted) => extracted,
        Err(Unparsed::TooSlow | Unparsed::Fatal | Unparsed::NoParser) => return vec![TOO_SLOW],
    };
    let mut out = vec![EXTRACTED];
    put(&mut out, extracted.symbols.len() as u64);
    for symbol in &extracted.symbols {
        put_text(&mut out, &symbol.id);
        out.push(symbol.kind as u8);
        put_text(&mut out, &symbol.name);
        put_text(&mut out, &symbol.qualified);
        put_text(&mut out, &symbol.label);
        put(&mut out, symbol.span.start.into());
        put(&mut out, symbol.span.end.into());
        put_place(&mut out, symbol.parent);
    }
    put(&mut out, extracted.facts.references.len() as u64);
    for reference in &extracted.facts.references {
        put_place(&mut out, reference.from);
        put_text(&mut out, &reference.name);
        put_optional(&mut out, reference.qualifier.as_deref());
        out.push(u8::from(reference.on_self) | (reference.used as u8) << 1);
        put(&mut out, reference.line.into());
    }
    put(&mut out, extracted.facts.imports.len() as u64);
    for import in &extracted.facts.imports {
        put_text(&mut out, &import.local);
        put_text(&mut out, &import.module);
        put_optional(&mut out, import.name.as_deref());
        put(&mut out, import.line.into());
    }
    put(&mut out, extracted.facts.bindings.len() as u64);
    for binding in &extracted.facts.bindings {
        put_place(&mut out, binding.scope);
        put_text(&mut out, &binding.name);
        put_text(&mut out, &binding.value);
        put(&mut out, binding.line.into());
        put(&mut out, binding.until.unwrap_or(0).into());
    }
    put_optional(&mut out, extracted.facts.package.as_deref());
    out
}

/// Reads an answer. `None` when it is none: a helper that lost its mind is treated as one that died.
pub(super) fn answered(bytes: &[u8]) -> Option<Result<Extracted, Unparsed>> {
    let mut input = Input(bytes);
    match input.byte()? {
        TOO_SLOW => return Some(Err(Unparsed::TooSlow)),
        EXTRACTED => {}
        _ => return None,
    }
    let mut extracted = Extracted::default();
    for _ in 0..input.count()? {
        let symbol = Symbol {
            id: input.text()?.to_owned(),
            kind: SymbolKind::from_number(input.byte()?)?,
            name: input.text()?.to_owned(),
            qualified: input.text()?.to_owned(),
            label: input.text()?.to_owned(),
            breadcrumbs: Vec::new(),
            span: LineSpan { start: input.line()?, end: input.line()? },
            parent: input.place(extracted.symbols.len())?,
        };
        extracted
            .symbols
            .push(Symbol { breadcrumbs: breadcrumbs(&extracted.symbols, symbol.parent), ..symbol });
    }
    for _ in 0..input.count()? {
        let from = input.place(extracted.symbols.len())?;
        let name = input.text()?.to_owned();
        let qualifier = input.optional()?.map(str::to_owned);
        let how = input.byte()?;
        extracted.facts.references.push(Reference {
            from,
            name,
            qualifier,
            on_self: how & 1 != 0,
            line: input.line()?,
            used: match how >> 1 {
                0 => Use::Call,
                1 => Use::Macro,
                2 => Use::Base,
                _ => return None,
            },
        });
    }
    for _ in 0..input.count()? {
        extracted.facts.imports.push(Import {
            local: input.text()?.to_owned(),
            module: input.text()?.to_owned(),
            name: input.optional()?.map(str::to_owned),
            line: input.line()?,
        });
    }
    for _ in 0..input.count()? {
        extracted.facts.bindings.push(Binding {
            scope: input.place(extracted.symbols.len())?,
            name: input.text()?.to_owned(),
            value: input.text()?.to_owned(),
            line: input.line()?,
            until: Some(input.line()?).filter(|line| *line > 0),
        });
    }
    extracted.facts.package = input.optional()?.map(str::to_owned);
    input.0.is_empty().then_some(Ok(extracted))
}

/// The labels of the nearest scopes, outermost first: they are those of the parents, so that they need not cross.
fn breadcrumbs(symbols: &[Symbol], parent: Option<u32>) -> Vec<String> {
    let around = |at: &Option<u32>| at.and_then(|at| symbols.get(at as usize));
    let mut labels: Vec<String> = std::iter::successors(around(&parent), |symbol| around(&symbol.parent))
        .take(BREADCRUMBS)
        .map(|symbol| symbol.label.clone())
        .collect();
    labels.reverse();
    labels
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn put_optional(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        None => out.push(0),
        Some(text) => {
            out.push(1);
            put_text(out, text);
        }
    }
}

/// A place in the list of symbols, or none.
fn put_place(out: &mut Vec<u8>, place: Option<u32>) {
    put(out, place.map_or(0, |at| u64::from(at) + 1));
}

/// Bytes that are read from the front.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A number of things, each of which takes at least a byte.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.0.len()).then_some(count)
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    fn optional(&mut self) -> Option<Option<&'a str>> {
        match self.byte()? {
            0 => Some(None),
            _ => self.text().map(Some),
        }
    }

    fn line(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// A place among the `known` first symbols, or none.
    fn place(&mut self, known: usize) -> Option<Option<u32>> {
        match self.number()? {
            0 => Some(None),
            at if at <= known as u64 => u32::try_from(at - 1).ok().map(Some),
            _ => None,
        }
    }
}
