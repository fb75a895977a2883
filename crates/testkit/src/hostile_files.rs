//! Files of a repository that are made to take a reader down: they overflow a parser, take gigabytes, never end or never
//! answer, or lead out of the repository. Nothing of them is ever executed; see [`crate::hostile`] for that.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Kinds of source that have a grammar.
const EXTENSIONS: &[&str] =
    &["rs", "ts", "tsx", "js", "py", "go", "java", "c", "cpp", "cs", "rb", "php", "sh"];
/// What makes a parser open scope after scope, or try reading after reading.
const TEXTS: &[&str] = &["((((", "{[(<", "a=>", "class A{"];

/// Ignore files that are left out, as [`plant`] makes them.
pub const IGNORE_FILES: &[&str] =
    &[".gitignore", ".chartroomignore", ".git/info/exclude", "sub/.gitignore", "sub/.ignore"];

/// Puts all of them into a folder and returns how many there are. A story with real agents or language servers must not
/// use them: what those read with knows no limits.
pub fn plant(folder: &Path) -> usize {
    fs::create_dir_all(folder.join(".git/info")).expect("a folder");
    sources(folder) + ignore_files(folder) + manifests(folder) + no_files(folder) + odd_texts(folder)
}

/// Source that parsers fear, four files of each kind.
pub fn sources(folder: &Path) -> usize {
    for extension in EXTENSIONS {
        for (number, text) in TEXTS.iter().enumerate() {
            let start = if *extension == "php" { "<?php\n" } else { "" };
            write(
                folder,
                &format!("hostile{number}.{extension}"),
                &(start.to_owned() + &repeated(text, 60_000)),
            );
        }
    }
    EXTENSIONS.len() * TEXTS.len()
}

/// Ignore files that are devices, a pipe, or megabytes of patterns.
pub fn ignore_files(folder: &Path) -> usize {
    for name in [".gitignore", ".chartroomignore", ".git/info/exclude"] {
        symlink("/dev/zero", folder.join(name)).expect("a link");
    }
    write(folder, "sub/.gitignore", &repeated("*x*y*", 5_800_000));
    pipe(&folder.join("sub/.ignore"));
    IGNORE_FILES.len()
}

/// Markers, configs and manifests that are no files, or without an end.
fn manifests(folder: &Path) -> usize {
    symlink("/dev/zero", folder.join("Cargo.toml")).expect("a link");
    pipe(&folder.join("package.json"));
    sparse(&folder.join("tsconfig.json"), 1 << 30);
    symlink("/dev/random", folder.join(".mcp.json")).expect("a link");
    fs::create_dir(folder.join("pyproject.toml")).expect("a folder");
    5
}

/// Names of source where something else lies.
fn no_files(folder: &Path) -> usize {
    pipe(&folder.join("pipe.py"));
    symlink("/dev/zero", folder.join("zero.py")).expect("a link");
    symlink("/etc/passwd", folder.join("outside.py")).expect("a link");
    symlink("loop.py", folder.join("loop.py")).expect("a link");
    symlink("/", folder.join("everything")).expect("a link");
    symlink(".", folder.join("itself")).expect("a link");
    sparse(&folder.join("huge.py"), 1 << 30);
    fs::create_dir(folder.join("folder.py")).expect("a folder");
    8
}

/// Text that is none, or in odd places.
fn odd_texts(folder: &Path) -> usize {
    write(folder, "one_line.js", &"var a=1;".repeat(110_000));
    write(folder, "nul.c", &"int a;\0\n".repeat(1_000));
    fs::write(folder.join("latin.py"), b"name = '\xe9\xff'\n".repeat(1_000)).expect("a file");
    write(folder, "new\nline.py", "def odd_name():\n    pass\n");
    write(folder, "\u{202e}yp.drawkcab.py", "def backwards():\n    pass\n");
    let not_utf8 = std::ffi::OsStr::from_bytes(b"\xff\xfe.py");
    fs::write(folder.join(not_utf8), "def no_name():\n    pass\n").expect("a file");
    let deep = "d/".repeat(300);
    write(folder, &format!("{deep}deep.py"), "def deep():\n    pass\n");
    7
}

/// A text over and over, with a line end now and then: without one the file would be taken for generated.
pub fn repeated(text: &str, n_bytes: usize) -> String {
    let line = text.repeat(60usize.div_ceil(text.len())) + "\n";
    line.repeat(n_bytes / line.len())
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// A pipe that nobody writes to.
fn pipe(path: &Path) {
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path, fifo, 0o600.into(), 0).expect("a pipe");
}

/// A file of zeros that takes no room.
fn sparse(path: &Path, n_bytes: u64) {
    File::create(path).and_then(|file| file.set_len(n_bytes)).expect("a sparse file");
}
