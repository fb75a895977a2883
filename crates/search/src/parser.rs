//! Who reads source with tree-sitter.
//!
//! A grammar is a program that strangers feed: some files take gigabytes, some overflow the stack, and neither can be
//! caught. The product therefore parses in helper processes ([`HelperParser`]) with limits of memory and time; a file
//! that takes one down costs that helper and is remembered. [`InProcess`] is for tests and for the helper itself.

mod failed;
mod helper;
mod wire;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Duration;

pub use helper::{Answer, HelperParser, Worker, WorkerError, serve};

use crate::symbols::{self, Extracted, Language, PARSE_BUDGET};

/// Why a file has no symbols though its language has some. None of these is an error of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unparsed {
    /// It was not done within its time.
    #[error("it takes too long to parse")]
    TooSlow,
    /// It took the parser down, now or before.
    #[error("it takes the parser down")]
    Fatal,
    /// There is no parser to be had.
    #[error("the parser cannot be started")]
    NoParser,
}

/// Reads one file's symbols, references and imports.
pub trait Parser: Send + Sync {
    /// `path` is relative and says the language, which has a grammar.
    fn extract(&self, path: &str, text: &str) -> Result<Extracted, Unparsed>;

    /// Lets go of what is only needed while many files are parsed.
    fn rest(&self) {}
}

/// A parser in this process. A hostile file takes the process down with it.
#[derive(Debug, Clone, Copy)]
pub struct InProcess {
    /// How long one file may take.
    pub budget: Duration,
}

impl Default for InProcess {
    fn default() -> Self {
        Self { budget: PARSE_BUDGET }
    }
}

impl Parser for InProcess {
    fn extract(&self, path: &str, text: &str) -> Result<Extracted, Unparsed> {
        let language = Language::of(Path::new(path)).unwrap_or_else(Language::plain);
        symbols::extract(language, path, text, self.budget).ok_or(Unparsed::TooSlow)
    }
}
