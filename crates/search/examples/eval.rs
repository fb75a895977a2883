//! How well a text finds the files to change: `eval ROWS.jsonl TREES`.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use chartroom_protocol::index::{GroupBy, RankingMode, ResultMode, SearchResult, SearchScope};
use chartroom_search::embed::NoEmbedder;
use chartroom_search::request::SearchRequest;
use chartroom_search::scan::ScanOptions;
use chartroom_search::sqlite::SqliteStore;
use chartroom_search::store::{FileChange, FileRecord, GenerationReader, Manifest, VectorStore};

#[derive(Default, Clone)]
struct Figures {
    n: usize,
    at: [usize; 3],
    reciprocal: f64,
}

impl Figures {
    fn add(&mut self, place: Option<usize>) {
        self.n += 1;
        if let Some(place) = place {
            for (most, count) in [1, 5, 10].iter().zip(&mut self.at) {
                *count += usize::from(place <= *most);
            }
            self.reciprocal += 1.0 / place as f64;
        }
    }
    fn show(&self, name: &str) {
        let n = self.n.max(1) as f64;
        let [one, five, ten] = self.at.map(|count| count as f64 / n);
        println!(
            "{name:22} n {:3}  @1 {one:.3}  @5 {five:.3}  @10 {ten:.3}  MRR {:.3}",
            self.n,
            self.reciprocal / n
        );
    }
}

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
                    graph: parsed.graph,
                })))
            })
            .collect();
        writer.apply(changes).unwrap();
    }
    store.publish(key, writer.id()).unwrap();
}

fn place(reader: &dyn GenerationReader, query: &str, gold: &[String]) -> Option<usize> {
    let request = SearchRequest {
        root: "/".into(),
        below: None,
        query: query.into(),
        scope: SearchScope::Runtime,
        result_mode: ResultMode::Grouped,
        group_by: GroupBy::File,
        ranking_mode: RankingMode::Default,
        changed_files: BTreeSet::new(),
        limit: 20,
        debug: false,
        now_ms: 0,
    };
    let outcome = chartroom_search::rank::search(reader, &NoEmbedder, &request).unwrap();
    let file = |result: &SearchResult| match result {
        SearchResult::Group(group) => group.file.clone(),
        SearchResult::Chunk(chunk) => chunk.file.clone(),
    };
    outcome.results.iter().map(file).position(|file| gold.contains(&file)).map(|at| at + 1)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let rows = std::fs::read_to_string(&arguments[1]).unwrap();
    let data = Path::new(&arguments[3]);
    std::fs::create_dir_all(data).unwrap();
    let mut figures: BTreeMap<String, Figures> = BTreeMap::new();
    let (mut searched, mut n_searches) = (0.0, 0);
    for row in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        let root = Path::new(&arguments[2]).join(text("id"));
        if !root.is_dir() {
            continue;
        }
        let gold: Vec<String> =
            row["gold"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_owned()).collect();
        let store = SqliteStore::open(&data.join(text("id"))).unwrap();
        let key = root.to_str().unwrap();
        if store.open_reader(key).unwrap().is_none() {
            index(&store, &root);
        }
        let reader = store.open_reader(key).unwrap().unwrap();
        let issue = text("text");
        let title = issue.lines().next().unwrap_or_default().to_owned();
        place(&*reader, &title, &gold);
        let began = Instant::now();
        let found = place(&*reader, &issue, &gold);
        searched += began.elapsed().as_secs_f64();
        n_searches += 1;
        for name in ["issue".to_owned(), format!("issue {}", text("language"))] {
            figures.entry(name).or_default().add(found);
        }
        let by_title = place(&*reader, &title, &gold);
        figures.entry("title".to_owned()).or_default().add(by_title);
        println!("{} {found:?} {by_title:?}", text("id"));
    }
    for (name, figures) in &figures {
        figures.show(name);
    }
    println!("{:.2} ms a search", searched * 1000.0 / f64::from(n_searches.max(1)));
}
