//! `chartroom calls FILE SYMBOL`: who calls a symbol and whom it calls, by the index.

use std::path::PathBuf;

use chartroom_index::brief;
use chartroom_protocol::index::{
    CallDirection, CallGraphParams, FileOutlineResponse, IndexStatus, ResolveMode, SymbolRef,
};

use super::index::{open, print_json};
use super::outline;
use super::words::in_own_words;
use super::{answer, block_on};
use crate::exit::{Failure, Outcome};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file that holds the symbol
    file: PathBuf,
    /// Its name, label or id
    symbol: String,
    /// Which calls
    #[arg(long, value_enum, default_value_t = Direction::Both)]
    direction: Direction,
    /// How many steps away
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=3))]
    depth: u32,
    /// At most so many calls
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Leave out so many calls at the beginning
    #[arg(long, default_value_t = 0)]
    offset: u32,
    /// Print the tool's envelope
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Direction {
    /// Who calls it
    Callers,
    /// Whom it calls
    Callees,
    /// Both
    Both,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    block_on(async {
        let service = open()?;
        let mut wanted = outline::params(&args.file)?;
        wanted.resolve_mode = ResolveMode::Exact;
        if args.symbol.starts_with("sym_") {
            wanted.symbol_id_exact = Some(args.symbol.clone());
        } else {
            wanted.symbol_label_exact = Some(args.symbol.clone());
        }
        let path = wanted.path.clone();
        let found = service.outline(wanted).await.map_err(|error| Failure::impossible(error.0))?;
        let symbol = found.outline.as_ref().and_then(|outline| outline.symbols.first());
        let (IndexStatus::Ok, Some(symbol)) = (found.status, symbol) else {
            if args.json {
                print_json(&found)?;
            } else {
                answer(&in_own_words(&unclear(args, &found), &found.path))?;
            }
            return Ok(Outcome::NotOk);
        };
        let params = CallGraphParams {
            path,
            symbol_ref: SymbolRef {
                file: found.file.clone(),
                symbol_id: symbol.symbol_id.clone(),
                symbol_label: Some(symbol.symbol_label.clone()),
                span: Some(symbol.span),
            },
            direction: match args.direction {
                Direction::Callers => CallDirection::Callers,
                Direction::Callees => CallDirection::Callees,
                Direction::Both => CallDirection::Both,
            },
            depth: Some(args.depth),
            limit: args.limit,
            detail: Default::default(),
            offset: (args.offset > 0).then_some(args.offset),
        };
        let graph = service.call_graph(params).await.map_err(|error| Failure::impossible(error.0))?;
        if args.json {
            print_json(&graph)?;
        } else {
            answer(&in_own_words(&brief::calls(&graph), &graph.path))?;
        }
        Ok(if graph.status == IndexStatus::Ok { Outcome::Done } else { Outcome::NotOk })
    })
}

/// Which symbols can be meant, with what takes each of them.
fn unclear(args: &Args, found: &FileOutlineResponse) -> String {
    let symbols = found.outline.iter().flat_map(|outline| &outline.symbols);
    let list: String = symbols
        .map(|symbol| {
            format!(
                "  {}  {} ({}-{})\n",
                symbol.symbol_id, symbol.symbol_label, symbol.span.start_line, symbol.span.end_line
            )
        })
        .collect();
    if list.is_empty() {
        return format!("{}\n", found.message.as_deref().unwrap_or("no such symbol"));
    }
    format!(
        "{} means several symbols of {}; ask with one of their ids, `chartroom calls {} ID`:\n{list}",
        args.symbol,
        found.file,
        args.file.display()
    )
}
