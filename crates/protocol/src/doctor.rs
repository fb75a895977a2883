//! `chartroom doctor --json`: what was found, what is missing, and what mends it.

use serde::{Deserialize, Serialize};

/// The whole report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorReport {
    /// The version of the program that looked.
    pub version: String,
    /// Nothing is wrong; something may be missing.
    pub ok: bool,
    /// Every finding, in the order a person would mend them.
    pub checks: Vec<DoctorCheck>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorCheck {
    /// What it belongs to: `data`, `config`, `git`, `agent`, `trust`, `server`, `index`.
    pub area: String,
    /// What was looked at.
    pub name: String,
    /// Whether it is as it should be.
    pub state: DoctorState,
    /// What was found, or what is wrong.
    pub detail: String,
    /// The command or the act that mends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

/// How a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DoctorState {
    /// As it should be.
    Ok,
    /// Useful to have; nothing is broken without it.
    Missing,
    /// Installed or not: the folder is not trusted, so that nothing of it is executed.
    Untrusted,
    /// Broken.
    Wrong,
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn the_report_as_a_script_reads_it() {
        let check = |state, mend: Option<&str>| DoctorCheck {
            area: "agent".to_owned(),
            name: "codex".to_owned(),
            state,
            detail: "not on PATH".to_owned(),
            mend: mend.map(str::to_owned),
        };
        let checks = vec![
            check(DoctorState::Missing, Some("npm i")),
            check(DoctorState::Ok, None),
            check(DoctorState::Untrusted, None),
        ];
        let report = DoctorReport { version: "1".to_owned(), ok: true, checks };
        let json = serde_json::to_string(&report).unwrap();
        expect![[r#"{"version":"1","ok":true,"checks":[{"area":"agent","name":"codex","state":"missing","detail":"not on PATH","mend":"npm i"},{"area":"agent","name":"codex","state":"ok","detail":"not on PATH"},{"area":"agent","name":"codex","state":"untrusted","detail":"not on PATH"}]}"#]].assert_eq(&json);
        assert_eq!(serde_json::from_str::<DoctorReport>(&json).unwrap(), report);
    }
}
