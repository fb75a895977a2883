//! The table of ratios, from the JSON lines that the benchmarks print.

use std::fmt::Write;

use anyhow::Context;
use serde::Deserialize;

/// One measurement. The ratio is ours to the baseline's, in the same run: the machine's noise hits both.
#[derive(Deserialize)]
struct Measurement {
    name: String,
    value: f64,
    unit: String,
    #[serde(default)]
    baseline: Option<String>,
    #[serde(default)]
    baseline_value: Option<f64>,
    #[serde(default)]
    aim: Option<String>,
}

/// Renders the measurements, in the order they were printed.
pub(crate) fn markdown(lines: &str) -> anyhow::Result<String> {
    let mut text = String::from(
        "# Benchmarks\n\nWritten by `cargo xtask bench`. Each row is ours beside its baseline in the same run; \
         the ratio is what to compare between machines.\n\n\
         | what | ours | baseline | ratio | aim |\n|---|---|---|---|---|\n",
    );
    for line in lines.lines().filter(|line| line.starts_with('{')) {
        let row: Measurement =
            serde_json::from_str(line).with_context(|| format!("a benchmark printed {line}"))?;
        let ratio = row.baseline_value.filter(|value| *value != 0.0).map(|value| row.value / value);
        let baseline = match (&row.baseline, row.baseline_value) {
            (Some(name), Some(value)) => format!("{name}: {} {}", number(value), row.unit),
            (Some(name), None) => name.clone(),
            (None, _) => "–".to_owned(),
        };
        writeln!(
            text,
            "| {} | {} {} | {baseline} | {} | {} |",
            row.name,
            number(row.value),
            row.unit,
            ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}×")),
            row.aim.as_deref().unwrap_or("–"),
        )?;
    }
    Ok(text)
}

fn number(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_row_shows_the_ratio_to_its_baseline() {
        let table = super::markdown(
            r#"{"name":"start","value":50,"unit":"ms","baseline":"sh -c true","baseline_value":5,"aim":"100 ms"}"#,
        )
        .unwrap();
        let row = table.lines().last().unwrap();
        assert_eq!(row, "| start | 50.00 ms | sh -c true: 5.00 ms | 10.00× | 100 ms |");
    }
}
