//! How often the first file is right at which lead: what a confidence is worth.

use super::figures::place_of;
use super::run::{Answer, OURS};

/// Where one bin of leads ends and the next begins.
const BORDERS: [f64; 7] = [0.0, 0.03, 0.07, 0.12, 0.2, 0.3, 1.0];

/// Answers whose leads are near each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// From this lead …
    pub from: f64,
    /// … to this.
    pub to: f64,
    /// How many answers.
    pub rows: usize,
    /// The share whose first file is right.
    pub first: f64,
    /// The share with a right file among the first five.
    pub five: f64,
}

/// The bins of our answers that tell their lead.
pub fn bins(answers: &[Answer]) -> Vec<Bin> {
    let told = |answer: &&Answer| answer.system == OURS && answer.lead.is_some();
    let answers: Vec<&Answer> = answers.iter().filter(told).collect();
    let bin = |borders: &[f64]| {
        let (from, to) = (borders[0], borders[1]);
        let is_in = |answer: &&&Answer| {
            answer.lead.is_some_and(|lead| lead >= from && (lead < to || (to >= 1.0 && lead <= to)))
        };
        let places: Vec<Option<usize>> =
            answers.iter().filter(is_in).map(|answer| place_of(&answer.files, &answer.gold)).collect();
        let share = |most: usize| {
            let right = places.iter().filter(|place| place.is_some_and(|place| place <= most)).count();
            right as f64 / places.len().max(1) as f64
        };
        Bin { from, to, rows: places.len(), first: share(1), five: share(5) }
    };
    BORDERS.windows(2).map(bin).filter(|bin| bin.rows > 0).collect()
}

/// The bins as a picture: a bar for each, as high as its share.
pub fn plot(bins: &[Bin]) -> String {
    const WIDTH: f64 = 560.0;
    const HEIGHT: f64 = 240.0;
    const LEFT: f64 = 44.0;
    const TOP: f64 = 16.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>How often the first file is right, by its lead over the second</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        WIDTH + LEFT + 16.0,
        HEIGHT + TOP + 44.0
    );
    for percent in [0, 25, 50, 75, 100] {
        let y = TOP + HEIGHT * (1.0 - f64::from(percent) / 100.0);
        svg.push_str(&format!(
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#cccccc\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{percent} %</text>\n",
            LEFT + WIDTH,
            LEFT - 6.0,
            y + 4.0
        ));
    }
    let step = WIDTH / bins.len().max(1) as f64;
    for (at, bin) in bins.iter().enumerate() {
        let x = LEFT + step * at as f64;
        for (offset, share, colour) in [(0.14, bin.first, "#1f5fa8"), (0.5, bin.five, "#9cc2e8")] {
            let height = HEIGHT * share;
            svg.push_str(&format!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>\n",
                x + step * offset,
                TOP + HEIGHT - height,
                step * 0.34
            ));
        }
        svg.push_str(&format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{:.2}–{:.2} (n {})</text>\n",
            x + step / 2.0,
            TOP + HEIGHT + 16.0,
            bin.from,
            bin.to,
            bin.rows
        ));
    }
    svg.push_str(&format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">lead of the first file; dark: it is right, light: one of the first five is</text>\n</svg>\n",
        LEFT + WIDTH / 2.0,
        TOP + HEIGHT + 36.0
    ));
    svg
}

#[cfg(test)]
mod tests {
    use super::super::rows::Leak;
    use super::super::run::Kind;
    use super::*;

    fn answer(lead: Option<f64>, files: &[&str]) -> Answer {
        Answer {
            id: "1".into(),
            repo: "r".into(),
            language: "rust".into(),
            kind: Kind::Issue,
            leak: Leak::None,
            system: OURS.into(),
            gold: vec!["a.rs".into()],
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            ms: 1.0,
            lead,
        }
    }

    #[test]
    fn answers_are_counted_by_their_lead_and_drawn() {
        let bins = bins(&[
            answer(Some(0.01), &["b.rs", "a.rs"]),
            answer(Some(0.02), &["a.rs"]),
            answer(Some(1.0), &["a.rs"]),
            answer(None, &["b.rs"]),
        ]);
        assert_eq!(
            bins.iter().map(|bin| (bin.rows, bin.first, bin.five)).collect::<Vec<_>>(),
            [(2, 0.5, 1.0), (1, 1.0, 1.0)]
        );
        let picture = plot(&bins);
        assert!(
            picture.starts_with("<svg") && picture.ends_with("</svg>\n") && picture.contains("(n 2)"),
            "{picture}"
        );
    }
}
