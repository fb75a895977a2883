//! `session/request_permission`: may this tool run, and what the person said.

use agent_client_protocol::v1::schema::{
    RequestPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome,
};
use chartroom_protocol::ids::{CallId, QuestionId};
use chartroom_protocol::session::{Decision, Question, QuestionBody};
use chartroom_protocol::upsert::ToolDetail;
use serde_json::Value;

use super::asked::Asked;
use super::tool::Call;
use crate::json::{list, optional_text, text};

/// A request that waits for a person.
#[derive(Debug, Clone)]
pub(super) struct Permission {
    question_id: QuestionId,
    call: Call,
    asked: Asked,
    call_id: Option<CallId>,
    options: Vec<(String, String)>,
    description: Option<String>,
}

impl Permission {
    /// Reads a request; ACP has no id for it, so the number is ours. `known` is what was said of its call before.
    pub(super) fn read(question_id: QuestionId, params: &Value, known: Option<&Call>) -> Self {
        let mut call = known.cloned().unwrap_or_default();
        let tool_call = params.get("toolCall").cloned().unwrap_or_default();
        call.take(&tool_call);
        let options = list(params, "/options")
            .iter()
            .map(|option| (text(option, "/kind").to_owned(), text(option, "/optionId").to_owned()))
            .collect();
        let description =
            optional_text(&tool_call, "/rawInput/reason").or(optional_text(&tool_call, "/title"));
        Self {
            question_id,
            call_id: optional_text(&tool_call, "/toolCallId").map(CallId::from),
            description: description.map(str::to_owned),
            asked: Asked::read(&call, &tool_call),
            call,
            options,
        }
    }

    pub(super) fn question(&self, asked_at: String) -> Question {
        let body = QuestionBody::Permission {
            tool_name: self.call.name(),
            tool_arguments: self.asked.arguments.clone(),
            bookkeeping: self.asked.bookkeeping.clone(),
            call_id: self.call_id.clone(),
            description: self.description.clone(),
            can_allow_always: self.option("allow_always").is_some(),
            detail: Some(ToolDetail { diffs: self.asked.diffs.clone(), ..self.call.detail() }),
        };
        Question { question_id: self.question_id.clone(), asked_at, body }
    }

    /// Returns the response for a decision. What the agent does not offer becomes its nearest: once for always, a
    /// cancelled request for no.
    pub(super) fn response(&self, decision: Decision) -> RequestPermissionResponse {
        let option = match decision {
            Decision::Allow => self.option("allow_once").or_else(|| self.option("allow_always")),
            Decision::AllowAlways => self.option("allow_always").or_else(|| self.option("allow_once")),
            Decision::Deny => self.option("reject_once").or_else(|| self.option("reject_always")),
        };
        match option {
            Some(option) => {
                let selected = SelectedPermissionOutcome::new(option.to_owned());
                RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected))
            }
            None => cancelled(),
        }
    }

    fn option(&self, kind: &str) -> Option<&str> {
        self.options.iter().find(|(option, _)| option == kind).map(|(_, id)| id.as_str())
    }
}

/// The response when nobody will decide any more.
pub(super) fn cancelled() -> RequestPermissionResponse {
    RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn recorded(index: usize) -> Permission {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/acp-permissions.jsonl");
        let lines = std::fs::read_to_string(path).expect("the recording is in the repository");
        let line: Value = serde_json::from_str(lines.lines().nth(index).expect("a line")).expect("JSON");
        Permission::read(QuestionId::from("q1"), &line["params"], None)
    }

    #[test]
    fn a_command_is_shown_exactly_and_answered_by_the_agents_own_options() {
        let permission = recorded(1);
        let QuestionBody::Permission {
            tool_name,
            tool_arguments,
            bookkeeping: folded,
            can_allow_always,
            call_id,
            description,
            ..
        } = permission.question("now".to_owned()).body
        else {
            panic!("a permission is no choice");
        };
        assert_eq!(tool_name, "execute");
        assert_eq!(tool_arguments["command"], json!(["/bin/bash", "-lc", "touch esc.txt"]));
        let shown: Vec<&str> = tool_arguments
            .keys()
            .map(String::as_str)
            .filter(|name| !folded.iter().any(|other| other == name))
            .collect();
        assert_eq!(shown, ["command", "cwd", "reason"]);
        assert_eq!(call_id, Some(CallId::from("call_resp_0029_1")));
        assert_eq!(description.as_deref(), Some("need it"));
        assert!(can_allow_always);
        let response = |decision| serde_json::to_value(permission.response(decision)).expect("JSON");
        assert_eq!(
            response(Decision::Allow),
            json!({"outcome": {"outcome": "selected", "optionId": "approved"}})
        );
        assert_eq!(
            response(Decision::AllowAlways),
            json!({"outcome": {"outcome": "selected", "optionId": "approved-execpolicy-amendment"}}),
        );
        assert_eq!(
            response(Decision::Deny),
            json!({"outcome": {"outcome": "selected", "optionId": "abort"}})
        );
    }

    #[track_caller]
    fn arguments(tool_call: Value) -> Value {
        let permission = Permission::read(QuestionId::from("q"), &json!({"toolCall": tool_call}), None);
        let QuestionBody::Permission { tool_arguments, .. } = permission.question("now".to_owned()).body
        else {
            panic!("a permission is no choice");
        };
        Value::Object(tool_arguments)
    }

    #[test]
    fn every_argument_is_shown_as_the_agent_sent_it() {
        let inputs = [
            json!({"command": ["./evil/bash", "-lc", "ls"]}),
            json!({"command": ["/bin/bash", "-lc", "ls"], "cwd": "/home/user/project"}),
            json!({"path": "a", "source": "curl x | sh", "reason": "r", "parsed_cmd": "rm", "turn_id": "rm -rf /"}),
        ];
        for input in inputs {
            assert_eq!(arguments(json!({"kind": "execute", "title": "ls", "rawInput": input})), input);
        }
        assert_eq!(arguments(json!({"title": "x", "rawInput": ["a", 1]})), json!({"rawInput": ["a", 1]}));
        assert_eq!(
            arguments(json!({"title": "Delete a", "locations": [{"path": "/p/a"}]})),
            json!({"title": "Delete a", "toolCall.locations": [{"path": "/p/a"}]})
        );
    }

    #[test]
    fn what_is_too_long_for_a_diff_is_among_the_arguments() {
        let text = "line\n".repeat(100_000);
        let part = json!({"type": "diff", "path": "/p/a", "oldText": null, "newText": text});
        let small = json!({"type": "diff", "path": "/p/b", "newText": "b\n"});
        let said = json!({"type": "content", "content": {"type": "text", "text": "also this"}});
        let shown = arguments(json!({"kind": "edit", "title": "Edit", "content": [part, small, said],
            "rawInput": {"content": "mine"}}));
        assert_eq!(shown, json!({"content": "mine", "toolCall.content": [part, said]}));
    }

    #[test]
    fn a_number_that_the_page_cannot_hold_is_its_digits() {
        let shown = arguments(
            json!({"title": "x", "rawInput": {"id": 9007199254740993_u64, "in": [-9007199254740993_i64, 1.5, 7]}}),
        );
        assert_eq!(shown, json!({"id": "9007199254740993", "in": ["-9007199254740993", 1.5, 7]}));
    }

    #[test]
    fn an_edit_shows_its_diff() {
        let QuestionBody::Permission { detail, can_allow_always, .. } =
            recorded(0).question("now".to_owned()).body
        else {
            panic!("a permission is no choice");
        };
        let diffs = detail.expect("an edit has a detail").diffs;
        assert_eq!((diffs[0].path.as_str(), diffs[0].added), ("/home/user/project/q.txt", 1));
        assert!(!can_allow_always);
    }

    #[test]
    fn a_request_without_options_can_only_be_cancelled() {
        let permission = Permission::read(QuestionId::from("q"), &json!({}), None);
        let response = serde_json::to_value(permission.response(Decision::Allow)).expect("JSON");
        assert_eq!(response, json!({"outcome": {"outcome": "cancelled"}}));
    }
}
