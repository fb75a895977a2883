//! What holds for any stream: prefixes, one `create`, nothing after the end, nothing lost.

use std::collections::HashMap;

use chartroom_protocol::ids::ItemId;
use chartroom_protocol::stream::{ItemType, ResponseStatus, StreamEvent};
use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};
use proptest::prelude::*;

use super::stage::Bench;
use super::{ProcessorConfig, StreamOutput};

const ITEMS: [&str; 3] = ["a", "b", "c"];

/// One step of a random stream over three items.
#[derive(Debug, Clone)]
enum Step {
    Delta(usize, String),
    Wait(u32),
    Done(usize),
    Cancel(usize),
    Fail(usize),
    EndTurn(ResponseStatus),
}

fn text() -> impl Strategy<Value = String> {
    "[a-zä \n]{0,30}"
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (0..3usize, text()).prop_map(|(item, text)| Step::Delta(item, text)),
        6 => (0..2000u32).prop_map(Step::Wait),
        2 => (0..3usize).prop_map(Step::Done),
        1 => (0..3usize).prop_map(Step::Cancel),
        1 => (0..3usize).prop_map(Step::Fail),
        1 => prop_oneof![
            Just(ResponseStatus::Completed),
            Just(ResponseStatus::Cancelled),
            Just(ResponseStatus::Error)
        ]
        .prop_map(Step::EndTurn),
    ]
}

fn gradient() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..12usize, 0..5)
}

fn config(gradient: Vec<usize>) -> ProcessorConfig {
    ProcessorConfig { batch_gradient_tokens: gradient, ..ProcessorConfig::default() }
}

/// Runs steps, every item started first, and returns what was said with each item's accumulated text.
fn run(gradient: Vec<usize>, steps: &[Step]) -> (Vec<StreamOutput>, [String; 3]) {
    let mut bench = Bench::with(config(gradient)).response_start();
    let mut texts = [String::new(), String::new(), String::new()];
    for item in ITEMS {
        bench = bench.start(item, ItemType::Message);
    }
    for step in steps {
        bench = match step {
            Step::Delta(item, text) => {
                texts[*item].push_str(text);
                bench.delta(ITEMS[*item], text)
            }
            Step::Wait(ms) => bench.wait(*ms),
            Step::Done(item) => bench.done(ITEMS[*item], &texts[*item]),
            Step::Cancel(item) => {
                bench.push(StreamEvent::ItemCancelled { item_id: ItemId::new(ITEMS[*item]), reason: None })
            }
            Step::Fail(item) => bench.push(StreamEvent::ItemError {
                item_id: ItemId::new(ITEMS[*item]),
                error: chartroom_protocol::stream::ErrorDetail {
                    code: "X".to_owned(),
                    message: "failed".to_owned(),
                },
            }),
            Step::EndTurn(status) => bench.response_done(*status),
        };
    }
    (bench.seen, texts)
}

fn content(upsert: &Upsert) -> &str {
    match &upsert.body {
        UpsertBody::Message { content, .. } | UpsertBody::Thinking { content, .. } => content,
        UpsertBody::ToolCall { .. } => "",
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn emissions_are_prefixes_created_once_and_end_with_the_turn(
        gradient in gradient(),
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let (seen, texts) = run(gradient, &steps);
        let mut created = HashMap::new();
        let mut shown: HashMap<&str, usize> = HashMap::new();
        let mut over: Vec<&str> = Vec::new();
        let mut turn_over = false;
        for output in &seen {
            prop_assert!(!turn_over, "{output:?} after the end of the turn");
            match output {
                StreamOutput::Turn(event) => turn_over = event.is_terminal(),
                StreamOutput::Upsert(upsert) => {
                    let id = upsert.item_id.as_str();
                    let index = ITEMS.iter().position(|item| *item == id).expect("one of ours");
                    prop_assert!(!over.contains(&id), "{upsert:?} after the item's end");
                    prop_assert!(
                        texts[index].starts_with(content(upsert)),
                        "{:?} is no prefix of {:?}", content(upsert), texts[index]
                    );
                    let length = content(upsert).len();
                    prop_assert!(shown.insert(id, length).unwrap_or(0) <= length, "content shrank");
                    match upsert.status {
                        UpsertStatus::Create => {
                            prop_assert_eq!(created.insert(id, ()), None, "a second create");
                        }
                        UpsertStatus::Update => prop_assert!(created.contains_key(id), "update before create"),
                        UpsertStatus::Complete | UpsertStatus::Error => over.push(id),
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_is_lost_for_any_split_of_the_deltas(
        gradient in gradient(),
        pieces in prop::collection::vec((text(), 0..400u32), 0..40),
        ending in 0..3u8,
    ) {
        let whole: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
        let mut bench = Bench::with(config(gradient)).response_start().start("a", ItemType::Message);
        for (text, wait) in &pieces {
            bench = bench.delta("a", text).wait(*wait);
        }
        let bench = match ending {
            0 => bench.done("a", &whole),
            1 => bench.response_done(ResponseStatus::Cancelled),
            _ => bench.response_done(ResponseStatus::Error),
        };
        let last = bench.seen.iter().rev().find_map(|output| match output {
            StreamOutput::Upsert(upsert) => Some(content(upsert).to_owned()),
            StreamOutput::Turn(_) => None,
        });
        prop_assert_eq!(last.unwrap_or_default(), whole);
    }

    #[test]
    fn content_never_waits_longer_than_its_limit(
        gradient in gradient(),
        pieces in prop::collection::vec((text(), 0..400u32), 1..40),
    ) {
        let mut bench = Bench::with(config(gradient)).start("a", ItemType::Message);
        let mut text_before = String::new();
        for (text, wait) in &pieces {
            bench = bench.delta("a", text);
            text_before.push_str(text);
            bench = bench.wait(*wait);
        }
        let bench = bench.wait(1000);
        let last = bench.seen.iter().rev().find_map(|output| match output {
            StreamOutput::Upsert(upsert) => Some(content(upsert).to_owned()),
            StreamOutput::Turn(_) => None,
        });
        prop_assert_eq!(last.unwrap_or_default(), text_before);
        prop_assert_eq!(bench.processor.next_deadline(), None);
    }
}
