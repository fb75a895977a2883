//! One turn: its messages, their blocks, its tool calls.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use chartroom_protocol::ids::{CallId, ItemId, TurnId};
use chartroom_protocol::lsp::ToldDiagnostics;
use chartroom_protocol::stream::{ErrorDetail, FinalizedItem, ItemType, Origin, ResponseStatus, StreamEvent};
use serde_json::{Map, Value};

use super::stream::{BlockHead, Head, StreamLine};
use super::whole::{self, WholeLine};
use super::{Ending, PROVIDER_ID};
use crate::claude::detail;
use crate::json::{object, object_from};

/// The result of a tool that an interrupt has stopped, as the CLI keeps it beside its words to the model.
const STOPPED_TOOL: &str = "User rejected tool use";

/// A turn that runs.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) id: TurnId,
    /// When the line that is being read came; for how long a tool took.
    pub(super) now: Duration,
    /// An interrupt was asked for: what is cut off is cancelled, not broken.
    pub(super) cancelled: bool,
    next_ordinal: u32,
    /// The message that is being streamed.
    message: Option<Message>,
    /// Whole messages of subagents, by their id: ordinal and next block index.
    whole: HashMap<String, (u32, usize)>,
    calls: BTreeMap<String, Call>,
    /// What the agent was told about errors, by the call whose result is still to come.
    pub(super) told: BTreeMap<CallId, ToldDiagnostics>,
}

#[derive(Debug)]
struct Message {
    id: String,
    ordinal: u32,
    blocks: BTreeMap<usize, Block>,
    context_tokens: u64,
}

#[derive(Debug)]
struct Block {
    item_id: ItemId,
    kind: BlockKind,
    /// Text or JSON so far.
    content: String,
    /// What the CLI says is the whole of a text. It says so of a text that was cut off too: only when the message
    /// goes on, or stops for a reason, is the text complete.
    whole: Option<FinalizedItem>,
    done: bool,
}

#[derive(Debug, Clone)]
enum BlockKind {
    Text,
    Thinking,
    Tool { name: String, call_id: CallId },
}

/// A tool call whose result is awaited.
#[derive(Debug)]
struct Call {
    item_id: ItemId,
    name: String,
    arguments: Map<String, Value>,
    since: Duration,
}

impl Turn {
    pub(super) fn new(id: TurnId, told: BTreeMap<CallId, ToldDiagnostics>, cancelled: bool) -> Self {
        Self {
            id,
            now: Duration::ZERO,
            cancelled,
            next_ordinal: 0,
            message: None,
            whole: HashMap::new(),
            calls: BTreeMap::new(),
            told,
        }
    }

    /// Counts a call's time from now on.
    pub(super) fn begins(&mut self, call_id: &CallId, now: Duration) {
        if let Some(call) = self.calls.get_mut(call_id.as_str()) {
            call.since = now;
        }
    }

    /// Returns the size of the context as the last message reported it.
    pub(super) fn context_tokens(&self) -> Option<u64> {
        self.message.as_ref().map(|message| message.context_tokens).filter(|tokens| *tokens > 0)
    }

    /// Reads one raw event of the model's stream.
    pub(super) fn stream_event(&mut self, line: &StreamLine<'_>) -> Vec<StreamEvent> {
        let event = &line.event;
        match &*event.kind {
            "message_start" => self.message_start(event.message.as_deref().unwrap_or(&Head::default())),
            "content_block_start" => {
                let mut events = self.settle();
                events.extend(
                    event.content_block.as_deref().and_then(|block| self.block_start(event.index, block)),
                );
                events
            }
            "content_block_delta" => self.block_delta(event.index, event.delta.content()),
            "message_delta" => {
                if let Some(message) = &mut self.message {
                    message.context_tokens += event.usage.as_ref().map_or(0, |usage| usage.output_tokens);
                }
                if event.delta.stops() { self.settle() } else { Vec::new() }
            }
            // What is not final by now never will be.
            "message_stop" if line.is_broken_off() => self.cut_blocks(&broken_off()),
            "message_stop" => self.message_stop(),
            _ => Vec::new(),
        }
    }

    fn message_start(&mut self, head: &Head<'_>) -> Vec<StreamEvent> {
        // The message before this one never stopped.
        let events = self.cut_blocks(&broken_off());
        self.message = Some(Message {
            id: head.id.clone().into_owned(),
            ordinal: self.next_ordinal,
            blocks: BTreeMap::new(),
            context_tokens: head.usage.read(),
        });
        self.next_ordinal += 1;
        events
    }

    fn block_start(&mut self, index: usize, head: &BlockHead<'_>) -> Option<StreamEvent> {
        let message = self.message.as_mut()?;
        let item_id = ItemId::new(format!("{}:{}:{index}", self.id, message.ordinal));
        let kind = kind(head)?;
        let start = item_start(&item_id, &kind, None);
        let block = Block { item_id, kind, content: String::new(), whole: None, done: false };
        message.blocks.insert(index, block);
        Some(start)
    }

    fn block_delta(&mut self, index: usize, delta: &str) -> Vec<StreamEvent> {
        let Some(block) = self.message.as_mut().and_then(|message| message.blocks.get_mut(&index)) else {
            return Vec::new();
        };
        if delta.is_empty() || block.done {
            return Vec::new();
        }
        block.content.push_str(delta);
        vec![StreamEvent::ItemDelta { item_id: block.item_id.clone(), delta_content: delta.to_owned() }]
    }

    /// Completes the texts of which the CLI has told the whole: their message goes on after them.
    fn settle(&mut self) -> Vec<StreamEvent> {
        let blocks = self.message.iter_mut().flat_map(|message| message.blocks.values_mut());
        let mut events = Vec::new();
        for block in blocks.filter(|block| !block.done) {
            if let Some(final_item) = block.whole.take() {
                block.done = true;
                events.push(StreamEvent::ItemDone { item_id: block.item_id.clone(), final_item });
            }
        }
        events
    }

    /// Completes what the stream left open as it stands.
    fn message_stop(&mut self) -> Vec<StreamEvent> {
        let mut events = self.settle();
        let blocks = self.message.iter_mut().flat_map(|message| message.blocks.values_mut());
        let mut calls = Vec::new();
        for block in blocks.filter(|block| !block.done) {
            block.done = true;
            let (item_id, final_item) = (block.item_id.clone(), finalized(&block.kind, &block.content));
            calls.extend(call_of(&final_item, &item_id, self.now));
            events.push(StreamEvent::ItemDone { item_id, final_item });
        }
        self.calls.extend(calls);
        events
    }

    /// Ends the blocks that were cut off: as cancelled if somebody wanted that, else as failed.
    fn cut_blocks(&mut self, error: &ErrorDetail) -> Vec<StreamEvent> {
        let cancelled = self.cancelled;
        let blocks = self.message.iter_mut().flat_map(|message| message.blocks.values_mut());
        let mut events = Vec::new();
        for block in blocks.filter(|block| !block.done) {
            block.done = true;
            events.push(cut(&block.item_id, cancelled, error));
        }
        events
    }

    /// Reads a whole message: `assistant` or `user`.
    pub(super) fn message(&mut self, line: &WholeLine<'_>) -> Vec<StreamEvent> {
        let blocks = &line.message.content;
        if line.is_users() {
            let results = blocks.iter().filter(|block| block.is_tool_result());
            return results.flat_map(|block| self.tool_result(line, block)).collect();
        }
        blocks.iter().flat_map(|block| self.whole_block(line, block)).collect()
    }

    /// A whole block: of the streamed message, which it makes final, or of one that was not streamed. The CLI marks
    /// as aborted what an interrupt has cut off.
    fn whole_block(&mut self, line: &WholeLine<'_>, content: &whole::Block<'_>) -> Vec<StreamEvent> {
        let Some(kind) = kind(&content.head()) else { return Vec::new() };
        let (id, parent) = (&*line.message.id, line.parent().map(CallId::from));
        let final_item = finalized_from(&kind, content);
        let streamed = self.message.as_mut().filter(|message| message.id == id && parent.is_none());
        if let Some(message) = streamed
            && let Some(block) = message.blocks.values_mut().find(|block| !block.done && block.kind.is(&kind))
        {
            let item_id = block.item_id.clone();
            if line.is_aborted() {
                block.done = true;
                return vec![cut(&item_id, true, &broken_off())];
            }
            if let Some(call) = call_of(&final_item, &item_id, self.now) {
                block.done = true;
                self.calls.extend([call]);
                return vec![StreamEvent::ItemDone { item_id, final_item }];
            }
            // A thinking block may come back sealed: its text is then only in the deltas.
            let sealed =
                matches!(&final_item, FinalizedItem::Reasoning { content, .. } if content.is_empty());
            block.whole = Some(if sealed { finalized(&block.kind, &block.content) } else { final_item });
            return Vec::new();
        }
        let (ordinal, index) = match self.whole.get_mut(id) {
            Some((ordinal, next)) => {
                *next += 1;
                (*ordinal, *next)
            }
            None => {
                let ordinal = self.next_ordinal;
                self.next_ordinal += 1;
                self.whole.insert(id.to_owned(), (ordinal, 0));
                (ordinal, 0)
            }
        };
        let item_id = ItemId::new(format!("{}:{ordinal}:{index}", self.id));
        self.calls.extend(call_of(&final_item, &item_id, self.now));
        vec![item_start(&item_id, &kind, parent), StreamEvent::ItemDone { item_id, final_item }]
    }

    fn tool_result(&mut self, line: &WholeLine<'_>, block: &whole::Block<'_>) -> Vec<StreamEvent> {
        let id = &*block.tool_use_id;
        let result = line.tool_use_result.as_deref();
        if self.cancelled
            && result.and_then(Value::as_str) == Some(STOPPED_TOOL)
            && self.calls.contains_key(id)
        {
            // What follows is for the model: the tool was stopped, and closes with the turn.
            return Vec::new();
        }
        let call = self.calls.remove(id);
        let output = detail::result_text(block.content.as_deref());
        let is_error = block.is_error.unwrap_or(false);
        let duration = call.as_ref().map(|call| self.now.saturating_sub(call.since));
        let name = call.as_ref().map(|call| call.name.as_str()).unwrap_or_default();
        let arguments = call.as_ref().map(|call| &call.arguments);
        let mut detail = detail::of_result(name, arguments, result, &output, duration);
        detail.diagnostics = self.told.remove(&CallId::from(id)).or(detail.diagnostics);
        // Without a call of that id this is where the item begins; the processor names it `unknown_tool`.
        let ordinal = self.next_ordinal.saturating_sub(1);
        let item_id = ItemId::new(format!("{}:{ordinal}:tool:{id}", self.id));
        let call_id = CallId::from(id);
        vec![
            StreamEvent::ItemStart {
                item_id: item_id.clone(),
                item_type: ItemType::FunctionCallOutput,
                initial_content: None,
                name: None,
                call_id: Some(call_id.clone()),
                parent_call_id: line.parent().map(CallId::from),
            },
            StreamEvent::ItemDone {
                item_id,
                final_item: FinalizedItem::FunctionCallOutput {
                    call_id,
                    output,
                    is_error,
                    detail: Some(detail),
                },
            },
        ]
    }

    /// Ends what is open when the turn ends: no item may look as if it still ran.
    pub(super) fn close(&mut self, ending: &Ending) -> Vec<StreamEvent> {
        let error = ending.error.clone().unwrap_or_else(broken_off);
        self.cancelled = ending.status == ResponseStatus::Cancelled;
        match ending.status {
            // A call without a result may be the agent's background work: its result comes with a later turn.
            ResponseStatus::Completed => self.message_stop(),
            ResponseStatus::Cancelled | ResponseStatus::Error => {
                let mut events = self.cut_blocks(&error);
                let calls = std::mem::take(&mut self.calls).into_values();
                events.extend(calls.map(|call| cut(&call.item_id, self.cancelled, &error)));
                events
            }
        }
    }
}

impl BlockKind {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text, Self::Text) | (Self::Thinking, Self::Thinking) => true,
            (Self::Tool { call_id, .. }, Self::Tool { call_id: other, .. }) => call_id == other,
            _ => false,
        }
    }
}

fn kind(head: &BlockHead<'_>) -> Option<BlockKind> {
    match &*head.kind {
        "text" => Some(BlockKind::Text),
        "thinking" => Some(BlockKind::Thinking),
        // `tool_use`, `server_tool_use`, `mcp_tool_use`: whatever has a name and an id is a call.
        _ if head.name.is_empty() || head.id.is_empty() => None,
        _ => Some(BlockKind::Tool { name: head.name.to_string(), call_id: CallId::from(&*head.id) }),
    }
}

fn item_start(item_id: &ItemId, kind: &BlockKind, parent_call_id: Option<CallId>) -> StreamEvent {
    let (item_type, name, call_id) = match kind {
        BlockKind::Text => (ItemType::Message, None, None),
        BlockKind::Thinking => (ItemType::Reasoning, None, None),
        BlockKind::Tool { name, call_id } => {
            (ItemType::FunctionCall, Some(name.clone()), Some(call_id.clone()))
        }
    };
    let item_id = item_id.clone();
    StreamEvent::ItemStart { item_id, item_type, initial_content: None, name, call_id, parent_call_id }
}

fn finalized(kind: &BlockKind, content: &str) -> FinalizedItem {
    match kind {
        BlockKind::Text => FinalizedItem::Message { content: content.to_owned(), origin: Origin::Agent },
        BlockKind::Thinking => {
            FinalizedItem::Reasoning { content: content.to_owned(), provider_id: PROVIDER_ID.to_owned() }
        }
        BlockKind::Tool { name, call_id } => FinalizedItem::FunctionCall {
            name: name.clone(),
            call_id: call_id.clone(),
            arguments: object_from(content),
        },
    }
}

fn finalized_from(kind: &BlockKind, content: &whole::Block<'_>) -> FinalizedItem {
    match kind {
        BlockKind::Text => finalized(kind, &content.text),
        BlockKind::Thinking => finalized(kind, &content.thinking),
        BlockKind::Tool { name, call_id } => FinalizedItem::FunctionCall {
            name: name.clone(),
            call_id: call_id.clone(),
            arguments: object(content.input.as_deref()),
        },
    }
}

fn call_of(item: &FinalizedItem, item_id: &ItemId, since: Duration) -> Option<(String, Call)> {
    let FinalizedItem::FunctionCall { name, call_id, arguments } = item else { return None };
    let call = Call { item_id: item_id.clone(), name: name.clone(), arguments: arguments.clone(), since };
    Some((call_id.as_str().to_owned(), call))
}

/// Ends an item in the middle.
fn cut(item_id: &ItemId, cancelled: bool, error: &ErrorDetail) -> StreamEvent {
    let item_id = item_id.clone();
    if cancelled {
        StreamEvent::ItemCancelled { item_id, reason: None }
    } else {
        StreamEvent::ItemError { item_id, error: error.clone() }
    }
}

fn broken_off() -> ErrorDetail {
    ErrorDetail {
        code: "RESPONSE_ERROR".to_owned(),
        message: "the stream broke off here; the agent asked again".to_owned(),
    }
}
