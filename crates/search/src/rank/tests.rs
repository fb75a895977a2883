//! What comes first, and why.

mod odd;
mod past;
mod ways;

use std::collections::BTreeSet;

use chartroom_protocol::index::{
    GroupBy, RankingMode, ResultMode, SearchAsk, SearchResult, SearchScope, StalenessBucket,
};

use crate::embed::{EmbedError, Embedder, NoEmbedder, StaticWords};
use crate::rank::search;
use crate::request::{SearchOutcome, SearchRequest, SearchWarning};
use crate::sqlite::SqliteStore;
use crate::store::{FileChange, FileRecord, FileStamp, VectorStore};

const ROOT: &str = "/repo";

/// A published index of these files.
struct Library {
    _data: tempfile::TempDir,
    store: SqliteStore,
}

fn library(files: &[(&str, &str)]) -> Library {
    let data = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    let mut writer = store.begin_generation(ROOT).unwrap();
    let changes = files
        .iter()
        .map(|(path, text)| {
            let parsed = crate::chunk::parse_file(path, text);
            let texts: Vec<String> = parsed.chunks.iter().map(crate::chunk::embedded_text).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            FileChange::Put(Box::new(FileRecord {
                rel_path: (*path).to_owned(),
                stamp: FileStamp { hash: String::new(), size: 0, mtime_ns: 0, ctime_ns: 0 },
                vectors: StaticWords::built_in().unwrap().embed(&texts).unwrap(),
                chunks: parsed.chunks,
                symbols: parsed.symbols,
                facts: parsed.facts,
            }))
        })
        .collect();
    writer.apply(changes).unwrap();
    store.publish(ROOT, writer.id()).unwrap();
    Library { _data: data, store }
}

fn request(query: &str) -> SearchRequest {
    SearchRequest {
        root: ROOT.into(),
        below: None,
        query: query.into(),
        ask: SearchAsk::Find,
        scope: SearchScope::Runtime,
        result_mode: ResultMode::Grouped,
        group_by: GroupBy::Symbol,
        ranking_mode: RankingMode::Default,
        changed_files: BTreeSet::new(),
        history: None,
        limit: 10,
        debug: false,
        now_ms: i64::MAX / 2,
    }
}

fn run(library: &Library, request: &SearchRequest) -> SearchOutcome {
    let reader = library.store.open_reader(ROOT).unwrap().unwrap();
    search(&*reader, &StaticWords::built_in().unwrap(), request).unwrap()
}

/// The labels (or files) of the results, in order.
fn shown(outcome: &SearchOutcome) -> Vec<String> {
    outcome
        .results
        .iter()
        .map(|result| match result {
            SearchResult::Group(group) => {
                format!("{} {}", group.file, group.symbol_label.as_deref().unwrap_or("-"))
            }
            SearchResult::Chunk(chunk) => format!("{}:{}", chunk.file, chunk.span.start_line),
        })
        .collect()
}

fn sample() -> Library {
    library(&[
        (
            "src/http/retry.py",
            "def retry_request(request, times):\n    for attempt in range(times):\n        send_request(request)\n",
        ),
        ("src/http/send.py", "def send_request(request):\n    return socket.write(request)\n"),
        (
            "src/main.py",
            "from http.retry import retry_request\n\ndef main():\n    retry_request(build(), 3)\n",
        ),
        (
            "src/draw.rs",
            "pub struct Circle { radius: f32 }\nimpl Circle { pub fn area(&self) -> f32 { self.radius } }\n",
        ),
        ("tests/test_retry.py", "def test_retry_request():\n    assert retry_request(None, 1)\n"),
        ("docs/retry.md", "# Retrying\n\nA request is tried again with retry_request.\n"),
        ("web/retry.ts", "export function retryRequest(request: Request) { return fetch(request); }\n"),
    ])
}

#[test]
fn the_definition_of_an_identifier_comes_first() {
    let library = sample();
    let found = shown(&run(&library, &request("retry_request")));
    assert_eq!(found[0], "src/http/retry.py function retry_request(request, times)");
    assert!(
        found.iter().any(|result| result.starts_with("web/retry.ts")),
        "in the other style too: {found:?}"
    );
    assert!(
        !found.iter().any(|result| result.starts_with("tests/") || result.starts_with("docs/")),
        "{found:?}"
    );
}

#[test]
fn a_definition_comes_before_the_header_that_declares_it_and_the_tables_that_list_it() {
    let body = "    robj *val = lookupKey(c->db, key);\n    if (val == NULL) { addReply(c, shared.czero); return; }\n";
    let library = library(&[
        ("src/server.h", "void expire_now(client *c);\nvoid expire_later(client *c);\n"),
        ("src/commands.c", "struct command table[] = {\n    {\"expire_now\", expire_now, expire_now},\n};\n"),
        ("src/expire_now.h", "#include \"server.h\"\n"),
        (
            "src/expire.c",
            &format!("/* Keys that end. */\nvoid expire_now(client *c) {{\n{}}}\n", body.repeat(30)),
        ),
    ]);
    for query in ["expire_now", "expire_now()", "server::expire_now"] {
        let found = shown(&run(&library, &request(query)));
        assert!(found[0].starts_with("src/expire.c function expire_now"), "{query}: {found:?}");
    }
}

#[test]
fn a_definition_is_found_among_many_uses() {
    let uses: Vec<(String, String)> = (0..200)
        .map(|at| {
            (
                format!("src/use{at}.py"),
                format!("from stubs import mark_dirty\nmark_dirty({at})\nmark_dirty(dirty)\n"),
            )
        })
        .collect();
    let stubs: String = (0..60).map(|at| format!("def other_{at}(value): return value\n")).collect();
    let stubs = format!("{stubs}def mark_dirty(value): return value\n{stubs}");
    let mut files: Vec<(&str, &str)> =
        uses.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.push(("src/stubs.py", &stubs));
    let found = shown(&run(&library(&files), &request("mark_dirty")));
    assert!(found[0].starts_with("src/stubs.py"), "{found:?}");
}

#[test]
fn a_reference_seeking_query_puts_uses_before_the_definition() {
    let library = sample();
    let found = shown(&run(&library, &request("who uses retry_request")));
    let place = |file: &str| found.iter().position(|result| result.starts_with(file)).unwrap();
    assert!(place("src/main.py") < place("src/http/retry.py"), "{found:?}");
}

/// The files of the answer, each once.
fn files(outcome: &SearchOutcome) -> Vec<String> {
    let mut files: Vec<String> =
        shown(outcome).iter().map(|result| result.split([' ', ':']).next().unwrap().to_owned()).collect();
    files.dedup();
    files
}

#[test]
fn an_issue_finds_the_file_that_its_names_speak_of_among_words_that_all_issues_have() {
    let noise = "def expected():\n    # steps to reproduce the expected behaviour of this version\n    return error\n";
    let library = library(&[
        ("src/report.py", &noise.repeat(9)),
        ("src/version.py", "def version():\n    return 'expected version'\n"),
        ("src/wire/frames.py", "def split_frames(buffer):\n    while buffer:\n        yield buffer.pop()\n"),
    ]);
    let issue = "Truncated answer\n\n<!-- steps to reproduce, expected version -->\nSteps to reproduce the expected error with \
                 this version:\ncall it twice, then `split_frames` drops the last one of the buffer\nexpected: no error";
    assert_eq!(files(&run(&library, &request(issue)))[0], "src/wire/frames.py");
}

#[test]
fn a_file_that_an_issue_mentions_comes_before_its_namesakes() {
    let text = "def load(path):\n    return open(path)\n";
    let library = library(&[("a/io/reader.py", text), ("b/net/reader.py", text), ("c/io/writer.py", text)]);
    let issue = "Loading a file fails when it is opened twice\nFile \"/home/me/site-packages/b/net/reader.py\", line 2, in load";
    assert_eq!(files(&run(&library, &request(issue)))[0], "b/net/reader.py");
}

#[test]
fn the_lead_of_the_first_file_is_told() {
    let text = "def load(path):\n    return open(path)\n";
    let lead = |files: &[(&str, &str)], query: &str| run(&library(files), &request(query)).lead;
    let issue = "how is a file loaded from a path";
    assert_eq!(lead(&[("a.py", text)], issue), Some(1.0), "there is no other");
    assert_eq!(lead(&[("x/one.py", text), ("y/one.py", text)], issue), Some(0.0), "they are equal");
    assert_eq!(lead(&[("a.py", text)], "load"), None, "a name is not ranked by file");
}

#[test]
fn an_answer_to_a_text_shows_more_files_before_more_of_one() {
    let many: String = (0..6)
        .map(|at| format!("def store_order_{at}(order):\n{}\n", "    order.store_in_shop()\n".repeat(40)))
        .collect();
    let library = library(&[
        ("shop/orders.py", &many),
        ("shop/one.py", "def keep(order):\n    order.store_in_shop()\n"),
    ]);
    let outcome = run(&library, &request("how an order is stored in the shop"));
    assert_eq!(
        shown(&outcome).iter().map(|result| result.split(' ').next().unwrap()).take(2).collect::<Vec<_>>(),
        ["shop/orders.py", "shop/one.py"],
        "{:?}",
        shown(&outcome)
    );
}

#[test]
fn a_question_in_words_finds_the_code() {
    let library = sample();
    let found = shown(&run(&library, &request("how is a failed request tried again several times")));
    assert!(found[0].starts_with("src/http/"), "{found:?}");
}

/// Code that evicts, forgets and draws; no word of it is "remove", "old" or "entries".
fn cache() -> Library {
    library(&[
        (
            "src/lru.py",
            "def evict(self):\n    while len(self.items) > self.capacity:\n        self.items.popitem(last=False)\n",
        ),
        ("src/draw.py", "def circle(canvas, radius):\n    canvas.arc(0, 0, radius)\n    canvas.stroke()\n"),
        (
            "src/mail.py",
            "def deliver(message, recipients):\n    for recipient in recipients:\n        smtp.sendmail(recipient, message)\n",
        ),
        ("src/color.py", "def blend(left, right):\n    return (left.red + right.red) // 2\n"),
    ])
}

#[test]
fn a_short_question_finds_code_in_other_words() {
    let library = cache();
    let question = request("remove old entries when there are too many");
    assert_eq!(files(&run(&library, &question))[0], "src/lru.py");
    let reader = library.store.open_reader(ROOT).unwrap().unwrap();
    let words = search(&*reader, &NoEmbedder, &question).unwrap();
    assert!(!files(&words).contains(&"src/lru.py".to_owned()), "words alone do not find it");
}

#[test]
fn a_whole_issue_is_not_asked_of_the_table() {
    let passes = |query: &str| {
        let outcome = run(&cache(), &SearchRequest { debug: true, ..request(query) });
        outcome.debug.unwrap()["passesUsed"].clone()
    };
    assert_eq!(passes("how are messages sent to people"), serde_json::json!(["lexical", "dense"]));
    let issue = "Messages are not sent to people when the list is long. ".repeat(4);
    assert_eq!(passes(&issue), serde_json::json!(["lexical"]));
}

#[test]
fn scopes_keep_their_files() {
    let library = sample();
    let files = |scope| {
        let outcome = run(&library, &SearchRequest { scope, ..request("retry_request") });
        let mut files: Vec<String> =
            shown(&outcome).iter().map(|result| result.split(' ').next().unwrap().to_owned()).collect();
        files.sort();
        files.dedup();
        files
    };
    assert_eq!(files(SearchScope::Docs), ["docs/retry.md", "tests/test_retry.py"]);
    assert!(files(SearchScope::Mixed).len() >= 5);
}

#[test]
fn operators_leave_out_what_they_say() {
    let library = sample();
    let first = |query: &str| shown(&run(&library, &request(query))).first().cloned().unwrap_or_default();
    assert!(first("lang:ts retry_request").starts_with("web/retry.ts"));
    assert!(first("path:web/** retry_request").starts_with("web/retry.ts"));
    assert!(
        !shown(&run(&library, &request("-path:src/** retry_request"))).iter().any(|r| r.starts_with("src/"))
    );
    assert!(first("must:socket request").starts_with("src/http/send.py"));
    assert!(
        !shown(&run(&library, &request("exclude:attempt retry_request")))
            .iter()
            .any(|r| r.contains("retry.py f"))
    );
}

#[test]
fn a_must_that_nothing_has_is_told() {
    let outcome = run(&sample(), &request("must:NoSuchWord request"));
    assert!(outcome.results.is_empty());
    assert_eq!(outcome.warnings, [SearchWarning::MustUnsatisfied]);
}

#[test]
fn a_subdirectory_is_searched_alone() {
    let library = sample();
    let outcome =
        run(&library, &SearchRequest { below: Some("src/http".into()), ..request("retry_request") });
    assert!(!outcome.results.is_empty());
    assert!(shown(&outcome).iter().all(|result| result.starts_with("src/http/")), "{:?}", shown(&outcome));
}

#[test]
fn changed_files_go_up_when_they_are_few() {
    let text = "def handler(event):\n    return event\n";
    let library = library(&[("a.py", text), ("b.py", text)]);
    let asked =
        SearchRequest { ranking_mode: RankingMode::AutoChangedFirst, ..request("handle an event somehow") };
    assert!(shown(&run(&library, &asked))[0].starts_with("a.py"));
    let asked = SearchRequest { changed_files: BTreeSet::from(["b.py".to_owned()]), ..asked };
    assert!(shown(&run(&library, &asked))[0].starts_with("b.py"));
}

#[test]
fn no_file_fills_the_answer() {
    let many: String = (0..12)
        .map(|at| format!("def handle_event_{at}(event):\n{}\n", "    event.step()\n".repeat(40)))
        .collect();
    let library = library(&[("many.py", &many), ("one.py", "def other(event): return event\n")]);
    let outcome = run(&library, &request("event"));
    let of_many = shown(&outcome).iter().filter(|result| result.starts_with("many.py")).count();
    assert_eq!(of_many, 3, "two, then a third because there is room: {:?}", shown(&outcome));
}

#[test]
fn groups_are_by_file_when_asked() {
    let library = sample();
    let outcome = run(
        &library,
        &SearchRequest { group_by: GroupBy::File, scope: SearchScope::Mixed, ..request("request") },
    );
    let files: Vec<String> =
        shown(&outcome).iter().map(|result| result.split(' ').next().unwrap().to_owned()).collect();
    let unique: BTreeSet<&String> = files.iter().collect();
    assert_eq!(unique.len(), files.len());
}

#[test]
fn raw_results_are_chunks() {
    let outcome = run(&sample(), &SearchRequest { result_mode: ResultMode::Raw, ..request("Circle") });
    assert_eq!(shown(&outcome), ["src/draw.rs:1"]);
}

#[test]
fn staleness_follows_the_age() {
    let library = sample();
    let bucket = |now_ms| match &run(&library, &SearchRequest { now_ms, ..request("Circle") }).results[0] {
        SearchResult::Group(group) => group.staleness_bucket,
        SearchResult::Chunk(chunk) => chunk.staleness_bucket,
    };
    assert_eq!(bucket(0), StalenessBucket::Fresh);
    assert_eq!(bucket(i64::MAX / 2), StalenessBucket::Stale);
}

#[test]
fn noise_is_told_when_it_dominates() {
    let library = sample();
    assert!(
        run(&library, &SearchRequest { scope: SearchScope::Docs, ..request("retry_request") })
            .noise_mitigation
            .is_some()
    );
    assert!(run(&library, &request("Circle")).noise_mitigation.is_none());
}

#[test]
fn odd_queries_are_answered_with_little() {
    let library = sample();
    for query in [
        "",
        " ",
        "???",
        "lang:",
        "\"",
        "\\",
        &"word ".repeat(2000),
        &"x".repeat(100_000),
        "path:[ x",
        "of the",
    ] {
        let outcome = run(&library, &request(query));
        assert!(outcome.results.len() <= 10, "{query}");
    }
}

/// An embedding server that is down.
struct Broken;

impl Embedder for Broken {
    fn provider(&self) -> &str {
        "openai"
    }
    fn model(&self) -> &str {
        "m"
    }
    fn dimension(&self) -> usize {
        256
    }
    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Err(EmbedError::Unavailable("down".into()))
    }
}

#[test]
fn a_failed_dense_pass_is_told_and_words_still_answer() {
    let library = sample();
    let reader = library.store.open_reader(ROOT).unwrap().unwrap();
    let outcome = search(&*reader, &Broken, &request("how are requests tried again")).unwrap();
    assert!(!outcome.results.is_empty());
    assert_eq!(outcome.warnings[0].code(), "SEARCH_PASS_FAILED:dense");
    let identifier = search(&*reader, &Broken, &request("retry_request")).unwrap();
    assert_eq!(identifier.warnings, [], "identifiers need no embedding");
    assert!(
        !search(&*reader, &NoEmbedder, &request("how are requests tried again")).unwrap().results.is_empty()
    );
}

#[test]
fn debug_says_how_it_was_answered() {
    let outcome = run(&sample(), &SearchRequest { debug: true, ..request("lang:py retry_request") });
    let debug = outcome.debug.unwrap();
    assert_eq!(debug["queryIntent"]["intent"], "identifier");
    assert_eq!(debug["retrieval"]["mode"], "lexical");
    assert_eq!(debug["operatorSummary"]["lang"][0], "py");
    assert!(debug["filterSummary"]["removedBy"]["lang"].as_u64().unwrap() > 0);
}
