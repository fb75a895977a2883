//! `session/request_permission`: may this tool run, and what the person said.

use agent_client_protocol::v1::schema::{
    RequestPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome,
};
use chartroom_protocol::ids::{CallId, QuestionId};
use chartroom_protocol::session::{AnswerParams, Decision, Grant, GrantScope, Question, QuestionBody};
use chartroom_protocol::upsert::ToolDetail;
use serde_json::Value;

use super::asked::Asked;
use super::tool::Call;
use crate::json::{list, optional_text, text};
use crate::same_calls::{SAME_CALL, Sameness};

/// What Codex calls its rule about commands that begin alike. It keeps such rules for all projects.
const CODEX_RULE: &str = "approved-execpolicy-amendment";

/// A request that waits for a person.
#[derive(Debug, Clone)]
pub(super) struct Permission {
    question_id: QuestionId,
    call: Call,
    asked: Asked,
    call_id: Option<CallId>,
    options: Vec<Offered>,
    description: Option<String>,
    /// The beginning of commands that a rule of Codex would let run.
    codex_rule: Option<String>,
}

/// An answer that the agent offers.
#[derive(Debug, Clone)]
struct Offered {
    kind: String,
    id: String,
    name: String,
}

impl Offered {
    fn grant_id(&self) -> String {
        format!("option-{}", self.id)
    }
}

impl Permission {
    /// Reads a request; ACP has no id for it, so the number is ours. `known` is what was said of its call before.
    pub(super) fn read(question_id: QuestionId, params: &Value, known: Option<&Call>) -> Self {
        let mut call = known.cloned().unwrap_or_default();
        let tool_call = params.get("toolCall").cloned().unwrap_or_default();
        call.take(&tool_call);
        let options = list(params, "/options")
            .iter()
            .map(|option| Offered {
                kind: text(option, "/kind").to_owned(),
                id: text(option, "/optionId").to_owned(),
                name: text(option, "/name").to_owned(),
            })
            .collect();
        let rule: Vec<&str> = list(&tool_call, "/rawInput/proposed_execpolicy_amendment")
            .iter()
            .filter_map(Value::as_str)
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
            codex_rule: (!rule.is_empty()).then(|| rule.join(" ")),
        }
    }

    pub(super) fn question(&self, asked_at: String) -> Question {
        let body = QuestionBody::Permission {
            tool_name: self.call.name(),
            tool_arguments: self.asked.arguments.clone(),
            bookkeeping: self.asked.bookkeeping.clone(),
            call_id: self.call_id.clone(),
            description: self.description.clone(),
            grants: self.grants(),
            detail: Some(ToolDetail { diffs: self.asked.diffs.clone(), ..self.call.detail() }),
        };
        Question { question_id: self.question_id.clone(), asked_at, body }
    }

    /// Returns the response for an answer. Nothing wider than the answer is ever chosen: without an offer that fits, the
    /// request is cancelled.
    pub(super) fn response(&self, params: &AnswerParams) -> RequestPermissionResponse {
        let option = match params.decision {
            Decision::Allow => self.option("allow_once"),
            Decision::AllowAlways => self.granted(params).or_else(|| self.option("allow_once")),
            Decision::Deny => self.option("reject_once").or_else(|| self.option("reject_always")),
        };
        selected(option)
    }

    /// Returns the response for a call that was allowed before.
    pub(super) fn once(&self) -> RequestPermissionResponse {
        selected(self.option("allow_once"))
    }

    /// Returns what is to be remembered when this answer lets the same call run again.
    pub(super) fn same_call(&self, params: &AnswerParams) -> Option<Sameness> {
        let is_same = params.grant_id.as_deref().is_none_or(|grant_id| grant_id == SAME_CALL);
        (params.decision == Decision::AllowAlways && is_same).then(|| self.sameness())?
    }

    /// Returns what makes another call the same as this one, if it can be allowed once.
    pub(super) fn sameness(&self) -> Option<Sameness> {
        self.option("allow_once")?;
        let mut arguments = self.asked.arguments.clone();
        arguments.retain(|name, _| !self.asked.bookkeeping.contains(name));
        if arguments.contains_key("command") {
            // Codex's own remark; it changes nothing of what runs.
            if !self.asked.bookkeeping.is_empty() {
                arguments.remove("reason");
            }
            return Some(Sameness::of_command(&self.call.name(), &arguments));
        }
        let changes = self.asked.arguments.get("changes").and_then(Value::as_object);
        match changes.filter(|_| arguments.keys().all(|name| name == "changes" || name == "reason")) {
            Some(changes) => {
                let mut paths: Vec<&str> = changes.keys().map(String::as_str).collect();
                paths.sort_unstable();
                Some(Sameness::of_changes(&paths))
            }
            None => (!arguments.is_empty()).then(|| Sameness::of_call(&self.call.name(), &arguments)),
        }
    }

    fn grants(&self) -> Vec<Grant> {
        let same = self.sameness().map(|sameness| sameness.grant());
        let offered = self.options.iter().filter(|option| option.kind == "allow_always").map(|option| {
            let (what, scope) = match &self.codex_rule {
                Some(rule) if option.id == CODEX_RULE => {
                    (format!("every command that begins with `{rule}`"), GrantScope::Everywhere)
                }
                _ => (format!("“{}”", option.name), GrantScope::AsTheAgentSays),
            };
            Grant { grant_id: option.grant_id(), what, scope, is_wider: true }
        });
        same.into_iter().chain(offered).collect()
    }

    fn granted(&self, params: &AnswerParams) -> Option<&Offered> {
        let grant_id = match &params.grant_id {
            Some(grant_id) => grant_id.clone(),
            None => self.grants().into_iter().next()?.grant_id,
        };
        self.options.iter().find(|option| option.kind == "allow_always" && option.grant_id() == grant_id)
    }

    fn option(&self, kind: &str) -> Option<&Offered> {
        self.options.iter().find(|option| option.kind == kind)
    }
}

fn selected(option: Option<&Offered>) -> RequestPermissionResponse {
    option.map_or_else(cancelled, |option| {
        let selected = SelectedPermissionOutcome::new(option.id.clone());
        RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected))
    })
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
            grants,
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
        let grants: Vec<_> = grants.iter().map(|grant| (grant.what.as_str(), grant.scope)).collect();
        assert_eq!(
            grants,
            [
                ("exactly this command", GrantScope::Session),
                ("every command that begins with `touch esc.txt`", GrantScope::Everywhere),
            ]
        );
        let response =
            |params: &AnswerParams| serde_json::to_value(permission.response(params)).expect("JSON");
        let chosen = |option: &str| json!({"outcome": {"outcome": "selected", "optionId": option}});
        assert_eq!(response(&answer(Decision::Allow, None)), chosen("approved"));
        assert_eq!(response(&answer(Decision::AllowAlways, None)), chosen("approved"));
        assert_eq!(response(&answer(Decision::AllowAlways, Some("unknown"))), chosen("approved"));
        assert_eq!(
            response(&answer(Decision::AllowAlways, Some("option-approved-execpolicy-amendment"))),
            chosen(CODEX_RULE)
        );
        assert_eq!(response(&answer(Decision::Deny, None)), chosen("abort"));
    }

    fn answer(decision: Decision, grant_id: Option<&str>) -> AnswerParams {
        let grant_id = grant_id.map(str::to_owned);
        AnswerParams { question_id: QuestionId::from("q1"), decision, message: None, grant_id, answers: None }
    }

    #[test]
    fn once_is_never_answered_by_always() {
        let options = json!([{"optionId": "ever", "name": "Always", "kind": "allow_always"}]);
        let params = json!({"toolCall": {"rawInput": {"a": 1}}, "options": options});
        let permission = Permission::read(QuestionId::from("q"), &params, None);
        let response = |decision, grant| {
            serde_json::to_value(permission.response(&answer(decision, grant))).expect("JSON")
        };
        let cancelled = json!({"outcome": {"outcome": "cancelled"}});
        assert_eq!(response(Decision::Allow, None), cancelled);
        assert_eq!(
            response(Decision::AllowAlways, Some("option-ever")),
            json!({"outcome": {"outcome": "selected", "optionId": "ever"}})
        );
        assert_eq!(permission.sameness(), None, "the same call could not be allowed by itself");
    }

    #[test]
    fn two_calls_are_the_same_by_what_they_do() {
        let (edit, first, second) = (recorded(0), recorded(1), recorded(2));
        assert_eq!(first.sameness(), recorded(1).sameness());
        assert_ne!(first.sameness(), second.sameness(), "another command");
        let grant = edit.sameness().expect("a change can be had again").grant();
        assert_eq!(grant.what, "every change to `/home/user/project/q.txt`");
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
        let QuestionBody::Permission { detail, grants, .. } = recorded(0).question("now".to_owned()).body
        else {
            panic!("a permission is no choice");
        };
        let diffs = detail.expect("an edit has a detail").diffs;
        assert_eq!((diffs[0].path.as_str(), diffs[0].added), ("/home/user/project/q.txt", 1));
        assert_eq!(grants.len(), 1, "the agent offers nothing wider");
    }

    #[test]
    fn a_request_without_options_can_only_be_cancelled() {
        let permission = Permission::read(QuestionId::from("q"), &json!({}), None);
        let response =
            serde_json::to_value(permission.response(&answer(Decision::Allow, None))).expect("JSON");
        assert_eq!(response, json!({"outcome": {"outcome": "cancelled"}}));
    }
}
