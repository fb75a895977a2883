//! The actions of `manage_index` one by one: every status, every reason.

use std::os::unix::fs::PermissionsExt;

use chartroom_protocol::index::*;

use crate::lease::LeaseError;
use crate::lifecycle;
use crate::sync::{self, Purpose};
use crate::testing::{Bench, Fault};

// INDEX-MANAGE-ok
#[test]
fn create_then_status_then_search() {
    let bench = Bench::new();
    assert_eq!(bench.manage(ManageAction::Status).status, IndexStatus::NotIndexed);
    let response = bench.manage(ManageAction::Create);
    assert_eq!(response.human_text, format!("Started background indexing for codebase '{}'.", bench.root));
    assert_eq!(response.operation.unwrap().phase, OperationPhase::Accepted);
    let status = bench.manage(ManageAction::Status);
    assert!(status.message.contains("2 files, 2 chunks"), "{}", status.message);
    assert_eq!(status.operation.unwrap().phase, OperationPhase::Completed);
    let found = bench.search("gamma").unwrap();
    assert_eq!(found.results.len(), 1);
    assert_eq!(found.freshness_decision.unwrap().mode, FreshnessMode::Synced);
    assert_eq!(bench.search("gamma").unwrap().freshness_decision.unwrap().mode, FreshnessMode::SkippedRecent);
}

/// Nobody is told of an index whose size is not known yet, or of a build whose process is gone, because it ended just now.
#[test]
fn what_is_told_in_the_moment_in_which_a_build_ends_is_of_before_or_of_after() {
    for _ in 0..150 {
        let bench = Bench::new();
        let managed = lifecycle::manage(&bench.core, bench.params(ManageAction::Create), None);
        std::thread::scope(|scope| {
            scope.spawn(|| managed.job.unwrap().run());
            loop {
                let (status, list) = (bench.manage(ManageAction::Status), bench.list());
                if status.status != IndexStatus::NotReady {
                    assert_eq!(status.status, IndexStatus::Ok, "{}", status.human_text);
                    assert!(status.message.contains("2 files, 2 chunks"), "{}", status.message);
                }
                match list.codebases[0].bucket {
                    CodebaseBucket::Indexing => {}
                    CodebaseBucket::Ready => {
                        assert_eq!(list.codebases[0].indexed_files, Some(2));
                        break;
                    }
                    other => panic!("{other:?}"),
                }
            }
        });
    }
}

// INDEX-MANAGE-not_ready, INDEX-MANAGE-REASON-indexing
#[test]
fn while_a_build_runs_every_mutation_is_not_ready() {
    let bench = Bench::new();
    let managed = lifecycle::manage(&bench.core, bench.params(ManageAction::Create), None);
    for action in [
        ManageAction::Create,
        ManageAction::Reindex,
        ManageAction::Sync,
        ManageAction::Clear,
        ManageAction::Repair,
    ] {
        let response = bench.manage(action);
        assert_eq!(
            (response.status, response.reason),
            (IndexStatus::NotReady, Some(ManageReason::Indexing)),
            "{action:?}"
        );
        let hints = response.hints.unwrap();
        assert_eq!(hints.retry_after_ms, Some(2000));
        assert_eq!(hints.status, Some(ManageHint::new(ManageAction::Status, &bench.root)));
        assert!(hints.active_mutation.is_some());
        assert!(hints.indexing.is_some());
    }
    let status = bench.manage(ManageAction::Status);
    assert_eq!((status.status, status.reason), (IndexStatus::NotReady, Some(ManageReason::Indexing)));
    assert!(status.message.contains("Preparing and scanning files..."), "{}", status.message);
    let list = bench.list();
    assert_eq!(list.codebases[0].bucket, CodebaseBucket::Indexing);
    assert_eq!(list.codebases[0].progress_pct, Some(0.0));
    managed.job.unwrap().run();
    assert_eq!(bench.manage(ManageAction::Status).status, IndexStatus::Ok);
}

#[test]
fn a_build_that_begins_under_a_sync_s_hands_is_told_as_one_that_ran_before() {
    let bench = Bench::indexed();
    let lease = bench.core.leases.acquire(&bench.root, ManageAction::Reindex, "run_other").unwrap();
    // As the sync is asked, past its own look at who is at work.
    let freshness = sync::ensure_freshness(&bench.core, &bench.root, 0, Purpose::Explicit);
    assert_eq!(freshness.decision.mode, FreshnessMode::SkippedIndexing);
    let conflict = freshness.conflict.expect("who builds is told");
    assert!(
        matches!(&conflict, LeaseError::Held(active) if active.operation_id == "run_other"),
        "{conflict}"
    );
    drop(lease);
    let freshness = sync::ensure_freshness(&bench.core, &bench.root, 0, Purpose::Explicit);
    assert_eq!((freshness.decision.mode, freshness.conflict.is_none()), (FreshnessMode::Synced, true));
}

// INDEX-MANAGE-blocked, INDEX-MANAGE-REASON-mutation_in_progress
#[test]
fn any_other_mutation_in_progress_is_blocked() {
    let bench = Bench::indexed();
    let _lease = bench.core.leases.acquire(&bench.root, ManageAction::Repair, "run_other").unwrap();
    let response = bench.manage(ManageAction::Clear);
    assert_eq!(
        (response.status, response.reason),
        (IndexStatus::Blocked, Some(ManageReason::MutationInProgress))
    );
    assert_eq!(response.hints.unwrap().active_mutation.unwrap().action, "repair");
    assert_eq!(bench.search("alpha").unwrap().status, IndexStatus::Ok, "reads go on");
}

#[test]
fn the_old_index_answers_while_a_reindex_runs_and_after_it_fails() {
    let bench = Bench::indexed();
    let before = bench.entry().unwrap();
    std::fs::write(bench.project.join("a.rs"), "fn changed() {}\n").unwrap();
    let managed =
        lifecycle::manage(&bench.core, bench.params(ManageAction::Reindex), Some(Err("no git".into())));
    assert_eq!(managed.response.warnings[0].code, "IGNORE_POLICY_PROBE_FAILED");
    let found = bench.search("alpha").unwrap();
    assert_eq!((found.status, found.results.len()), (IndexStatus::Ok, 1), "the former generation");
    assert_eq!(found.freshness_decision.unwrap().mode, FreshnessMode::SkippedIndexing);
    assert_eq!(found.warnings[0].code, "SEARCH_DIRTY_WORKTREE_NOT_SYNCED");
    assert_eq!(bench.manage(ManageAction::Status).status, IndexStatus::NotReady);
    assert_eq!(bench.list().codebases[0].bucket, CodebaseBucket::Ready);

    // Drop unfinished, begin, the former one's proof, its opening, both asked for known vectors; then the chunks cannot be written.
    bench.store.script([[Fault::None; 6].as_slice(), &[Fault::Fail]].concat());
    managed.job.unwrap().run();
    let after = bench.entry().unwrap();
    assert_eq!(after.state, before.state, "a failed rebuild leaves the old one as it was");
    assert_eq!(after.operation.unwrap().phase, OperationPhase::Failed);
    assert_eq!(bench.manage(ManageAction::Status).status, IndexStatus::Ok);
    assert_eq!(bench.search("changed").unwrap().results.len(), 1, "and it follows the folder again");
}

#[test]
fn a_first_build_that_fails_says_so_and_can_be_cleared_or_tried_again() {
    let bench = Bench::new();
    let managed = lifecycle::manage(&bench.core, bench.params(ManageAction::Create), None);
    bench.store.always(Some(Fault::Fail));
    managed.job.unwrap().run();
    bench.store.always(None);
    assert_eq!(bench.entry().unwrap().state.name(), "indexfailed");
    let status = bench.manage(ManageAction::Status);
    assert_eq!((status.status, status.reason), (IndexStatus::Error, None));
    assert!(status.message.contains("scripted"), "{}", status.message);
    assert_eq!(bench.search("alpha").unwrap().status, IndexStatus::NotIndexed);
    assert_eq!(bench.list().codebases[0].bucket, CodebaseBucket::Failed);
    assert_eq!(
        bench.manage(ManageAction::Clear).status,
        IndexStatus::Ok,
        "clear works on failed entries too"
    );
    assert_eq!(bench.list().total, 0);
    assert_eq!(bench.manage(ManageAction::Clear).status, IndexStatus::NotIndexed);
    assert_eq!(bench.manage(ManageAction::Create).status, IndexStatus::Ok);
}

#[test]
fn a_cancelled_build_leaves_what_was_there() {
    let bench = Bench::indexed();
    let mut params = bench.params(ManageAction::Create);
    params.force = true;
    let managed = lifecycle::manage(&bench.core, params, None);
    bench.core.run_of(&bench.root).unwrap().cancel.cancel();
    managed.job.unwrap().run();
    assert_eq!(bench.entry().unwrap().operation.unwrap().phase, OperationPhase::Cancelled);
    assert_eq!(bench.search("alpha").unwrap().results.len(), 1);
}

#[test]
fn a_build_that_was_killed_reads_as_interrupted_and_is_settled_at_the_next_start() {
    let mut bench = Bench::new();
    bench.store.script([Fault::None, Fault::None, Fault::None, Fault::Kill]);
    assert!(bench.killed_in(|bench| {
        bench.manage(ManageAction::Create);
    }));
    assert_eq!(bench.entry().unwrap().state.name(), "indexing");
    let bytes = bench.bytes();
    let search = bench.search("alpha").unwrap();
    assert_eq!(search.status, IndexStatus::NotIndexed);
    assert!(search.message.unwrap().contains("interrupted"));
    assert_eq!(bench.manage(ManageAction::Status).status, IndexStatus::Error);
    assert_eq!(bench.bytes(), bytes, "reads settle nothing");

    bench.store.always(Some(Fault::Fail));
    bench.restart();
    assert_eq!(bench.entry().unwrap().state.name(), "indexing", "a probe that fails decides nothing");
    bench.store.always(None);
    bench.restart();
    assert_eq!(bench.entry().unwrap().state.name(), "indexfailed");
    assert_eq!(bench.manage(ManageAction::Create).status, IndexStatus::Ok);
    assert_eq!(bench.search("alpha").unwrap().results.len(), 1);
}

#[test]
fn a_process_killed_between_marker_and_catalog_has_built_the_index_all_the_same() {
    let mut bench = Bench::indexed();
    let mut entry = bench.entry().unwrap();
    entry.state = crate::catalog::CodebaseState::Indexing { indexing_percentage: 100.0 };
    entry.lease_generation += 1;
    bench.core.writer.set(&bench.root, entry).unwrap();
    assert_eq!(bench.search("alpha").unwrap().status, IndexStatus::Ok, "the marker says so");
    bench.restart();
    assert_eq!(bench.entry().unwrap().state.name(), "indexed");
}

#[test]
fn sync_follows_added_removed_and_modified_files() {
    let bench = Bench::indexed();
    assert!(bench.manage(ManageAction::Sync).message.starts_with("No changes detected"));
    std::fs::write(bench.project.join("c.rs"), "fn delta() {}\n").unwrap();
    std::fs::write(bench.project.join("a.rs"), "fn alpha() {}\nfn epsilon() {}\n").unwrap();
    std::fs::remove_file(bench.project.join("b.rs")).unwrap();
    let response = bench.manage(ManageAction::Sync);
    assert!(response.message.contains("+1 added, -1 removed, ~1 modified"), "{}", response.message);
    assert_eq!(bench.entry().unwrap().state.name(), "sync_completed");
    for (query, hits) in [("delta", 1), ("epsilon", 1), ("gamma", 0), ("beta", 0)] {
        assert_eq!(bench.search(query).unwrap().results.len(), hits, "{query}");
    }
}

// INDEX-MANAGE-not_indexed
#[test]
fn sync_answers_for_every_state() {
    let bench = Bench::new();
    let response = bench.manage(ManageAction::Sync);
    assert_eq!((response.status, response.reason), (IndexStatus::NotIndexed, Some(ManageReason::NotIndexed)));

    let bench = Bench::indexed();
    bench.store.script([Fault::None, Fault::Fail]);
    let response = bench.manage(ManageAction::Sync);
    assert_eq!(response.status, IndexStatus::Error, "{}", response.message);
    assert_eq!(response.freshness_decision.unwrap().mode, FreshnessMode::SyncFailed);
    assert_eq!(bench.manage(ManageAction::Sync).status, IndexStatus::Ok);

    std::fs::write(bench.project.join(".gitignore"), "x\n").unwrap();
    let response = bench.manage(ManageAction::Sync);
    assert_eq!(response.freshness_decision.unwrap().mode, FreshnessMode::ReconciledIgnoreChange);
    std::fs::write(bench.project.join(".gitignore"), "xy\n").unwrap();
    bench.store.script([Fault::None, Fault::Fail]);
    let response = bench.manage(ManageAction::Sync);
    assert_eq!(response.freshness_decision.unwrap().mode, FreshnessMode::IgnoreReloadFailed);

    std::fs::rename(&bench.project, bench.project.with_file_name("away")).unwrap();
    assert_eq!(bench.manage(ManageAction::Sync).status, IndexStatus::Error);
    assert!(bench.entry().is_some(), "a missing root keeps its entry");
}

// INDEX-MANAGE-REASON-unnecessary_reindex_ignore_only
#[test]
fn reindex_is_blocked_when_only_ignore_files_changed() {
    let bench = Bench::indexed();
    let response = bench.manage_with(bench.params(ManageAction::Reindex), Ok(&[".gitignore"]));
    assert_eq!(
        (response.status, response.reason),
        (IndexStatus::Blocked, Some(ManageReason::UnnecessaryReindexIgnoreOnly))
    );
    let hints = response.hints.unwrap();
    assert_eq!(hints.sync, Some(ManageHint::new(ManageAction::Sync, &bench.root)));
    assert_eq!(hints.override_reindex.unwrap().args.allow_unnecessary_reindex, Some(true));
    assert_eq!(response.warnings[0].code, "REINDEX_UNNECESSARY_IGNORE_ONLY");
    let mut params = bench.params(ManageAction::Reindex);
    params.allow_unnecessary_reindex = true;
    assert_eq!(bench.manage_with(params, Ok(&[".gitignore"])).status, IndexStatus::Ok);
    let response = bench.manage_with(bench.params(ManageAction::Reindex), Ok(&["a.rs"]));
    assert_eq!(response.warnings[0].code, "REINDEX_PREFLIGHT_UNKNOWN");
    assert_eq!(response.preflight.unwrap().outcome, PreflightOutcome::Unknown);
}

#[test]
fn a_rebuild_embeds_only_text_that_is_new_unless_the_model_is() {
    let mut bench = Bench::indexed();
    let embedded = |bench: &Bench| bench.embedded.swap(0, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(embedded(&bench), 2);
    std::fs::write(bench.project.join("c.rs"), "fn delta() {}\n").unwrap();
    assert_eq!(bench.manage(ManageAction::Reindex).status, IndexStatus::Ok);
    assert_eq!(embedded(&bench), 1, "only delta is new");
    assert_eq!(bench.manage(ManageAction::Status).operation.unwrap().phase, OperationPhase::Completed);
    bench.restart_with("another model");
    assert_eq!(bench.manage(ManageAction::Reindex).status, IndexStatus::Ok);
    assert_eq!(embedded(&bench), 3, "the vectors of another model are of no use");
}

#[test]
fn the_index_of_a_worktree_embeds_only_what_differs_from_its_repository() {
    let bench = Bench::indexed();
    let embedded = || bench.embedded.swap(0, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(embedded(), 2);
    // As git makes it: two notes that lead to each other.
    let worktree = bench.project.parent().unwrap().join("worktree");
    let git_dir = bench.project.join(".git/worktrees/worktree");
    std::fs::create_dir_all(&git_dir).unwrap();
    std::fs::create_dir(&worktree).unwrap();
    std::fs::write(git_dir.join("commondir"), "../..\n").unwrap();
    std::fs::write(worktree.join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
    for name in ["a.rs", "b.rs"] {
        std::fs::copy(bench.project.join(name), worktree.join(name)).unwrap();
    }
    std::fs::write(worktree.join("c.rs"), "fn delta() {}\n").unwrap();
    let create = ManageIndexParams::new(ManageAction::Create, worktree.to_str().unwrap());
    assert_eq!(bench.manage_with(create, Ok(&[])).status, IndexStatus::Ok);
    assert_eq!(embedded(), 1, "only delta is new");
    // A folder that is no worktree of it has its own.
    let other = bench.project.parent().unwrap().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::copy(bench.project.join("b.rs"), other.join("b.rs")).unwrap();
    std::fs::write(other.join(".git"), "gitdir: /nowhere\n").unwrap();
    let create = ManageIndexParams::new(ManageAction::Create, other.to_str().unwrap());
    assert_eq!(bench.manage_with(create, Ok(&[])).status, IndexStatus::Ok);
    assert_eq!(embedded(), 1);
}

#[test]
fn repair_proves_before_it_writes() {
    let bench = Bench::new();
    let response = bench.manage(ManageAction::Repair);
    assert_eq!((response.status, response.reason), (IndexStatus::Blocked, Some(ManageReason::NeedsCreate)));
    assert_eq!(response.repair_proof.unwrap().collection, ProofPart::Missing);

    let bench = Bench::indexed();
    bench.store.inner.plant_marker(&bench.root, None);
    let response = bench.manage(ManageAction::Repair);
    assert_eq!(response.status, IndexStatus::Ok, "{}", response.message);
    let proof = response.repair_proof.unwrap();
    assert_eq!(
        (proof.marker, proof.payload, proof.fingerprint),
        (ProofPart::Missing, ProofPart::Matched, ProofPart::Matched)
    );
    assert_eq!(bench.search("alpha").unwrap().status, IndexStatus::Ok);

    bench.store.inner.plant_marker(&bench.root, None);
    std::fs::write(bench.project.join("a.rs"), "fn other() {}\n").unwrap();
    let response = bench.manage(ManageAction::Repair);
    assert_eq!(
        (response.status, response.reason),
        (IndexStatus::RequiresReindex, Some(ManageReason::RequiresReindex))
    );
    assert_eq!(response.repair_proof.unwrap().payload, ProofPart::Failed);
    assert_eq!(bench.search("alpha").unwrap().status, IndexStatus::NotIndexed, "nothing was sealed");
}

#[test]
fn options_are_kept_per_root_and_survive_a_restart() {
    let mut bench = Bench::new();
    std::fs::write(bench.project.join("x.foo"), "fn foo() {}\n").unwrap();
    let mut params = bench.params(ManageAction::Create);
    params.custom_extensions = Some(vec!["foo".into()]);
    bench.manage_with(params, Ok(&[]));
    assert_eq!(bench.search("foo").unwrap().results.len(), 1);
    bench.restart();
    std::fs::write(bench.project.join("y.foo"), "fn foo() {}\n").unwrap();
    assert_eq!(bench.search("foo").unwrap().results.len(), 2);
    let mut params = bench.params(ManageAction::Create);
    params.ignore_patterns = Some(vec!["a{b".into()]);
    params.force = true;
    assert_eq!(bench.manage_with(params, Ok(&[])).status, IndexStatus::Error, "a bad pattern is refused");
}

// INDEX-MANAGE-REASON-runtime_owner_conflict
#[test]
fn a_server_with_another_model_blocks_mutations_while_it_lives() {
    let bench = Bench::indexed();
    let mut other = bench.core.fingerprint.clone();
    other.embedding_model = "another".into();
    let owner = bench.core.owners.register("test", &other).unwrap();
    for action in [ManageAction::Create, ManageAction::Sync, ManageAction::Clear, ManageAction::Repair] {
        let response = bench.manage(action);
        assert_eq!(
            (response.status, response.reason),
            (IndexStatus::Blocked, Some(ManageReason::RuntimeOwnerConflict))
        );
        assert_eq!(response.hints.unwrap().runtime_owners.unwrap().len(), 1);
    }
    assert_eq!(bench.search("alpha").unwrap().status, IndexStatus::Ok);
    drop(owner);
    assert_eq!(bench.manage(ManageAction::Sync).status, IndexStatus::Ok);
}

// INDEX-MANAGE-error
#[test]
fn bad_paths_get_clear_envelopes() {
    let bench = Bench::new();
    let check = |path: &str, says: &str| {
        for action in [ManageAction::Create, ManageAction::Reindex, ManageAction::Sync, ManageAction::Repair]
        {
            let response = bench.manage_with(ManageIndexParams::new(action, path), Ok(&[]));
            assert_eq!(response.status, IndexStatus::Error, "{path}");
            assert!(response.message.contains(says), "{}", response.message);
        }
    };
    check("/no/such/folder", "does not exist");
    check(bench.project.join("a.rs").to_str().unwrap(), "is not a directory");
    check(" ", "is empty");
    check("/x\0y", "NUL");
    let response = bench.manage_with(ManageIndexParams::new(ManageAction::Status, "relative/dir"), Ok(&[]));
    assert!(response.human_text.contains("Note: Input path 'relative/dir' was resolved to absolute path '"));
    assert_eq!(bench.list().total, 0, "nothing of it is tracked");
    for path in ["/no/such/folder", bench.project.join("a.rs").to_str().unwrap(), ""] {
        let mut params = bench.search_params("x");
        params.path = path.into();
        assert!(crate::tools::search_codebase::search(&bench.core, params).is_err(), "{path}");
    }
}

#[test]
fn bad_queries_are_refused_in_words() {
    let bench = Bench::indexed();
    assert!(bench.search("   ").unwrap_err().0.contains("empty"));
    assert!(bench.search(&"x".repeat(20_001)).unwrap_err().0.contains("20000"));
    let mut params = bench.search_params("x");
    params.limit = Some(51);
    assert!(
        crate::tools::search_codebase::search(&bench.core, params)
            .unwrap_err()
            .0
            .contains("between 1 and 50")
    );
}

#[test]
fn a_data_folder_that_cannot_be_written_gives_an_error_and_reads_go_on() {
    let bench = Bench::indexed();
    let bytes = bench.bytes();
    // Root may write anywhere, so the folder's place is taken by a file for it; others meet the permission.
    let runtime = bench.data.join("runtime");
    std::fs::remove_dir_all(&runtime).unwrap();
    std::fs::write(&runtime, "in the way").unwrap();
    std::fs::set_permissions(&bench.data, std::fs::Permissions::from_mode(0o555)).unwrap();
    let mut params = bench.params(ManageAction::Create);
    params.force = true;
    let response = bench.manage_with(params, Ok(&[]));
    std::fs::set_permissions(&bench.data, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(response.status, IndexStatus::Error);
    assert!(response.message.contains("writable?"), "{}", response.message);
    assert_eq!(bench.search("alpha").unwrap().status, IndexStatus::Ok);
    assert_eq!(bench.bytes(), bytes);
}

#[test]
fn a_subdirectory_answers_for_itself_and_a_nested_codebase_for_its_own() {
    let bench = Bench::indexed();
    let sub = bench.project.join("sub");
    std::fs::create_dir(&sub).unwrap();
    let mut params = bench.search_params("alpha");
    params.path = sub.to_str().unwrap().into();
    let response = crate::tools::search_codebase::search(&bench.core, params).unwrap();
    assert_eq!(response.codebase_path.as_deref(), Some(bench.root.as_str()));
    assert_eq!(response.path, sub.to_str().unwrap());
}

/// A project of so many files, indexed.
fn indexed_with(n_files: usize) -> Bench {
    let bench = Bench::new();
    for at in 0..n_files {
        std::fs::write(bench.project.join(format!("more{at}.rs")), format!("fn more{at}() {{}}\n")).unwrap();
    }
    assert_eq!(bench.manage(ManageAction::Create).status, IndexStatus::Ok);
    bench
}

fn remove_files(bench: &Bench, wanted: impl Fn(&str) -> bool) {
    for entry in std::fs::read_dir(&bench.project).unwrap() {
        let entry = entry.unwrap();
        if wanted(entry.file_name().to_str().unwrap()) {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
}

#[test]
fn a_folder_that_lost_its_files_is_told_and_not_synced_away() {
    // All of them, as of a mount without its disk; and nearly all of them.
    for (n_more, keep) in [(0, None), (48, Some("a.rs"))] {
        let bench = indexed_with(n_more);
        remove_files(&bench, |name| Some(name) != keep);
        let found = bench.search("gamma").unwrap();
        assert_eq!(found.status, IndexStatus::Ok);
        assert_eq!(found.freshness_decision.unwrap().mode, FreshnessMode::SkippedVanishedFiles);
        assert!(!found.results.is_empty(), "the index answers as it was");
        let told = found.warnings.iter().find(|warning| warning.code == "SEARCH_FILES_VANISHED").unwrap();
        assert!(told.message.contains("action='sync'"), "{}", told.message);
        let status = bench.manage(ManageAction::Status);
        assert!(status.warnings.iter().any(|warning| warning.code == "FILES_VANISHED"), "{status:?}");
        // The disk is back.
        std::fs::write(bench.project.join("b.rs"), "fn gamma() {}\n").unwrap();
        // A lifecycle action says that it is meant.
        remove_files(&bench, |name| Some(name) != keep);
        let synced = bench.manage(ManageAction::Sync);
        assert_eq!(synced.status, IndexStatus::Ok, "{}", synced.human_text);
        assert!(bench.search("gamma").unwrap().results.is_empty());
        let status = bench.manage(ManageAction::Status);
        assert!(!status.warnings.iter().any(|warning| warning.code == "FILES_VANISHED"), "{status:?}");
    }
}

#[test]
fn files_that_a_rule_ignores_or_a_person_removes_are_followed() {
    let bench = indexed_with(20);
    // Half of them: a folder that was removed.
    remove_files(&bench, |name| name.starts_with("more1"));
    let found = bench.search("gamma").unwrap();
    assert_eq!(found.freshness_decision.unwrap().mode, FreshnessMode::Synced);
    // All that is left, by a rule: they are still there.
    std::fs::write(bench.project.join(".chartroomignore"), "*.rs\n").unwrap();
    let found = bench.search("gamma").unwrap();
    assert_eq!(found.freshness_decision.unwrap().mode, FreshnessMode::ReconciledIgnoreChange);
    assert!(found.results.is_empty());
}

#[test]
fn a_file_that_was_seen_changing_is_synced_without_a_look_at_the_rest() {
    let bench = Bench::indexed();
    let sync = bench.core.sync_of(&bench.root);
    sync.set_watched(true);
    let stats = |found: &SearchCodebaseResponse| found.freshness_decision.as_ref().unwrap().stats.unwrap();
    let write = |name: &str, text: &str| std::fs::write(bench.project.join(name), text).unwrap();
    bench.search("alpha").unwrap();
    // Nobody saw the change of b.rs, so that whoever finds it has looked at more than was seen.
    write("a.rs", "fn changed() {}\n");
    write("b.rs", "fn unseen() {}\n");
    sync.mark_files(["a.rs".to_owned(), "a.rs.swp".to_owned()]);
    let found = bench.search("changed").unwrap();
    assert_eq!((stats(&found).modified, found.results.len()), (1, 1));
    assert_eq!(bench.search("unseen").unwrap().results.len(), 0);
    // One that came is judged by the ignore rules on its way, and alone.
    std::fs::create_dir(bench.project.join("rules")).unwrap();
    write("rules/.gitignore", "ignored.rs\n");
    write("rules/first.rs", "fn first() {}\n");
    sync.mark_dirty();
    bench.search("first").unwrap();
    write("b.rs", "fn lately() {}\n");
    write("c.rs", "fn newest() {}\n");
    write("rules/ignored.rs", "fn ignored() {}\n");
    write("rules/second.rs", "fn second() {}\n");
    sync.mark_files(["c.rs", "rules/ignored.rs", "rules/second.rs"].map(str::to_owned));
    let found = bench.search("newest").unwrap();
    assert_eq!((stats(&found).added, found.results.len()), (2, 1));
    assert_eq!(bench.search("second").unwrap().results.len(), 1);
    assert_eq!(bench.search("ignored").unwrap().results.len(), 0);
    assert_eq!(bench.search("lately").unwrap().results.len(), 0);
    // One that is no text is told as left out, and for that everything is looked at.
    write("d.rs", "fn text() {}\0\n");
    sync.mark_files(["d.rs".to_owned()]);
    assert_eq!(bench.search("lately").unwrap().results.len(), 1);
    // One that went is gone.
    std::fs::remove_file(bench.project.join("c.rs")).unwrap();
    sync.mark_files(["c.rs".to_owned()]);
    assert_eq!(stats(&bench.search("newest").unwrap()).removed, 1);
    // A folder that went takes its files with it, though only its own name was seen.
    std::fs::create_dir(bench.project.join("sub")).unwrap();
    write("sub/d.rs", "fn below() {}\n");
    sync.mark_files(["sub".to_owned()]);
    assert_eq!(bench.search("below").unwrap().results.len(), 1);
    std::fs::remove_dir_all(bench.project.join("sub")).unwrap();
    sync.mark_files(["sub".to_owned()]);
    assert_eq!(stats(&bench.search("below").unwrap()).removed, 1);
}
