//! `can_use_tool`: may this tool run, or a question with options; and what the person said.

use chartroom_protocol::ids::{CallId, QuestionId};
use chartroom_protocol::session::{
    AnswerParams, ChoiceOption, ChoiceQuestion, Decision, Grant, Question, QuestionBody,
};
use serde_json::{Value, json};

use super::grants::{Suggested, suggested};
use crate::claude::detail;
use crate::json::{arguments_for_the_page, list, object, optional_text, text};
use crate::same_calls::{SAME_CALL, Sameness};

/// How a refusal begins for the model when the person said why.
const REFUSED_BECAUSE: &str = "The user refused this: ";
/// What it says when the person said nothing.
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
    /// What makes another call the same as this one; nothing for a tool that is itself a question.
    sameness: Option<Sameness>,
    /// What the CLI suggests for "always".
    suggested: Vec<Suggested>,
}

/// What an answer lets run from now on.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::claude) enum Granted<'a> {
    /// Nothing: the tool runs this once, or not at all.
    Nothing,
    /// The same call; we remember it.
    SameCall(&'a Sameness),
    /// A change of the CLI's own permissions.
    Update(&'a Value),
}

impl Permission {
    /// Reads a `can_use_tool` request.
    pub fn read(request_id: &str, request: &Value) -> Self {
        let tool_name = text(request, "/tool_name");
        let input = request.get("input").cloned().unwrap_or_default();
        let command = optional_text(&input, "/command").filter(|_| tool_name == "Bash");
        Self {
            request_id: request_id.to_owned(),
            tool_name: tool_name.to_owned(),
            sameness: sameness(tool_name, &input),
            suggested: suggested(list(request, "/permission_suggestions"), command),
            call_id: optional_text(request, "/tool_use_id").map(CallId::from),
            description: optional_text(request, "/description").map(str::to_owned),
            input,
        }
    }

    /// Returns the id by which the answer finds it: the CLI's own.
    pub fn question_id(&self) -> QuestionId {
        QuestionId::new(self.request_id.clone())
    }

    /// Returns the call that waits for the answer.
    pub fn call_id(&self) -> Option<&CallId> {
        self.call_id.as_ref()
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
                grants: self.grants(),
                detail: Some(detail::of_call(&self.tool_name, &self.input)),
            }
        };
        Question { question_id: self.question_id(), asked_at, body }
    }

    /// Returns the response that the CLI gets.
    pub fn answer(&self, params: &AnswerParams) -> Value {
        match params.decision {
            Decision::Deny => {
                let reason = params.message.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
                // The page tells a denial from a failure by these words.
                let message =
                    reason.map_or_else(|| REFUSED.to_owned(), |reason| format!("{REFUSED_BECAUSE}{reason}"));
                json!({"behavior": "deny", "message": message, "interrupt": false})
            }
            Decision::Allow => json!({"behavior": "allow", "updatedInput": self.updated_input(params)}),
            Decision::AllowAlways => {
                let mut response = json!({"behavior": "allow", "updatedInput": self.updated_input(params)});
                if let Granted::Update(update) = self.granted(params) {
                    response["updatedPermissions"] = json!([update]);
                }
                response
            }
        }
    }

    /// Returns what an answer lets run from now on: the one grant that it names, or the narrowest.
    pub(in crate::claude) fn granted(&self, params: &AnswerParams) -> Granted<'_> {
        if params.decision != Decision::AllowAlways {
            return Granted::Nothing;
        }
        let narrowest = || self.grants().into_iter().next().map(|grant| grant.grant_id);
        let Some(grant_id) = params.grant_id.clone().or_else(narrowest) else { return Granted::Nothing };
        if let Some(sameness) = self.sameness.as_ref().filter(|_| grant_id == SAME_CALL) {
            return Granted::SameCall(sameness);
        }
        let update = self.suggested.iter().find(|suggested| suggested.grant.grant_id == grant_id);
        update.map_or(Granted::Nothing, |suggested| Granted::Update(&suggested.update))
    }

    /// Returns what makes another call the same as this one.
    pub(in crate::claude) fn sameness(&self) -> Option<&Sameness> {
        self.sameness.as_ref()
    }

    fn grants(&self) -> Vec<Grant> {
        let same = self.sameness.iter().map(Sameness::grant);
        same.chain(self.suggested.iter().map(|suggested| suggested.grant.clone())).collect()
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

/// Returns what makes two calls of a tool the same. The description of a command is the model's own remark and changes
/// nothing of what runs.
fn sameness(tool_name: &str, input: &Value) -> Option<Sameness> {
    match tool_name {
        "AskUserQuestion" | "EnterPlanMode" | "ExitPlanMode" => None,
        "Edit" | "MultiEdit" | "Write" => {
            optional_text(input, "/file_path").map(|path| Sameness::of_changes(&[path]))
        }
        "NotebookEdit" => optional_text(input, "/notebook_path").map(|path| Sameness::of_changes(&[path])),
        "Bash" => {
            let mut arguments = object(Some(input));
            arguments.remove("description");
            (!arguments.is_empty()).then(|| Sameness::of_command(tool_name, &arguments))
        }
        _ => input.as_object().map(|arguments| Sameness::of_call(tool_name, arguments)),
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
            grant_id: None,
            answers: None,
        }
    }

    #[test]
    fn a_permission_shows_the_exact_arguments() {
        let question = bash().question("now".to_owned());
        let QuestionBody::Permission { tool_name, tool_arguments, call_id, grants, .. } = question.body
        else {
            panic!("a permission is no choice");
        };
        let offered: Vec<&str> = grants.iter().map(|grant| grant.grant_id.as_str()).collect();
        assert_eq!((tool_name.as_str(), offered.as_slice()), ("Bash", ["same", "suggested-0"].as_slice()));
        assert_eq!((grants[0].what.as_str(), grants[0].is_wider), ("exactly this command", false));
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
            // The narrowest is remembered by us; nothing changes in the CLI.
            (answer(Decision::AllowAlways, None), json!({"behavior": "allow", "updatedInput": input})),
            (
                AnswerParams {
                    grant_id: Some("suggested-0".to_owned()),
                    ..answer(Decision::AllowAlways, None)
                },
                json!({"behavior": "allow", "updatedInput": input, "updatedPermissions":
                    [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]}),
            ),
            (
                AnswerParams {
                    grant_id: Some("never offered".to_owned()),
                    ..answer(Decision::AllowAlways, None)
                },
                json!({"behavior": "allow", "updatedInput": input}),
            ),
            (
                answer(Decision::Deny, Some("use b.txt")),
                json!({"behavior": "deny", "message": "The user refused this: use b.txt", "interrupt": false}),
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
    fn two_calls_are_the_same_by_what_they_do() {
        let same = |tool: &str, left: Value, right: Value| {
            let read = |input| Permission::read("r", &json!({"tool_name": tool, "input": input}));
            let mut calls = crate::same_calls::SameCalls::default();
            let (left, right) = (read(left), read(right));
            calls.allow(left.sameness().expect("it can be had again"));
            right.sameness().is_some_and(|right| calls.allows(right))
        };
        let rm = |command: &str, description: &str| json!({"command": command, "description": description});
        assert!(same("Bash", rm("rm -rf aaa", "Remove"), rm("rm -rf aaa", "Once more")));
        assert!(!same("Bash", rm("rm -rf aaa", "Remove"), rm("rm -rf bbb", "Remove")));
        assert!(!same("Bash", rm("ls", "d"), json!({"command": "ls", "dangerouslyDisableSandbox": true})));
        assert!(same(
            "Write",
            json!({"file_path": "/p/a", "content": "1"}),
            json!({"file_path": "/p/a", "content": "2"})
        ));
        assert!(!same(
            "Write",
            json!({"file_path": "/p/a", "content": "1"}),
            json!({"file_path": "/p/b", "content": "1"})
        ));
        assert!(!same("mcp__a__b", json!({"description": "x"}), json!({"description": "y"})));
        let plan = Permission::read("r", &json!({"tool_name": "ExitPlanMode", "input": {"plan": "p"}}));
        assert_eq!(plan.sameness(), None);
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
