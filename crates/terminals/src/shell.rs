//! One terminal: the task that owns its shell, and what others see of it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use chartroom_transport::{Child, Exit, Terminal, TerminalSize};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};

use crate::scrollback::Scrollback;
use crate::{Limits, Listed};

/// How long the last words of a shell that is gone are waited for; they are there already, unless a process of it could not
/// be killed and holds the terminal.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// A pseudo-terminal of Linux gives 4 KiB at a time.
const READ: usize = 16 * 1024;
/// The task takes commands before anything else, so that a sender waits only for the task to be scheduled.
const COMMANDS: usize = 64;

/// A running terminal. Its task goes on until it is closed or left alone.
#[derive(Debug)]
pub(crate) struct Shell {
    listed: Listed,
    commands: mpsc::Sender<Command>,
    closing: watch::Sender<bool>,
    state: watch::Sender<State>,
}

/// Everything that can be asked of a terminal.
#[derive(Debug)]
pub(crate) enum Command {
    Type(Vec<u8>),
    Resize(TerminalSize),
}

/// What everybody sees of a terminal.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) scrollback: Scrollback,
    /// How far each reader has read.
    pub(crate) readers: BTreeMap<u64, u64>,
    pub(crate) size: Option<TerminalSize>,
    /// Bytes that were typed and refused, in all.
    pub(crate) refused: u64,
    pub(crate) exit: Option<Exit>,
    /// Nothing is left of it: its task has ended.
    pub(crate) gone: bool,
}

impl Shell {
    /// Starts the task of a shell; `forget` is called when it ends.
    pub(crate) fn run(
        listed: Listed,
        child: Child,
        limits: Limits,
        forget: impl FnOnce() + Send + 'static,
    ) -> Arc<Self> {
        let (commands, asked) = mpsc::channel(COMMANDS);
        let (closing, close) = watch::channel(false);
        let state = watch::Sender::new(State {
            scrollback: Scrollback::new(limits.scrollback),
            readers: BTreeMap::new(),
            size: None,
            refused: 0,
            exit: None,
            gone: false,
        });
        let task = Task { limits, state: state.clone(), asked, close, typed: VecDeque::new() };
        tokio::spawn(async move {
            task.run(child).await;
            forget();
        });
        Arc::new(Shell { listed, commands, closing, state })
    }

    pub(crate) fn listed(&self) -> Listed {
        Listed { exit: self.state.borrow().exit.clone(), ..self.listed.clone() }
    }

    pub(crate) fn state(&self) -> &watch::Sender<State> {
        &self.state
    }

    /// Asks something of it. A terminal that is gone does nothing.
    pub(crate) async fn ask(&self, command: Command) {
        if self.commands.send(command).await.is_err() {
            tracing::trace!(id = self.listed.id, "the terminal is gone");
        }
    }

    pub(crate) fn ask_to_close(&self) {
        self.closing.send_replace(true);
    }

    /// Ends it and waits until nothing of it is left.
    pub(crate) async fn close(&self) {
        self.ask_to_close();
        // An error means that the task has ended, which is what is waited for.
        self.state.subscribe().wait_for(|state| state.gone).await.ok();
    }
}

/// The one owner of a shell.
struct Task {
    limits: Limits,
    state: watch::Sender<State>,
    asked: mpsc::Receiver<Command>,
    close: watch::Receiver<bool>,
    /// What nobody has read yet of what was typed.
    typed: VecDeque<u8>,
}

impl Task {
    async fn run(mut self, mut child: Child) {
        if let Some(terminal) = child.terminal.take() {
            let exit = match self.follow(&child, &terminal).await {
                Some(exit) => exit,
                None => self.hang_up(&child, terminal).await,
            };
            self.state.send_modify(|state| state.exit = Some(exit));
        }
        // Its last words can be read until it is closed.
        self.wait_for_the_end().await;
        self.state.send_modify(|state| state.gone = true);
    }

    /// Everything that happens to a shell while it lives. Returns how it ended, or nothing when it shall end.
    async fn follow(&mut self, child: &Child, terminal: &Terminal) -> Option<Exit> {
        let mut printed = vec![0; READ];
        let mut readers = self.state.subscribe();
        let mut hung_up = false;
        let mut left_alone = None;
        loop {
            let (takes_more, deadline) = self.judge(&mut readers, &mut left_alone);
            let (typed, _) = self.typed.as_slices();
            tokio::select! {
                biased;
                () = closed(&mut self.close) => return None,
                exit = child.wait() => {
                    self.read_last_words(terminal, &mut printed).await;
                    return Some(exit);
                }
                asked = self.asked.recv() => match asked {
                    Some(Command::Type(bytes)) => self.take_typed(&bytes),
                    Some(Command::Resize(size)) => self.resize(terminal, size),
                    None => return None,
                },
                written = terminal.write(typed), if !typed.is_empty() => match written {
                    Ok(n_written) => drop(self.typed.drain(..n_written)),
                    Err(error) => {
                        tracing::debug!(%error, "a terminal takes nothing more");
                        self.typed.clear();
                    }
                },
                read = terminal.read(&mut printed), if takes_more && !hung_up => match read {
                    Ok(0) => hung_up = true,
                    Ok(n_read) => self.print(&printed[..n_read]),
                    Err(error) => {
                        tracing::debug!(%error, "a terminal cannot be read any more");
                        hung_up = true;
                    }
                },
                // Only who reads on, comes or goes changes what is judged; what was printed here is seen again at once.
                changed = readers.changed() => if changed.is_err() { return None },
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => return None,
            }
        }
    }

    /// Tells whether more may be read from the shell, and when it ends because nobody looks.
    fn judge(
        &self,
        readers: &mut watch::Receiver<State>,
        left_alone: &mut Option<Instant>,
    ) -> (bool, Option<Instant>) {
        let state = readers.borrow_and_update();
        if state.readers.is_empty() {
            // A build that runs while nobody looks goes on.
            let since = *left_alone.get_or_insert_with(Instant::now);
            return (true, Some(since + self.limits.unattended));
        }
        *left_alone = None;
        let end = state.scrollback.end();
        let ahead = state.readers.values().max().map_or(0, |read| end.saturating_sub(*read));
        (ahead < self.limits.unread as u64, None)
    }

    fn print(&self, printed: &[u8]) {
        self.state.send_modify(|state| state.scrollback.push(printed));
    }

    fn take_typed(&mut self, bytes: &[u8]) {
        // Half of a paste would be worse than none.
        if self.typed.len() + bytes.len() > self.limits.typed_ahead {
            self.state.send_modify(|state| state.refused += bytes.len() as u64);
        } else {
            self.typed.extend(bytes);
        }
    }

    fn resize(&self, terminal: &Terminal, size: TerminalSize) {
        match terminal.resize(size) {
            Ok(()) => self.state.send_modify(|state| state.size = Some(size)),
            Err(error) => tracing::debug!(%error, "a terminal keeps its size"),
        }
    }

    /// Reads what a shell that is gone has printed at the end, whoever is behind.
    async fn read_last_words(&self, terminal: &Terminal, printed: &mut [u8]) {
        while let Ok(Ok(n_read @ 1..)) = timeout(LAST_WORDS, terminal.read(printed)).await {
            self.print(&printed[..n_read]);
        }
    }

    /// Ends a shell as a window that is closed does: it may write its history, and then all of it goes.
    async fn hang_up(&self, child: &Child, terminal: Terminal) -> Exit {
        drop(terminal);
        if let Ok(exit) = timeout(self.limits.hang_up, child.wait()).await {
            return exit;
        }
        child.kill();
        child.wait().await
    }

    async fn wait_for_the_end(&mut self) {
        let mut readers = self.state.subscribe();
        let mut left_alone = None;
        loop {
            let (_, deadline) = self.judge(&mut readers, &mut left_alone);
            tokio::select! {
                () = closed(&mut self.close) => return,
                // Whoever types now types to nobody.
                asked = self.asked.recv() => if asked.is_none() { return },
                changed = readers.changed() => if changed.is_err() { return },
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => return,
            }
        }
    }
}

/// Waits until the terminal shall end: it was closed, or nobody can close it any more.
async fn closed(close: &mut watch::Receiver<bool>) {
    close.wait_for(|close| *close).await.ok();
}
