//! A pull request: by the forge's own program where it is installed, otherwise the address at which one is made by hand.

use chartroom_protocol::keep::{PullRequestParams, PullRequestResponse};
use chartroom_workspace::{CanonicalRoot, GateError, SpawnGate};

use super::commit::{branch, remote};
use crate::RepositoryError;
use crate::git::{self, Git};

/// Makes a pull request for the branch that is checked out. It must be pushed.
pub async fn pull_request(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    params: &PullRequestParams,
) -> Result<PullRequestResponse, RepositoryError> {
    let git = Git::around(gate, folder).await?;
    let branch = branch(&git).await?;
    let address = git.line(&["remote", "get-url", &remote(&git, &branch).await?]).await?;
    let by_hand = page(&address, &branch, params.base.as_deref());
    let said = match git::command(gate, git.top(), &command(&address, &branch, params)).await {
        Ok(said) => said,
        Err(RepositoryError::Gate(error @ GateError::NotFound { .. })) => {
            return Ok(PullRequestResponse { made: false, url: by_hand, output: error.to_string() });
        }
        Err(error) => return Err(error),
    };
    let output = said.text();
    let made = output.split_whitespace().rfind(|word| word.starts_with("https://"));
    let url = if said.ok { made.map(str::to_owned) } else { by_hand };
    Ok(PullRequestResponse { made: said.ok, url, output })
}

fn command(address: &str, branch: &str, params: &PullRequestParams) -> Vec<String> {
    let (program, head, base, body): (&[&str], _, _, _) = match is_gitlab(address) {
        true => (&["glab", "mr", "create", "--yes"], "--source-branch", "--target-branch", "--description"),
        false => (&["gh", "pr", "create"], "--head", "--base", "--body"),
    };
    let mut words: Vec<String> = program.iter().map(|word| (*word).to_owned()).collect();
    // One word each: what begins with a dash is no option.
    words.push(format!("{head}={branch}"));
    words.extend(params.base.as_ref().map(|name| format!("{base}={name}")));
    match &params.title {
        Some(title) => {
            words.push(format!("--title={title}"));
            words.push(format!("{body}={}", params.body.as_deref().unwrap_or_default()));
        }
        None => words.push("--fill".to_owned()),
    }
    words
}

fn is_gitlab(address: &str) -> bool {
    host_and_path(address).is_some_and(|(host, _)| host.contains("gitlab"))
}

/// The forge's page on which a pull request is made by hand.
fn page(address: &str, branch: &str, base: Option<&str>) -> Option<String> {
    let (host, path) = host_and_path(address)?;
    let branch = encoded(branch);
    let home = format!("https://{host}/{path}");
    Some(if host.contains("gitlab") {
        format!("{home}/-/merge_requests/new?merge_request%5Bsource_branch%5D={branch}")
    } else if host.contains("bitbucket") {
        format!("{home}/pull-requests/new?source={branch}")
    } else {
        let base = base.map(|base| format!("{}...", encoded(base))).unwrap_or_default();
        format!("{home}/compare/{base}{branch}?expand=1")
    })
}

/// `git@host:owner/name.git`, `ssh://git@host:22/owner/name`, `https://user@host/owner/name.git`.
fn host_and_path(address: &str) -> Option<(String, String)> {
    let (host, path) = match address.split_once("://") {
        Some(("http" | "https" | "ssh" | "git", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        None => address.split_once(':')?,
    };
    let host = host.rsplit('@').next()?.split(':').next()?;
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let is_host = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c));
    let is_path =
        path.contains('/') && path.chars().all(|c| c.is_ascii_alphanumeric() || "-._~/".contains(c));
    (is_host && is_path).then(|| (host.to_owned(), path.to_owned()))
}

fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_forge_has_its_page() {
        for (address, expected) in [
            (
                "git@github.com:owner/name.git",
                Some("https://github.com/owner/name/compare/main...a/b%23c?expand=1"),
            ),
            (
                "https://u:p@github.com/owner/name",
                Some("https://github.com/owner/name/compare/main...a/b%23c?expand=1"),
            ),
            (
                "ssh://git@gitlab.example.org:2222/group/sub/name.git",
                Some(
                    "https://gitlab.example.org/group/sub/name/-/merge_requests/new?merge_request%5Bsource_branch%5D=a/b%23c",
                ),
            ),
            ("git@bitbucket.org:o/n.git", Some("https://bitbucket.org/o/n/pull-requests/new?source=a/b%23c")),
            ("/srv/git/name.git", None),
            ("file:///srv/git/name.git", None),
            ("https://evil.example/<script>/x", None),
        ] {
            assert_eq!(page(address, "a/b#c", Some("main")).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn the_forge_s_program_is_told_words_and_no_options() {
        let params = PullRequestParams { title: Some("--web".to_owned()), body: None, base: None };
        assert_eq!(
            command("git@github.com:o/n.git", "work", &params),
            ["gh", "pr", "create", "--head=work", "--title=--web", "--body="]
        );
        let none = PullRequestParams::default();
        assert_eq!(
            command("git@gitlab.com:o/n.git", "work", &none),
            ["glab", "mr", "create", "--yes", "--source-branch=work", "--fill"]
        );
    }
}
