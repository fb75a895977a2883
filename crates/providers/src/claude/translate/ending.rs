//! The `result` line: how the turn ended, and what it cost.

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::stream::{ErrorDetail, ResponseStatus, Usage};
use serde_json::Value;

use super::Ending;
use crate::json::{list, number, optional_text, text};

/// Reads how the turn ended. An API failure comes as subtype "success" with `is_error`: look at that.
pub(super) fn read(result: &Value, interrupted: bool) -> Ending {
    let aborted = text(result, "/terminal_reason").starts_with("aborted");
    let failed = result.get("is_error").and_then(Value::as_bool).unwrap_or(false)
        || text(result, "/subtype").starts_with("error");
    if aborted || (failed && interrupted) {
        return Ending { status: ResponseStatus::Cancelled, error: None };
    }
    if !failed {
        return Ending { status: ResponseStatus::Completed, error: None };
    }
    let errors: Vec<&str> = list(result, "/errors").iter().filter_map(Value::as_str).collect();
    let message = match optional_text(result, "/result") {
        Some(message) => message.to_owned(),
        None if errors.is_empty() => format!("the turn failed ({})", text(result, "/subtype")),
        None => errors.join("; "),
    };
    let code = if message.starts_with("No conversation found") {
        ErrorCode::SessionNotFound
    } else {
        ErrorCode::ResponseError
    };
    Ending { status: ResponseStatus::Error, error: Some(ErrorDetail { code: code.to_string(), message }) }
}

/// What the process has cost so far: `total_cost_usd` counts up, a turn's cost is the difference.
#[derive(Debug, Default)]
pub(super) struct Spending {
    total: f64,
}

impl Spending {
    pub(super) fn usage(&mut self, result: &Value, model: &str, context_tokens: Option<u64>) -> Usage {
        let total = result.get("total_cost_usd").and_then(Value::as_f64);
        let cost_usd = total.map(|total| {
            let cost = (total - self.total).max(0.0);
            self.total = total;
            // Sums of floats: a ten-thousandth of a cent is exact enough, and reads well.
            (cost * 1e6).round() / 1e6
        });
        let window = result
            .get("modelUsage")
            .and_then(|models| models.get(model).or_else(|| models.as_object()?.values().next()))
            .and_then(|usage| number(usage, "/contextWindow"));
        Usage {
            input_tokens: number(result, "/usage/input_tokens").unwrap_or_default(),
            output_tokens: number(result, "/usage/output_tokens").unwrap_or_default(),
            cache_read_input_tokens: number(result, "/usage/cache_read_input_tokens"),
            cache_creation_input_tokens: number(result, "/usage/cache_creation_input_tokens"),
            cost_usd,
            context_tokens,
            context_window: window,
        }
    }
}
