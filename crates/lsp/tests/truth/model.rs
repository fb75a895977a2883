//! A generated project whose errors are known by construction, and the ways in which it changes.
//!
//! A file defines names, imports names of other files, and holds errors of its own; a config file says whether weak
//! errors count. What a server has to report of a file follows from what is on the disk, whoever put it there.

use std::collections::BTreeMap;

use proptest::prelude::*;

/// Every file that the project may have; a module is imported by its stem.
pub(crate) const FILES: [&str; 8] =
    ["a", "b", "lib/c", "lib/d", "deep/x/e", "deep/y/f", "later/g", "later/z/h"];
/// Those that it has from the beginning.
pub(crate) const N_FIRST: usize = 6;
/// How many names a module may define.
pub(crate) const N_NAMES: usize = 2;

/// What one file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) defines: [bool; N_NAMES],
    /// Modules and names, by their numbers.
    pub(crate) imports: Vec<(usize, usize)>,
    pub(crate) has_error: bool,
    pub(crate) has_weak_error: bool,
    /// Changes the text and nothing else.
    pub(crate) salt: u32,
}

/// What is on the disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct World {
    pub(crate) files: BTreeMap<usize, Source>,
    /// Whether weak errors count.
    pub(crate) is_strict: bool,
}

/// What happens to the content of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    Define(usize),
    Import(usize, usize),
    Error,
    WeakError,
    Salt,
}

/// One thing that happens, by our tools or past them. Numbers are taken modulo what there is.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Our edit: the file alone is looked at.
    Edit(usize, Change),
    /// Our write: the file and what may depend on it.
    Write(usize, Change),
    /// Our patch of several files, which may remove one.
    Patch(Vec<(usize, Change)>, Option<usize>),
    /// Our rename.
    Move(usize, usize),
    /// `sed -i`, then a look at another file.
    Sed(usize, Change, usize),
    /// `git checkout` of an earlier state, then a look.
    Checkout(usize, usize),
    /// `mv`, then a look.
    Rename(usize, usize, usize),
    /// `rm`, then a look.
    Delete(usize, usize),
    /// Another program writes the config, then a look.
    Configure(usize),
    /// The server is killed; it is looked, and the user restarts it.
    Kill(usize),
    /// Nothing; a look at a file and, or not, at the others.
    Look(usize, bool),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (0..N_NAMES).prop_map(Change::Define),
        3 => (0..FILES.len(), 0..N_NAMES).prop_map(|(module, name)| Change::Import(module, name)),
        2 => Just(Change::Error),
        1 => Just(Change::WeakError),
        1 => Just(Change::Salt),
    ]
}

/// A random step, of our own tools or past them.
pub(crate) fn step() -> BoxedStrategy<Step> {
    let file = || 0..FILES.len();
    let ours = prop_oneof![
        6 => (file(), change()).prop_map(|(file, change)| Step::Edit(file, change)),
        6 => (file(), change()).prop_map(|(file, change)| Step::Write(file, change)),
        2 => (proptest::collection::vec((file(), change()), 1..4), proptest::option::of(file()))
            .prop_map(|(changes, removed)| Step::Patch(changes, removed)),
        1 => (file(), file()).prop_map(|(from, to)| Step::Move(from, to)),
        1 => file().prop_map(Step::Kill),
        3 => (file(), any::<bool>()).prop_map(|(file, around)| Step::Look(file, around)),
    ];
    prop_oneof![
        2 => ours,
        1 => prop_oneof![
            6 => (file(), change(), file()).prop_map(|(file, change, look)| Step::Sed(file, change, look)),
            2 => (0..8_usize, file()).prop_map(|(back, look)| Step::Checkout(back, look)),
            2 => (file(), file(), file()).prop_map(|(from, to, look)| Step::Rename(from, to, look)),
            2 => (file(), file()).prop_map(|(file, look)| Step::Delete(file, look)),
            2 => file().prop_map(Step::Configure),
        ],
    ]
    .boxed()
}

impl World {
    /// Six files that import each other and are all fine.
    pub(crate) fn first() -> Self {
        let files = (0..N_FIRST)
            .map(|file| {
                let imports = if file == 0 { Vec::new() } else { vec![(file - 1, 0)] };
                (file, Source { defines: [true, false], imports, ..Source::default() })
            })
            .collect();
        Self { files, is_strict: false }
    }

    /// Changes a file, which is made when it is not there.
    pub(crate) fn change(&mut self, file: usize, change: Change) {
        let source = self.files.entry(file).or_default();
        match change {
            Change::Define(name) => source.defines[name] = !source.defines[name],
            Change::Import(module, name) if module != file => {
                let known = source.imports.len();
                source.imports.retain(|import| *import != (module, name));
                if source.imports.len() == known {
                    source.imports.push((module, name));
                }
            }
            Change::Error => source.has_error = !source.has_error,
            Change::WeakError => source.has_weak_error = !source.has_weak_error,
            Change::Salt | Change::Import(..) => source.salt += 1,
        }
    }

    /// The n-th of the files that are there.
    pub(crate) fn existing(&self, n: usize) -> Option<usize> {
        self.files.keys().nth(n % self.files.len().max(1)).copied()
    }

    /// Tells whether a file imports one of these.
    pub(crate) fn depends(&self, file: usize, on: &[usize]) -> bool {
        self.files
            .get(&file)
            .is_some_and(|source| source.imports.iter().any(|(module, _)| on.contains(module)))
    }

    /// Whether an import of a file is broken.
    pub(crate) fn is_broken(&self, (module, name): (usize, usize)) -> bool {
        self.files.get(&module).is_none_or(|source| !source.defines[name])
    }
}
