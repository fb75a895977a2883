//! Ids as their own types, so that a session and a turn cannot be swapped by accident.

use serde::{Deserialize, Serialize};

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
            schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
        )]
        pub struct $name(pub String);

        impl $name {
            /// Wraps an id that already exists somewhere: a CLI's own, a stored one.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// Returns the id as it stands on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id)
            }
        }
    };
}

id_type! {
    /// The CLI's own session id (`--session-id` for Claude, the ACP id for Codex), so that resume survives us.
    SessionId
}
id_type! {
    /// One turn: made by us before the message is written to the CLI, reused in every output of that turn.
    TurnId
}
id_type! {
    /// One rendered item; the page replaces its state per item id.
    ItemId
}
id_type! {
    /// Joins a tool's invocation with its result.
    CallId
}
id_type! {
    /// A folder the user added.
    ProjectId
}
id_type! {
    /// A pending permission request or question.
    QuestionId
}
id_type! {
    /// A message that waits for the running turn to end.
    QueuedId
}
id_type! {
    /// One canonical stream event.
    EventId
}
id_type! {
    /// An agent by its config key: `claude-code`, `codex`, or any ACP agent the user named.
    CliType
}
