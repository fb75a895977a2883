//! Which files are indexed: one decision for the first index, for sync and for the watcher.

#[cfg(test)]
mod tests;

use std::path::Path;

use chartroom_protocol::index::SkipReason;
use chartroom_workspace::binary::looks_binary;
use chartroom_workspace::limits;

use crate::symbols::Language;

/// A line longer than this, on average over the prefix, was written by a program.
const GENERATED_LINE: usize = 1_000;

/// What the file system says about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileMeta {
    /// In bytes.
    pub size: u64,
    /// The codebase asks for this file's extension explicitly.
    pub custom: bool,
}

/// Why a file is not indexed. None of these is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// Keys, environment files, credentials: they must not reach an index or an embedding service.
    Secret,
    /// Written by a package manager.
    Lockfile,
    /// Written by a generator or a bundler.
    Generated,
    /// Its lines are so long that no person wrote them.
    LongLines,
    /// Over the limit for one file.
    TooLarge,
    /// It has bytes that no text has.
    Binary,
    /// It begins with the byte order mark of UTF-16.
    Utf16,
    /// No language claims the name.
    UnknownType,
    /// The name is not UTF-8, so that it cannot be given back in an answer.
    NameNotUtf8,
}

impl Refusal {
    /// What people are told of such a file; none where its name could not be told.
    pub fn told(self) -> Option<SkipReason> {
        match self {
            Self::Secret => Some(SkipReason::Secret),
            Self::Lockfile => Some(SkipReason::Lockfile),
            Self::Generated => Some(SkipReason::Generated),
            Self::LongLines => Some(SkipReason::LongLines),
            Self::TooLarge => Some(SkipReason::TooLarge),
            Self::Binary => Some(SkipReason::Binary),
            Self::Utf16 => Some(SkipReason::Encoding),
            Self::UnknownType => Some(SkipReason::UnknownKind),
            Self::NameNotUtf8 => None,
        }
    }
}

/// Decides whether a file is indexed and as what. `path` is relative to the root; `prefix` its first bytes, or empty
/// when they are not known yet, which leaves out the checks of the content.
pub fn indexable(path: &Path, meta: FileMeta, prefix: &[u8]) -> Result<Language, Refusal> {
    let Some(relative) = path.to_str() else { return Err(Refusal::NameNotUtf8) };
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    if is_secret(&name, relative) {
        return Err(Refusal::Secret);
    }
    if LOCKFILES.contains(&name.as_str()) || name.ends_with(".lock") {
        return Err(Refusal::Lockfile);
    }
    if GENERATED_NAMES.iter().any(|suffix| name.ends_with(suffix)) {
        return Err(Refusal::Generated);
    }
    let language = match Language::of(path) {
        Some(language) => language,
        None if meta.custom => Language::plain(),
        None => return Err(Refusal::UnknownType),
    };
    let limit =
        if language.has_symbols() || meta.custom { limits::INDEXED_FILE } else { limits::INDEXED_PROSE };
    if meta.size > limit {
        return Err(Refusal::TooLarge);
    }
    if prefix.starts_with(b"\xff\xfe") || prefix.starts_with(b"\xfe\xff") {
        return Err(Refusal::Utf16);
    }
    if looks_binary(prefix) {
        return Err(Refusal::Binary);
    }
    if has_long_lines(prefix) {
        return Err(Refusal::LongLines);
    }
    if looks_generated(prefix) {
        return Err(Refusal::Generated);
    }
    Ok(language)
}

const LOCKFILES: &[&str] = &[
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "go.sum",
    "composer.lock",
    "gradle.lockfile",
    "packages.lock.json",
    "bun.lockb",
];

const GENERATED_NAMES: &[&str] = &[
    ".min.js",
    ".min.css",
    ".bundle.js",
    ".bundle.css",
    ".chunk.js",
    ".vendor.js",
    ".polyfills.js",
    ".map",
    "_pb2.py",
    "_pb2_grpc.py",
    ".pb.go",
    ".pb.cc",
    ".pb.h",
    ".g.dart",
    ".designer.cs",
    ".generated.cs",
    ".snap",
];

fn is_secret(name: &str, relative: &str) -> bool {
    let environment = name == ".env" || (name.starts_with(".env.") && !name.ends_with(".example"));
    let key = [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".asc", ".gpg", ".ppk"]
        .iter()
        .any(|suffix| name.ends_with(suffix));
    let known = [
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        ".htpasswd",
        "credentials",
        "secrets.yml",
        "secrets.yaml",
        "secrets.toml",
    ]
    .contains(&name)
        || ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"].iter().any(|key| name.starts_with(key));
    let folder = relative.split('/').any(|part| part == ".ssh" || part == ".aws" || part == ".gnupg");
    environment || key || known || folder
}

/// Whether the lines at the beginning of a file are longer than people write them.
fn has_long_lines(prefix: &[u8]) -> bool {
    let lines = prefix.iter().filter(|byte| **byte == b'\n').count() + 1;
    prefix.len() > 4 * GENERATED_LINE && prefix.len() / lines > GENERATED_LINE
}

/// Says whether the beginning of a file tells that a program wrote it.
fn looks_generated(prefix: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&prefix[..prefix.len().min(600)]);
    head.lines().take(8).any(|line| {
        let line = line.trim_start();
        let comment = ["//", "#", "/*", "*", "--", "<!--"].iter().any(|prefix| line.starts_with(prefix));
        comment
            && (line.contains("@generated")
                || line.contains("Code generated by") && line.contains("DO NOT EDIT")
                || line.contains("A Bison parser, made by")
                || line.contains("A lexical scanner generated by flex"))
    })
}
