//! What state the index of the current folder is in.

use chartroom_protocol::index::{
    IndexStatus, ManageAction, ManageIndexParams, ManageIndexResponse, StoreConfig,
};
use chartroom_search::store::team::Health;
use chartroom_workspace::CanonicalRoot;

use super::super::block_on;
use super::super::words::{in_own_words, mending};
use super::{Check, State};
use crate::app::index;
use crate::config::Config;
use crate::data::DataFolder;
use crate::exit::Failure;

pub(super) fn check(config: &Config, data: &DataFolder, root: &CanonicalRoot) -> Check {
    let asked = block_on(async {
        let service = index::once(config, data).map_err(Failure::from)?;
        Ok(service.manage(ManageIndexParams::new(ManageAction::Status, root.to_string())).await)
    });
    let (state, detail, mend) = match asked {
        Ok(answer) => match answer.status {
            IndexStatus::Ok => (State::Ok, answer.message, None),
            // A build is running; it ends by itself.
            IndexStatus::NotReady | IndexStatus::Blocked => (State::Ok, answer.message, None),
            IndexStatus::NotIndexed => (
                State::Missing,
                "not indexed: agents cannot search the code here".to_owned(),
                Some("chartroom index create .".to_owned()),
            ),
            IndexStatus::RequiresReindex => {
                (State::Wrong, answer.message, Some("chartroom index reindex .".to_owned()))
            }
            IndexStatus::Error
            | IndexStatus::NotFound
            | IndexStatus::Unsupported
            | IndexStatus::Ambiguous => {
                let mend = mend_of(&answer);
                (State::Wrong, in_own_words(&answer.message, &answer.path), Some(mend))
            }
        },
        Err(Failure::Impossible(why) | Failure::Usage(why)) => {
            let mend = match config.index.store {
                StoreConfig::Embedded => "make the data folder yours again",
                StoreConfig::Milvus { .. } => "look at [index] store in the config",
            };
            (State::Wrong, why, Some(mend.to_owned()))
        }
    };
    Check { area: "index".to_owned(), name: root.to_string(), state, detail, mend }
}

/// The server through which a team shares, when the config names one.
pub(super) fn server(config: &Config, data: &DataFolder) -> Option<Check> {
    if config.index.store == StoreConfig::Embedded {
        return None;
    }
    let asked = block_on(async {
        let service = index::once(config, data).map_err(Failure::from)?;
        Ok(service.team_health().await)
    });
    let check = |name: String, state, detail, mend: Option<&str>| Check {
        area: "index".to_owned(),
        name,
        state,
        detail,
        mend: mend.map(ToOwned::to_owned),
    };
    match asked {
        Ok(health) => health.map(|Health { address, version, latency_ms, last_trouble: _ }| match version {
            Ok(version) => check(address, State::Ok, format!("{version}, answers in {latency_ms} ms"), None),
            Err(why) => check(
                address,
                State::Wrong,
                format!("{why}; this machine's own index answers meanwhile"),
                Some("look at [index] store in the config, and at the server"),
            ),
        }),
        Err(Failure::Impossible(why) | Failure::Usage(why)) => Some(check(
            "the team's store".to_owned(),
            State::Wrong,
            why,
            Some("look at [index] store in the config"),
        )),
    }
}

/// What the index itself proposes; a build that failed is built again, for there is nothing to repair.
fn mend_of(answer: &ManageIndexResponse) -> String {
    mending(answer.hints.as_ref()).unwrap_or_else(|| "chartroom index repair .".to_owned())
}

#[cfg(test)]
mod tests {
    use chartroom_protocol::index::{Hints, ManageAction, ManageHint};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_build_that_failed_is_mended_by_another_and_not_by_a_repair() {
        let mut answer: ManageIndexResponse = serde_json::from_value(json!({
            "tool": "manage_index", "version": 1, "action": "status", "path": "/shop", "status": "error",
            "message": "failed", "humanText": "failed"
        }))
        .expect("an answer of before");
        assert_eq!(mend_of(&answer), "chartroom index repair .");
        let create = Some(ManageHint::new(ManageAction::Create, "/shop"));
        answer.hints = Some(Hints { create, ..Hints::default() });
        assert_eq!(mend_of(&answer), "chartroom index create /shop");
    }
}
