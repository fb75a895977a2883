//! `can_use_tool`: may this tool run, or a question with options; and what the person said.

use chartroom_protocol::ids::{CallId, QuestionId};
use chartroom_protocol::session::{
    AnswerParams, ChoiceOption, ChoiceQuestion, Decision, Question, QuestionBody,
};
use serde_json::{Value, json};

use crate::claude::detail;
use crate::json::{arguments_for_the_page, list, optional_text, text};

/// What a refusal says to the model when the person said nothing.
const REFUSED: &str = "The user refused this. Stop, and ask what to do instead.";

/// A request that waits for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Permission {
    request_id: String,
    tool_name: String,
    /// As it came; an object, unless the CLI is not what we know.
    input: Value,
    call_id: Option<CallId>,
    description: Option<String>,
    /// What "always" would change in the CLI's permissions.
    suggestions: Vec<Value>,
}

impl Permission {
    /// Reads a `can_use_tool` request.
    pub fn read(request_id: &str, request: &Value) -> Self {
        Self {
            request_id: request_id.to_owned(),
            tool_name: text(request, "/tool_name").to_owned(),
            input: request.get("input").cloned().unwrap_or_default(),
            call_id: optional_text(request, "/tool_use_id").map(CallId::from),
            description: optional_text(request, "/description").map(str::to_owned),
            suggestions: list(request, "/permission_suggestions").to_vec(),
        }
    }

    /// Returns the id by which the answer finds it: the CLI's own.
    pub fn question_id(&self) -> QuestionId {
        QuestionId(self.request_id.clone())
    }

    /// Returns what the person is asked.
    pub fn question(&self, asked_at: String) -> Question {
        let body = if self.is_choice() {
            QuestionBody::Choice { questions: choices(&self.input) }
        } else {
            QuestionBody::Permission {
                tool_name: self.tool_name.clone(),
                tool_arguments: arguments_for_the_page("input", Some(&self.input)),
                bookkeeping: Vec::new(),
                call_id: self.call_id.clone(),
                description: self.description.clone(),
                can_allow_always: !self.suggestions.is_empty(),
                detail: Some(detail::of_call(&self.tool_name, &self.input)),
            }
        };
        Question { question_id: self.question_id(), asked_at, body }
    }

    /// Returns the response that the CLI gets.
    pub fn answer(&self, params: &AnswerParams) -> Value {
        match params.decision {
            Decision::Deny => {
                let message = params.message.as_deref().filter(|message| !message.trim().is_empty());
                json!({"behavior": "deny", "message": message.unwrap_or(REFUSED), "interrupt": false})
            }
            Decision::Allow => json!({"behavior": "allow", "updatedInput": self.updated_input(params)}),
            Decision::AllowAlways => json!({"behavior": "allow", "updatedInput": self.updated_input(params),
                "updatedPermissions": self.suggestions}),
        }
    }

    fn is_choice(&self) -> bool {
        self.tool_name == "AskUserQuestion"
    }

    fn updated_input(&self, params: &AnswerParams) -> Value {
        let mut input = self.input.clone();
        if self.is_choice()
            && let Some(input) = input.as_object_mut()
        {
            let answers = params.answers.clone().unwrap_or_default();
            input.insert("answers".to_owned(), json!(answers));
        }
        input
    }
}

fn choices(input: &Value) -> Vec<ChoiceQuestion> {
    list(input, "/questions")
        .iter()
        .map(|question| ChoiceQuestion {
            question: text(question, "/question").to_owned(),
            header: text(question, "/header").to_owned(),
            multi_select: question.get("multiSelect").and_then(Value::as_bool).unwrap_or(false),
            options: list(question, "/options")
                .iter()
                .map(|option| ChoiceOption {
                    label: text(option, "/label").to_owned(),
                    description: text(option, "/description").to_owned(),
                })
                .collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn bash() -> Permission {
        Permission::read(
            "r1",
            &json!({"subtype": "can_use_tool", "tool_name": "Bash", "display_name": "Bash", "tool_use_id": "toolu_1",
                "input": {"command": "touch c.txt", "description": "d"}, "description": "d",
                "permission_suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]}),
        )
    }

    fn answer(decision: Decision, message: Option<&str>) -> AnswerParams {
        AnswerParams {
            question_id: QuestionId::from("r1"),
            decision,
            message: message.map(str::to_owned),
            answers: None,
        }
    }

    #[test]
    fn a_permission_shows_the_exact_arguments() {
        let question = bash().question("now".to_owned());
        let QuestionBody::Permission { tool_name, tool_arguments, call_id, can_allow_always, .. } =
            question.body
        else {
            panic!("a permission is no choice");
        };
        assert_eq!((tool_name.as_str(), can_allow_always), ("Bash", true));
        assert_eq!(Value::Object(tool_arguments), json!({"command": "touch c.txt", "description": "d"}));
        assert_eq!(call_id, Some(CallId::from("toolu_1")));
    }

    #[test]
    fn what_would_be_changed_is_shown_whole_or_not_at_all() {
        let diff = |input: Value| {
            let permission = Permission::read("r", &json!({"tool_name": "Edit", "input": input}));
            let QuestionBody::Permission { detail, .. } = permission.question("now".to_owned()).body else {
                panic!("a permission is no choice");
            };
            detail.expect("an edit has a detail").diffs.remove(0)
        };
        let n_lines = |diff: &chartroom_protocol::upsert::FileDiff| {
            diff.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>()
        };
        let edit = |path: &str, old: &str, new: &str| {
            diff(json!({"file_path": path, "old_string": old, "new_string": new}))
        };
        // Lines that stay the same are arguments too, as are those of a lock file.
        let far = |end: &str| format!("a\n{}{end}\n", "same\n".repeat(50));
        assert_eq!(n_lines(&edit("a.txt", &far("b"), &far("c"))), 53);
        assert_eq!(n_lines(&edit("Cargo.lock", "a\n", "b\n")), 2);
        let line = &edit("a.js", "a", &format!("{}evil", " ".repeat(5_000))).hunks[0].lines[1];
        assert!(line.spans[0].text.ends_with("evil"));
        assert_eq!(edit("a", "x\r\n", "y\n").hunks[0].lines[0].spans[0].text, "x\r");
        let long = edit("a.txt", "", &"x\n".repeat(100_000));
        assert_eq!((n_lines(&long), long.added, long.truncated), (0, 100_000, true));
    }

    #[test]
    fn arguments_that_are_no_object_are_shown_too() {
        let permission = Permission::read("r", &json!({"tool_name": "mcp__a__b", "input": ["curl"]}));
        let QuestionBody::Permission { tool_arguments, .. } = permission.question("now".to_owned()).body
        else {
            panic!("a permission is no choice");
        };
        assert_eq!(Value::Object(tool_arguments), json!({"input": ["curl"]}));
    }

    #[test]
    fn each_decision_has_its_response() {
        let input = json!({"command": "touch c.txt", "description": "d"});
        let cases = [
            (answer(Decision::Allow, None), json!({"behavior": "allow", "updatedInput": input})),
            (
                answer(Decision::AllowAlways, None),
                json!({"behavior": "allow", "updatedInput": input, "updatedPermissions":
                    [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]}),
            ),
            (
                answer(Decision::Deny, Some("use b.txt")),
                json!({"behavior": "deny", "message": "use b.txt", "interrupt": false}),
            ),
            (
                answer(Decision::Deny, Some("  ")),
                json!({"behavior": "deny", "message": REFUSED, "interrupt": false}),
            ),
        ];
        for (params, expected) in cases {
            assert_eq!(bash().answer(&params), expected);
        }
    }

    #[test]
    fn a_choice_is_answered_with_labels_by_question() {
        let permission = Permission::read(
            "r2",
            &json!({"tool_name": "AskUserQuestion", "input": {"questions": [{"question": "Which db?", "header": "DB",
                "multiSelect": false, "options": [{"label": "PG", "description": "p"}, {"label": "SQLite"}]}]}}),
        );
        let QuestionBody::Choice { questions } = permission.question("now".to_owned()).body else {
            panic!("AskUserQuestion is a choice");
        };
        assert_eq!(questions[0].options[1].label, "SQLite");
        let mut params = answer(Decision::Allow, None);
        params.answers = Some(BTreeMap::from([("Which db?".to_owned(), "PG".to_owned())]));
        assert_eq!(permission.answer(&params)["updatedInput"]["answers"], json!({"Which db?": "PG"}));
    }
}
