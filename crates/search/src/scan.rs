//! Which files a folder has and how that differs from what is indexed.
//!
//! Stat first: a file whose size and times are those of the manifest is not read. What could not be looked at is not
//! taken for removed.

mod outcome;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use chartroom_protocol::index::{SkipReason, SkippedFile};
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::{Inside, ReadError};
use chartroom_workspace::limits::INDEXED_FILE;
use chartroom_workspace::walk::{self, WalkEvent, WalkOptions};
use rayon::prelude::*;

use crate::chunk::{FileMeta, Refusal, indexable};
use crate::store::{FileStamp, Manifest};

pub use outcome::{LeftOut, Scan, ScanError, ScanOptions, ScannedFile};

/// Folders and files that are no source of a project, besides what the walker leaves out by itself.
const IGNORED: &[&str] = &[
    "dist/",
    "build/",
    "out/",
    "coverage/",
    ".nyc_output/",
    ".vscode/",
    ".idea/",
    ".cache/",
    "logs/",
    "tmp/",
    "temp/",
    "*.swp",
    "*.swo",
    "*.log",
    "*.local",
];

/// How much of a file decides whether it is text.
const PREFIX_BYTES: usize = 8 * 1024;

/// A file as the walk met it.
struct Met {
    rel_path: String,
    custom: bool,
    /// Size, modification and change, as in a stamp.
    stat: (u64, i64, i64),
}

/// What became of a file that had to be looked at.
enum Looked {
    Same,
    Touched(FileStamp),
    Changed(FileStamp),
    /// It is new and was not read.
    New(FileStamp),
    /// It is there, but not for the index.
    Refused(Refusal),
    /// It was there when the folder was read and is not now.
    Gone,
    /// It cannot be read: what is indexed of it stays.
    Unreadable,
}

/// Compares a folder with a manifest.
pub fn scan(root: &Path, previous: &Manifest, options: &ScanOptions) -> Result<Scan, ScanError> {
    let shown = root.display().to_string();
    let canonical = match CanonicalRoot::open(root) {
        Ok(canonical) => canonical,
        Err(_) if matches!(root.try_exists(), Ok(false)) => return Err(ScanError::Missing(shown)),
        Err(error) => return Err(ScanError::Unreadable { path: shown, reason: error.to_string() }),
    };
    let Walked { met, unscanned, left_out, skipped } = walk_folder(&canonical, options)?;
    let looked: Vec<(Met, Option<FileStamp>, Looked)> = met
        .into_par_iter()
        .map(|met| {
            let known = previous.files.get(&met.rel_path).cloned();
            let looked = look(&canonical, &met, known.as_ref(), options);
            (met, known, looked)
        })
        .collect();
    let mut scan = compare(previous, looked, unscanned, left_out);
    scan.skipped.extend(skipped);
    Ok(scan)
}

/// Compares some files with what is indexed of them: the ones that somebody saw changing. `new` are not indexed; those of
/// them that a scan of the whole folder would find are added.
pub fn scan_files(
    root: &Path,
    known: Vec<(String, FileStamp)>,
    new: &[String],
    options: &ScanOptions,
) -> Result<Scan, ScanError> {
    let canonical = CanonicalRoot::open(root).map_err(|error| ScanError::Unreadable {
        path: root.display().to_string(),
        reason: error.to_string(),
    })?;
    let previous = Manifest { files: known.into_iter().collect(), unscanned: Vec::new() };
    let mut looked: Vec<(Met, Option<FileStamp>, Looked)> = previous
        .files
        .iter()
        .map(|(rel_path, stamp)| {
            let custom = has_custom_extension(rel_path, &options.custom_extensions);
            let stat = Inside::below(&canonical, rel_path).and_then(|place| place.metadata().ok());
            let met = |stat| Met { rel_path: rel_path.clone(), custom, stat };
            match stat {
                Some(stat) => {
                    let met = met(times(&stat));
                    let looked = look(&canonical, &met, Some(stamp), options);
                    (met, Some(stamp.clone()), looked)
                }
                None => (met((0, 0, 0)), Some(stamp.clone()), Looked::Gone),
            }
        })
        .collect();
    let mut walked = Walked::default();
    let walk_options = walk_options(options);
    for rel_path in new {
        if let Some(event) = walk::file_at(&canonical, Path::new(rel_path), &walk_options) {
            walked.take(event, &canonical, options)?;
        }
    }
    looked.extend(walked.met.into_iter().map(|met| {
        let looked = look(&canonical, &met, None, options);
        (met, None, looked)
    }));
    let mut scan = compare(&previous, looked, walked.unscanned, walked.left_out);
    scan.skipped.extend(walked.skipped);
    Ok(scan)
}

/// Whether there is a folder.
pub fn is_folder(root: &Path, rel_path: &str) -> bool {
    let place = CanonicalRoot::open(root).ok().and_then(|root| Inside::below(&root, rel_path));
    place.is_some_and(|place| place.is_dir())
}

/// Whether a path that is not indexed could be, by its name, if there is a file.
pub fn could_be_new(root: &Path, rel_path: &str, options: &ScanOptions) -> bool {
    let custom = has_custom_extension(rel_path, &options.custom_extensions);
    let by_name = indexable(Path::new(rel_path), FileMeta { size: 0, custom }, &[]).is_ok();
    let place = CanonicalRoot::open(root).ok().and_then(|root| Inside::below(&root, rel_path));
    by_name && place.is_some_and(|place| place.exists())
}

/// Why this file is not indexed, by its name and its bytes; none when it would be, or cannot be read.
pub fn why_not(root: &Path, rel_path: &str, options: &ScanOptions) -> Option<SkipReason> {
    let root = CanonicalRoot::open(root).ok()?;
    let custom = has_custom_extension(rel_path, &options.custom_extensions);
    match Inside::below(&root, rel_path)?.read(INDEXED_FILE) {
        Ok((bytes, _)) => for_the_index(rel_path, &bytes, custom).err()?.told(),
        Err(ReadError::TooLarge { .. }) => too_large(rel_path, custom).told(),
        Err(
            ReadError::Missing
            | ReadError::NotAFile
            | ReadError::Folder
            | ReadError::Swapped
            | ReadError::Io(_),
        ) => None,
    }
}

/// What a walk met.
#[derive(Default)]
struct Walked {
    /// Every file that may be for the index.
    met: Vec<Met>,
    /// Folders that could not be read.
    unscanned: Vec<String>,
    left_out: LeftOut,
    /// Files that are not for the index, by their names or sizes.
    skipped: Vec<SkippedFile>,
}

fn walk_options(options: &ScanOptions) -> WalkOptions {
    let ignore_patterns = IGNORED
        .iter()
        .map(|pattern| (*pattern).to_owned())
        .chain(options.ignore_patterns.iter().cloned())
        .collect();
    WalkOptions { ignore_patterns, max_file_size: Some(INDEXED_FILE), ..WalkOptions::default() }
}

fn walk_folder(root: &CanonicalRoot, options: &ScanOptions) -> Result<Walked, ScanError> {
    let mut walked = Walked::default();
    for event in walk::files(root, &walk_options(options)) {
        walked.take(event, root, options)?;
    }
    walked.unscanned = compressed(walked.unscanned);
    walked.left_out.unreadable_folders = walked.unscanned.iter().take(LeftOut::NAMED).cloned().collect();
    Ok(walked)
}

impl Walked {
    fn take(
        &mut self,
        event: WalkEvent,
        root: &CanonicalRoot,
        options: &ScanOptions,
    ) -> Result<(), ScanError> {
        match event {
            WalkEvent::File(file) => {
                let custom = has_custom_extension(&file.relative, &options.custom_extensions);
                let meta = FileMeta { size: file.size, custom };
                // By name and size alone: the first bytes are read only of files that changed.
                match indexable(Path::new(&file.relative), meta, &[]) {
                    Ok(_) => {
                        let time = |nanoseconds| i64::try_from(nanoseconds).unwrap_or(0);
                        let stat = (file.size, time(file.modified), time(file.changed));
                        self.met.push(Met { rel_path: file.relative, custom, stat });
                    }
                    Err(refusal) => self.skipped.extend(skipped_file(file.relative, refusal)),
                }
            }
            WalkEvent::Unreadable { path, error } => match path.strip_prefix(root.as_path()) {
                Ok(below) if !below.as_os_str().is_empty() => {
                    self.unscanned.push(below.to_string_lossy().replace('\\', "/"));
                }
                _ => {
                    return Err(ScanError::Unreadable {
                        path: root.as_path().display().to_string(),
                        reason: error,
                    });
                }
            },
            WalkEvent::TooLarge { relative, .. } => {
                let custom = has_custom_extension(&relative, &options.custom_extensions);
                let refusal = too_large(&relative, custom);
                self.skipped.extend(skipped_file(relative, refusal));
            }
            WalkEvent::NotUtf8 { .. } => self.left_out.not_utf8 += 1,
            WalkEvent::BadPattern { error } => {
                tracing::warn!(%error, "index: an ignore pattern is not understood")
            }
            WalkEvent::IgnoreFileLeftOut { relative, reason } => {
                tracing::warn!(file = relative, reason, "index: an ignore file does not count");
                if self.left_out.ignore_files.len() < LeftOut::NAMED {
                    self.left_out.ignore_files.push(format!("{relative} ({reason})"));
                }
            }
        }
        Ok(())
    }
}

/// Why a file over the limit is not indexed: its name may say more than its size.
fn too_large(rel_path: &str, custom: bool) -> Refusal {
    indexable(Path::new(rel_path), FileMeta { size: 0, custom }, &[]).err().unwrap_or(Refusal::TooLarge)
}

/// A file as it is told that it is not indexed.
pub(crate) fn skipped_file(path: String, refusal: Refusal) -> Option<SkippedFile> {
    refusal.told().map(|reason| SkippedFile { path, reason })
}

fn compare(
    previous: &Manifest,
    looked: Vec<(Met, Option<FileStamp>, Looked)>,
    unscanned: Vec<String>,
    left_out: LeftOut,
) -> Scan {
    let mut scan = Scan { left_out, ..Scan::default() };
    let mut present: BTreeMap<String, ()> = BTreeMap::new();
    for (met, known, looked) in looked {
        let (rel_path, custom) = (met.rel_path, met.custom);
        let file = |stamp: FileStamp| ScannedFile { rel_path: rel_path.clone(), stamp, custom };
        match looked {
            Looked::Same => {}
            Looked::Unreadable => scan.left_out.unreadable_files += 1,
            Looked::Touched(stamp) => {
                scan.hashed += 1;
                scan.touched.push(file(stamp));
            }
            Looked::Changed(stamp) => {
                scan.hashed += 1;
                match known {
                    Some(_) => scan.modified.push(file(stamp)),
                    None => scan.added.push(file(stamp)),
                }
            }
            Looked::New(stamp) => scan.added.push(file(stamp)),
            Looked::Refused(refusal) => {
                scan.skipped.extend(skipped_file(rel_path, refusal));
                continue;
            }
            Looked::Gone => continue,
        }
        present.insert(rel_path, ());
    }
    scan.removed = previous
        .files
        .keys()
        .filter(|path| !present.contains_key(*path) && !unscanned.iter().any(|prefix| is_below(path, prefix)))
        .cloned()
        .collect();
    for list in [&mut scan.added, &mut scan.modified, &mut scan.touched] {
        list.sort_by(|left, right| left.rel_path.cmp(&right.rel_path));
    }
    scan.unscanned = unscanned;
    scan
}

fn look(root: &CanonicalRoot, met: &Met, known: Option<&FileStamp>, options: &ScanOptions) -> Looked {
    let same = |(size, mtime_ns, ctime_ns): (u64, i64, i64)| {
        known.is_some_and(|known| {
            known.size == size && known.mtime_ns == mtime_ns && known.ctime_ns == ctime_ns
        })
    };
    if same(met.stat) && !options.full_hash {
        return Looked::Same;
    }
    if known.is_none() && options.new_by_name {
        let (size, mtime_ns, ctime_ns) = met.stat;
        return Looked::New(FileStamp { hash: String::new(), size, mtime_ns, ctime_ns });
    }
    let Some(place) = Inside::below(root, &met.rel_path) else { return Looked::Gone };
    let (bytes, stat) = match place.read(INDEXED_FILE) {
        Ok(read) => read,
        Err(ReadError::Missing | ReadError::NotAFile | ReadError::Folder | ReadError::Swapped) => {
            return Looked::Gone;
        }
        // It grew since the walk.
        Err(ReadError::TooLarge { .. }) => return Looked::Refused(Refusal::TooLarge),
        Err(ReadError::Io(_)) => return Looked::Unreadable,
    };
    let same_stat = same(times(&stat));
    if let Err(refusal) = for_the_index(&met.rel_path, &bytes, met.custom) {
        return Looked::Refused(refusal);
    }
    let stamp = stamp_of(&bytes, &stat);
    let unchanged = known.is_some_and(|known| known.hash == stamp.hash);
    match (unchanged, same_stat) {
        (true, true) => Looked::Same,
        (true, false) => Looked::Touched(stamp),
        (false, _) => Looked::Changed(stamp),
    }
}

/// Whether a file with these bytes is indexed.
pub(crate) fn for_the_index(rel_path: &str, bytes: &[u8], custom: bool) -> Result<(), Refusal> {
    let meta = FileMeta { size: bytes.len() as u64, custom };
    indexable(Path::new(rel_path), meta, &bytes[..bytes.len().min(PREFIX_BYTES)]).map(drop)
}

/// The stamp of bytes that were read from a file with this metadata.
pub fn stamp_of(bytes: &[u8], stat: &fs::Metadata) -> FileStamp {
    let (size, mtime_ns, ctime_ns) = times(stat);
    FileStamp { hash: blake3::hash(bytes).to_hex().to_string(), size, mtime_ns, ctime_ns }
}

/// One hash over all paths and their hashes: equal folders, equal roots.
pub fn merkle_root(manifest: &Manifest) -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, stamp) in &manifest.files {
        hasher.update(path.as_bytes()).update(&[0]).update(stamp.hash.as_bytes()).update(b"\n");
    }
    hasher.finalize().to_hex().to_string()
}

fn times(stat: &fs::Metadata) -> (u64, i64, i64) {
    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    (stat.len(), nanoseconds(stat.mtime(), stat.mtime_nsec()), nanoseconds(stat.ctime(), stat.ctime_nsec()))
}

fn has_custom_extension(path: &str, extensions: &[String]) -> bool {
    extensions.iter().any(|extension| {
        let extension = extension.trim_start_matches('.');
        !extension.is_empty()
            && path
                .rsplit('/')
                .next()
                .and_then(|name| name.rsplit_once('.'))
                .is_some_and(|(_, last)| last.eq_ignore_ascii_case(extension))
    })
}

/// Sorted, and without folders that lie in another one of the list.
fn compressed(mut prefixes: Vec<String>) -> Vec<String> {
    prefixes.sort();
    prefixes.dedup();
    let mut kept: Vec<String> = Vec::new();
    for prefix in prefixes {
        if !kept.iter().any(|above| is_below(&prefix, above)) {
            kept.push(prefix);
        }
    }
    kept
}

/// Whole segments: `src-old/a` is not below `src`.
fn is_below(path: &str, prefix: &str) -> bool {
    path == prefix || path.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'))
}
