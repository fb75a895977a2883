//! Two ways of asking: where to edit, and how one thing works.

use chartroom_protocol::index::{SearchAsk, SearchResult};

use super::{files, library, request, run};
use crate::request::{SearchOutcome, SearchRequest};

fn asked(query: &str, ask: SearchAsk) -> SearchRequest {
    SearchRequest { ask, ..request(query) }
}

/// The role and the file of each result that has a role.
fn roles(outcome: &SearchOutcome) -> Vec<String> {
    let role = |result: &SearchResult| match result {
        SearchResult::Group(group) => group.role.map(|role| format!("{} {}", role.as_str(), group.file)),
        SearchResult::Chunk(_) => None,
    };
    let mut roles: Vec<String> = outcome.results.iter().filter_map(role).collect();
    roles.dedup();
    roles
}

const FILES: &[(&str, &str)] = &[
    ("src/cart.py", "def total_price(cart):\n    return sum(line.price for line in cart.lines)\n"),
    (
        "src/order.py",
        "from cart import total_price\n\ndef place_order(cart):\n    return total_price(cart)\n",
    ),
    ("src/colour.py", "def colour(page):\n    return page.colour\n"),
    (
        "tests/test_cart.py",
        "from cart import total_price\n\ndef test_total():\n    assert total_price(None) == 0\n",
    ),
    ("docs/prices.md", "# Prices\n\nThe function total_price adds what each line costs.\n"),
];

#[test]
fn a_thing_is_explained_by_its_definition_callers_tests_and_docs() {
    let library = library(FILES);
    for query in ["total_price", "how does total_price work"] {
        let found = run(&library, &asked(query, SearchAsk::Explain));
        assert_eq!(
            roles(&found),
            [
                "definition src/cart.py",
                "caller src/order.py",
                "test tests/test_cart.py",
                "document docs/prices.md"
            ],
            "{query}"
        );
    }
    let found = run(&library, &asked("adds the price of each line of a cart", SearchAsk::Explain));
    assert_eq!(roles(&found)[0], "definition src/cart.py", "asked in words");
    assert!(roles(&run(&library, &request("total_price"))).is_empty(), "no roles where nothing is explained");
}

#[test]
fn what_nothing_defines_is_answered_as_any_search() {
    let found = run(&library(FILES), &asked("frobnicate_everything", SearchAsk::Explain));
    assert!(roles(&found).iter().all(|role| !role.starts_with("caller")), "{:?}", roles(&found));
    let limited = SearchRequest { limit: 2, ..asked("total_price", SearchAsk::Explain) };
    assert_eq!(run(&library(FILES), &limited).results.len(), 2, "no more than asked for");
}

#[test]
fn where_to_edit_is_answered_by_file_also_for_one_name() {
    let library = library(FILES);
    let found = run(&library, &asked("total_price", SearchAsk::Edit));
    assert!(files(&found)[..2].contains(&"src/cart.py".to_owned()), "{found:?}");
    assert!(found.lead.is_some(), "a ranking by file says how far the first is ahead");
    assert!(run(&library, &request("total_price")).lead.is_none());
}

#[test]
fn a_few_words_that_name_nothing_here_are_about_files() {
    let library = library(FILES);
    // Only files have a lead.
    let by_file = |query: &str| run(&library, &request(query)).lead.is_some();
    for query in ["Set `no_such_price` via Cart", "price bug", "Cart::no_such is Broken"] {
        assert!(by_file(query), "{query}");
    }
    for query in ["total_price", "no_such_price", "total_price place_order", "who uses Cart"] {
        assert!(!by_file(query), "{query}");
    }
}
