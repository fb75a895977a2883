//! Begins several tries: what is planned is written down first, so that a death in the middle leaves nothing that is not
//! shown and cannot be removed.

use chartroom_protocol::ids::ProjectId;
use chartroom_protocol::session::SendParams;
use chartroom_protocol::tries::{StartTriesParams, Tries, Try, TryAgent, TryState};
use chartroom_protocol::worktree::AddWorktreeParams;
use chartroom_repository::worktrees;
use chartroom_sessions::NewSession;
use chartroom_sessions::store::StoredProject;
use chartroom_workspace::CanonicalRoot;

use super::book::What;
use super::{TriesError, live};
use crate::app::{App, worktrees as settings_of};

/// How many there may be.
const FEWEST: usize = 2;
const MOST: usize = 4;
/// How much of the message is in the names of the branches.
const BRANCH_CHARACTERS: usize = 28;

/// Begins them. The answer comes at once; the worktrees are made and the agents started behind it.
pub(crate) async fn start(
    app: &App,
    project_id: &ProjectId,
    params: StartTriesParams,
) -> Result<Tries, TriesError> {
    if params.message.trim().is_empty() {
        return Err(TriesError::Invalid("there is nothing to try: the message is empty".to_owned()));
    }
    if !(FEWEST..=MOST).contains(&params.agents.len()) {
        return Err(TriesError::Invalid(format!(
            "{FEWEST} to {MOST} agents try, not {}",
            params.agents.len()
        )));
    }
    for agent in &params.agents {
        app.sessions().check_cli_type(&agent.cli_type)?;
    }
    let root = app.projects().root(project_id).await?;
    if !app.gate().is_trusted(&root) {
        return Err(TriesError::Untrusted(root));
    }
    // It says what is wrong with the repository before anything is written down.
    worktrees::branch_of(app.gate(), &root).await?;
    let tries_id = random_id()?;
    let beginning = match &params.branch {
        Some(branch) => branch.clone(),
        None => format!("try/{}-{}", words_of(&params.message), &tries_id[..4]),
    };
    let planned = params.agents.iter().enumerate().map(|(at, agent)| {
        let branch = format!("{beginning}-{}", at + 1);
        Try {
            name: worktrees::name_of(&branch),
            branch,
            cli_type: agent.cli_type.clone(),
            state: TryState::Making,
            note: None,
            session_id: None,
            path: None,
            preparing: None,
            test: None,
            size: None,
            cost_usd: None,
            tokens: None,
            duration_ms: 0,
            removed: None,
        }
    });
    let tries = Tries {
        tries_id,
        project_id: project_id.clone(),
        message: params.message.clone(),
        created_at: jiff::Timestamp::now().to_string(),
        onto: None,
        test: Vec::new(),
        tries: planned.collect(),
        kept: None,
    };
    app.tries().write(&tries)?;
    for (one, agent) in tries.tries.iter().zip(&params.agents) {
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let make = Make {
            app: app.clone(),
            tries_id: tries.tries_id.clone(),
            name: one.name.clone(),
            worktree: AddWorktreeParams { branch: one.branch.clone(), from: params.from.clone() },
            agent: agent.clone(),
            root: root.clone(),
            message: params.message.clone(),
        };
        // Bounded by the set-up command's limit and the agent's; what it leaves undone is told by the book.
        drop(tokio::spawn(make.run(begun)));
        has_begun.await.ok();
    }
    Ok(live::filled(app, app.tries().read(&tries.tries_id)?).await)
}

/// The making of one try.
struct Make {
    app: App,
    tries_id: String,
    name: String,
    worktree: AddWorktreeParams,
    agent: TryAgent,
    root: CanonicalRoot,
    message: String,
}

impl Make {
    async fn run(self, begun: tokio::sync::oneshot::Sender<()>) {
        let Some(_busy) = self.app.tries().begin(What::Making, &self.tries_id, &self.name) else { return };
        begun.send(()).ok();
        let made = self.make().await;
        let end = |one: &mut Try| match made {
            Ok(()) => one.state = TryState::Working,
            Err(error) => {
                one.state = TryState::Failed;
                one.note = Some(error.to_string());
            }
        };
        if let Err(error) = self.change(end) {
            tracing::error!(tries = self.tries_id, "{error}");
        }
        self.app.projects().tell_changed();
    }

    async fn make(&self) -> Result<(), TriesError> {
        let app = &self.app;
        let preparation = settings_of::preparation(&app.config().worktrees, self.root.as_path());
        let made_for = Some(self.tries_id.clone());
        let added =
            worktrees::add_for(app.gate(), &self.root, &self.worktree, &preparation, made_for).await?;
        let path = added.worktree.path.clone();
        self.change(|one| one.path = Some(path))?;
        let root = CanonicalRoot::open(&added.worktree.path)
            .map_err(|error| TriesError::Invalid(format!("the worktree: {error}")))?;
        let project = app.projects().ensure(&root, false).await?;
        if added.setup.is_some_and(|setup| !setup.ok) {
            return Err(TriesError::Invalid("the set-up command failed; no agent was started".to_owned()));
        }
        let new = NewSession {
            cli_type: self.agent.cli_type.clone(),
            project: StoredProject {
                project_id: project.project_id,
                path: root.as_path().to_owned(),
                name: project.name,
            },
            model: self.agent.model.clone(),
            mode: self.agent.mode.clone(),
            provider_options: serde_json::Map::default(),
        };
        let made = app.sessions().create(new).await?;
        let session_id = made.session_id.clone();
        self.change(|one| one.session_id = Some(session_id))?;
        let said = SendParams { message: self.message.clone(), images: Vec::new() };
        app.sessions().send(&made.session_id, said).await?;
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut Try)) -> Result<(), TriesError> {
        self.app.tries().change(&self.tries_id, &self.name, change)
    }
}

/// The first words of a message, as a part of a branch's name.
fn words_of(message: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    let text: String = message.chars().map(plain).collect();
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() && words.len() + 1 + word.len() > BRANCH_CHARACTERS {
            break;
        }
        if !words.is_empty() {
            words.push('-');
        }
        words.extend(word.chars().take(BRANCH_CHARACTERS));
    }
    if words.is_empty() { "it".to_owned() } else { words }
}

fn random_id() -> Result<String, TriesError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| TriesError::Io(std::io::Error::other(error.to_string())))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::words_of;

    #[test]
    fn a_branch_has_the_first_words_of_the_message() {
        for (message, expected) in [
            ("Make the login retry once", "make-the-login-retry-once"),
            ("Fix `src/a.rs`: it panics when the file is empty", "fix-src-a-rs-it-panics-when"),
            ("  …  ", "it"),
            ("Donaudampfschifffahrtsgesellschaftskapitän", "donaudampfschifffahrtsgesell"),
        ] {
            assert_eq!(words_of(message), expected);
        }
    }
}
