//! Drives an [`UpsertProcessor`] on the real clock and sends what it says to the session.

use std::collections::VecDeque;

use chartroom_protocol::stream::{ErrorDetail, StreamEventEnvelope};
use tokio::sync::mpsc;

use crate::clock::{Clock, Now};
use crate::provider::ProviderOutput;
use crate::upsert::{ProcessorConfig, StreamOutput, UpsertProcessor};

/// A processor with its clock and its way out. A provider's task owns one and selects over its own lines and
/// [`tick_when_due`](Self::tick_when_due).
pub struct Pump {
    clock: Clock,
    processor: UpsertProcessor,
    /// Bounded by the provider. When it is full the provider waits, and so does the agent's pipe.
    outputs: mpsc::Sender<ProviderOutput>,
    /// Taken from the processor and not sent yet: a dropped `tick_when_due` must not lose them.
    unsent: VecDeque<ProviderOutput>,
}

impl Pump {
    /// Returns a pump that nothing went through yet.
    pub fn new(config: ProcessorConfig, outputs: mpsc::Sender<ProviderOutput>) -> Self {
        Self {
            clock: Clock::start(),
            processor: UpsertProcessor::new(config),
            outputs,
            unsent: VecDeque::new(),
        }
    }

    /// Returns the pump's clock, for the timestamps of envelopes.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Takes one event, which came at this moment, and sends what follows from it.
    pub async fn push(&mut self, now: Now, envelope: &StreamEventEnvelope) {
        let outputs = self.processor.flush_before(now, envelope);
        self.keep(outputs);
        let outputs = self.processor.push(now, envelope);
        self.keep(outputs);
        self.flush().await;
    }

    /// Waits until content has waited long enough, and sends it; for ever if nothing waits.
    ///
    /// May be dropped at any await and called again: what was not sent yet is sent first by the next call.
    pub async fn tick_when_due(&mut self) {
        self.flush().await;
        match self.processor.next_deadline() {
            Some(deadline) => tokio::time::sleep_until(self.clock.instant(deadline)).await,
            None => std::future::pending().await,
        }
        let outputs = self.processor.tick(self.clock.now());
        self.keep(outputs);
        self.flush().await;
    }

    /// Ends every open item and turn because of `error`. [`ProviderOutput::Exited`] is the caller's to send.
    pub async fn destroy(&mut self, error: &ErrorDetail) {
        let outputs = self.processor.destroy(self.clock.now(), error);
        self.keep(outputs);
        self.flush().await;
    }

    /// Sends something that is no stream event, in its place among those that are.
    pub async fn output(&mut self, output: ProviderOutput) {
        match &output {
            ProviderOutput::Question(_) => self.processor.asked(self.clock.now()),
            ProviderOutput::QuestionClosed(_) => self.processor.answered(self.clock.now()),
            _ => {}
        }
        self.unsent.push_back(output);
        self.flush().await;
    }

    fn keep(&mut self, outputs: Vec<StreamOutput>) {
        self.unsent.extend(outputs.into_iter().map(ProviderOutput::from));
    }

    async fn flush(&mut self) {
        while !self.unsent.is_empty() {
            match self.outputs.reserve().await {
                Ok(permit) => {
                    if let Some(output) = self.unsent.pop_front() {
                        permit.send(output);
                    }
                }
                Err(_closed) => {
                    tracing::debug!("the session is gone, its agent's output goes nowhere");
                    self.unsent.clear();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chartroom_protocol::ids::{EventId, QuestionId, SessionId, TurnId};
    use chartroom_protocol::session::{Question, QuestionBody};
    use chartroom_protocol::stream::{ResponseStatus, StreamEvent, StreamEventEnvelope};
    use chartroom_protocol::turn::TurnEvent;
    use tokio::sync::mpsc;

    use super::Pump;
    use crate::provider::ProviderOutput;
    use crate::upsert::ProcessorConfig;

    fn envelope(payload: StreamEvent) -> StreamEventEnvelope {
        StreamEventEnvelope {
            event_id: EventId::from("e"),
            timestamp: "2026-01-01T00:00:00Z".to_owned(),
            turn_id: TurnId::from("t1"),
            session_id: SessionId::from("s1"),
            event_type: payload.event_type(),
            payload,
            extra: Default::default(),
        }
    }

    fn question(id: &str) -> ProviderOutput {
        ProviderOutput::Question(Question {
            question_id: QuestionId::from(id),
            asked_at: String::new(),
            body: QuestionBody::Choice { questions: Vec::new() },
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_does_not_count_the_time_that_a_person_took() {
        let (outputs, mut said) = mpsc::channel(16);
        let mut pump = Pump::new(ProcessorConfig::default(), outputs);
        let closed = |id: &str| ProviderOutput::QuestionClosed(QuestionId::from(id));
        let pass = |seconds| tokio::time::advance(Duration::from_secs(seconds));
        // Asked before the turn: not its time either way.
        pump.output(question("q0")).await;
        pass(100).await;
        pump.output(closed("q0")).await;
        pump.push(
            pump.clock().now(),
            &envelope(StreamEvent::ResponseStart { model_id: "m".to_owned(), provider_id: "p".to_owned() }),
        )
        .await;
        pass(2).await;
        // Two at once: the time until both are answered.
        pump.output(question("q1")).await;
        pass(60).await;
        pump.output(question("q2")).await;
        pass(60).await;
        pump.output(closed("q1")).await;
        pass(60).await;
        pump.output(closed("q2")).await;
        pass(3).await;
        pump.push(
            pump.clock().now(),
            &envelope(StreamEvent::ResponseDone {
                status: ResponseStatus::Completed,
                finish_reason: None,
                usage: None,
                error: None,
            }),
        )
        .await;
        drop(pump);
        let mut took = None;
        while let Some(output) = said.recv().await {
            if let ProviderOutput::Turn(TurnEvent::TurnComplete { duration_ms, .. }) = output {
                took = duration_ms;
            }
        }
        assert_eq!(took, Some(5_000));
    }
}
