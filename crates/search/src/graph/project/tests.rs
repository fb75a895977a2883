//! Import paths of several languages against small trees.

use super::*;

#[track_caller]
fn check(tree: &[(&str, Option<&str>)], family: Family, importer: &str, module: &str, expected: &[&str]) {
    let project = Project::of(tree.iter().copied());
    let found = project.locate(family, importer, module).map(|place| place.files).unwrap_or_default();
    assert_eq!(found, expected, "{module} in {importer}");
}

#[test]
fn go_packages_lie_where_the_module_says() {
    let tree = &[
        ("go.mod", Some("github.com/x/web")),
        ("web.go", Some("web")),
        ("context.go", Some("web")),
        ("internal/json/json.go", Some("json")),
        ("cmd/app/main.go", Some("main")),
    ];
    check(tree, Family::Go, "cmd/app/main.go", "github.com/x/web", &["context.go", "web.go"]);
    check(tree, Family::Go, "web.go", "github.com/x/web/internal/json", &["internal/json/json.go"]);
    check(tree, Family::Go, "web.go", "encoding/json", &[]);
    // Without the manifest: by the package clause and by the end of the path.
    check(&tree[1..], Family::Go, "cmd/app/main.go", "github.com/x/web", &["context.go", "web.go"]);
    check(&tree[1..], Family::Go, "web.go", "github.com/x/web/internal/json", &["internal/json/json.go"]);
}

#[test]
fn scripts_import_files_folders_and_packages_of_the_workspace() {
    let tree = &[
        ("packages/core/package.json", Some("@x/core ./dist/index.js index.js")),
        // A stub that picks what was built.
        ("packages/core/index.js", None),
        ("packages/core/src/index.ts", None),
        ("packages/core/src/deep/log.ts", None),
        ("packages/app/src/main.ts", None),
        ("packages/app/src/widgets/index.tsx", None),
        ("packages/app/src/util.ts", None),
    ];
    let main = "packages/app/src/main.ts";
    check(tree, Family::Script, main, "./util", &["packages/app/src/util.ts"]);
    check(tree, Family::Script, main, "./util.js", &["packages/app/src/util.ts"]);
    check(tree, Family::Script, main, "./widgets", &["packages/app/src/widgets/index.tsx"]);
    check(tree, Family::Script, main, "@x/core", &["packages/core/src/index.ts"]);
    check(tree, Family::Script, main, "@x/core/deep/log", &["packages/core/src/deep/log.ts"]);
    check(tree, Family::Script, main, "@/util", &["packages/app/src/util.ts"]);
    check(tree, Family::Script, main, "react", &[]);
}

#[test]
fn python_modules_are_relative_or_by_their_end() {
    let tree = &[
        ("src/django/db/models/__init__.py", None),
        ("src/django/db/models/query.py", None),
        ("src/django/utils/log.py", None),
        ("tests/log.py", None),
    ];
    let query = "src/django/db/models/query.py";
    check(tree, Family::Python, query, "django.db.models", &["src/django/db/models/__init__.py"]);
    check(tree, Family::Python, query, ".", &["src/django/db/models/__init__.py"]);
    check(tree, Family::Python, query, "...utils.log", &["src/django/utils/log.py"]);
    check(tree, Family::Python, query, "django.utils.log", &["src/django/utils/log.py"]);
    check(tree, Family::Python, query, "os", &[]);
}

#[test]
fn rust_paths_follow_modules_and_crates() {
    let tree = &[
        ("crates/a/Cargo.toml", Some("a-lib")),
        ("crates/a/src/lib.rs", None),
        ("crates/a/src/net.rs", None),
        ("crates/a/src/net/pool.rs", None),
        ("crates/b/Cargo.toml", Some("b")),
        ("crates/b/src/main.rs", None),
    ];
    check(tree, Family::Rust, "crates/a/src/lib.rs", "crate::net::pool", &["crates/a/src/net/pool.rs"]);
    check(tree, Family::Rust, "crates/a/src/net.rs", "self::pool", &["crates/a/src/net/pool.rs"]);
    check(tree, Family::Rust, "crates/a/src/lib.rs", "net", &["crates/a/src/net.rs"]);
    check(tree, Family::Rust, "crates/b/src/main.rs", "a_lib::net", &["crates/a/src/net.rs"]);
    check(tree, Family::Rust, "crates/b/src/main.rs", "a_lib", &["crates/a/src/lib.rs"]);
    check(tree, Family::Rust, "crates/b/src/main.rs", "std::io", &[]);
    let project = Project::of(tree.iter().copied());
    let place = project.locate(Family::Rust, "crates/a/src/lib.rs", "crate::net::Pool").unwrap();
    assert_eq!((place.files, place.rest), (vec!["crates/a/src/net.rs".to_owned()], vec!["Pool".to_owned()]));
}

#[test]
fn java_packages_are_folders_and_types_are_files() {
    let tree = &[("src/main/java/com/example/Log.java", None), ("src/main/java/com/other/Log.java", None)];
    check(tree, Family::Java, "A.java", "com.example", &["src/main/java/com/example/Log.java"]);
    check(tree, Family::Java, "A.java", "com.example.Log", &["src/main/java/com/example/Log.java"]);
    check(tree, Family::C, "src/a.c", "missing.h", &[]);
}
