//! The conversation that an agent replays when a session is loaded.
//!
//! Where the journal has all of it nobody reads it, so what was said is kept as it came and translated when it is asked
//! for. Only its outline is made at once: by it the journal is compared.

use std::collections::HashMap;

use chartroom_protocol::ids::{SessionId, TurnId};
use chartroom_protocol::upsert::{Upsert, UpsertStatus};
use chartroom_sessions::{Clock, History, KnownBy, ProcessorConfig, SaidTurn, StreamOutput, UpsertProcessor};
use futures_util::StreamExt;
use serde_json::{Value, json};

use super::options::Offered;
use super::tool::content_text;
use super::translate::{Translated, Translator};
use crate::json::text;

/// What was replayed so far.
pub(super) struct Replay {
    session_id: SessionId,
    provider_id: String,
    turns: Vec<Turn>,
}

/// A turn as it came. ACP does not tell where one begins: a person's message is where.
struct Turn {
    said: SaidTurn,
    updates: Vec<Value>,
    /// The last update was a piece of the answer: the next one belongs to it.
    is_answering: bool,
}

impl Replay {
    pub(super) fn new(session_id: SessionId, provider_id: &str) -> Self {
        Self { session_id, provider_id: provider_id.to_owned(), turns: Vec::new() }
    }

    pub(super) fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    /// Takes one update: a part of the conversation, or what can be chosen.
    pub(super) fn update(&mut self, update: Value, offered: &mut Offered) {
        let kind = text(&update, "/sessionUpdate");
        let is_message = kind == "user_message_chunk";
        match kind {
            "available_commands_update" | "current_mode_update" | "config_option_update" => {
                return offered.take(&update);
            }
            _ if is_message || self.turns.is_empty() => self.begin(),
            _ => {}
        }
        let Some(turn) = self.turns.last_mut() else { return };
        let is_answer = kind == "agent_message_chunk";
        if is_message {
            turn.said.message = content_text(&update);
        } else if is_answer {
            if !turn.is_answering {
                turn.said.answer.clear();
            }
            turn.said.answer.push_str(&content_text(&update));
        }
        turn.is_answering = is_answer;
        turn.updates.push(update);
    }

    fn begin(&mut self) {
        let turn_id = TurnId::new(format!("{}:history:{}", self.session_id, self.turns.len() + 1));
        let said = SaidTurn { turn_id, message: String::new(), answer: String::new() };
        self.turns.push(Turn { said, updates: Vec::new(), is_answering: false });
    }

    /// Returns what was said, to be translated if it is read.
    pub(super) fn into_history(self) -> History {
        let outline = self.turns.iter().map(|turn| turn.said.clone()).collect();
        let items = futures_util::stream::once(async move { futures_util::stream::iter(self.translate()) });
        History { items: Box::pin(items.flatten()), turns: KnownBy::Words(outline) }
    }

    /// Makes items of it through the same translation as of a live conversation. ACP's replay has no times: these are
    /// of now.
    fn translate(self) -> Vec<Upsert> {
        let mut translator = Translator::new(self.session_id, &self.provider_id);
        let mut items = Items {
            processor: UpsertProcessor::new(ProcessorConfig::default()),
            clock: Clock::start(),
            order: Vec::new(),
            last: HashMap::new(),
        };
        for turn in self.turns {
            let timestamp = items.clock.now().iso();
            items.apply(translator.begin(&timestamp, turn.said.turn_id, ""));
            for update in &turn.updates {
                items.apply(translator.update(&timestamp, update));
            }
            items.apply(translator.answered(&timestamp, Ok(&json!({"stopReason": "end_turn"}))));
        }
        items.finish()
    }
}

/// The last state of each item, in the order of their first.
struct Items {
    processor: UpsertProcessor,
    clock: Clock,
    order: Vec<String>,
    last: HashMap<String, Upsert>,
}

impl Items {
    fn apply(&mut self, translated: Vec<Translated>) {
        for translated in translated {
            let Translated::Event(envelope) = translated else { continue };
            for output in self.processor.push(self.clock.now(), &envelope) {
                if let StreamOutput::Upsert(upsert) = output {
                    let id = upsert.item_id.as_str().to_owned();
                    if self.last.insert(id.clone(), upsert).is_none() {
                        self.order.push(id);
                    }
                }
            }
        }
    }

    fn finish(mut self) -> Vec<Upsert> {
        let items: Vec<Upsert> = self.order.iter().filter_map(|id| self.last.remove(id)).collect();
        debug_assert!(items.iter().all(|item| item.status == UpsertStatus::Complete));
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_outline_has_each_message_with_the_agents_last_words() {
        let mut replay = Replay::new(SessionId::from("s"), "codex");
        let said = |kind: &str, words: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": words}});
        let call =
            json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "ls", "status": "completed"});
        let result = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "rawOutput": "x"});
        let commands = json!({"sessionUpdate": "available_commands_update", "availableCommands": []});
        for update in [
            said("user_message_chunk", "look"),
            said("agent_message_chunk", "I look."),
            call,
            result,
            commands,
            said("agent_message_chunk", "It is "),
            said("agent_message_chunk", "there."),
            said("user_message_chunk", "and now?"),
        ] {
            replay.update(update, &mut Offered::default());
        }
        let history = replay.into_history();
        let KnownBy::Words(turns) = history.turns else { panic!("ACP has no ids") };
        let told: Vec<_> = turns.iter().map(|turn| (turn.message.as_str(), turn.answer.as_str())).collect();
        assert_eq!(told, [("look", "It is there."), ("and now?", "")]);
        let items: Vec<Upsert> = history.items.collect().await;
        let turns: Vec<_> = items.iter().map(|item| item.turn_id.as_str()).collect();
        assert_eq!(turns, ["s:history:1", "s:history:1", "s:history:1", "s:history:1", "s:history:2"]);
    }
}
