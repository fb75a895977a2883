//! Answers as tables.

use std::collections::BTreeMap;

use serde::Serialize;

use super::calibration::{Bin, bins};
use super::figures::{Figures, difference, place_of};
use super::run::{Answer, Kind, OURS};

/// The figures of whole texts: ours, those of the systems beside it, and every answer.
#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    /// Ours.
    #[serde(flatten)]
    pub ours: Figures,
    /// The others', and ours without each part, by name.
    pub baselines: BTreeMap<&'a str, Figures>,
    /// What was asked and answered.
    pub answers: &'a [Answer],
}

/// Sums up.
pub fn summary(answers: &[Answer]) -> Summary<'_> {
    let mut systems: BTreeMap<&str, Vec<&Answer>> = BTreeMap::new();
    for answer in answers.iter().filter(|answer| answer.kind == Kind::Issue) {
        systems.entry(&answer.system).or_default().push(answer);
    }
    let of = |answers: &Vec<&Answer>| {
        Figures::of(answers.iter().map(|it| (it.files.as_slice(), it.gold.as_slice())))
    };
    let mut baselines: BTreeMap<&str, Figures> =
        systems.iter().map(|(system, answers)| (*system, of(answers))).collect();
    let ours = baselines.remove(OURS).unwrap_or_default();
    Summary { ours, baselines, answers }
}

/// Every table about these answers, as Markdown.
pub fn report(answers: &[Answer]) -> String {
    let mut text = String::new();
    for kind in [Kind::Issue, Kind::Title, Kind::Symbol, Kind::Phrase] {
        let of_kind: Vec<&Answer> = answers.iter().filter(|answer| answer.kind == kind).collect();
        if !of_kind.is_empty() {
            section(&mut text, kind, &of_kind);
        }
    }
    let bins = bins(answers);
    if !bins.is_empty() {
        line(&mut text, format_args!("### How sure the first file is\n"));
        line(
            &mut text,
            format_args!("| its lead over the second | rows | it is right | one of the first five is |"),
        );
        line(&mut text, format_args!("|---|---|---|---|"));
        for Bin { from, to, rows, first, five } in bins {
            line(&mut text, format_args!("| {from:.2} to {to:.2} | {rows} | {first:.2} | {five:.2} |"));
        }
    }
    text
}

fn section(text: &mut String, kind: Kind, answers: &[&Answer]) {
    let name = match kind {
        Kind::Issue => "Whole texts",
        Kind::Title => "Titles alone",
        Kind::Symbol => "Names",
        Kind::Phrase => "Sentences, their comments taken out",
    };
    let by_system = grouped(answers, |answer| answer.system.clone());
    let is_ablation = |system: &str| system.starts_with("without ");
    let Some(ours) = by_system.get(OURS) else { return };
    line(text, format_args!("### {name}\n"));
    line(
        text,
        format_args!("| | rows | @1 | @5 | @10 | MRR | NDCG@10 | ours ahead (MRR, 95 %) | median ms |"),
    );
    line(text, format_args!("|---|---|---|---|---|---|---|---|---|"));
    for (system, answers) in by_system.iter().filter(|(system, _)| !is_ablation(system)) {
        line(
            text,
            format_args!(
                "| {system} | {} | {} | {} |",
                cells(answers),
                ahead(ours, answers),
                median(answers)
            ),
        );
    }
    line(text, format_args!(""));
    let languages = grouped(ours, |answer| answer.language.clone());
    if languages.len() > 1 {
        parts(text, "language", &languages, &by_system, |answer| answer.language.clone());
    }
    if matches!(kind, Kind::Issue) {
        let leaks = grouped(ours, |answer| answer.leak.name().to_owned());
        parts(text, "the text names the file", &leaks, &by_system, |answer| answer.leak.name().to_owned());
    }
    if by_system.keys().any(|system| is_ablation(system)) {
        line(
            text,
            format_args!(
                "| channel left out | rows | @1 | @5 | @10 | MRR | NDCG@10 | what it adds (MRR, 95 %) |"
            ),
        );
        line(text, format_args!("|---|---|---|---|---|---|---|---|"));
        for (system, answers) in by_system.iter().filter(|(system, _)| is_ablation(system)) {
            let channel = system.trim_start_matches("without ");
            line(text, format_args!("| {channel} | {} | {} |", cells(answers), ahead(ours, answers)));
        }
        line(text, format_args!(""));
    }
}

/// Ours by parts, with the best of the others beside.
fn parts(
    text: &mut String,
    what: &str,
    parts: &BTreeMap<String, Vec<&Answer>>,
    by_system: &BTreeMap<String, Vec<&Answer>>,
    part_of: impl Fn(&Answer) -> String,
) {
    let others: Vec<(&String, &Vec<&Answer>)> =
        by_system.iter().filter(|(system, _)| *system != OURS && !system.starts_with("without ")).collect();
    let names: Vec<&str> = others.iter().map(|(system, _)| system.as_str()).collect();
    line(
        text,
        format_args!("| {what} | rows | @1 | @5 | @10 | MRR | NDCG@10 | MRR of {} |", names.join(" | ")),
    );
    line(text, format_args!("|---|---|---|---|---|---|---|{}", "---|".repeat(names.len())));
    for (part, answers) in parts {
        let beside: Vec<String> = others
            .iter()
            .map(|(_, answers)| {
                let same: Vec<&Answer> =
                    answers.iter().filter(|answer| part_of(answer) == *part).copied().collect();
                format!("{:.2}", figures(&same).mrr)
            })
            .collect();
        line(text, format_args!("| {part} | {} | {} |", cells(answers), beside.join(" | ")));
    }
    line(text, format_args!(""));
}

fn cells(answers: &[&Answer]) -> String {
    let Figures { rows, at_1, at_5, at_10, mrr, ndcg_10 } = figures(answers);
    format!("{rows} | {at_1:.2} | {at_5:.2} | {at_10:.2} | {mrr:.3} | {ndcg_10:.3}")
}

fn figures(answers: &[&Answer]) -> Figures {
    Figures::of(answers.iter().map(|answer| (&answer.files[..], &answer.gold[..])))
}

/// Ours beside another system on the rows that both answered.
fn ahead(ours: &[&Answer], other: &[&Answer]) -> String {
    if ours.first().map(|answer| &answer.system) == other.first().map(|answer| &answer.system) {
        return "–".to_owned();
    }
    // An id has many names and sentences; the right file and the row tell them apart well enough in their order.
    let key = |answer: &Answer, at: usize| (answer.id.clone(), answer.gold.clone(), at);
    let numbered = |answers: &[&Answer]| -> BTreeMap<_, Option<usize>> {
        let mut seen: BTreeMap<(String, Vec<String>), usize> = BTreeMap::new();
        let mut places = BTreeMap::new();
        for answer in answers {
            let at = seen.entry((answer.id.clone(), answer.gold.clone())).or_default();
            places.insert(key(answer, *at), place_of(&answer.files, &answer.gold));
            *at += 1;
        }
        places
    };
    let (ours, other) = (numbered(ours), numbered(other));
    let both: Vec<(Option<usize>, Option<usize>)> =
        ours.iter().filter_map(|(key, place)| Some((*place, *other.get(key)?))).collect();
    let (left, right): (Vec<_>, Vec<_>) = both.into_iter().unzip();
    let found = difference(&left, &right);
    format!("{:+.3} ({:+.3} to {:+.3})", found.mean, found.low, found.high)
}

fn median(answers: &[&Answer]) -> String {
    let mut times: Vec<f64> = answers.iter().map(|answer| answer.ms).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).map_or_else(String::new, |ms| format!("{ms:.1}"))
}

fn grouped<'a>(answers: &[&'a Answer], by: impl Fn(&Answer) -> String) -> BTreeMap<String, Vec<&'a Answer>> {
    let mut groups: BTreeMap<String, Vec<&Answer>> = BTreeMap::new();
    for answer in answers {
        groups.entry(by(answer)).or_default().push(answer);
    }
    groups
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.push_str(&what.to_string());
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::rows::Leak;
    use super::*;

    fn answer(id: &str, system: &str, files: &str) -> Answer {
        Answer {
            id: id.into(),
            repo: "r".into(),
            language: "rust".into(),
            kind: Kind::Issue,
            leak: Leak::None,
            system: system.into(),
            gold: vec!["a.rs".into()],
            files: files.split(' ').map(ToOwned::to_owned).collect(),
            ms: 1.0,
            lead: None,
        }
    }

    #[test]
    fn systems_stand_beside_each_other_and_what_a_channel_adds_is_told() {
        let text = report(&[
            answer("1", OURS, "a.rs b.rs"),
            answer("2", OURS, "b.rs a.rs"),
            answer("1", "BM25 per file", "b.rs a.rs"),
            answer("2", "BM25 per file", "b.rs c.rs"),
            answer("1", "without paths", "a.rs"),
            answer("2", "without paths", "a.rs"),
        ]);
        assert!(text.contains("| chartroom | 2 | 0.50 | 1.00 | 1.00 | 0.750 |"), "{text}");
        assert!(
            text.contains("| BM25 per file | 2 | 0.00 | 0.50 | 0.50 | 0.250 |")
                && text.contains("| +0.500 ("),
            "{text}"
        );
        assert!(text.contains("| paths | 2 | 1.00 |") && text.contains("| -0.250 ("), "{text}");
    }
}
