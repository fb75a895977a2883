//! Permissions and questions.

use std::collections::BTreeMap;

use chartroom_protocol::ids::QuestionId;
use chartroom_protocol::session::{
    AnswerParams, ChoiceQuestion, Decision, Question, QuestionBody, SessionState,
};
use expect_test::expect;

use super::*;
use crate::fake::Call;
use crate::provider::ProviderOutput;

pub(super) fn permission(id: &str) -> Question {
    let arguments = serde_json::json!({ "command": "rm -r build" });
    Question {
        question_id: QuestionId::new(id),
        asked_at: "2026-01-01T00:00:00.000Z".to_owned(),
        body: QuestionBody::Permission {
            tool_name: "Bash".to_owned(),
            tool_arguments: arguments.as_object().unwrap().clone(),
            bookkeeping: Vec::new(),
            call_id: None,
            description: None,
            grants: Vec::new(),
            detail: None,
        },
    }
}

fn allow(id: &str) -> AnswerParams {
    AnswerParams {
        question_id: QuestionId::new(id),
        decision: Decision::Allow,
        message: None,
        grant_id: None,
        answers: None,
    }
}

async fn asking(world: &World, question: Question) -> SessionId {
    let session_id = world.create().await;
    world.send(&session_id, "clean up").await;
    let agent = world.agent(&session_id);
    let turn_id = agent.next_turn().await;
    agent.start_turn(&turn_id).await;
    agent.say(ProviderOutput::Question(question)).await;
    world.until(&session_id, SessionState::NeedsYou).await;
    session_id
}

#[tokio::test]
async fn a_question_waits_for_a_person_and_its_answer_reaches_the_agent() {
    let world = World::new().await;
    let session_id = asking(&world, permission("q")).await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::NeedsYou).await;
    world.service.answer(&session_id, allow("q")).await.unwrap();
    assert_eq!(world.agent(&session_id).next_call().await, Call::Answer(allow("q")));
    expect![[r#"
        question-closed q
        state Working
    "#]]
    .assert_eq(&lines(&reader.until_state(SessionState::Working).await));
}

#[tokio::test]
async fn of_two_tabs_answering_one_question_the_second_is_told_that_it_is_gone() {
    let world = World::new().await;
    let session_id = asking(&world, permission("q")).await;
    let (first, second) = tokio::join!(
        world.service.answer(&session_id, allow("q")),
        world.service.answer(&session_id, allow("q"))
    );
    let codes: Vec<_> = [first, second].into_iter().filter_map(|answer| answer.err()).collect();
    assert_eq!(codes.len(), 1);
    assert_eq!(codes[0].code, ErrorCode::QuestionNotFound);
    assert_eq!(world.agent(&session_id).next_call().await, Call::Answer(allow("q")));
}

#[tokio::test]
async fn a_question_that_the_agent_withdraws_is_closed() {
    let world = World::new().await;
    let session_id = asking(&world, permission("q")).await;
    world.agent(&session_id).say(ProviderOutput::QuestionClosed("q".into())).await;
    world.until(&session_id, SessionState::Working).await;
    let error = world.service.answer(&session_id, allow("q")).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::QuestionNotFound);
}

#[tokio::test]
async fn a_reader_that_was_away_hears_of_questions_that_were_closed_meanwhile() {
    let world = World::new().await;
    let session_id = asking(&world, permission("q")).await;
    world.service.answer(&session_id, allow("q")).await.unwrap();
    let mut reader = Reader { feed: world.service.subscribe(&session_id, Some(1)).await.unwrap() };
    let frames = reader.until_state(SessionState::Working).await;
    assert!(lines(&frames).contains("question-closed q\n"), "{}", lines(&frames));
}

#[tokio::test]
async fn a_question_survives_a_restart_and_its_answer_is_told_to_the_next_agent_in_words() {
    let world = World::new().await;
    let session_id = asking(&world, permission("q")).await;
    let world = world.restart().await;
    let status = world.service.status(&session_id).await.unwrap();
    assert_eq!((status.state, status.is_alive), (SessionState::NeedsYou, false));
    world.service.answer(&session_id, allow("q")).await.unwrap();
    world.until(&session_id, SessionState::Working).await;
    let expected =
        r#"You asked whether you may use Bash with {"command":"rm -r build"}. You may: please go on."#;
    match world.agent(&session_id).next_call().await {
        Call::Send { message, .. } => assert_eq!(message, text(expected)),
        other => panic!("{other:?}"),
    }
    let error = world.service.answer(&session_id, allow("q")).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::QuestionNotFound);
}

#[tokio::test]
async fn a_choice_that_outlived_its_agent_is_told_with_the_chosen_labels() {
    let world = World::new().await;
    let choice = Question {
        body: QuestionBody::Choice {
            questions: vec![ChoiceQuestion {
                question: "Which colour?".to_owned(),
                header: String::new(),
                multi_select: false,
                options: Vec::new(),
            }],
        },
        ..permission("q")
    };
    let session_id = asking(&world, choice).await;
    let world = world.restart().await;
    let answers = BTreeMap::from([("Which colour?".to_owned(), "blue".to_owned())]);
    world.service.answer(&session_id, AnswerParams { answers: Some(answers), ..allow("q") }).await.unwrap();
    world.until(&session_id, SessionState::Working).await;
    match world.agent(&session_id).next_call().await {
        Call::Send { message, .. } => assert_eq!(message, text("Which colour?\nblue")),
        other => panic!("{other:?}"),
    }
}
