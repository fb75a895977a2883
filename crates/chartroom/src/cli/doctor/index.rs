//! What state the index of the current folder is in.

use chartroom_protocol::index::{IndexStatus, ManageAction, ManageIndexParams};
use chartroom_workspace::CanonicalRoot;

use super::super::block_on;
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
                Some("chartroom index create ."),
            ),
            IndexStatus::RequiresReindex => (State::Wrong, answer.message, Some("chartroom index reindex .")),
            IndexStatus::Error
            | IndexStatus::NotFound
            | IndexStatus::Unsupported
            | IndexStatus::Ambiguous => (State::Wrong, answer.message, Some("chartroom index repair .")),
        },
        Err(Failure::Impossible(why) | Failure::Usage(why)) => {
            (State::Wrong, why, Some("make the data folder yours again"))
        }
    };
    Check { area: "index".to_owned(), name: root.to_string(), state, detail, mend: mend.map(str::to_owned) }
}
