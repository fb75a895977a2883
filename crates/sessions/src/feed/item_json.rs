//! The JSON of an item. Nearly every event has one, mostly with the whole text of its item: serde would look at each byte of
//! it, and take the flattened body through a map of its own. A test compares the two.

use chartroom_protocol::stream::Origin;
use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};

use super::escape::write_string;

/// What the fields of an item take beside its text, with the frame around them.
pub(super) const HEADS: usize = 640;

/// Writes an item as serde does.
pub(super) fn write(out: &mut String, upsert: &Upsert) {
    // Every field by its name: one that is added is not forgotten here.
    let Upsert {
        turn_id,
        session_id,
        item_id,
        source_timestamp,
        emitted_at,
        status,
        error_code,
        error_message,
        parent_call_id,
        body,
    } = upsert;
    let mut field = |name: &str, value: &str| {
        out.push_str(name);
        write_string(out, value);
    };
    field(r#"{"turnId":"#, turn_id.as_str());
    field(r#","sessionId":"#, session_id.as_str());
    field(r#","itemId":"#, item_id.as_str());
    field(r#","sourceTimestamp":"#, source_timestamp);
    field(r#","emittedAt":"#, emitted_at);
    field(r#","status":"#, status_name(*status));
    for (name, value) in [
        (r#","errorCode":"#, error_code.as_deref()),
        (r#","errorMessage":"#, error_message.as_deref()),
        (r#","parentCallId":"#, parent_call_id.as_ref().map(|call_id| call_id.as_str())),
    ] {
        if let Some(value) = value {
            field(name, value);
        }
    }
    match body {
        UpsertBody::Message { content, origin, image_count } => {
            field(r#","type":"message","content":"#, content);
            field(r#","origin":"#, origin_name(*origin));
            if *image_count > 0 {
                out.push_str(r#","imageCount":"#);
                out.push_str(&image_count.to_string());
            }
            out.push('}');
        }
        UpsertBody::Thinking { content, provider_id } => {
            field(r#","type":"thinking","content":"#, content);
            field(r#","providerId":"#, provider_id);
            out.push('}');
        }
        // An object of its own, whose fields follow those before.
        UpsertBody::ToolCall { .. } => {
            let fields = serde_json::to_string(body)
                .expect("our wire types have string keys only, so they always serialize");
            out.push(',');
            out.push_str(fields.strip_prefix('{').unwrap_or(&fields));
        }
    }
}

fn status_name(status: UpsertStatus) -> &'static str {
    match status {
        UpsertStatus::Create => "create",
        UpsertStatus::Update => "update",
        UpsertStatus::Complete => "complete",
        UpsertStatus::Error => "error",
    }
}

fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::User => "user",
        Origin::Agent => "agent",
        Origin::System => "system",
    }
}

#[cfg(test)]
mod tests {
    use chartroom_protocol::ids::{CallId, ItemId, SessionId, TurnId};
    use chartroom_protocol::upsert::ToolDetail;
    use proptest::prelude::*;
    use serde_json::Map;

    use super::*;

    fn upsert(status: UpsertStatus, optional: Option<&str>, body: UpsertBody) -> Upsert {
        Upsert {
            turn_id: TurnId::new("a \"turn\""),
            session_id: SessionId::new("session \\ \u{1}"),
            item_id: ItemId::new("item ä"),
            source_timestamp: "1970-01-01T00:00:00.000Z".to_owned(),
            emitted_at: "1970-01-01T00:00:00.001Z".to_owned(),
            status,
            error_code: optional.map(str::to_owned),
            error_message: optional.map(|text| format!("{text}\nmore")),
            parent_call_id: optional.map(CallId::new),
            body,
        }
    }

    #[track_caller]
    fn check(upsert: &Upsert) {
        let mut written = String::new();
        write(&mut written, upsert);
        assert_eq!(written, serde_json::to_string(upsert).unwrap());
    }

    #[test]
    fn every_kind_of_text_is_written_as_serde_writes_it() {
        use UpsertStatus::{Complete, Create, Error, Update};
        for status in [Create, Update, Complete, Error] {
            for optional in [None, Some("why \"so\"")] {
                for content in ["", "said \"so\"\n\\ \u{1F600}"] {
                    let content = content.to_owned();
                    for (origin, image_count) in
                        [(Origin::User, 0), (Origin::User, 12), (Origin::Agent, 0), (Origin::System, 0)]
                    {
                        let content = content.clone();
                        check(&upsert(
                            status,
                            optional,
                            UpsertBody::Message { content, origin, image_count },
                        ));
                    }
                    let provider_id = "claude \"code\"".to_owned();
                    check(&upsert(status, optional, UpsertBody::Thinking { content, provider_id }));
                }
            }
        }
    }

    #[test]
    fn a_call_is_written_as_serde_writes_it() {
        let arguments = |json: serde_json::Value| json.as_object().cloned().unwrap_or_default();
        for tool_arguments in [Map::new(), arguments(serde_json::json!({"{": {"a": ["\"", 1]}}))] {
            for detail in [None, Some(ToolDetail { title: Some("{".to_owned()), ..ToolDetail::default() })] {
                let call = UpsertBody::ToolCall {
                    tool_name: "Bash \"{\"".to_owned(),
                    tool_arguments: tool_arguments.clone(),
                    call_id: CallId::new("c"),
                    tool_output: detail.is_some().then(|| "said \n".to_owned()),
                    tool_output_is_error: detail.is_some().then_some(false),
                    detail,
                };
                check(&upsert(UpsertStatus::Create, None, call.clone()));
                check(&upsert(UpsertStatus::Error, Some("why"), call));
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_written_as_serde_writes_it(content in "([ -~]{0,40}|[\\x00-\\x7f]|\\PC){0,12}") {
            let body = UpsertBody::Message { content, origin: Origin::Agent, image_count: 0 };
            check(&upsert(UpsertStatus::Update, None, body));
        }
    }
}
