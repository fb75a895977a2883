//! Telling when most of what is shown is tests, fixtures, docs or generated files.

use chartroom_protocol::index::{NoiseMitigation, NoiseRatios, SearchScope};

const TOP: usize = 5;
const DOMINANT: f64 = 0.60;
/// The debounce of the watcher: after this long a changed ignore file counts.
const DEBOUNCE_MS: u64 = 5000;

const PATTERNS: &[&str] =
    &["**/*.test.*", "**/*.spec.*", "**/__tests__/**", "**/__fixtures__/**", "**/fixtures/**", "coverage/**"];

/// Looks at the files of the first results.
pub(super) fn of(files: &[String]) -> Option<NoiseMitigation> {
    let top: Vec<&String> = files.iter().take(TOP).collect();
    if top.is_empty() {
        return None;
    }
    let share = |kind: &str| {
        let count = top.iter().filter(|file| noise_of(file) == kind).count();
        (count as f64 / top.len() as f64 * 100.0).round() / 100.0
    };
    let ratios = NoiseRatios {
        tests: share("tests"),
        fixtures: share("fixtures"),
        docs: share("docs"),
        generated: share("generated"),
        runtime: share("runtime"),
    };
    if 1.0 - ratios.runtime < DOMINANT {
        return None;
    }
    Some(NoiseMitigation {
        reason: "top_results_noise_dominant".to_owned(),
        top_k: u32::try_from(top.len()).unwrap_or(u32::MAX),
        ratios,
        recommended_scope: SearchScope::Runtime,
        suggested_ignore_patterns: PATTERNS.iter().map(|pattern| (*pattern).to_owned()).collect(),
        debounce_ms: DEBOUNCE_MS,
        next_step: "Search again with scope=runtime, or add the patterns to .chartroomignore and sync."
            .to_owned(),
    })
}

/// Generated before tests before fixtures before docs.
fn noise_of(path: &str) -> &'static str {
    use crate::paths::{Category, category};
    let fixture = path.split('/').any(|part| matches!(part, "fixtures" | "__fixtures__" | "testdata"));
    match category(path) {
        Category::Generated => "generated",
        Category::Tests => "tests",
        _ if fixture => "fixtures",
        Category::Docs => "docs",
        Category::Entrypoint | Category::Core | Category::SrcRuntime | Category::Neutral => "runtime",
    }
}
