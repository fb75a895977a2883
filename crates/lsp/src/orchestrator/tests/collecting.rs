//! What comes out of a check.

use std::time::Duration;

use chartroom_protocol::lsp::{CheckParams, CheckScope, FileText, Freshness, ServerOutcome};
use serde_json::json;

use crate::fake::{Behaviour, Rehearsal};
use crate::registry::Quirks;

const FILE: &str = "//- a.foo\nERR broken\nWARN careful\n";

// EC-7, EC-20
#[tokio::test(start_paused = true)]
async fn two_servers_are_asked_in_parallel_and_say_it_once() {
    let servers = [("alpha", Behaviour::default()), ("beta", Behaviour::default())];
    let rehearsal = Rehearsal::new(FILE, &servers);
    assert_eq!(rehearsal.check("a.foo").await, ["ERROR [1:1] broken"]);
    assert_eq!(rehearsal.fakes.n_launched(), 2);
}

// BR-4, EC-24, REQ-FMT-060
#[tokio::test(start_paused = true)]
async fn without_a_word_in_the_config_errors_alone_are_told() {
    let rehearsal = Rehearsal::new(FILE, &[("alpha", Behaviour::default())]);
    assert_eq!(rehearsal.check("a.foo").await, ["ERROR [1:1] broken"]);
}

// BR-39, BR-64, REQ-FMT-067, REQ-CFG-060
#[tokio::test(start_paused = true)]
async fn the_same_severities_in_the_check_and_in_the_list() {
    let config = json!({ "includeSeverities": ["warning"] });
    let rehearsal = Rehearsal::with_config(FILE, &[("alpha", Behaviour::default())], config);
    assert_eq!(rehearsal.check("a.foo").await, ["WARNING [2:1] careful"]);
    let known = rehearsal.orchestrator.diagnostics();
    assert_eq!(known["a.foo"].len(), 1);
    assert_eq!(known["a.foo"][0].message, "careful");
}

#[tokio::test(start_paused = true)]
async fn an_error_that_is_mended_is_never_reported_again() {
    for behaviour in [
        Behaviour::pushing(&[10]),
        Behaviour { versions: false, ..Behaviour::pushing(&[10]) },
        Behaviour::pulling(10),
    ] {
        let rehearsal = Rehearsal::new(FILE, &[("alpha", behaviour)]);
        for round in 0..20 {
            let broken = rehearsal.write("a.foo", &format!("ERR round {round}\n")).await;
            assert_eq!(broken, [format!("ERROR [1:1] round {round}")]);
            assert_eq!(rehearsal.write("a.foo", "fine\n").await, Vec::<String>::new());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_old_push_is_not_reported_when_the_server_goes_silent() {
    let rehearsal = Rehearsal::new(FILE, &[("alpha", Behaviour::pushing(&[10]))]);
    rehearsal.check("a.foo").await;
    rehearsal.fakes.publish("alpha", &rehearsal.project.path("a.foo"), &["stale"]).await;
    // The next text is answered with a push of the wrong version only.
    let path = rehearsal.project.path("a.foo").to_string_lossy().into_owned();
    let lines = rehearsal.orchestrator.check_file(&path, Some("fine\n".to_owned())).await;
    assert_eq!(lines, []);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_repeats_nothing_is_believed_after_a_quiet_second() {
    let quiet = Behaviour {
        versions: false,
        quirks: Quirks { silent_when_unchanged: true, ..Quirks::NONE },
        ..Behaviour::pushing(&[10])
    };
    let rehearsal = Rehearsal::new("//- a.foo\nfine\n", &[("alpha", quiet.clone())]);
    rehearsal.check("a.foo").await;
    assert_eq!(rehearsal.write("a.foo", "ERR one\n").await, ["ERROR [1:1] one"]);
    assert_eq!(rehearsal.write("a.foo", "fine\n").await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_first_clean_is_asked_for_twice_where_it_may_be_wrong() {
    let hasty = Behaviour {
        versions: false,
        opens_as_clean: true,
        quirks: Quirks { silent_when_unchanged: true, doubt_first_clean: true, ..Quirks::NONE },
        ..Behaviour::pushing(&[10])
    };
    let rehearsal = Rehearsal::new("//- a.foo\nERR one\n", &[("alpha", hasty)]);
    assert_eq!(rehearsal.check("a.foo").await, ["ERROR [1:1] one"]);
    assert_eq!(rehearsal.write("a.foo", "fine\n").await, Vec::<String>::new());
    let changes = || rehearsal.fakes.seen().iter().filter(|seen| seen.contains("didChange a.foo")).count();
    assert_eq!(changes(), 3, "the first clean was sent anew, the second is believed");
}

#[tokio::test(start_paused = true)]
async fn a_late_clean_about_the_text_before_is_not_believed_where_it_may_come() {
    let late = |doubt_every_clean| Behaviour {
        versions: false,
        quirks: Quirks { doubt_every_clean, ..Quirks::NONE },
        ..Behaviour::pushing(&[500])
    };
    for (doubts, expected) in [(true, vec!["ERROR [1:1] one"]), (false, Vec::new())] {
        let rehearsal = Rehearsal::new("//- a.foo\nfine\n", &[("alpha", late(doubts))]);
        rehearsal.check("a.foo").await;
        let file = rehearsal.project.path("a.foo");
        let late_push = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            rehearsal.fakes.publish("alpha", &file, &[]).await;
        };
        let (found, ()) = tokio::join!(rehearsal.write("a.foo", "ERR one\n"), late_push);
        assert_eq!(found, expected, "doubts: {doubts}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_pushes_in_parts_is_asked_though_it_announces_no_answer() {
    let in_parts = |answers_pull| Behaviour {
        grows: true,
        quirks: Quirks { answers_pull, ..Quirks::NONE },
        ..Behaviour::pushing(&[10, 500])
    };
    let (one, two) = ("ERROR [1:1] one", "ERROR [2:1] two");
    for (is_asked, expected) in [(true, vec![one, two]), (false, vec![one])] {
        let rehearsal = Rehearsal::new("//- a.foo\nfine\n", &[("alpha", in_parts(is_asked))]);
        assert_eq!(rehearsal.write("a.foo", "ERR one\nERR two\n").await, expected, "is asked: {is_asked}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_reports_nothing_is_not_waited_for_and_its_files_are_not_called_clean() {
    let servers = [("cmake-language-server", Behaviour::silent())];
    let rehearsal = Rehearsal::new("//- CMakeLists.txt\nproject(a)\n", &servers);
    let files = vec![FileText { file_path: "CMakeLists.txt".to_owned(), text: None }];
    let began = tokio::time::Instant::now();
    let response = rehearsal.orchestrator.check(CheckParams { files, ..CheckParams::default() }).await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    let refused = response.files[0].refused.as_deref();
    assert_eq!(refused, Some("no language server looks for errors in this kind of file"));
}

#[tokio::test(start_paused = true)]
async fn of_files_that_change_together_each_is_judged_with_all_the_others() {
    for versions in [true, false] {
        let behaviour = Behaviour { has_header: true, versions, ..Behaviour::default() };
        let rehearsal = Rehearsal::new("//- a.foo\ninclude h\n//- h.foo\nfine\n", &[("alpha", behaviour)]);
        assert_eq!(rehearsal.check("a.foo").await, Vec::<String>::new());
        rehearsal.project.write("a.foo", "include h\nmore\n");
        rehearsal.project.write("h.foo", "BREAK\n");
        let files = ["a.foo", "h.foo"].map(|file| FileText { file_path: file.to_owned(), text: None });
        let params = CheckParams { files: files.to_vec(), ..CheckParams::default() };
        let response = rehearsal.orchestrator.check(params).await;
        let found: Vec<_> = response.files.iter().map(|file| file.diagnostics.len()).collect();
        assert_eq!(found, [1, 0], "versions: {versions}");
    }
}

// BR-90, REQ-CONTENT-010, REQ-CONTENT-020
#[tokio::test(start_paused = true)]
async fn the_text_that_comes_along_counts_and_the_disk_otherwise() {
    let rehearsal = Rehearsal::new(FILE, &[("alpha", Behaviour::default())]);
    let path = rehearsal.project.path("a.foo").to_string_lossy().into_owned();
    let told = rehearsal.orchestrator.check_file(&path, Some("ERR told\n".to_owned())).await;
    assert_eq!(told[0].message, "told");
    assert_eq!(rehearsal.check("a.foo").await, ["ERROR [1:1] broken"]);
}

// EC-42, EC-43, BR-35, BR-73, REQ-KNOWN-010, REQ-KNOWN-020, REQ-KNOWN-030
#[tokio::test(start_paused = true)]
async fn a_file_is_known_while_any_server_has_findings() {
    let servers = [("alpha", Behaviour::default()), ("beta", Behaviour::default())];
    let rehearsal = Rehearsal::new("//- a.foo\nfine\n//- b.foo\nfine\n", &servers);
    rehearsal.check("a.foo").await;
    let other = rehearsal.project.path("b.foo");
    let known = || rehearsal.orchestrator.diagnostics().into_keys().collect::<Vec<_>>();
    assert_eq!(known(), Vec::<String>::new());
    rehearsal.fakes.publish("alpha", &other, &["x"]).await;
    rehearsal.fakes.publish("beta", &other, &["y"]).await;
    assert_eq!(known(), ["b.foo"]);
    rehearsal.fakes.publish("alpha", &other, &[]).await;
    assert_eq!(known(), ["b.foo"], "beta still has one");
    rehearsal.fakes.publish("beta", &other, &[]).await;
    assert_eq!(known(), Vec::<String>::new());
    rehearsal.fakes.publish("beta", &other, &["z"]).await;
    rehearsal.fakes.kill("beta").await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(known(), Vec::<String>::new(), "a server that is gone knows nothing");
}

// BR-50, REQ-ARCH-080, REQ-NAV-060, BR-55
#[tokio::test(start_paused = true)]
async fn known_files_are_listed_by_path_and_only_those_of_the_workspace() {
    let rehearsal = Rehearsal::new("//- z.foo\nfine\n", &[("alpha", Behaviour::default())]);
    rehearsal.check("z.foo").await;
    for path in ["m.foo", "a/b.foo", "node_modules/x/y.foo"] {
        rehearsal.fakes.publish("alpha", &rehearsal.project.path(path), &["x"]).await;
    }
    rehearsal.fakes.publish("alpha", std::path::Path::new("/usr/lib/core.foo"), &["x"]).await;
    let known: Vec<_> = rehearsal.orchestrator.diagnostics().into_keys().collect();
    assert_eq!(known, ["a/b.foo", "m.foo"]);
}

fn project_check(file: &str) -> CheckParams {
    let files = vec![FileText { file_path: file.to_owned(), text: None }];
    CheckParams { files, scope: CheckScope::Project, ..CheckParams::default() }
}

// REQ-DIAG-045
#[tokio::test(start_paused = true)]
async fn importers_of_a_written_file_are_looked_at_by_themselves() {
    let fixture =
        "//- types.foo\nfine\n//- a.foo\nimport types\nERR broken by it\n//- b.foo\nERR unrelated\n";
    for behaviour in [Behaviour::default(), Behaviour::pulling(5)] {
        let rehearsal = Rehearsal::new(fixture, &[("alpha", behaviour)]);
        let response = rehearsal.orchestrator.check(project_check("types.foo")).await;
        let others: Vec<_> = response.others.iter().map(|file| file.file.as_str()).collect();
        assert_eq!(others, ["a.foo"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_that_depends_on_a_changed_one_is_looked_at_anew_by_a_server_that_only_pushes() {
    for versions in [true, false] {
        let behaviour = Behaviour { has_header: true, versions, ..Behaviour::default() };
        let rehearsal = Rehearsal::new("//- h.foo\nfine\n//- main.foo\ninclude h\n", &[("alpha", behaviour)]);
        assert_eq!(rehearsal.check("main.foo").await, Vec::<String>::new());
        for n in 0..3 {
            rehearsal.project.write("h.foo", &format!("BREAK {n}\n"));
            let response = rehearsal.orchestrator.check(project_check("h.foo")).await;
            let others: Vec<_> = response.others.iter().map(|file| file.file.as_str()).collect();
            assert_eq!(
                (others.as_slice(), response.unknown.as_slice()),
                (&["main.foo"] as &[&str], &[] as &[String])
            );
            assert_eq!(rehearsal.check("main.foo").await, ["ERROR [1:1] the header is broken"]);
            rehearsal.project.write("h.foo", &format!("fine {n}\n"));
            let response = rehearsal.orchestrator.check(project_check("h.foo")).await;
            assert_eq!((response.others, response.unknown), (vec![], vec![]));
            assert_eq!(rehearsal.check("main.foo").await, Vec::<String>::new());
        }
    }
}

// REQ-DIAG-045
#[tokio::test(start_paused = true)]
async fn every_importer_is_looked_at_or_said_not_to_be() {
    let importers = (0..70).map(|n| format!("//- {n:02}.foo\nimport types\n"));
    let fixture = format!(
        "//- types.foo\nfine\n{}//- zz.foo\nimport types\nERR broken\n",
        importers.collect::<String>()
    );
    // A file that is known to be broken comes before all others.
    let rehearsal = Rehearsal::new(&fixture, &[("alpha", Behaviour::pulling(5))]);
    let response = rehearsal.orchestrator.check(project_check("types.foo")).await;
    assert_eq!(response.unknown.len(), 11, "{:?}", response.unknown);
    assert!(response.unknown.contains(&"zz.foo".to_owned()));
    rehearsal.check("zz.foo").await;
    let response = rehearsal.orchestrator.check(project_check("types.foo")).await;
    let others: Vec<_> = response.others.iter().map(|file| file.file.as_str()).collect();
    assert_eq!(others, ["zz.foo"]);
    // A server that does not answer in time leaves all of them unknown, and nothing old is told.
    let rehearsal = Rehearsal::new(&fixture, &[("alpha", Behaviour::silent())]);
    let response = rehearsal.orchestrator.check(project_check("types.foo")).await;
    assert_eq!((response.unknown.len(), response.others.len()), (71, 0));
}

#[tokio::test(start_paused = true)]
async fn of_many_importers_the_nearest_are_looked_at() {
    let far: String = (0..70).map(|n| format!("//- app/{n:02}.foo\nimport types\n")).collect();
    let fixture = format!("//- lib/types.foo\nfine\n{far}//- lib/zz.foo\nimport types\nERR broken\n");
    let rehearsal = Rehearsal::new(&fixture, &[("alpha", Behaviour::pulling(5))]);
    let response = rehearsal.orchestrator.check(project_check("lib/types.foo")).await;
    let others: Vec<_> = response.others.iter().map(|file| file.file.as_str()).collect();
    assert_eq!((others, response.unknown.len()), (vec!["lib/zz.foo"], 11));
}

// BR-83
#[tokio::test(start_paused = true)]
async fn the_epoch_is_the_services_own_and_rises_with_every_check() {
    let rehearsal = Rehearsal::new(FILE, &[("alpha", Behaviour::default())]);
    let orchestrator = rehearsal.orchestrator.clone();
    assert_eq!(orchestrator.epoch(), 0);
    let waiting = tokio::spawn({
        let orchestrator = orchestrator.clone();
        async move { orchestrator.diagnostics_after(0, Duration::from_secs(60)).await }
    });
    rehearsal.check("a.foo").await;
    assert_eq!(orchestrator.epoch(), 1);
    assert_eq!(waiting.await.unwrap().len(), 1);
    // Nothing more comes: the wait is bounded.
    let began = tokio::time::Instant::now();
    orchestrator.diagnostics_after(1, Duration::from_secs(2)).await;
    assert_eq!(began.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn what_a_shell_did_is_told_before_a_check() {
    let rehearsal = Rehearsal::new("//- a.foo\nfine\n//- b.foo\nfine\n", &[("alpha", Behaviour::default())]);
    rehearsal.check("a.foo").await;
    rehearsal.check("b.foo").await;
    rehearsal.project.write("a.foo", "changed by git\n");
    rehearsal.project.write("new.foo", "made by a shell\n");
    std::fs::remove_file(rehearsal.project.path("b.foo")).unwrap();
    rehearsal.fakes.seen.lock().unwrap().clear();
    rehearsal.write("c.foo", "fine\n").await;
    let seen = rehearsal.fakes.seen();
    for expected in [
        "alpha watched a.foo 2",
        "alpha didChange a.foo 2",
        "alpha watched new.foo 1",
        "alpha watched b.foo 3",
        "alpha didClose b.foo",
    ] {
        assert!(seen.contains(&expected.to_owned()), "{expected} is not in {seen:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn removed_files_are_told_to_running_servers_and_start_none() {
    let rehearsal = Rehearsal::new("//- a.foo\nERR x\n", &[("alpha", Behaviour::default())]);
    let removed = || CheckParams { removed: vec!["a.foo".into()], ..CheckParams::default() };
    rehearsal.orchestrator.check(removed()).await;
    assert_eq!(rehearsal.fakes.n_launched(), 0);
    rehearsal.check("a.foo").await;
    rehearsal.orchestrator.check(removed()).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert!(rehearsal.fakes.seen().contains(&"alpha didClose a.foo".to_owned()));
    assert!(rehearsal.orchestrator.diagnostics().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_outcome_tells_what_each_server_did() {
    let servers = [("alpha", Behaviour::default()), ("beta", Behaviour::silent())];
    let rehearsal = Rehearsal::new(FILE, &servers);
    let files = vec![FileText { file_path: "a.foo".into(), text: None }];
    let params = CheckParams { files, ..CheckParams::default() };
    let outcomes: Vec<_> = rehearsal
        .orchestrator
        .check(params)
        .await
        .servers
        .into_iter()
        .map(|server| (server.id, server.root, server.outcome))
        .collect();
    let answered = |freshness| ServerOutcome::Answered { freshness, said: None };
    assert_eq!(
        outcomes,
        [
            ("alpha".into(), ".".into(), answered(Freshness::Current)),
            ("beta".into(), ".".into(), answered(Freshness::TimedOut)),
        ]
    );
}

// BR-79, REQ-EXCL-040
#[tokio::test(start_paused = true)]
async fn nothing_is_collected_without_a_mutation() {
    let rehearsal = Rehearsal::new(FILE, &[("alpha", Behaviour::pulling(5))]);
    rehearsal.check("a.foo").await;
    rehearsal.project.write("a.foo", "ERR later\n");
    rehearsal.fakes.seen.lock().unwrap().clear();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(rehearsal.fakes.seen(), Vec::<String>::new());
}

// BR-67, REQ-OBS-020
#[tokio::test(start_paused = true)]
async fn starts_crashes_latencies_timeouts_and_findings_are_counted() {
    let servers = [("alpha", Behaviour::pulling(20)), ("beta", Behaviour::silent())];
    let rehearsal = Rehearsal::new(FILE, &servers);
    rehearsal.check("a.foo").await;
    rehearsal.fakes.kill("beta").await;
    rehearsal.check("a.foo").await;
    let counters = rehearsal.orchestrator.metrics().snapshot();
    assert_eq!((counters.server_starts, counters.server_start_failures, counters.server_crashes), (2, 0, 1));
    assert_eq!(
        (counters.collections, counters.collection_timeouts),
        (4, 2),
        "a broken server counts as none"
    );
    assert_eq!((counters.checked_files, counters.diagnostics), (2, 2));
    assert_eq!(counters.collection_ms_longest, 10_000);
    assert!(counters.collection_ms_total >= 10_040, "{counters:?}");
}

/// clangd takes back, without a version, what it said of a file that is closed: by then the file can be open again.
#[tokio::test(start_paused = true)]
async fn what_is_taken_back_of_a_closed_file_does_not_count_when_it_is_open_again() {
    let quirks = Quirks { wants_to_be_forced: true, ..Quirks::NONE };
    let rehearsal = Rehearsal::new(FILE, &[("alpha", Behaviour { quirks, ..Behaviour::default() })]);
    assert_eq!(rehearsal.check("a.foo").await, ["ERROR [1:1] broken"]);
    rehearsal.fakes.publish("alpha", &rehearsal.project.path("a.foo"), &[]).await;
    assert_eq!(rehearsal.check("a.foo").await, ["ERROR [1:1] broken"]);
}
