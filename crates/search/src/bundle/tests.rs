//! What a bundle holds, and how sure it is.

use chartroom_protocol::index::{BundleFile, BundlePiece, SearchConfidence, Span};

use super::{confidence, stem, why, words_of};

fn file(text: &str) -> BundleFile {
    let piece = BundlePiece {
        span: Span { start_line: 1, end_line: 1 },
        symbols: vec!["function retry_login(session)".into()],
        why: String::new(),
        text: text.into(),
    };
    BundleFile { file: "auth/session.py".into(), pieces: vec![piece] }
}

#[test]
fn the_words_of_a_query_are_those_that_say_something() {
    let words: Vec<_> = words_of("where is the retryLogin of a session?").into_iter().collect();
    assert_eq!(words, ["login", "retry", "session"]);
    assert_eq!((stem("retries"), stem("retry"), stem("map")), ("retr", "retr", "map"));
}

#[test]
fn a_piece_says_where_the_words_were_found() {
    let words = words_of("retry login token auth");
    let symbols = ["function retry_login(session)".to_owned()];
    assert_eq!(
        why("auth/session.py", &symbols, "token = 1", &words),
        "name: login retry; path: auth; text: token"
    );
    assert_eq!(why("a.py", &[], "x", &words), "near in meaning");
}

#[test]
fn an_answer_without_the_querys_words_is_a_guess_and_says_what_to_ask() {
    let sure = confidence::of(&[file("token = 1")], &words_of("retry the login token"), None);
    assert_eq!(sure, (SearchConfidence::High, vec![]));
    let (confidence, _) = confidence::of(&[file("")], &words_of("retry the login token twice"), None);
    assert_eq!(confidence, SearchConfidence::Medium);
    let (confidence, advice) =
        confidence::of(&[file("")], &words_of("retry the zebra of okapi and quagga"), None);
    assert_eq!(confidence, SearchConfidence::Low);
    assert!(advice.iter().any(|line| line == "Not found: okapi, quagga, zebra."), "{advice:?}");
    assert_eq!(confidence::of(&[], &words_of("retry"), None).0, SearchConfidence::Low);
}

#[test]
fn a_file_that_is_hardly_ahead_of_the_next_is_a_guess_and_one_far_ahead_is_sure() {
    let of = |lead: f64| confidence::of(&[file("token = 1")], &words_of("retry the login token"), Some(lead));
    assert_eq!((of(0.4).0, of(0.1).0), (SearchConfidence::High, SearchConfidence::Medium));
    let (confidence, advice) = of(0.01);
    assert_eq!(confidence, SearchConfidence::Low);
    assert_eq!(advice[0], "This is a guess: other files fit the query as well.");
    let (confidence, _) = confidence::of(&[file("")], &words_of("zebra okapi quagga"), Some(1.0));
    assert_eq!(confidence, SearchConfidence::Low, "a lead of what has none of the words");
}
