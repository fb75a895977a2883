//! Confined language servers where our data, the home, the project and the caches lie in each other's folders.

#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(target_os = "linux")]

#[path = "common/stage.rs"]
mod stage;

use std::path::PathBuf;

use chartroom_testkit::project::Project;
use stage::Stage;

const GO: &str = "//- go.mod\nmodule example.com/x\n\ngo 1.19\n//- main.go\npackage main\n\nfunc main() { println(bad) }\n";

/// gopls answers about a project, whatever lies where. `variables` are given the project's folder and an empty one.
async fn gopls_answers(
    place: impl Fn(&Project, &Project) -> (tempfile::TempDir, PathBuf, Vec<(&'static str, PathBuf)>),
) {
    let (project, other) = (Project::new(GO), Project::new(""));
    let (data, folder, variables) = place(&project, &other);
    let stage = Stage::placed(project, &folder, "{}", (data, &variables));
    stage.be_trusted();
    let lines = stage.write("bad.go", "package main\n\nvar bad int = \"x\"\n").await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    let lines = stage.write("bad.go", "package main\n\nvar bad int = 1\n").await;
    assert_eq!(lines, Vec::<String>::new());
    stage.end().await;
}

#[tokio::test]
async fn gopls_works_with_our_data_below_the_temporary_folder() {
    gopls_answers(|project, other| {
        let data = tempfile::tempdir_in(other.root()).unwrap();
        (data, project.root().to_owned(), vec![("TMPDIR", other.root().to_owned())])
    })
    .await;
}

#[tokio::test]
async fn gopls_works_with_our_data_in_the_system_s_temporary_folder_and_no_word_about_another() {
    gopls_answers(|project, other| {
        let home = other.path("home");
        std::fs::create_dir(&home).unwrap();
        let data = tempfile::tempdir_in("/tmp").unwrap();
        (data, project.root().to_owned(), vec![("TMPDIR", "/tmp".into()), ("HOME", home)])
    })
    .await;
}

#[tokio::test]
async fn gopls_works_in_a_home_that_is_the_project() {
    gopls_answers(|project, other| {
        let data = tempfile::tempdir_in(other.root()).unwrap();
        (
            data,
            project.root().to_owned(),
            vec![("HOME", project.root().to_owned()), ("TMPDIR", "/tmp".into())],
        )
    })
    .await;
}

#[tokio::test]
async fn gopls_works_with_our_data_in_its_cache_and_with_caches_that_are_not_there_yet() {
    gopls_answers(|project, other| {
        std::fs::create_dir(other.path("cache")).unwrap();
        let data = tempfile::tempdir_in(other.path("cache")).unwrap();
        (
            data,
            project.root().to_owned(),
            vec![("HOME", other.root().to_owned()), ("XDG_CACHE_HOME", other.path("cache"))],
        )
    })
    .await;
    gopls_answers(|project, other| {
        let data = tempfile::tempdir().unwrap();
        let variables = vec![
            ("GOCACHE", other.path("a/build")),
            ("GOPATH", other.path("b")),
            ("GOMODCACHE", other.path("c/d")),
        ];
        (data, project.root().to_owned(), variables)
    })
    .await;
}
