//! What a CLI provider is: the seam between the conversation and the agents.
//!
//! A provider hands out upserts and turn events only; how it gets them out of its CLI is its own affair (both of
//! ours translate to canonical stream events and let [`UpsertProcessor`](crate::UpsertProcessor) batch them).

mod error;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use chartroom_protocol::agent::Agent;
use chartroom_protocol::context::ContextUse;
use chartroom_protocol::ids::{CliType, QuestionId, SessionId, TurnId};
use chartroom_protocol::session::{AnswerParams, Question, SendParams, SessionOptions};
use chartroom_protocol::turn::TurnEvent;
use chartroom_protocol::upsert::Upsert;
use futures_util::stream::BoxStream;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

pub use error::ProviderError;

/// One kind of agent: makes sessions and brings them back.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Returns the key by which the API and the config name this agent.
    fn cli_type(&self) -> &CliType;

    /// Tells whether the agent is on this machine, and how to install it if not.
    fn agent(&self) -> Agent;

    /// Starts an agent on a new conversation.
    async fn create_session(&self, options: CreateOptions) -> Result<ProviderSession, ProviderError>;

    /// Starts an agent on a conversation that exists; `SESSION_NOT_FOUND` if the agent does not know it.
    async fn load_session(
        &self,
        session_id: &SessionId,
        options: LoadOptions,
    ) -> Result<ProviderSession, ProviderError>;

    /// Finds the conversations that the agent keeps for a project, in any order. Starts no process.
    async fn discover(&self, project_dir: &Path) -> Result<Vec<DiscoveredSession>, ProviderError>;

    /// Tells whether a session can begin with a part of another one: [`load_session`](Self::load_session) of one that the
    /// agent does not know has [`FORKED_FROM`] among the provider's options then.
    fn can_fork(&self) -> bool {
        false
    }

    /// Tells whether its histories are [`KnownBy::Words`]: the journal is then read while the agent starts, to be compared
    /// with them.
    fn tells_turns_by_words(&self) -> bool {
        false
    }

    /// Tells that a person works in this project now, so that a session may be asked for soon.
    fn project_opened(&self, _project_dir: &Path) {}
}

/// A running agent with one conversation.
///
/// The session's task never waits for these calls while it reads the outputs, so an implementation may wait for
/// its CLI to answer. Dropping the last handle ends the process and everything below it.
#[async_trait]
pub trait AgentHandle: Send + Sync {
    /// Gives the agent a message and returns when the turn is bound to `turn_id` (not when it ends).
    ///
    /// Every output of the turn carries this id, beginning with `turn_started`. A dead process answers
    /// `PROCESS_CRASH`.
    async fn send_message(&self, turn_id: &TurnId, message: SendParams) -> Result<(), ProviderError>;

    /// Interrupts a turn whose message was sent, also one that the agent has not begun with; its end arrives as an
    /// output. Of a turn that has ended nothing happens.
    async fn cancel_turn(&self, turn_id: &TurnId) -> Result<(), ProviderError>;

    /// Answers a pending question; `QUESTION_NOT_FOUND` when it is not pending any more.
    async fn answer(&self, params: AnswerParams) -> Result<(), ProviderError>;

    /// Switches the model, from the next turn on.
    async fn set_model(&self, model: &str) -> Result<(), ProviderError>;

    /// Switches the permission mode.
    async fn set_mode(&self, mode: &str) -> Result<(), ProviderError>;

    /// Tells what fills the context window, or nothing if the agent has no way to tell. May take a second, so it is
    /// asked when a person wants to know and never by the way.
    async fn context_use(&self) -> Result<Option<ContextUse>, ProviderError> {
        Ok(None)
    }

    /// Tells whether the agent works on something although no turn runs. Where an agent cannot tell it does not.
    fn has_background_work(&self) -> bool {
        false
    }

    /// Tells whether the process can still take a message.
    fn is_alive(&self) -> bool;

    /// Ends the process and everything below it, and returns when all are gone.
    async fn kill(&self);
}

/// A session as the provider hands it over: the way in, the way out, and what was said before.
pub struct ProviderSession {
    /// The CLI's own id, so that resume works after a restart of ours. If the CLI had not kept a session and
    /// could not begin it under its old id, this differs from the id asked for: it is kept, and the next
    /// [`LoadOptions`] have it as [`AGENTS_ID`] among the provider's options.
    pub session_id: SessionId,
    /// What commands go to.
    pub handle: Arc<dyn AgentHandle>,
    /// What the agent says. Bounded by the provider: the session reads it promptly, whoever reads the session.
    pub outputs: mpsc::Receiver<ProviderOutput>,
    /// The conversation so far; empty for a new one.
    pub history: History,
}

/// What was said before, oldest first, as complete items with the agent's own ids.
pub struct History {
    /// A stream, because a session file may be larger than we want to hold in memory, and because nobody reads it
    /// where the journal has it all.
    pub items: BoxStream<'static, Upsert>,
    /// How its turns are told from those that the journal has.
    pub turns: KnownBy,
}

/// How the turns of a history that the journal has are told from those that were had elsewhere.
pub enum KnownBy {
    /// A turn that was begun here has our id; every other item has an id that never changes.
    Ids,
    /// The agent keeps no ids: these are its turns, in order.
    Words(Vec<SaidTurn>),
}

/// A turn by what was said in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidTurn {
    /// The id that its items carry.
    pub turn_id: TurnId,
    /// What the person said; empty if the agent began.
    pub message: String,
    /// The last thing that the agent said; empty if it said nothing.
    pub answer: String,
}

impl History {
    /// Returns the history of a new conversation.
    pub fn empty() -> Self {
        Self::of(Vec::new())
    }

    /// Returns a history that is in memory already and has ids.
    pub fn of(items: Vec<Upsert>) -> Self {
        Self { items: Box::pin(futures_util::stream::iter(items)), turns: KnownBy::Ids }
    }
}

/// Everything that can come out of an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum ProviderOutput {
    /// An item's new state.
    Upsert(Upsert),
    /// A turn that the agent begins by itself comes with an id of the provider's making.
    Turn(TurnEvent),
    /// The agent waits for a person.
    Question(Question),
    /// The agent waits no longer (answered, interrupted or withdrawn).
    QuestionClosed(QuestionId),
    /// A passing remark for the status line, e.g. "API overloaded, retry 2 of 10 in 4 s"; `None` clears it.
    Note(Option<String>),
    /// The models, modes and commands to choose from, and the chosen ones; replaces what was said before.
    Options(SessionOptions),
    /// The agent's own title for the conversation.
    Title(String),
    /// The process is gone; nothing follows. Before it come the buffered items as `error` and the `turn_error` of
    /// a running turn ([`Pump::destroy`](crate::Pump::destroy) makes both). Closing the channel without it means
    /// the same with less to say.
    Exited {
        /// How the agent ended, for people.
        message: String,
    },
}

/// What a new session starts with.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateOptions {
    /// Canonical, existing and trusted.
    pub project_dir: PathBuf,
    /// The agent's default when absent.
    pub model: Option<String>,
    /// The agent's default when absent.
    pub mode: Option<String>,
    /// Whatever else the provider takes.
    pub provider_options: Map<String, Value>,
}

/// What a session that exists is continued with.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadOptions {
    /// Canonical, existing and trusted.
    pub project_dir: PathBuf,
    /// The agent's default when absent.
    pub model: Option<String>,
    /// The agent's default when absent.
    pub mode: Option<String>,
    /// Whatever else the provider takes.
    pub provider_options: Map<String, Value>,
    /// The agent never ended a turn in it, and may not have kept it: then it begins it again under the same id.
    pub may_be_unkept: bool,
}

/// A conversation that the user had with the agent outside Chartroom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveredSession {
    /// The CLI's own id.
    pub session_id: SessionId,
    /// The first user message, in full or cut; [`title`] cuts it.
    pub first_message: String,
    /// ISO 8601 UTC.
    pub last_activity: String,
}

/// The provider option under which an agent's own id is kept where it is not the session's.
pub const AGENTS_ID: &str = "agentSessionId";

/// The provider option that tells which conversation a session began with, until the agent has kept it as its own.
pub const FORKED_FROM: &str = "forkedFrom";

/// Where a session parted from another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkedFrom {
    /// The other one, as its agent names it.
    pub session_id: SessionId,
    /// All before this turn of it is known; all of it if none is named.
    pub before: Option<TurnId>,
}

impl ForkedFrom {
    /// Reads it from the provider's options.
    pub fn of(provider_options: &Map<String, Value>) -> Option<Self> {
        let value = provider_options.get(FORKED_FROM)?;
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        Some(Self { session_id: SessionId::from(text("session")?), before: text("before").map(TurnId::from) })
    }

    /// Returns it as an option.
    pub fn to_value(&self) -> Value {
        let before = self.before.as_ref().map(TurnId::as_str);
        serde_json::json!({ "session": self.session_id.as_str(), "before": before })
    }
}

/// Makes the id of a turn.
pub fn new_turn_id() -> TurnId {
    TurnId::new(uuid::Uuid::new_v4().to_string())
}

const TITLE_LENGTH: usize = 50;

/// Makes a title of the first user message: one line, cut at a word within 50 characters.
pub fn title(first_message: &str) -> String {
    let mut title = String::new();
    let mut length = 0;
    for word in first_message.split_whitespace() {
        let word_length = word.chars().count();
        let gap = usize::from(!title.is_empty());
        if length + gap + word_length > TITLE_LENGTH {
            if title.is_empty() {
                // One endless word: better cut than nameless.
                title.extend(word.chars().take(TITLE_LENGTH));
            }
            break;
        }
        if gap == 1 {
            title.push(' ');
        }
        title.push_str(word);
        length += gap + word_length;
    }
    if title.is_empty() { "New session".to_owned() } else { title }
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn a_title_is_the_first_message_cut_at_a_word_within_50_characters() {
        assert_eq!(title("fix the build"), "fix the build");
        assert_eq!(title("  fix\n\tthe   build \n"), "fix the build");
        assert_eq!(
            title("please rename the function that parses the config file everywhere"),
            "please rename the function that parses the config"
        );
        let fifty = "a".repeat(24) + " " + &"b".repeat(25);
        assert_eq!(title(&fifty), fifty);
        assert_eq!(title(&(fifty + "c")), "a".repeat(24));
    }

    #[test]
    fn a_title_of_one_endless_word_is_cut_inside_it() {
        assert_eq!(title(&"ü".repeat(80)), "ü".repeat(50));
    }

    #[test]
    fn an_empty_message_still_has_a_title() {
        assert_eq!(title(" \n "), "New session");
    }
}
