//! The neighbourhood of a symbol: breadth first, in sorted order, up to a depth and a number of edges.

use std::collections::BTreeSet;

use crate::store::{CallEdge, GenerationReader, StoreError, Symbol};

/// Which way to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Who calls the symbol.
    Callers,
    /// Whom the symbol calls.
    Callees,
    /// Either way.
    Both,
}

/// What lies around a symbol.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Neighbourhood {
    /// By file, line and id; the symbol itself included.
    pub nodes: Vec<Symbol>,
    /// In the order they were found.
    pub edges: Vec<CallEdge>,
}

/// Walks from a symbol. An edge is counted once, however often it is reached.
pub fn traverse(
    reader: &dyn GenerationReader,
    symbol_id: &str,
    direction: Direction,
    depth: u32,
    limit: usize,
) -> Result<Neighbourhood, StoreError> {
    let mut edges: Vec<CallEdge> = Vec::new();
    let mut seen = BTreeSet::from([symbol_id.to_owned()]);
    let mut frontier = vec![symbol_id.to_owned()];
    'levels: for _ in 0..depth {
        let mut next = BTreeSet::new();
        for symbol in &frontier {
            let mut found = Vec::new();
            if direction != Direction::Callees {
                found.extend(reader.callers(symbol)?);
            }
            if direction != Direction::Callers {
                found.extend(reader.callees(symbol)?);
            }
            found.sort_by(|left, right| key(left).cmp(&key(right)));
            for edge in found {
                if edges.iter().any(|known| key(known) == key(&edge)) {
                    continue;
                }
                if edges.len() >= limit {
                    break 'levels;
                }
                for end in [&edge.src_symbol_id, &edge.dst_symbol_id] {
                    if seen.insert(end.clone()) {
                        next.insert(end.clone());
                    }
                }
                edges.push(edge);
            }
        }
        frontier = next.into_iter().collect();
        if frontier.is_empty() {
            break;
        }
    }
    let touched: BTreeSet<&str> = edges
        .iter()
        .flat_map(|edge| [edge.src_symbol_id.as_str(), edge.dst_symbol_id.as_str()])
        .chain([symbol_id])
        .collect();
    let mut nodes = Vec::new();
    for id in touched {
        nodes.extend(reader.symbol(id)?);
    }
    nodes.sort_by(|left: &Symbol, right| {
        (&left.rel_path, left.start_line, &left.symbol_id).cmp(&(
            &right.rel_path,
            right.start_line,
            &right.symbol_id,
        ))
    });
    Ok(Neighbourhood { nodes, edges })
}

fn key(edge: &CallEdge) -> (&str, u32, &str, &str) {
    (&edge.site_file, edge.site_line, &edge.src_symbol_id, &edge.dst_symbol_id)
}
