//! Of which files a server wants to hear when others change them: its registrations of `workspace/didChangeWatchedFiles`.

use std::path::{Path, PathBuf};

use chartroom_workspace::watch::Change;
use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;

use crate::uri;

/// A registration with more patterns than this, or longer ones, is not heard any further.
const MAX_WATCHERS: usize = 2_000;
const MAX_PATTERN: usize = 4_000;
/// Created, changed and deleted: what is meant when a server says nothing.
const ALL_KINDS: u64 = 7;

/// One pattern of a registration.
#[derive(Debug, Clone)]
pub(crate) struct FileWatcher {
    /// From where the pattern counts, where the server says so.
    base: Option<PathBuf>,
    /// All files below, when the pattern says nothing else. Servers write their folders into patterns without quoting what
    /// is special in them, such as `[id]`.
    everything_below: Option<PathBuf>,
    matcher: Option<GlobMatcher>,
    /// A bit for each kind of change, as the protocol numbers them.
    kinds: u64,
}

impl FileWatcher {
    /// Reads the options of a registration; what is no pattern is left out.
    pub(crate) fn read(options: &Value) -> Vec<Self> {
        let watchers = options.get("watchers").and_then(Value::as_array).into_iter().flatten();
        watchers.take(MAX_WATCHERS).filter_map(Self::of).collect()
    }

    fn of(watcher: &Value) -> Option<Self> {
        let glob = watcher.get("globPattern")?;
        let (base, pattern) = match glob {
            Value::String(pattern) => (None, pattern.as_str()),
            relative => {
                let base = relative.get("baseUri")?;
                // An address, or a workspace folder that has one.
                let base = base.as_str().or_else(|| base.get("uri")?.as_str())?;
                (Some(uri::to_path(base)?), relative.get("pattern")?.as_str()?)
            }
        };
        if pattern.len() > MAX_PATTERN {
            return None;
        }
        let below = ["/**/*", "/**"].into_iter().find_map(|end| pattern.strip_suffix(end));
        let everything_below = match (below, &base) {
            (Some(folder), None) if folder.starts_with('/') => Some(PathBuf::from(folder)),
            (None, Some(base)) if pattern == "**" || pattern == "**/*" => Some(base.clone()),
            _ => None,
        };
        let matcher =
            GlobBuilder::new(pattern).literal_separator(true).build().ok().map(|glob| glob.compile_matcher());
        let kinds = watcher.get("kind").and_then(Value::as_u64).unwrap_or(ALL_KINDS);
        (matcher.is_some() || everything_below.is_some()).then_some(Self {
            base,
            everything_below,
            matcher,
            kinds,
        })
    }

    /// Tells whether the server wants to hear of this. Patterns that say no folder count from any of `roots`.
    pub(crate) fn wants(&self, file: &Path, change: Change, roots: &[&Path]) -> bool {
        let bit = match change {
            Change::Created => 1,
            Change::Changed => 2,
            Change::Deleted => 4,
        };
        if self.kinds & bit == 0 {
            return false;
        }
        if self.everything_below.as_ref().is_some_and(|folder| file.starts_with(folder)) {
            return true;
        }
        let Some(matcher) = &self.matcher else { return false };
        match &self.base {
            Some(base) => file.strip_prefix(base).is_ok_and(|below| matcher.is_match(below)),
            None => {
                matcher.is_match(file)
                    || roots
                        .iter()
                        .any(|root| file.strip_prefix(root).is_ok_and(|below| matcher.is_match(below)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The registration of each real server, as it was seen, with a file that it wants and one that it does not.
    #[test]
    fn what_servers_register_is_read_as_they_mean_it() {
        let check = |watchers: Value, file: &str, wanted: bool| {
            let watchers = FileWatcher::read(&json!({ "watchers": watchers }));
            let roots = [Path::new("/w/p"), Path::new("/w")];
            let wants =
                watchers.iter().any(|watcher| watcher.wants(Path::new(file), Change::Changed, &roots));
            assert_eq!(wants, wanted, "{file}");
        };
        let typescript = json!([{ "globPattern": "/w/p/[id]/**/*", "kind": 7 }]);
        check(typescript.clone(), "/w/p/[id]/src/a.ts", true);
        check(typescript, "/w/q/a.ts", false);
        let pyright = json!([{ "globPattern": "**", "kind": 7 }, { "globPattern": "**/pyrightconfig.json" }]);
        check(pyright, "/w/p/deep/a.py", true);
        let gopls = json!([
            { "globPattern": "**/*.{go,mod,sum,work}", "kind": 7 },
            { "globPattern": "{/w/p/core,/w/p/web}", "kind": 7 },
        ]);
        for (file, wanted) in [
            ("/w/p/a.go", true),
            ("/w/p/x/go.mod", true),
            ("/w/q/b.go", true),
            ("/w/p/web", true),
            ("/w/p/a.md", false),
        ] {
            check(gopls.clone(), file, wanted);
        }
        let rust = json!([
            { "globPattern": { "baseUri": "file:///w/p/a", "pattern": "**/*.rs" } },
            { "globPattern": { "baseUri": { "uri": "file:///w/p/b", "name": "b" }, "pattern": "**/Cargo.{lock,toml}" } },
            { "globPattern": "/w/p/Cargo.toml" },
        ]);
        for (file, wanted) in [
            ("/w/p/a/src/lib.rs", true),
            ("/w/p/b/src/lib.rs", false),
            ("/w/p/b/Cargo.toml", true),
            ("/w/p/a/Cargo.toml", false),
            ("/w/p/Cargo.toml", true),
        ] {
            check(rust.clone(), file, wanted);
        }
        // `*` stays in its folder, and a folder is needed where one is named.
        check(json!([{ "globPattern": "*.ts" }]), "/w/p/a.ts", true);
        check(json!([{ "globPattern": "src/*.ts" }]), "/w/p/src/deep/a.ts", false);
        check(json!([{ "globPattern": "src/**/*.ts" }]), "/w/p/src/deep/a.ts", true);
        check(
            json!([{ "globPattern": 7 }, { "globPattern": { "pattern": "**" } }, {}, null]),
            "/w/p/a.ts",
            false,
        );
    }

    #[test]
    fn only_the_kinds_that_were_asked_for_are_told() {
        let wants = |kind: Value, change| {
            let watchers = FileWatcher::read(&json!({ "watchers": [{ "globPattern": "**", "kind": kind }] }));
            watchers[0].wants(Path::new("/w/a"), change, &[Path::new("/w")])
        };
        for (kind, expected) in [
            (json!(1), [true, false, false]),
            (json!(2), [false, true, false]),
            (json!(5), [true, false, true]),
            (json!(null), [true, true, true]),
        ] {
            let got =
                [Change::Created, Change::Changed, Change::Deleted].map(|change| wants(kind.clone(), change));
            assert_eq!(got, expected, "{kind}");
        }
    }
}
