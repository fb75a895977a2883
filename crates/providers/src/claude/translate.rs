//! Claude's stdout lines into canonical stream events: pure, lenient, the clock is an argument.
//!
//! A turn begins with `system/init` and ends at `result`, whatever happens between. Lines of types that we do not
//! know are skipped: the CLI grows new ones often.

mod ending;
mod stream;
mod turn;
mod whole;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use chartroom_protocol::ids::{CallId, SessionId, TurnId};
use chartroom_protocol::lsp::ToldDiagnostics;
use chartroom_protocol::stream::{ErrorDetail, ResponseStatus, StreamEvent, StreamEventEnvelope};
use chartroom_sessions::Now;
use serde_json::Value;

use crate::envelope::Envelopes;
use crate::json::{number, optional_text, text};
use ending::Spending;
pub(super) use stream::StreamLine;
use turn::Turn;
pub(super) use whole::WholeLine;

/// The provider id that outputs carry.
pub const PROVIDER_ID: &str = "claude-code";

/// Lines of subagents that come between turns wait for the next one; more than these are dropped, oldest first.
const WAITING_LINES: usize = 1000;

/// What one line says.
#[derive(Debug, Clone, PartialEq)]
pub enum Translated {
    /// A canonical event.
    Event(Box<StreamEventEnvelope>),
    /// For the status line; `None` clears it.
    Note(Option<String>),
    /// The head of a turn: what the process runs with.
    Init {
        /// The model in use.
        model: String,
        /// The permission mode in use.
        mode: String,
    },
    /// The permission mode that is in force from now on.
    Mode(String),
    /// The CLI asks us something.
    Asked {
        /// Repeated in the answer.
        request_id: String,
        /// What the CLI wants.
        request: Value,
    },
    /// The CLI answers what we asked.
    Answered {
        /// Ours.
        request_id: String,
        /// The answer, or the CLI's error.
        outcome: Result<Value, String>,
    },
    /// The CLI does not wait for this answer any more.
    Withdrawn {
        /// The request that needs no answer any more.
        request_id: String,
    },
    /// A turn that was cancelled works on.
    GoesOn,
}

/// The state of one conversation's translation.
#[derive(Debug)]
pub struct Translator {
    envelopes: Envelopes,
    /// Turns whose message is written and which have not begun.
    expected: VecDeque<TurnId>,
    /// The expected turn that the CLI says it has begun with.
    begun: Option<TurnId>,
    /// Whether this CLI tells which message a turn belongs to; older ones do not, and the order decides.
    tells_beginnings: bool,
    turn: Option<Turn>,
    model: String,
    waiting: VecDeque<Value>,
    /// What the agent was told between turns, by the call whose result is still to come.
    told: BTreeMap<CallId, ToldDiagnostics>,
    spending: Spending,
    /// Whether a note is shown that the next sign of life clears.
    noted: bool,
    /// Turns that somebody has cancelled and that have not ended.
    cancelled: Vec<TurnId>,
}

impl Translator {
    /// Returns a translator that has heard nothing yet.
    pub fn new(session_id: SessionId) -> Self {
        Self {
            envelopes: Envelopes::new(session_id),
            expected: VecDeque::new(),
            begun: None,
            tells_beginnings: false,
            turn: None,
            model: String::new(),
            waiting: VecDeque::new(),
            told: BTreeMap::new(),
            spending: Spending::default(),
            noted: false,
            cancelled: Vec::new(),
        }
    }

    /// Tells that a message for this turn is about to be written. Its user line carries the turn id as `uuid`.
    pub fn expect(&mut self, turn_id: TurnId) {
        self.expected.push_back(turn_id);
    }

    /// Tells what the agent was told about errors after these calls; it is shown with their results.
    pub fn told(&mut self, told: BTreeMap<CallId, ToldDiagnostics>) {
        self.turn.as_mut().map_or(&mut self.told, |turn| &mut turn.told).extend(told);
    }

    /// Notes that a turn is to be interrupted, so that what cuts it off is no error; tells whether there is one. The CLI
    /// does not remember an interrupt for a message that it has not begun with: [`Translated::GoesOn`] says that it was lost.
    pub fn cancel(&mut self, turn_id: &TurnId) -> bool {
        let running = self.turn.as_mut().filter(|turn| turn.id == *turn_id);
        let known = running.is_some() || self.expected.contains(turn_id);
        if let Some(turn) = running {
            turn.cancelled = true;
        }
        if known && !self.cancelled.contains(turn_id) {
            self.cancelled.push(turn_id.clone());
        }
        known
    }

    /// Notes that everything is to be interrupted; tells whether there is something.
    pub fn cancel_all(&mut self) -> bool {
        let turns: Vec<TurnId> =
            self.turn.iter().map(|turn| &turn.id).chain(&self.expected).cloned().collect();
        for turn_id in &turns {
            self.cancel(turn_id);
        }
        !turns.is_empty()
    }

    /// Notes that a call was waiting for a person until now: what it takes is counted from here.
    pub fn begins_now(&mut self, now: &Now, call_id: &CallId) {
        if let Some(turn) = &mut self.turn {
            turn.begins(call_id, now.monotonic);
        }
    }

    /// Tells whether the turn that the CLI is at has been cancelled.
    pub fn is_cancelling(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.cancelled)
            || self.begun.as_ref().is_some_and(|begun| self.cancelled.contains(begun))
    }

    /// Tells whether a turn runs or is about to.
    pub fn is_working(&self) -> bool {
        self.turn.is_some() || !self.expected.is_empty()
    }

    /// Begins the turns that were expected and never came, so that their failure has a place to be said.
    pub fn begin_expected(&mut self, now: &Now) -> Vec<Translated> {
        let mut translated = Vec::new();
        while let Some(turn_id) = self.expected.front().cloned() {
            self.begun = Some(turn_id);
            self.begin_turn(&now.iso(), &mut translated);
        }
        translated
    }

    /// Reads one line.
    pub fn line(&mut self, now: &Now, line: &Value) -> Vec<Translated> {
        let mut translated = Vec::new();
        if text(line, "/type") == "stream_event" {
            return self.stream_event(now, &StreamLine::of(line));
        }
        if matches!(text(line, "/type"), "assistant" | "user") {
            let whole = WholeLine::of(line);
            return if self.waits(&whole) {
                self.wait_for_turn(line.clone())
            } else {
                self.message(now, &whole)
            };
        }
        let timestamp = optional_text(line, "/timestamp").map_or_else(|| now.iso(), str::to_owned);
        match text(line, "/type") {
            "system" => self.system(line, &timestamp, now, &mut translated),
            "result" => self.result(line, &timestamp, now, &mut translated),
            "command_lifecycle" => self.lifecycle(line, &timestamp, &mut translated),
            "control_request" => translated.push(Translated::Asked {
                request_id: text(line, "/request_id").to_owned(),
                request: line.get("request").cloned().unwrap_or_default(),
            }),
            "control_response" => translated.push(answered(line)),
            "control_cancel_request" => {
                translated.push(Translated::Withdrawn { request_id: text(line, "/request_id").to_owned() });
            }
            other => tracing::trace!(line_type = other, "claude said something that we do not show"),
        }
        translated
    }

    /// Reads one raw event of the model's stream.
    pub(super) fn stream_event(&mut self, now: &Now, line: &StreamLine<'_>) -> Vec<Translated> {
        let mut translated = Vec::new();
        let timestamp = line.timestamp.as_deref().filter(|timestamp| !timestamp.is_empty());
        let timestamp = timestamp.map_or_else(|| now.iso(), str::to_owned);
        self.ensure_turn(&timestamp, &mut translated);
        if line.event.kind == "message_start" {
            self.clear_note(&mut translated);
        }
        self.in_turn(now, &timestamp, &mut translated, |turn| turn.stream_event(line));
        if matches!(&*line.event.kind, "message_start" | "content_block_start") {
            self.goes_on(&mut translated);
        }
        translated
    }

    fn system(&mut self, line: &Value, timestamp: &str, now: &Now, translated: &mut Vec<Translated>) {
        match text(line, "/subtype") {
            "init" => {
                text(line, "/model").clone_into(&mut self.model);
                self.ensure_turn(timestamp, translated);
                translated.push(Translated::Init {
                    model: self.model.clone(),
                    mode: text(line, "/permissionMode").to_owned(),
                });
                for waiting in std::mem::take(&mut self.waiting) {
                    self.in_turn(now, timestamp, translated, |turn| turn.message(&WholeLine::of(&waiting)));
                }
                self.goes_on(translated);
            }
            "api_retry" => {
                let attempt = number(line, "/attempt").unwrap_or_default();
                let limit = number(line, "/max_retries").unwrap_or_default();
                let seconds = number(line, "/retry_delay_ms").unwrap_or_default() as f64 / 1000.0;
                let status =
                    number(line, "/error_status").map(|status| format!(" ({status})")).unwrap_or_default();
                let error = optional_text(line, "/error").unwrap_or("failed").replace('_', " ");
                self.note(
                    format!("API {error}{status}, retry {attempt} of {limit} in {seconds:.1} s"),
                    translated,
                );
            }
            "status" => {
                if text(line, "/status") == "compacting" {
                    self.note("compacting the conversation".to_owned(), translated);
                }
                if let Some(mode) = optional_text(line, "/permissionMode") {
                    translated.push(Translated::Mode(mode.to_owned()));
                }
            }
            "informational" if text(line, "/level") == "warning" => {
                self.note(text(line, "/content").to_owned(), translated);
            }
            _ => {}
        }
    }

    /// Tells whether a line is kept until a turn begins: a subagent's. A turn of its own for these could stay open for ever:
    /// nothing says when a subagent's last line came.
    pub(super) fn waits(&self, line: &WholeLine<'_>) -> bool {
        self.turn.is_none() && line.parent().is_some()
    }

    fn wait_for_turn(&mut self, line: Value) -> Vec<Translated> {
        if self.waiting.len() == WAITING_LINES {
            self.waiting.pop_front();
        }
        self.waiting.push_back(line);
        Vec::new()
    }

    /// Reads a whole message: a finished block of the stream, a subagent's, a tool's results.
    pub(super) fn message(&mut self, now: &Now, line: &WholeLine<'_>) -> Vec<Translated> {
        let mut translated = Vec::new();
        if line.tells() {
            let timestamp = line.timestamp().map_or_else(|| now.iso(), str::to_owned);
            self.ensure_turn(&timestamp, &mut translated);
            self.clear_note(&mut translated);
            self.in_turn(now, &timestamp, &mut translated, |turn| turn.message(line));
        }
        translated
    }

    fn result(&mut self, line: &Value, timestamp: &str, now: &Now, translated: &mut Vec<Translated>) {
        if self.turn.is_none() && self.expected.is_empty() {
            return;
        }
        if self.turn.is_none() {
            // A result without a head answers the message that waits longest.
            self.begun = self.begun.take().or_else(|| self.expected.front().cloned());
        }
        self.ensure_turn(timestamp, translated);
        self.clear_note(translated);
        let ending = ending::read(line, self.turn.as_ref().is_some_and(|turn| turn.cancelled));
        let context = self.turn.as_ref().and_then(Turn::context_tokens);
        let usage = self.spending.usage(line, &self.model, context);
        self.in_turn(now, timestamp, translated, |turn| turn.close(&ending));
        let finish_reason = optional_text(line, "/terminal_reason").or(optional_text(line, "/stop_reason"));
        let done = StreamEvent::ResponseDone {
            status: ending.status,
            finish_reason: finish_reason.map(str::to_owned),
            error: ending.error,
            usage: Some(usage),
        };
        self.in_turn(now, timestamp, translated, |_| vec![done]);
        if let Some(turn) = self.turn.take() {
            self.cancelled.retain(|cancelled| *cancelled != turn.id);
        }
    }

    /// Says which message the CLI works on now (from 2.1.3xx on, for user lines with a `uuid`).
    fn lifecycle(&mut self, line: &Value, timestamp: &str, translated: &mut Vec<Translated>) {
        self.tells_beginnings = true;
        let turn_id = TurnId::from(text(line, "/command_uuid"));
        if !self.expected.contains(&turn_id) {
            return;
        }
        match text(line, "/state") {
            "started" => {
                self.begun = Some(turn_id);
                self.goes_on(translated);
            }
            state @ ("completed" | "cancelled") => {
                // It was taken into a running turn, or dropped: its own turn never came, and must not wait for ever.
                self.expected.retain(|expected| *expected != turn_id);
                self.cancelled.retain(|cancelled| *cancelled != turn_id);
                self.begun = self.begun.take().filter(|begun| *begun != turn_id);
                let status =
                    if state == "completed" { ResponseStatus::Completed } else { ResponseStatus::Cancelled };
                let start = self.response_start();
                let done =
                    StreamEvent::ResponseDone { status, finish_reason: None, error: None, usage: None };
                for event in [start, done] {
                    translated
                        .push(Translated::Event(Box::new(self.envelopes.wrap(&turn_id, timestamp, event))));
                }
            }
            _ => {}
        }
    }

    fn ensure_turn(&mut self, timestamp: &str, translated: &mut Vec<Translated>) {
        if self.turn.is_none() {
            self.begin_turn(timestamp, translated);
        }
    }

    fn begin_turn(&mut self, timestamp: &str, translated: &mut Vec<Translated>) {
        let bound = match self.begun.take() {
            Some(begun) => Some(begun),
            // The CLI would have said that it begins with our message; so this turn is its own.
            None if self.tells_beginnings => None,
            None => self.expected.front().cloned(),
        };
        let turn_id = match bound {
            Some(turn_id) => {
                self.expected.retain(|expected| *expected != turn_id);
                turn_id
            }
            None => chartroom_sessions::provider::new_turn_id(),
        };
        let event = self.response_start();
        translated.push(Translated::Event(Box::new(self.envelopes.wrap(&turn_id, timestamp, event))));
        let cancelled = self.cancelled.contains(&turn_id);
        self.turn = Some(Turn::new(turn_id, std::mem::take(&mut self.told), cancelled));
    }

    fn goes_on(&self, translated: &mut Vec<Translated>) {
        if self.is_cancelling() {
            translated.push(Translated::GoesOn);
        }
    }

    fn response_start(&self) -> StreamEvent {
        StreamEvent::ResponseStart { model_id: self.model.clone(), provider_id: PROVIDER_ID.to_owned() }
    }

    fn in_turn(
        &mut self,
        now: &Now,
        timestamp: &str,
        translated: &mut Vec<Translated>,
        read: impl FnOnce(&mut Turn) -> Vec<StreamEvent>,
    ) {
        let Some(turn) = &mut self.turn else { return };
        turn.now = now.monotonic;
        let events = read(turn);
        let turn_id = &turn.id;
        let wrapped = events.into_iter().map(|event| self.envelopes.wrap(turn_id, timestamp, event));
        translated.extend(wrapped.map(|envelope| Translated::Event(Box::new(envelope))));
    }

    fn note(&mut self, note: String, translated: &mut Vec<Translated>) {
        self.noted = true;
        translated.push(Translated::Note(Some(note)));
    }

    fn clear_note(&mut self, translated: &mut Vec<Translated>) {
        if std::mem::take(&mut self.noted) {
            translated.push(Translated::Note(None));
        }
    }
}

fn answered(line: &Value) -> Translated {
    let request_id = text(line, "/response/request_id").to_owned();
    let outcome = if text(line, "/response/subtype") == "success" {
        Ok(line.pointer("/response/response").cloned().unwrap_or_default())
    } else {
        Err(optional_text(line, "/response/error").unwrap_or("claude refused without a reason").to_owned())
    };
    Translated::Answered { request_id, outcome }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ending {
    pub(crate) status: ResponseStatus,
    pub(crate) error: Option<ErrorDetail>,
}
