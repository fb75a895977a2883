//! What is left out: by folder, scope, language, path, and words that must or must not be there.

use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde_json::{Value, json};

use super::candidates::Candidate;
use crate::paths::{self, Category};
use crate::query::Operators;
use crate::request::{SearchRequest, SearchWarning};
use crate::store::{Chunk, FileWords, PathKind, WordTable};
use chartroom_protocol::index::SearchScope;

pub(super) struct Filter {
    below: Option<String>,
    scope: SearchScope,
    operators: Operators,
    path: Option<Gitignore>,
    exclude_path: Option<Gitignore>,
}

/// Which count a step adds to.
type Step = fn(&mut Removed) -> &mut usize;

/// How many candidates each step took away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Removed {
    below: usize,
    scope: usize,
    lang: usize,
    path: usize,
    exclude_path: usize,
    must: usize,
    exclude: usize,
}

impl Removed {
    pub(super) fn summary(&self) -> Value {
        json!({ "removedBy": {
            "subdirectory": self.below, "scope": self.scope, "lang": self.lang, "pathInclude": self.path,
            "pathExclude": self.exclude_path, "must": self.must, "exclude": self.exclude,
        } })
    }
}

impl Filter {
    /// The filter, and a warning for each pattern that is none.
    pub(super) fn new(request: &SearchRequest, operators: &Operators) -> (Self, Vec<SearchWarning>) {
        let mut warnings = Vec::new();
        let mut matcher = |patterns: &[String]| {
            if patterns.is_empty() {
                return None;
            }
            let mut builder = GitignoreBuilder::new("");
            for pattern in patterns {
                if let Err(error) = builder.add_line(None, pattern) {
                    let reason = error.to_string();
                    warnings.push(SearchWarning::BadPattern { pattern: pattern.clone(), reason });
                }
            }
            builder.build().ok()
        };
        let (path, exclude_path) = (matcher(&operators.path), matcher(&operators.exclude_path));
        let below = request.below.clone().filter(|below| !below.is_empty());
        (Self { below, scope: request.scope, operators: operators.clone(), path, exclude_path }, warnings)
    }

    pub(super) fn must_is_empty(&self) -> bool {
        self.operators.must.is_empty()
    }

    /// Says whether most of the index may be left out.
    pub(super) fn is_narrow(&self) -> bool {
        self.below.is_some()
            || self.path.is_some()
            || !self.operators.lang.is_empty()
            || !self.operators.must.is_empty()
    }

    /// Says whether it depends on what a chunk holds, and not on its path alone.
    pub(super) fn looks_into_chunks(&self) -> bool {
        let Operators { lang, must, exclude, .. } = &self.operators;
        !(lang.is_empty() && must.is_empty() && exclude.is_empty())
    }

    pub(super) fn apply(&self, candidates: Vec<Candidate>) -> (Vec<Candidate>, Removed) {
        let mut removed = Removed::default();
        let kept = candidates
            .into_iter()
            .filter(|candidate| match self.step_against(&candidate.stored.chunk) {
                None => true,
                Some(step) => {
                    *step(&mut removed) += 1;
                    false
                }
            })
            .collect();
        (kept, removed)
    }

    /// Which files of a table may answer at all.
    pub(super) fn takes_part(&self, table: &WordTable) -> Vec<bool> {
        let allows = |(file, (path, kind)): (&FileWords, (&Arc<str>, &PathKind))| {
            file.n_chunks > 0 && self.allows_path(path, kind.category)
        };
        table.files.iter().zip(table.paths.iter().zip(&table.kinds)).map(allows).collect()
    }

    /// Says whether files at this path may answer at all.
    pub(super) fn allows_path(&self, path: &str, category: Category) -> bool {
        self.step_against_path(path, category).is_none()
    }

    fn step_against_path(&self, path: &str, category: Category) -> Option<Step> {
        let matches = |matcher: &Gitignore| matcher.matched_path_or_any_parents(path, false).is_ignore();
        let is_below = |below: &String| {
            path == below || path.strip_prefix(below.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        if !self.below.as_ref().is_none_or(is_below) {
            Some(|removed| &mut removed.below)
        } else if !category.is_in(self.scope) {
            Some(|removed| &mut removed.scope)
        } else if !self.path.as_ref().is_none_or(matches) {
            Some(|removed| &mut removed.path)
        } else if self.exclude_path.as_ref().is_some_and(matches) {
            Some(|removed| &mut removed.exclude_path)
        } else {
            None
        }
    }

    /// The first step that leaves the chunk out.
    fn step_against(&self, chunk: &Chunk) -> Option<Step> {
        let path = chunk.rel_path.as_str();
        let contains = |term: &String| {
            chunk.content.contains(term.as_str())
                || path.contains(term.as_str())
                || chunk.symbol_label.as_deref().is_some_and(|label| label.contains(term.as_str()))
        };
        if let Some(step) = self.step_against_path(path, paths::category(path)) {
            Some(step)
        } else if !self.operators.lang.is_empty()
            && !self.operators.lang.iter().any(|lang| is_language(lang, chunk))
        {
            Some(|removed| &mut removed.lang)
        } else if !self.operators.must.iter().all(contains) {
            Some(|removed| &mut removed.must)
        } else if self.operators.exclude.iter().any(contains) {
            Some(|removed| &mut removed.exclude)
        } else {
            None
        }
    }

    pub(super) fn summary(&self) -> Value {
        let Operators { lang, path, exclude_path, must, exclude } = &self.operators;
        json!({ "lang": lang, "path": path, "excludePath": exclude_path, "must": must, "exclude": exclude })
    }
}

/// By name, by a short form of it, or by the extension.
fn is_language(asked: &str, chunk: &Chunk) -> bool {
    let full = match asked {
        "ts" => "typescript",
        "js" => "javascript",
        "py" => "python",
        "rs" => "rust",
        "rb" => "ruby",
        "c++" => "cpp",
        "c#" | "cs" => "csharp",
        "sh" | "shell" => "bash",
        "md" => "markdown",
        other => other,
    };
    chunk.language == full
        || (full == "typescript" && chunk.language == "tsx")
        || chunk.rel_path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case(asked))
}
