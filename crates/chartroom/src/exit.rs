//! How a command ends: the four exit codes of the command line, and one sentence when it could not be done.

use std::process::ExitCode;

/// A command that ran to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Done: 0.
    Done,
    /// The answer is a non-ok result, such as diagnostics that were found: 1.
    NotOk,
}

/// A command that did not run.
#[derive(Debug)]
pub enum Failure {
    /// The arguments make no sense: 2. (Clap finds most of these itself.)
    Usage(String),
    /// It could not be done: 3. One sentence: what is wrong and what to do.
    Impossible(String),
}

impl Failure {
    /// Makes a failure of kind 3 out of one sentence that says what is wrong and what to do.
    pub fn impossible(sentence: impl Into<String>) -> Self {
        Self::Impossible(sentence.into())
    }
}

/// An error with its causes becomes one sentence: "reading the session store: permission denied".
impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Impossible(format!("{error:#}"))
    }
}

/// Prints the failure, if there is one, as one line on stderr and returns the exit code.
pub(crate) fn report(result: Result<Outcome, Failure>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::NotOk) => ExitCode::from(1),
        Err(Failure::Usage(sentence)) => {
            eprintln!("chartroom: {}", one_line(&sentence));
            ExitCode::from(2)
        }
        Err(Failure::Impossible(sentence)) => {
            eprintln!("chartroom: {}", one_line(&sentence));
            ExitCode::from(3)
        }
    }
}

/// Causes come from other programs too, and may bring their own line breaks.
fn one_line(sentence: &str) -> String {
    sentence.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_with_line_breaks_becomes_one_line() {
        assert_eq!(one_line("parsing failed:\n  expected `]`\r\n"), "parsing failed: expected `]`");
    }
}
