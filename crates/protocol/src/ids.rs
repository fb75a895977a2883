//! Ids as their own types, so that a session and a turn cannot be swapped by accident. Their text is shared: every event
//! carries several of them through several hands, and each copy would be an allocation.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
        )]
        #[schema(value_type = String)]
        pub struct $name(
            #[schemars(with = "String")]
            #[ts(type = "string")]
            Arc<str>,
        );

        impl $name {
            /// Wraps an id that already exists somewhere: a CLI's own, a stored one.
            pub fn new(id: impl Into<Arc<str>>) -> Self {
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
                Self(id.into())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id.into())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
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
