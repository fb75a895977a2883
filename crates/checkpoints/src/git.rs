//! Runs git on a repository of ours.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use chartroom_workspace::{CanonicalRoot, ChildKind, ProgramQuery, SpawnGate, SpawnRequest};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::CheckpointError;
use crate::place::Place;

/// How much of an answer is read at most.
const MAX_OUTPUT: u64 = 512 << 20;

/// The user's own config is read (it names ignore rules); what it could run or change here is switched off.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.splitIndex=false",
    "core.preloadIndex=true",
    "core.pager=cat",
    "core.logAllRefUpdates=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "diff.external=",
    "diff.renames=true",
    "diff.renameLimit=2000",
    "index.threads=true",
];

/// git, our repository and the working tree that it looks at.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    gate: SpawnGate,
    /// Holds our repository, our index and our lock.
    pub(crate) store: CanonicalRoot,
    pub(crate) place: Place,
}

/// One question to git.
pub(crate) struct Question<'a> {
    pub(crate) arguments: Vec<OsString>,
    pub(crate) input: Vec<u8>,
    /// Another index than ours.
    pub(crate) index: Option<&'a Path>,
}

impl Git {
    pub(crate) fn new(gate: &SpawnGate, store: CanonicalRoot, place: Place) -> Self {
        Self { gate: gate.clone(), store, place }
    }

    pub(crate) fn git_dir(&self) -> PathBuf {
        self.store.as_path().join("git")
    }

    /// Asks with arguments alone.
    pub(crate) async fn ask<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<u8>, CheckpointError> {
        self.run(Question { arguments: owned(arguments), input: Vec::new(), index: None }).await
    }

    /// Asks with arguments and one line, for an answer of one line.
    pub(crate) async fn line<S: AsRef<OsStr>>(
        &self,
        arguments: &[S],
        input: &[u8],
    ) -> Result<String, CheckpointError> {
        let question = Question { arguments: owned(arguments), input: input.to_vec(), index: None };
        let answer = self.run(question).await?;
        Ok(String::from_utf8_lossy(&answer).trim().to_owned())
    }

    pub(crate) async fn run(&self, question: Question<'_>) -> Result<Vec<u8>, CheckpointError> {
        let Question { arguments, input, index } = question;
        let command = arguments.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        // Looked for each time: most records need no git, and whether the folder is trusted may have changed.
        let program = self.gate.resolve_program(&self.place.folder, &ProgramQuery::on_path("git"))?.path;
        let mut request = SpawnRequest::new(&self.store, ChildKind::Records, &program);
        request.args.extend(["--no-pager".into(), "--literal-pathspecs".into()]);
        for setting in SETTINGS {
            request.args.extend(["-c".into(), setting.into()]);
        }
        request.args.extend(arguments);
        let variables: [(&str, OsString); 7] = [
            ("LC_ALL", "C".into()),
            ("GIT_TERMINAL_PROMPT", "0".into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_ATTR_NOSYSTEM", "1".into()),
            ("GIT_DIR", self.git_dir().into()),
            ("GIT_WORK_TREE", self.place.top().into()),
            (
                "GIT_INDEX_FILE",
                index.map_or_else(|| self.store.as_path().join("index"), Path::to_path_buf).into(),
            ),
        ];
        request.env.extend(variables.map(|(name, value)| (name.into(), value)));
        if let Some(repository) = &self.place.repository {
            let objects = quoted(&repository.common.join("objects"));
            request.env.insert("GIT_ALTERNATE_OBJECT_DIRECTORIES".into(), objects);
        }
        for who in ["AUTHOR", "COMMITTER"] {
            request.env.insert(format!("GIT_{who}_NAME").into(), "Chartroom".into());
            request.env.insert(format!("GIT_{who}_EMAIL").into(), "checkpoints@localhost".into());
        }
        let mut child = self.gate.spawn(request)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let write = async {
            if let Some(mut stdin) = stdin {
                // git ends early when it finds something wrong, and says so.
                stdin.write_all(&input).await.ok();
            }
        };
        let read = async {
            let mut output = Vec::new();
            if let Some(stdout) = stdout {
                stdout.take(MAX_OUTPUT).read_to_end(&mut output).await.ok();
            }
            output
        };
        let ((), output) = tokio::join!(write, read);
        let exit = child.wait().await;
        if exit.is_success() {
            return Ok(output);
        }
        let said = child.stderr_tail();
        let message = if said.trim().is_empty() { exit.to_string() } else { said.trim().to_owned() };
        Err(CheckpointError::Git { command, message })
    }
}

/// Reads the numbers of what `git version` says.
pub fn version_of(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("git version ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

pub(crate) fn owned<S: AsRef<OsStr>>(arguments: &[S]) -> Vec<OsString> {
    arguments.iter().map(|argument| argument.as_ref().to_owned()).collect()
}

/// A path in a list that is separated by colons: git takes one in quotes as C writes it.
fn quoted(path: &Path) -> OsString {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let mut text = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            b'\n' => text.extend(*b"\\n"),
            other => text.push(*other),
        }
    }
    text.push(b'"');
    OsString::from_vec(text)
}

#[cfg(test)]
mod tests {
    use super::version_of;

    #[test]
    fn a_version_is_read_however_it_goes_on() {
        assert_eq!(version_of("git version 2.47.3"), Some((2, 47)));
        assert_eq!(version_of("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(version_of("hub version 1"), None);
    }
}
