//! Four processes with the edit tools on one workspace: no change that was answered as made is lost.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;
#[path = "common/stdio.rs"]
mod stdio;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use program::Home;
use stdio::McpClient;

const PROCESSES: usize = 4;
/// Calls that one process has under way at a time.
const AT_ONCE: usize = 8;
const FILES: usize = 3;
const SLOTS: usize = 12;

/// A workspace whose files have lines that one process each counts up, and a register that all of them replace.
fn workspace(home: &Home) -> std::path::PathBuf {
    let root = home.path().join("workspace");
    std::fs::create_dir(&root).unwrap();
    for file in 0..FILES {
        let lines = (0..PROCESSES).flat_map(|process| (0..SLOTS).map(move |slot| line(process, slot, 0)));
        std::fs::write(root.join(counters(file)), lines.collect::<String>()).unwrap();
    }
    std::fs::write(root.join("register.txt"), "token-first\n").unwrap();
    root
}

fn counters(file: usize) -> String {
    format!("counters{file}.txt")
}

fn line(process: usize, slot: usize, count: usize) -> String {
    format!("process {process} slot {slot} is {count};\n")
}

fn client(home: &Home, root: &Path) -> McpClient {
    let config = home.write("config.toml", "lsp = false\n");
    let mut command = home.command(&["mcp", "--only", "edits"]);
    command.current_dir(root).env("CHARTROOM_CONFIG", config);
    McpClient::start(command)
}

fn is_done(answer: &Value) -> bool {
    answer["isError"] != json!(true)
}

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).unwrap()).unwrap()
    }
}

/// What a call that is under way will have changed.
enum Call {
    /// These lines go up by one.
    Count(Vec<(usize, usize)>),
    /// The register is written, whatever was there.
    Write,
    /// The register's token is replaced by another.
    Swap { from: String },
    /// A file of this number is added.
    Add { number: usize },
}

#[derive(Default)]
struct Told {
    counts: BTreeMap<(usize, usize), usize>,
    /// Tokens that this process was told it had replaced.
    swapped: Vec<String>,
    added: Vec<usize>,
    refused: Vec<String>,
    n_calls: usize,
}

/// One process's share of the calls, several under way at a time.
fn drive(mut client: McpClient, root: &Path, process: usize, n_calls: usize) -> Told {
    let mut random = Random(0x9E37_79B9 + 7919 * u64::try_from(process).unwrap());
    let mut told = Told::default();
    let mut under_way: BTreeMap<u64, Call> = BTreeMap::new();
    let mut busy: Vec<(usize, usize)> = Vec::new();
    while told.n_calls < n_calls || !under_way.is_empty() {
        if told.n_calls < n_calls && under_way.len() < AT_ONCE {
            told.n_calls += 1;
            let free = |busy: &[(usize, usize)], random: &mut Random, file: usize| {
                let place = (0..).map(|_| (file, random.below(SLOTS))).find(|place| !busy.contains(place));
                place.unwrap()
            };
            let (id, call) = match random.below(10) {
                0..=4 => {
                    let file = random.below(FILES);
                    let place = free(&busy, &mut random, file);
                    let count = told.counts.get(&place).copied().unwrap_or(0);
                    let arguments = json!({
                        "filePath": counters(place.0),
                        "oldText": line(process, place.1, count),
                        "newText": line(process, place.1, count + 1),
                    });
                    busy.push(place);
                    (client.start_tool("edit_file", arguments), Call::Count(vec![place]))
                }
                5 | 6 => {
                    let places: Vec<_> = (0..2).map(|file| free(&busy, &mut random, file)).collect();
                    let parts = places.iter().map(|place| {
                        let count = told.counts.get(place).copied().unwrap_or(0);
                        let (old, new) = (line(process, place.1, count), line(process, place.1, count + 1));
                        format!("*** Update File: {}\n@@\n-{old}+{new}", counters(place.0))
                    });
                    let patch = format!("*** Begin Patch\n{}*** End Patch\n", parts.collect::<String>());
                    busy.extend(&places);
                    (client.start_tool("apply_patch", json!({ "patch": patch })), Call::Count(places))
                }
                7 => {
                    let content = format!("token-{process}-{}\n", told.n_calls);
                    let arguments = json!({ "filePath": "register.txt", "content": content });
                    (client.start_tool("write_file", arguments), Call::Write)
                }
                8 => {
                    let from = std::fs::read_to_string(root.join("register.txt")).unwrap();
                    let to = format!("token-{process}-{}\n", told.n_calls);
                    let arguments = json!({ "filePath": "register.txt", "oldText": &from, "newText": to });
                    (client.start_tool("edit_file", arguments), Call::Swap { from })
                }
                _ => {
                    // The same few names in all processes: only one of them may make each.
                    let number = told.n_calls / 40;
                    let patch = format!(
                        "*** Begin Patch\n*** Add File: added/{number}.txt\n+{process}\n*** End Patch\n"
                    );
                    (client.start_tool("apply_patch", json!({ "patch": patch })), Call::Add { number })
                }
            };
            under_way.insert(id, call);
            continue;
        }
        let (id, answer) = client.next_answer();
        match under_way.remove(&id).unwrap() {
            Call::Count(places) => {
                busy.retain(|place| !places.contains(place));
                if is_done(&answer) {
                    for place in places {
                        *told.counts.entry(place).or_default() += 1;
                    }
                } else {
                    told.refused.push(answer.to_string());
                }
            }
            Call::Write => assert!(is_done(&answer), "{answer}"),
            Call::Swap { from } => told.swapped.extend(is_done(&answer).then_some(from)),
            Call::Add { number } => told.added.extend(is_done(&answer).then_some(number)),
        }
    }
    told
}

#[test]
fn no_edit_write_or_patch_of_four_processes_is_lost() {
    let n_calls: usize =
        std::env::var("CHARTROOM_PARALLEL_EDITS").map_or(600, |number| number.parse().unwrap());
    let home = Home::new();
    let root = workspace(&home);
    let told: Vec<Told> = std::thread::scope(|scope| {
        let drivers: Vec<_> = (0..PROCESSES)
            .map(|process| {
                let (client, root) = (client(&home, &root), &root);
                scope.spawn(move || drive(client, root, process, n_calls / PROCESSES))
            })
            .collect();
        drivers.into_iter().map(|driver| driver.join().unwrap()).collect()
    });

    let refused: Vec<&String> = told.iter().flat_map(|told| &told.refused).collect();
    assert_eq!(refused, Vec::<&String>::new(), "each line has one process that counts it");
    for file in 0..FILES {
        let expected: String = (0..PROCESSES)
            .flat_map(|process| (0..SLOTS).map(move |slot| (process, slot)))
            .map(|(process, slot)| {
                line(process, slot, told[process].counts.get(&(file, slot)).copied().unwrap_or(0))
            })
            .collect();
        assert_eq!(std::fs::read_to_string(root.join(counters(file))).unwrap(), expected);
    }
    let mut swapped: Vec<&String> = told.iter().flat_map(|told| &told.swapped).collect();
    swapped.sort();
    let n_swapped = swapped.len();
    swapped.dedup();
    assert_eq!(swapped.len(), n_swapped, "a token that was replaced is gone: nobody replaces it again");
    let mut added: Vec<(usize, usize)> = (0..PROCESSES)
        .flat_map(|process| told[process].added.iter().map(move |number| (*number, process)))
        .collect();
    added.sort_unstable();
    for (number, process) in &added {
        let text = std::fs::read_to_string(root.join(format!("added/{number}.txt"))).unwrap();
        assert_eq!(text, format!("{process}\n"), "who was told that it added the file did");
    }
    let n_added = added.len();
    added.dedup_by_key(|(number, _)| *number);
    assert_eq!(added.len(), n_added, "a file is added once");
    assert!(n_swapped > 0 && n_added > 0, "{n_swapped} {n_added}");
    assert!(root.join(".").read_dir().unwrap().all(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.ends_with(".txt") || name == "added"
    }));
}

/// Three edits of one agent, sent in one breath, of one file.
#[test]
fn three_parallel_edits_of_one_file_are_all_there() {
    let home = Home::new();
    let root = home.path().join("workspace");
    std::fs::create_dir(&root).unwrap();
    let mut client = client(&home, &root);
    for _ in 0..20 {
        std::fs::write(root.join("a.txt"), "one\ntwo\nthree\n").unwrap();
        for word in ["one", "two", "three"] {
            let edit = json!({ "filePath": "a.txt", "oldText": word, "newText": word.to_uppercase() });
            client.start_tool("edit_file", edit);
        }
        for _ in 0..3 {
            let (_, answer) = client.next_answer();
            assert!(is_done(&answer), "{answer}");
        }
        assert_eq!(std::fs::read_to_string(root.join("a.txt")).unwrap(), "ONE\nTWO\nTHREE\n");
    }
}
