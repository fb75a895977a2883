//! Queries that nobody words well: each has an answer.

use super::{files, library, request, run, sample, shown};
use crate::request::SearchWarning;

#[test]
fn a_query_of_one_letter_is_answered() {
    let library = library(&[
        ("src/a.c", "int x(int a) { return a; }\n"),
        ("src/b.c", "int other(int b) { return x(b) + x(b); }\n"),
    ]);
    let found = shown(&run(&library, &request("x")));
    assert!(found[0].starts_with("src/a.c function x"), "{found:?}");
    for query in ["é", "7", "_", "-", "\u{301}"] {
        run(&library, &request(query));
    }
}

#[test]
fn a_query_that_is_only_a_stack_trace_finds_the_files_of_its_frames() {
    let trace = "Traceback (most recent call last):\n  File \"/usr/lib/python3/site-packages/shop/src/http/send.py\", line 2, in send_request\n    return socket.write(request)\nBrokenPipeError: [Errno 32] Broken pipe";
    assert_eq!(files(&run(&sample(), &request(trace)))[0], "src/http/send.py");
    let frames = "    at retryRequest (/app/web/retry.ts:1:9)\n    at async main (/app/dist/bundle.js:99:1)";
    assert_eq!(files(&run(&sample(), &request(frames)))[0], "web/retry.ts");
}

#[test]
fn a_query_in_chinese_finds_the_comment_that_has_its_words() {
    let library = library(&[
        ("src/upload.py", "# 上传 失败 时 重试\ndef upload(file):\n    return send(file)\n"),
        ("src/colour.py", "# 页面 颜色\ndef colour(page):\n    return page.colour\n"),
    ]);
    assert_eq!(files(&run(&library, &request("上传 失败 怎么 重试")))[0], "src/upload.py");
    run(&library, &request("完全没有出现过的查询"));
}

#[test]
fn a_query_of_a_megabyte_is_answered() {
    let text = "send_request fails when the socket is closed\n".to_owned() + &"retrying word_".repeat(75_000);
    assert!(text.len() > 1_000_000);
    assert!(!run(&sample(), &request(&text)).results.is_empty());
}

#[test]
fn a_query_of_operators_alone_says_that_words_are_missing() {
    let outcome = run(&sample(), &request("lang:python -path:tests/** must:request"));
    assert!(outcome.warnings.contains(&SearchWarning::OnlyOperators), "{outcome:?}");
}
