//! What fills the context: the answer to `get_context_usage`.

use chartroom_protocol::context::{ContextCategory, ContextUse};
use serde_json::Value;

use crate::json::{list, number, optional_text, text};

/// Reads the answer; nothing if it does not say how much there is and how much fits.
pub fn read(answer: &Value) -> Option<ContextUse> {
    let mut context = ContextUse {
        total_tokens: number(answer, "/totalTokens")?,
        max_tokens: number(answer, "/maxTokens").filter(|tokens| *tokens > 0)?,
        reserved_tokens: 0,
        categories: Vec::new(),
    };
    for category in list(answer, "/categories") {
        let (Some(name), Some(tokens)) = (optional_text(category, "/name"), number(category, "/tokens"))
        else {
            continue;
        };
        match kind(category, name) {
            Kind::Used => context.categories.push(ContextCategory { name: name.to_owned(), tokens }),
            Kind::Reserved => {
                context.reserved_tokens = context.reserved_tokens.saturating_add(tokens);
            }
            Kind::NotThere => {}
        }
    }
    Some(context)
}

enum Kind {
    Used,
    /// Kept free for summing up.
    Reserved,
    /// Free space, and tools that are loaded only when they are needed.
    NotThere,
}

/// Older versions (2.1.197) tell the kinds apart by the English name alone.
fn kind(category: &Value, name: &str) -> Kind {
    match (text(category, "/kind"), name) {
        ("buffer", _) | ("", "Autocompact buffer" | "Compact buffer") => Kind::Reserved,
        ("free" | "deferred", _) | ("", "Free space") => Kind::NotThere,
        ("", name) if name.ends_with("(deferred)") => Kind::NotThere,
        _ => Kind::Used,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn used(name: &str, tokens: u64) -> ContextCategory {
        ContextCategory { name: name.to_owned(), tokens }
    }

    /// As 2.1.325 said it, without its grid and its lists of skills.
    #[test]
    fn the_used_categories_are_read_and_free_space_is_none() {
        let answer = json!({"categories": [
                {"id": "system_prompt", "name": "System prompt", "tokens": 900, "color": "promptBorder", "kind": "used"},
                {"id": "skills", "name": "Skills", "tokens": 1549, "color": "warning", "kind": "used"},
                {"id": "free_space", "name": "Free space", "tokens": 197_551, "color": "promptBorder", "kind": "free"}],
            "totalTokens": 2449, "maxTokens": 200_000, "rawMaxTokens": 200_000, "autocompactSource": "auto",
            "percentage": 1, "gridRows": [], "model": "claude-sonnet-4-5", "autoCompactThreshold": 167_000});
        assert_eq!(
            read(&answer),
            Some(ContextUse {
                total_tokens: 2449,
                max_tokens: 200_000,
                reserved_tokens: 0,
                categories: vec![used("System prompt", 900), used("Skills", 1549)],
            })
        );
    }

    /// As 2.1.197 said it: without kinds, and with the model's own count as the total.
    #[test]
    fn an_older_cli_names_free_space_only_by_its_name() {
        let answer = json!({"categories": [
                {"name": "System prompt", "tokens": 1200, "color": "promptBorder"},
                {"name": "Skills", "tokens": 1113, "color": "warning"},
                {"name": "Free space", "tokens": 197_687, "color": "promptBorder"}],
            "totalTokens": 120, "maxTokens": 200_000, "rawMaxTokens": 200_000, "percentage": 0});
        assert_eq!(
            read(&answer),
            Some(ContextUse {
                total_tokens: 120,
                max_tokens: 200_000,
                reserved_tokens: 0,
                categories: vec![used("System prompt", 1200), used("Skills", 1113)],
            })
        );
    }

    #[test]
    fn what_is_kept_for_summing_up_is_told_apart_and_what_is_not_loaded_is_left_out() {
        let kinds = json!([
            {"name": "Messages", "tokens": 5000, "kind": "used"},
            {"name": "MCP tools (deferred)", "tokens": 700, "kind": "deferred", "isDeferred": true},
            {"name": "Autocompact buffer", "tokens": 33_000, "kind": "buffer"},
        ]);
        let mut names = kinds.clone();
        for category in names.as_array_mut().into_iter().flatten() {
            category.as_object_mut().map(|category| category.remove("kind"));
        }
        for categories in [kinds, names] {
            let answer = json!({"totalTokens": 5000, "maxTokens": 200_000, "categories": categories});
            assert_eq!(
                read(&answer),
                Some(ContextUse {
                    total_tokens: 5000,
                    max_tokens: 200_000,
                    reserved_tokens: 33_000,
                    categories: vec![used("Messages", 5000)],
                })
            );
        }
    }

    #[test]
    fn an_answer_of_another_shape_tells_nothing_and_odd_categories_are_passed_over() {
        for answer in
            [json!({}), json!(null), json!({"totalTokens": 1}), json!({"totalTokens": 1, "maxTokens": 0})]
        {
            assert_eq!(read(&answer), None, "{answer}");
        }
        let answer = json!({"totalTokens": 1, "maxTokens": 2,
            "categories": [1, {}, {"name": "x"}, {"tokens": 1}, {"name": "y", "tokens": -1}, {"name": "z", "tokens": 1}]});
        assert_eq!(read(&answer).map(|context| context.categories), Some(vec![used("z", 1)]));
    }
}
