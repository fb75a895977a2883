//! How well the call graph agrees with a language server: `graph_eval DATA ROOT LANGUAGE SAMPLE SERVER [ARGUMENT…]`.
//!
//! A sample of the functions and methods of a folder is asked for its callers, and the server for its references.
//! Recall is over the server's references that are calls, precision over our edges against all of its references,
//! both by file and line; `DATA` keeps the index for the next run.
//!
//! What only looks wrong is told apart by rules, each printed with its count (`graph_eval/judge.rs`): nothing is taken
//! out by hand.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    unreachable_pub,
    missing_docs
)]

#[path = "graph_eval/judge.rs"]
mod judge;
#[path = "graph_eval/server.rs"]
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chartroom_search::scan::ScanOptions;
use chartroom_search::sqlite::SqliteStore;
use chartroom_search::store::{
    EdgeKind, FileChange, FileRecord, GenerationReader, Manifest, Symbol, VectorStore,
};
use chartroom_search::symbols::SymbolKind;
use judge::{Judge, Verdict};
use server::Server;

/// From where on an edge is called sure.
const SURE: f32 = 0.8;

type Site = (String, u32);

fn index(store: &SqliteStore, root: &Path) {
    let key = root.to_str().unwrap();
    let scan = chartroom_search::scan::scan(root, &Manifest::default(), &ScanOptions::default()).unwrap();
    let mut writer = store.begin_generation(key).unwrap();
    for files in scan.added.chunks(256) {
        let changes = files
            .iter()
            .filter_map(|file| {
                let text = String::from_utf8(std::fs::read(root.join(&file.rel_path)).ok()?).ok()?;
                let parsed = chartroom_search::chunk::parse_file(&file.rel_path, &text);
                Some(FileChange::Put(Box::new(FileRecord {
                    rel_path: file.rel_path.clone(),
                    stamp: file.stamp.clone(),
                    vectors: vec![Vec::new(); parsed.chunks.len()],
                    chunks: parsed.chunks,
                    symbols: parsed.symbols,
                    facts: parsed.facts,
                })))
            })
            .collect();
        writer.apply(changes).unwrap();
    }
    store.publish(key, writer.id()).unwrap();
}

/// Functions and methods of a language, spread over the folder, the same ones every time.
fn sample(reader: &dyn GenerationReader, language: &str, count: usize) -> Vec<Symbol> {
    let mut found = Vec::new();
    for path in reader.manifest().unwrap().files.keys() {
        let is_test = path.contains("test") || path.contains("example") || path.contains("bench");
        found.extend(reader.symbols_in(path).unwrap().into_iter().filter(|symbol| {
            let wanted =
                symbol.language == language || (language == "typescript" && symbol.language == "tsx");
            wanted
                && !is_test
                && matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method)
                && last(symbol).len() > 2
                && !last(symbol).starts_with("__")
                && last(symbol) != "constructor"
        }));
    }
    found.sort_by(|left, right| left.symbol_id.cmp(&right.symbol_id));
    found.truncate(count);
    found
}

fn last(symbol: &Symbol) -> &str {
    symbol.qualified_name.rsplit('.').next().unwrap()
}

/// Where the name stands: line and column, 0-based.
fn position(root: &Path, symbol: &Symbol) -> Option<(u32, u32)> {
    let text = std::fs::read_to_string(root.join(&symbol.rel_path)).ok()?;
    let name = last(symbol);
    for (at, line) in text.lines().enumerate().skip(symbol.start_line as usize - 1).take(40) {
        for (column, _) in line.match_indices(name) {
            let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let before = line[..column].chars().next_back();
            let after = line[column + name.len()..].chars().next();
            let code = line.trim_start();
            let is_comment = ["//", "#", "*", "/*", "@"].iter().any(|mark| code.starts_with(mark));
            // The owner can have the same name: the one before brackets counts.
            let called =
                line[column + name.len()..].trim_start().starts_with(['(', '<', '=', ':', '[', '?', '!']);
            if !is_word(before) && !is_word(after) && !is_comment && called {
                let column = line[..column].encode_utf16().count();
                return Some((u32::try_from(at).ok()?, u32::try_from(column).ok()?));
            }
        }
    }
    None
}

/// Says whether what stands at a place is called: brackets follow, or it decorates.
fn is_call(root: &Path, file: &str, line: u32, column: u32) -> bool {
    let Ok(text) = std::fs::read_to_string(root.join(file)) else { return false };
    let Some(line) = text.lines().nth(line as usize) else { return false };
    let column = line.char_indices().nth(column as usize).map_or(0, |(at, _)| at);
    let rest = line.get(column..).unwrap_or_default();
    if rest.starts_with("import")
        || line.trim_start().starts_with("import ")
        || line.trim_start().starts_with("export {")
    {
        return false;
    }
    let after = rest
        .trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == '#')
        .trim_start();
    let is_declaration =
        ["fn ", "func ", "def ", "function "].iter().any(|word| line[..column].ends_with(word));
    (after.starts_with('(')
        || after.starts_with("!(")
        || after.starts_with("::<")
        || line[..column].trim_end().ends_with('@'))
        && !is_declaration
}

/// Says whether a definition of that name begins at a line: an override, which servers count as a reference.
fn defines(reader: &dyn GenerationReader, site: &Site, name: &str) -> bool {
    let symbols = reader.symbols_in(&site.0).unwrap();
    symbols.iter().any(|symbol| {
        last(symbol) == name
            && (symbol.start_line..symbol.start_line + 4).contains(&site.1)
            && symbol.end_line >= site.1
            && {
                let body = symbol.end_line > symbol.start_line;
                !body || symbol.start_line == site.1
            }
    })
}

#[derive(Default)]
struct Figures {
    expected: usize,
    listed: usize,
    sure: usize,
    /// By tenths of confidence: edges, and those that the server knows too.
    calibration: BTreeMap<u8, (usize, usize)>,
    symbols: usize,
    /// Definitions at whose question the server ended.
    ended: usize,
    /// Uses of macros that stand for the call in the macro's body.
    in_macros: usize,
    /// Sure edges that the server's references lack, by what it says of the place.
    verdicts: BTreeMap<Verdict, usize>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, data, root, language, count, command, rest @ ..] = arguments.as_slice() else {
        println!("graph_eval DATA ROOT LANGUAGE SAMPLE SERVER [ARGUMENT…]");
        return;
    };
    let root = std::fs::canonicalize(root).unwrap();
    let key = root.to_str().unwrap().to_owned();
    let verbose = std::env::var_os("VERBOSE").is_some();
    std::fs::create_dir_all(data).unwrap();
    let store = SqliteStore::open(Path::new(data)).unwrap();
    if store.open_reader(&key).unwrap().is_none() {
        let began = std::time::Instant::now();
        index(&store, &root);
        println!("indexed in {:.1} s", began.elapsed().as_secs_f64());
    }
    let reader = store.open_reader(&key).unwrap().unwrap();
    let known = reader.manifest().unwrap().files;
    let mut server = Server::start(command, rest, &root);
    let judge = Judge::new(&root, language, &*reader);
    let mut figures = Figures::default();
    for symbol in sample(&*reader, language, count.parse().unwrap()) {
        let Some((line, column)) = position(&root, &symbol) else { continue };
        let mut ours: BTreeMap<Site, (f32, EdgeKind)> = BTreeMap::new();
        for edge in reader.callers(&symbol.symbol_id).unwrap() {
            if matches!(edge.kind, EdgeKind::Call | EdgeKind::Dynamic) {
                let best =
                    ours.entry((edge.site_file, edge.site_line)).or_insert((edge.confidence, edge.kind));
                if edge.confidence > best.0 {
                    *best = (edge.confidence, edge.kind);
                }
            }
        }
        // A server knows a file of no project when it is open.
        for (file, _) in ours.keys() {
            server.open(&root, file, language);
        }
        let references = server.references(&root, &symbol.rel_path, language, line, column);
        if server.has_ended() {
            figures.ended += 1;
            server.stop();
            server = Server::start(command, rest, &root);
            continue;
        }
        let Some(references) = references else { continue };
        let references: Vec<(String, u32, u32)> =
            references.into_iter().filter(|(file, _, _)| known.contains_key(file)).collect();
        let mut all: BTreeSet<Site> =
            references.iter().map(|(file, line, _)| (file.clone(), line + 1)).collect();
        let mut calls: BTreeSet<Site> = references
            .iter()
            .filter(|(file, line, column)| is_call(&root, file, *line, *column))
            .map(|(file, line, _)| (file.clone(), line + 1))
            .filter(|site| !defines(&*reader, site, last(&symbol)))
            .collect();
        let (uses, bodies) = judge.macros(&references, &symbol);
        figures.in_macros += uses.len();
        calls.retain(|site| !uses.contains(site));
        all.extend(bodies.iter().cloned());
        calls.extend(bodies);
        figures.symbols += 1;
        figures.expected += calls.len();
        for site in &calls {
            let found = ours.get(site);
            figures.listed += usize::from(found.is_some());
            let is_sure = found.is_some_and(|(confidence, _)| *confidence >= SURE);
            figures.sure += usize::from(is_sure);
            if verbose && !is_sure {
                println!(
                    "missed {} ({}) {}:{} {found:?}",
                    symbol.qualified_name, symbol.rel_path, site.0, site.1
                );
            }
        }
        for (site, (confidence, kind)) in &ours {
            let mut is_right = all.contains(site);
            if !is_right && *confidence >= SURE {
                let verdict = judge.verdict(&mut server, site, &symbol, *kind == EdgeKind::Dynamic);
                *figures.verdicts.entry(verdict).or_default() += 1;
                if verbose {
                    println!(
                        "{verdict:?} {} ({}) {}:{} {confidence}",
                        symbol.qualified_name, symbol.rel_path, site.0, site.1
                    );
                }
                match verdict {
                    Verdict::Agreed | Verdict::Dispatched => is_right = true,
                    Verdict::Elsewhere => {}
                    Verdict::NotCompiled | Verdict::Nothing => continue,
                }
            }
            let bucket = figures.calibration.entry((confidence * 10.0) as u8).or_default();
            bucket.0 += 1;
            bucket.1 += usize::from(is_right);
        }
    }
    print(&root, language, &figures);
    server.stop();
}

fn print(root: &Path, language: &str, figures: &Figures) {
    let ratio = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    let (edges, right) = figures
        .calibration
        .iter()
        .filter(|(tenth, _)| **tenth >= 8)
        .fold((0, 0), |sum, (_, bucket)| (sum.0 + bucket.0, sum.1 + bucket.1));
    println!(
        "{language} {}: symbols {} calls {} recall {:.3} recall of sure {:.3} precision of sure {:.3} ({right} of {edges})",
        root.file_name().unwrap().to_string_lossy(),
        figures.symbols,
        figures.expected,
        ratio(figures.listed, figures.expected),
        ratio(figures.sure, figures.expected),
        ratio(right, edges),
    );
    let count = |verdict| figures.verdicts.get(&verdict).copied().unwrap_or_default();
    let judged_right = right - count(Verdict::Agreed) - count(Verdict::Dispatched);
    let all_edges = edges + count(Verdict::NotCompiled) + count(Verdict::Nothing);
    println!(
        "  by references alone, with nothing left out: precision of sure {:.3} ({judged_right} of {all_edges})",
        ratio(judged_right, all_edges)
    );
    for verdict in Verdict::ALL {
        println!("  {}: {}", verdict.rule(), count(verdict));
    }
    println!("  definitions left out, since the server ended when it was asked: {}", figures.ended);
    println!("  uses of macros, counted as the call in the macro's body: {}", figures.in_macros);
    for (tenth, (edges, right)) in &figures.calibration {
        println!("  confidence .{tenth}: {right} of {edges} {:.2}", ratio(*right, *edges));
    }
}
