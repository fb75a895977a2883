//! Questions that wait for a person, and their answers.

use std::fmt::Write;
use std::sync::Arc;

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::QuestionId;
use chartroom_protocol::session::{AnswerParams, Decision, Question, QuestionBody, SendParams};

use super::calls::CallDone;
use super::{Actor, Agent, Reply, answer};
use crate::feed::Change;
use crate::provider::ProviderError;

impl Actor {
    /// Answers a question. It is closed before the agent is asked, so that of two tabs only one answers.
    pub(super) async fn answer(&mut self, params: AnswerParams, reply: Reply<()>) {
        let known = self.questions.iter().find(|pending| pending.question.question_id == params.question_id);
        let Some(pending) = known else {
            let message = format!("question {} does not wait any more", params.question_id);
            return answer(reply, Err(ProviderError::new(ErrorCode::QuestionNotFound, message)));
        };
        let handle = match &self.agent {
            Agent::Running { handle, .. } if !pending.stale => Arc::clone(handle),
            Agent::Running { .. } | Agent::Absent | Agent::Opening { .. } => {
                // Who asked is gone; the answer goes to its successor in words.
                let message = answer_text(&pending.question, &params);
                let accepted = self.accept(SendParams { message, images: Vec::new() }).await;
                if accepted.is_ok() {
                    self.close_question(&params.question_id).await;
                }
                return answer(reply, accepted.map(|_response| ()));
            }
        };
        self.close_question(&params.question_id).await;
        self.calls.spawn(async move {
            let result = handle.answer(params).await;
            CallDone::Plain { reply: Some(reply), result }
        });
    }

    pub(super) async fn close_question(&mut self, question_id: &QuestionId) {
        let n_before = self.questions.len();
        self.questions.retain(|pending| pending.question.question_id != *question_id);
        if self.questions.len() == n_before {
            return;
        }
        if let Err(error) = self.store.remove_question(&self.session.session_id, question_id).await {
            tracing::warn!(session = %self.session.session_id, "a closed question is still kept: {error}");
        }
        self.stage_change(Change::QuestionClosed(question_id.clone()));
    }

    /// Closes the questions that the ended agent had asked; nobody waits for their answers.
    pub(super) async fn close_live_questions(&mut self) {
        let live: Vec<QuestionId> = self
            .questions
            .iter()
            .filter(|pending| !pending.stale)
            .map(|pending| pending.question.question_id.clone())
            .collect();
        for question_id in live {
            self.close_question(&question_id).await;
        }
    }
}

/// Says an answer as a message.
fn answer_text(question: &Question, params: &AnswerParams) -> String {
    let mut words = String::new();
    match (&question.body, params.decision) {
        (QuestionBody::Permission { tool_name, tool_arguments, bookkeeping, .. }, decision) => {
            // The ids of a call that nobody waits for any more mean nothing to the model.
            let mut arguments = tool_arguments.clone();
            arguments.retain(|name, _| !bookkeeping.contains(name));
            let arguments = serde_json::to_string(&arguments).expect("a map of values");
            words = match decision {
                Decision::Allow | Decision::AllowAlways => {
                    format!(
                        "You asked whether you may use {tool_name} with {arguments}. You may: please go on."
                    )
                }
                Decision::Deny => {
                    format!("You asked whether you may use {tool_name} with {arguments}. Please do not.")
                }
            };
        }
        (QuestionBody::Choice { questions }, Decision::Allow | Decision::AllowAlways) => {
            for asked in questions {
                let chosen = params
                    .answers
                    .as_ref()
                    .and_then(|answers| answers.get(&asked.question))
                    .map(String::as_str);
                let question = &asked.question;
                writeln!(words, "{question}\n{}", chosen.unwrap_or("(no answer)"))
                    .expect("writing to a string cannot fail");
            }
        }
        (QuestionBody::Choice { .. }, Decision::Deny) => {
            "I would rather not answer your questions.".clone_into(&mut words);
        }
    }
    if let Some(message) = &params.message {
        words.push(' ');
        words.push_str(message);
    }
    words.trim().to_owned()
}
