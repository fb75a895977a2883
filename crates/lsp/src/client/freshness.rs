//! When to stop waiting for a server: its result is for our text, and has settled.
//!
//! Pure: the state and the clock are arguments.

use std::path::PathBuf;
use std::time::Duration;

use chartroom_protocol::lsp::Severity;
use tokio::time::Instant;

use super::state::{Pushed, State};
use super::wire::Finding;
use crate::registry::Quirks;

/// Pushes often come in pairs (syntax, then meaning); the last one counts when it was quiet for this long.
pub(crate) const DEBOUNCE: Duration = Duration::from_millis(150);
/// How long the silence of a server counts as "nothing changed", where silence is an answer.
const QUIET: Duration = Duration::from_millis(1_000);
/// How long a server that asks to be pulled again may take to do so after its project's config has changed; pyright answers
/// from the old one for half a second.
const RELOAD: Duration = Duration::from_millis(2_000);
/// How long a background check may take to begin after a save.
const CHECK_BEGINS: Duration = Duration::from_millis(1_500);

/// rust-analyzer waits for 50 ms whether more is saved before it begins a check: a sooner one is of an earlier save.
const CHECK_TAKES_UP: Duration = Duration::from_millis(40);

/// No check of a compiler is so quick: one that ends sooner was called off for the next one, which has yet to begin.
const CALLED_OFF: Duration = Duration::from_millis(20);

/// A file that was just sent to a server: what has to be newer than this to count.
#[derive(Debug, Clone)]
pub(crate) struct Touch {
    pub(crate) file: PathBuf,
    pub(crate) version: i32,
    /// Pushes before the change, of this file or of another that it may depend on.
    pub(crate) epoch: u64,
    /// The server had this very text already: nothing makes it look at it again.
    pub(crate) is_unchanged: bool,
    /// Another file was changed after this one in the same write: what is said of this text may be from between the two.
    pub(crate) is_amid: bool,
    /// Background checks that began before the save.
    pub(crate) n_checks: u64,
    pub(crate) at: Instant,
}

/// What a waiting collection should do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Done,
    /// Look again at the next event, and at this time if there is one.
    Wait(Option<Instant>),
}

/// For a server that pushes.
pub(crate) fn pushed(state: &State, touch: &Touch, quirks: Quirks, now: Instant) -> Step {
    let push = state.results.get(&touch.file).and_then(|results| results.push.as_ref());
    let is_fresh = is_push_fresh(state, touch);
    if let Some(since) = state.failed_since().filter(|_| !is_fresh) {
        return at(since.max(touch.at) + QUIET, now);
    }
    if let Some(push) = push.filter(|_| is_fresh) {
        if push.findings.is_empty() && state.is_loading() {
            return Step::Wait(None);
        }
        // It looks again for the files that came after this one, and is silent when that changes nothing.
        let looked_again =
            if touch.is_amid && quirks.silent_when_unchanged { touch.at + QUIET } else { push.at };
        return at(looked_again.max(push.at + DEBOUNCE), now);
    }
    // Silence is an answer only after the server has spoken once, and is not worth a stale error of a changed text.
    match push {
        Some(push)
            if quirks.silent_when_unchanged
                && (push.findings.is_empty() || touch.is_unchanged)
                && !state.is_loading() =>
        {
            at(touch.at + QUIET, now)
        }
        _ => Step::Wait(None),
    }
}

/// For a server that was asked: whether its answer stands.
pub(crate) fn pulled(state: &State, touch: &Touch, quirks: Quirks, now: Instant) -> Step {
    let Some(pull) = state.results.get(&touch.file).and_then(|results| results.pull.as_ref()) else {
        return Step::Wait(None);
    };
    if pull.version < touch.version {
        return Step::Wait(None);
    }
    // It has said what it can, and that it can say no more.
    if state.failed_since().is_some() {
        return Step::Done;
    }
    if let Some(check) = quirks.check_on_save {
        // An error is an answer, and an edit need not wait for the compiler to find it again. What else the compiler finds is
        // told to who looks once more. Clean is what both say.
        let is_broken = pull.findings.iter().any(|finding| finding.severity == Severity::Error);
        return if is_broken && !touch.is_unchanged && !state.is_loading_beside(check) {
            Step::Done
        } else {
            checked(state, touch, now)
        };
    }
    let is_loading = state.is_loading() || (quirks.refreshes_when_loaded && state.n_refreshes == 0);
    if pull.findings.is_empty() && is_loading {
        return Step::Wait(None);
    }
    match state.reloads {
        // It asks for it when it has loaded the project anew, and then it is asked again.
        Some((told, n_refreshes))
            if n_refreshes > 0 && state.n_refreshes <= n_refreshes + u64::from(quirks.refreshes_twice) =>
        {
            at(told + RELOAD, now)
        }
        _ => Step::Done,
    }
}

/// Tells whether what a server has said of a text is all that it will say: one that checks in the background may find more.
pub(crate) fn is_all(state: &State, touch: &Touch, quirks: Quirks, now: Instant) -> bool {
    quirks.check_on_save.is_none() || checked(state, touch, now) == Step::Done
}

/// For a server that checks in the background after a save: until the check that our save began has ended.
fn checked(state: &State, touch: &Touch, now: Instant) -> Step {
    if state.is_loading() {
        return Step::Wait(None);
    }
    let push = state.results.get(&touch.file).and_then(|results| results.push.as_ref());
    match state.check_ended {
        // Errors of the check before are taken back when the new one has ended, on a busy machine a while later.
        Some(ended) if has_check_begun(state, touch) && !was_called_off(state, ended) => {
            let is_old = |push: &&Pushed| !push.findings.is_empty() && Some(push.at) < state.check_began;
            at(ended + if push.filter(is_old).is_some() { QUIET } else { DEBOUNCE }, now)
        }
        // Its findings are published after its progress has ended.
        _ => at(touch.at + CHECK_BEGINS, now),
    }
}

/// Tells whether a background check of our save has begun. One that begins at once was on its way before it.
fn has_check_begun(state: &State, touch: &Touch) -> bool {
    state.n_checks_begun > touch.n_checks
        && state.check_began.is_some_and(|began| began >= touch.at + CHECK_TAKES_UP)
}

/// Tells whether the check that ended last was broken off by a later save.
fn was_called_off(state: &State, ended: Instant) -> bool {
    state.check_began.is_some_and(|began| ended.saturating_duration_since(began) < CALLED_OFF)
}

fn at(time: Instant, now: Instant) -> Step {
    if now >= time { Step::Done } else { Step::Wait(Some(time)) }
}

/// Tells whether the last push speaks of the text that was sent.
fn is_push_fresh(state: &State, touch: &Touch) -> bool {
    let Some(push) = state.results.get(&touch.file).and_then(|results| results.push.as_ref()) else {
        return false;
    };
    // A push for this version from before another file changed knows nothing of that change.
    push.epoch > touch.epoch && push.version.is_none_or(|version| version >= touch.version)
}

/// Tells whether what a server says about a file may be from before something else changed: it has had the file for a while,
/// or it was sent other files after it.
pub(crate) fn is_overtaken(state: &State, touch: &Touch) -> bool {
    touch.is_amid || (touch.is_unchanged && !is_push_fresh(state, touch))
}

/// What counts at the end of waiting, whether it was settled or cut off: nothing older than our text.
///
/// `settled` is whether the waiting ended by itself. Then a push from before stands too, where the server has
/// looked again and found nothing to correct.
pub(crate) fn result(state: &State, touch: &Touch, quirks: Quirks, settled: bool) -> Vec<Finding> {
    let Some(results) = state.results.get(&touch.file) else { return Vec::new() };
    let push = results.push.iter().filter(|_| match quirks.check_on_save {
        // Its pushes are the background check's, and those of a check from before our save speak of another text.
        Some(check) if results.pull.is_some() => {
            let is_over = settled && !state.is_checking(check);
            has_check_begun(state, touch) && (is_over || is_push_fresh(state, touch))
        }
        _ => quirks.silent_when_unchanged || is_push_fresh(state, touch),
    });
    let pull = results.pull.iter().filter(|pull| pull.version >= touch.version);
    push.flat_map(|push| push.findings.iter())
        .chain(pull.flat_map(|pull| pull.findings.iter()))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests;
