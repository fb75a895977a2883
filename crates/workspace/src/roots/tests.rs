use super::*;

/// Writes files, `name` or `name: content`, and tells the root and the nearest folder for a file.
#[track_caller]
fn check(files: &[(&str, &str)], file: &str, markers: &[&str], expected: (&str, &str)) {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files.iter().chain(&[(file, "")]) {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let root = CanonicalRoot::open(folder.path()).unwrap();
    let project = project(&root, &root.as_path().join(file), markers).unwrap();
    let below = |path: &Path| root.relative(path).unwrap().to_string_lossy().into_owned();
    assert_eq!((below(&project.root), below(&project.nearest)), (expected.0.into(), expected.1.into()));
}

const CARGO: &[&str] = &["rust-project.json", "Cargo.toml"];
const NODE: &[&str] = &["tsconfig.json", "jsconfig.json", "package.json"];
const PYTHON: &[&str] = &["pyrightconfig.json", "pyproject.toml", "setup.py"];
const GO: &[&str] = &["go.work", "go.mod"];
const JAVA: &[&str] = &["pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle"];
const C: &[&str] = &["compile_commands.json", "CMakeLists.txt", "Makefile"];

#[test]
fn a_crate_belongs_to_the_workspace_that_does_not_leave_it_out() {
    let package = "[package]\nname = 'x'\n";
    let files = [
        ("Cargo.toml", "[workspace]\nmembers = ['crates/*']\nexclude = ['out', 'crates/alone']\n"),
        ("crates/a/Cargo.toml", package),
        ("crates/a/deep/path-dependency/Cargo.toml", package),
        ("out/x/Cargo.toml", package),
        ("out/y/Cargo.toml", "[package]\nname = 'y'\nworkspace = '../../crates/own'\n"),
        ("crates/own/Cargo.toml", "[package]\nname = 'x'\n[workspace]\n"),
        ("crates/broken/Cargo.toml", "[package\n"),
    ];
    for (file, expected) in [
        ("crates/a/src/lib.rs", ("", "crates/a")),
        ("crates/a/deep/path-dependency/src/lib.rs", ("", "crates/a/deep/path-dependency")),
        ("out/x/src/lib.rs", ("out/x", "out/x")),
        ("crates/own/src/lib.rs", ("crates/own", "crates/own")),
        ("crates/broken/src/lib.rs", ("crates/broken", "crates/broken")),
        ("src/lib.rs", ("", "")),
    ] {
        check(&files, file, CARGO, expected);
    }
    // A pointer that leads beside the package is no root of it.
    check(&files, "out/y/src/lib.rs", CARGO, ("out/y", "out/y"));
    // Named and left out: named wins, as with cargo.
    let named =
        [("Cargo.toml", "[workspace]\nmembers = ['a/b']\nexclude = ['a']\n"), ("a/b/Cargo.toml", package)];
    check(&named, "a/b/src/lib.rs", CARGO, ("", "a/b"));
}

#[test]
fn a_go_module_belongs_to_the_go_work_that_uses_it() {
    let files = [
        ("go.work", "go 1.19\n\nuse (\n\t./core // the core\n\t\"./web\"\n)\nuse ./cmd/tool\n"),
        ("core/go.mod", ""),
        ("web/go.mod", ""),
        ("cmd/tool/go.mod", ""),
        ("other/go.mod", ""),
    ];
    check(&files, "core/a/b.go", GO, ("", "core"));
    check(&files, "web/b.go", GO, ("", "web"));
    check(&files, "cmd/tool/b.go", GO, ("", "cmd/tool"));
    check(&files, "other/b.go", GO, ("other", "other"));
}

#[test]
fn a_package_belongs_to_the_workspaces_that_name_it_or_to_its_lock_file() {
    let pnpm = [
        ("pnpm-workspace.yaml", "packages:\n  - 'packages/*'\n  - '!packages/alone'\n"),
        ("package.json", "{}"),
        ("packages/core/package.json", "{}"),
        ("packages/core/src/tsconfig.json", "{}"),
        ("packages/alone/package.json", "{}"),
        ("examples/x/package.json", "{}"),
    ];
    check(&pnpm, "packages/core/src/a.ts", NODE, ("", "packages/core/src"));
    check(&pnpm, "packages/alone/a.ts", NODE, ("packages/alone", "packages/alone"));
    check(&pnpm, "examples/x/a.ts", NODE, ("examples/x", "examples/x"));
    for workspaces in ["[\"packages/**\"]", "{ \"packages\": [\"./packages/deep/*/\"], \"nohoist\": [] }"] {
        let manifest = format!("{{ \"workspaces\": {workspaces} }}");
        let files = [
            ("mono/package.json", manifest.as_str()),
            ("mono/packages/deep/core/package.json", "{}"),
            ("package.json", "{}"),
        ];
        check(&files, "mono/packages/deep/core/a.ts", NODE, ("mono", "mono/packages/deep/core"));
    }
    for lock in ["package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"] {
        check(&[(lock, ""), ("app/package.json", "{}")], "app/a.ts", NODE, ("", "app"));
    }
    let own_lock = [("yarn.lock", ""), ("app/package.json", "{}"), ("app/yarn.lock", "")];
    check(&own_lock, "app/a.ts", NODE, ("app", "app"));
    check(&[("one/package.json", "{}"), ("two/package.json", "{}")], "one/a.ts", NODE, ("one", "one"));
}

#[test]
fn a_project_belongs_to_the_tsconfig_that_leads_to_it() {
    let files = [
        ("tsconfig.json", "{ // the solution\n \"files\": [], \"references\": [{ \"path\": \"./web\" },], }"),
        (
            "web/tsconfig.json",
            "{ \"references\": [{ \"path\": \"../core/tsconfig.lib.json\" }, { \"path\": \"..\" }] }",
        ),
        ("core/tsconfig.json", "{}"),
        ("core/tsconfig.lib.json", "{}"),
        ("other/tsconfig.json", "{}"),
    ];
    check(&files, "web/a.ts", NODE, ("", "web"));
    check(&files, "core/a.ts", NODE, ("", "core"));
    check(&files, "other/a.ts", NODE, ("other", "other"));
}

#[test]
fn a_module_belongs_to_its_maven_parent_or_gradle_build() {
    let maven = [
        (
            "pom.xml",
            "<project><modules><module>libs</module><!-- <module>other</module> --></modules></project>",
        ),
        ("libs/pom.xml", "<modules>\n<module> core </module>\n<module>../web/pom.xml</module></modules>"),
        ("libs/core/pom.xml", "<project/>"),
        ("other/pom.xml", "<project/>"),
    ];
    check(&maven, "libs/core/src/A.java", JAVA, ("", "libs/core"));
    check(&maven, "other/src/A.java", JAVA, ("other", "other"));
    let gradle = [("settings.gradle.kts", "include(\":app\")"), ("app/build.gradle.kts", "")];
    check(&gradle, "app/src/A.java", JAVA, ("", "app"));
}

#[test]
fn a_python_project_belongs_to_the_workspace_that_has_it() {
    for manifest in [
        "[tool.uv.workspace]\nmembers = ['packages/*']\nexclude = ['packages/alone']\n",
        "[tool.rye.workspace]\nmembers = ['packages/web']\n",
        "[tool.poetry.dependencies]\npython = '^3.11'\nweb = { path = './packages/web', develop = true }\n",
        "[tool.poetry.group.dev.dependencies]\nweb = { path = 'packages/web' }\n",
    ] {
        let files = [
            ("pyproject.toml", manifest),
            ("packages/web/pyproject.toml", "[project]\nname = 'web'\n"),
            ("packages/alone/pyproject.toml", "[project]\nname = 'alone'\n"),
        ];
        check(&files, "packages/web/src/a.py", PYTHON, ("", "packages/web"));
        check(&files, "packages/alone/a.py", PYTHON, ("packages/alone", "packages/alone"));
    }
    let own = [
        ("pyproject.toml", "[tool.uv.workspace]\nmembers = ['*']\n"),
        ("web/pyproject.toml", ""),
        ("web/pyrightconfig.json", "{}"),
    ];
    check(&own, "web/a.py", PYTHON, ("web", "web"));
}

#[test]
fn a_c_file_belongs_to_the_nearest_compilation_database() {
    let cmake = [("CMakeLists.txt", ""), ("src/CMakeLists.txt", ""), ("src/deep/CMakeLists.txt", "")];
    check(&cmake, "src/deep/a.c", C, ("", "src/deep"));
    let built = [
        ("lib/build/compile_commands.json", "[]"),
        ("lib/CMakeLists.txt", ""),
        ("CMakeLists.txt", ""),
        ("lib/src/Makefile", ""),
    ];
    check(&built, "lib/src/a.c", C, ("lib", "lib/src"));
}

// BR-22, REQ-LIFE-030
/// A marker that is no manifest of an ecosystem stands for itself, as do manifests that nobody may read.
#[test]
fn what_is_no_manifest_stands_for_itself() {
    check(&[("foo.toml", ""), ("a/foo.toml", "")], "a/b.foo", &["foo.toml"], ("a", "a"));
    let large = format!("[workspace]\n#{}\n", "x".repeat(2 * 1024 * 1024));
    check(
        &[("Cargo.toml", &large), ("a/Cargo.toml", "[package]\nname = 'a'\n")],
        "a/b.rs",
        CARGO,
        ("a", "a"),
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("w/a")).unwrap();
    std::fs::write(folder.path().join("Cargo.toml"), "[workspace]\n").unwrap();
    std::os::unix::fs::symlink("../Cargo.toml", folder.path().join("w/Cargo.toml")).unwrap();
    std::fs::write(folder.path().join("w/a/Cargo.toml"), "[package]\nname = 'a'\n").unwrap();
    let root = CanonicalRoot::open(folder.path().join("w")).unwrap();
    let found = project(&root, &root.as_path().join("a/b.rs"), CARGO).unwrap();
    assert_eq!(found.root, root.as_path().join("a"), "a link that leads out is not read");
}
