//! One line of the answer.

use std::time::Duration;

use serde::Serialize;

/// A figure of ours beside its baseline's, taken in the same run: the machine's noise hits both.
#[derive(Debug, Serialize)]
pub(crate) struct Measurement {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) baseline: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) baseline_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) aim: Option<&'static str>,
}

impl Measurement {
    pub(crate) fn new(name: &str, value: f64, unit: &'static str) -> Self {
        let name = name.to_owned();
        Self { name, value, unit, baseline: None, baseline_value: None, ratio: None, aim: None }
    }

    pub(crate) fn beside(mut self, baseline: &'static str, value: f64) -> Self {
        self.baseline = Some(baseline);
        self.baseline_value = Some(value);
        self.ratio = (value != 0.0).then(|| self.value / value);
        self
    }

    pub(crate) fn aim(mut self, aim: &'static str) -> Self {
        self.aim = Some(aim);
        self
    }
}

/// The middle of the sorted durations, in milliseconds.
pub(crate) fn median_ms(durations: &mut [Duration]) -> f64 {
    durations.sort();
    durations.get(durations.len() / 2).map_or(0.0, |middle| middle.as_secs_f64() * 1000.0)
}

/// The duration that 95 of 100 do not exceed, in milliseconds; of few, the largest.
pub(crate) fn p95_ms(durations: &mut [Duration]) -> f64 {
    percentile_ms(durations, 95)
}

/// The duration that 99 of 100 do not exceed, in milliseconds; of few, the largest.
pub(crate) fn p99_ms(durations: &mut [Duration]) -> f64 {
    percentile_ms(durations, 99)
}

fn percentile_ms(durations: &mut [Duration], percent: usize) -> f64 {
    durations.sort();
    let index = (durations.len() * percent).div_ceil(100).saturating_sub(1);
    durations.get(index).map_or(0.0, |duration| duration.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_come_from_the_sorted_list() {
        let mut durations: Vec<Duration> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!((median_ms(&mut durations), p95_ms(&mut durations)), (51.0, 95.0));
        assert_eq!(p99_ms(&mut durations), 99.0);
        assert_eq!(p95_ms(&mut durations[..7]), 7.0);
        assert_eq!(p95_ms(&mut []), 0.0);
    }
}
