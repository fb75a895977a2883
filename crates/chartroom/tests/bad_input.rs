//! What is no file for a language server, through every tool and command that takes a path: each says why, and no
//! server is started for it.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/agent.rs"]
mod agent;
#[path = "common/program.rs"]
mod program;

use agent::{Scene, created, found, text};
use serde_json::json;

/// A path, and what the tools that look say of it; the tools that write say it in their own words.
fn bad_paths(scene: &Scene) -> Vec<(String, &'static str, &'static str)> {
    let shop = scene.shop();
    let outside = scene.home.write("outside.foo", "ERR outside\n");
    std::fs::create_dir(shop.join("folder.foo")).unwrap();
    std::fs::create_dir_all(shop.join("node_modules/m")).unwrap();
    std::fs::write(shop.join("node_modules/m/a.foo"), "ERR theirs\n").unwrap();
    std::fs::write(shop.join("binary.foo"), b"ERR a\0b\n").unwrap();
    std::fs::write(shop.join("latin.foo"), b"ERR \xe9\n").unwrap();
    std::fs::write(shop.join("large.foo"), vec![b'x'; 50 * 1024 * 1024]).unwrap();
    std::os::unix::fs::symlink(&outside, shop.join("link.foo")).unwrap();
    std::os::unix::fs::symlink(scene.home.path(), shop.join("up")).unwrap();
    let outside = outside.display().to_string();
    vec![
        (outside, "outside", "outside of the workspace"),
        ("link.foo".into(), "outside", "outside of the workspace"),
        ("up/outside.foo".into(), "outside", "outside of the workspace"),
        ("../outside.foo".into(), "outside", "outside of the workspace"),
        ("x/../../outside.foo".into(), "outside", "outside of the workspace"),
        ("node_modules/m/a.foo".into(), "", "belongs to a dependency"),
        ("folder.foo".into(), "folder", "is a folder"),
        ("binary.foo".into(), "binary", "is a binary file"),
        ("latin.foo".into(), "UTF-8", "is not valid UTF-8"),
        ("large.foo".into(), "larger than 4 MiB", "is larger than 16 MiB"),
        ("missing.foo".into(), "does not exist", "does not exist"),
    ]
}

#[test]
fn every_tool_and_command_refuses_it_with_the_reason_and_starts_nothing() {
    let scene = Scene::trusted("good");
    let mut agent = scene.agent();
    for (path, reason, edit_reason) in bad_paths(&scene) {
        let place = json!({ "filePath": path, "line": 1, "symbol": "ERR" });
        let file = json!({ "filePath": path });
        let calls = json!({ "filePath": path, "line": 1, "symbol": "ERR", "direction": "incoming" });
        for (tool, arguments) in [
            ("lsp_calls", &calls),
            ("lsp_check", &file),
            ("lsp_document_symbols", &file),
            ("lsp_goto_definition", &place),
            ("lsp_find_references", &place),
            ("lsp_hover", &place),
        ] {
            let answer = agent.call(tool, arguments.clone());
            assert_eq!(answer["isError"], true, "{tool} {path}: {answer}");
            assert!(text(&answer).contains(reason), "{tool} {path}: {answer}");
        }
        let edit = json!({ "filePath": path, "oldText": "ERR", "newText": "changed" });
        let answer = agent.call("edit_file", edit);
        assert_eq!(answer["isError"], true, "{path}: {answer}");
        assert!(text(&answer).contains(edit_reason), "{path}: {answer}");
        let from_shop = std::path::Path::new("shop").join(&path).display().to_string();
        let (code, stdout, stderr) = scene.run(&["check", "--root", "shop", &from_shop]);
        assert_eq!((code, stdout.as_str()), (3, ""), "{path}: {stderr}");
        assert!(stderr.contains(reason), "{path}: {stderr}");
    }
    assert_eq!(scene.servers(), Vec::<u32>::new(), "nothing was started for any of them");
    let outside = std::fs::read_to_string(scene.home.path().join("outside.foo")).unwrap();
    assert_eq!(outside, "ERR outside\n", "nothing outside was touched");
    // A text that is too large for a server is written all the same, and checked by nobody.
    let answer = agent.write("new.foo", &"ERR x\n".repeat(1024 * 1024));
    assert_eq!(answer, "Created new.foo (1048576 lines).");
    assert_eq!(scene.servers(), Vec::<u32>::new());
    assert_eq!(agent.leave().0, 0);
}

#[test]
fn a_check_of_two_files_is_only_as_good_as_the_worse_of_them() {
    let scene = Scene::trusted("good");
    for (name, content) in [("clean.foo", "fine\n"), ("broken.foo", "ERR x\n"), ("a.xyz", "fine\n")] {
        std::fs::write(scene.shop().join(name), content).unwrap();
    }
    for (files, code, says) in [
        (&["shop/clean.foo"] as &[&str], 0, ""),
        (&["shop/clean.foo", "shop/broken.foo"], 1, ""),
        (&["shop/clean.foo", "shop/a.xyz"], 3, "a.xyz: no language server knows this kind of file"),
        (&["shop/broken.foo", "shop/a.xyz"], 3, "a.xyz: no language server knows this kind of file"),
        (&["shop/clean.foo", "shop/none.foo"], 3, "none.foo: the file does not exist"),
    ] {
        let (told, stdout, stderr) = scene.run(&[&["check", "--root", "shop"], files].concat());
        assert_eq!(told, code, "{files:?}: {stdout}{stderr}");
        assert!(stderr.contains(says), "{files:?}: {stderr}");
        assert_eq!(stdout.contains("ERROR [1:1] x"), files.contains(&"shop/broken.foo"), "{stdout}");
    }
    // Its server does not come up, while the other file's answers.
    let config = std::fs::read_to_string(&scene.config).unwrap();
    let gone = "[lsp.servers.gone]\ncommand = \"/none/such\"\nextensions = [\".bar\"]\n";
    std::fs::write(&scene.config, format!("{config}{gone}")).unwrap();
    std::fs::write(scene.shop().join("b.bar"), "fine\n").unwrap();
    let (code, stdout, stderr) = scene.run(&["check", "--root", "shop", "shop/clean.foo", "shop/b.bar"]);
    assert_eq!((code, stdout.as_str()), (3, ""), "{stderr}");
    assert!(stderr.contains("b.bar: gone: "), "{stderr}");
}

// EC-16, REQ-FMT-040
#[test]
fn what_the_compiler_says_is_escaped_for_the_model_alone() {
    let scene = Scene::trusted("good");
    let mut agent = scene.agent();
    assert_eq!(agent.write("a.foo", "ERR Array<a> & b\n"), created("a.foo", "Array&lt;a&gt; &amp; b"));
    let (code, stdout, stderr) = scene.run(&["check", "--root", "shop", "shop/a.foo"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stdout.contains("ERROR [1:1] Array<a> & b\n"), "{stdout}");
    let (_, stdout, stderr) = scene.run(&["check", "--root", "shop", "--json", "shop/a.foo"]);
    let answer: serde_json::Value =
        serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stdout}{stderr}"));
    assert_eq!(answer["files"][0]["diagnostics"][0]["message"], "Array<a> & b");
    assert_eq!(agent.leave().0, 0);
}

#[test]
fn blanks_umlauts_and_carriage_returns_are_no_trouble() {
    let scene = Scene::trusted("good");
    let mut agent = scene.agent();
    let file = "Größe und Maß/ein \"Stück\".foo";
    let answer = agent.write(file, "ERR tschüß\r\n");
    let shown = "Größe und Maß/ein &quot;Stück&quot;.foo";
    let expected = created(file, "tschüß").replace(&format!("file=\"{file}\""), &format!("file=\"{shown}\""));
    assert_eq!(answer, expected);
    assert_eq!(std::fs::read_to_string(scene.shop().join(file)).unwrap(), "ERR tschüß\r\n");
    assert_eq!(scene.servers().len(), 1, "this one is a file");
    let edit = json!({ "filePath": file, "oldText": "ERR tschüß", "newText": "fine\nERR zwei" });
    let answer = text(&agent.call("edit_file", edit));
    assert!(answer.ends_with(&found(shown, "zwei").replace("[1:1]", "[2:1]")), "{answer}");
    let written = std::fs::read_to_string(scene.shop().join(file)).unwrap();
    assert_eq!(written, "fine\r\nERR zwei\r\n", "the endings are kept");
    assert_eq!(agent.leave().0, 0);
}
