//! One look at a terminal: what it printed, from the oldest that is kept on, no faster than it is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chartroom_transport::{Exit, TerminalSize};
use tokio::sync::watch;

use crate::Limits;
use crate::shell::{Command, Shell, State};

/// Bytes of one [`Event::Printed`].
const AT_ONCE: usize = 64 * 1024;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// What a reader is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// More was printed.
    Printed(Vec<u8>),
    /// What is missing here was forgotten before this reader had read it: it begins anew.
    Skipped,
    /// What was typed is too much: so many bytes were left out.
    Refused(u64),
    /// The shell has ended, and all that it printed was told.
    Exited(Exit),
    /// The terminal was closed.
    Gone,
}

/// A reader of a terminal, which also types. Dropping it ends the look, not the terminal.
#[derive(Debug)]
pub struct Attachment {
    shell: Arc<Shell>,
    limits: Limits,
    number: u64,
    states: watch::Receiver<State>,
    began: u64,
    /// The place of the next byte to tell.
    next: u64,
    replayed: u64,
    refused: u64,
    told_exit: bool,
}

impl Attachment {
    pub(crate) fn to(shell: Arc<Shell>, limits: Limits) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let (mut began, mut replayed, mut refused) = (0, 0, 0);
        let states = shell.state().subscribe();
        shell.state().send_modify(|state| {
            began = state.scrollback.start();
            replayed = state.scrollback.end() - began;
            refused = state.refused;
            state.readers.insert(number, began);
        });
        Attachment { shell, limits, number, states, began, next: began, replayed, refused, told_exit: false }
    }

    /// How many bytes were printed before this look began, and come first.
    pub fn replayed(&self) -> u64 {
        self.replayed
    }

    /// The size that it was given last, if it was.
    pub fn size(&self) -> Option<TerminalSize> {
        self.states.borrow().size
    }

    /// Waits for what is next. What it waits for is kept when it is dropped.
    pub async fn next(&mut self) -> Event {
        loop {
            if let Some(event) = self.look() {
                return event;
            }
            if self.states.changed().await.is_err() {
                return Event::Gone;
            }
        }
    }

    fn look(&mut self) -> Option<Event> {
        let state = self.states.borrow_and_update();
        if state.gone {
            return Some(Event::Gone);
        }
        if state.refused > self.refused {
            let n_refused = state.refused - self.refused;
            self.refused = state.refused;
            return Some(Event::Refused(n_refused));
        }
        if self.next < state.scrollback.start() {
            // The reader counts on: what it has read stands for what it has been told.
            let lost = state.scrollback.start() - self.next;
            self.began += lost;
            self.next += lost;
            return Some(Event::Skipped);
        }
        let read = state.readers.get(&self.number).copied().unwrap_or(self.next);
        let window = (self.limits.unread as u64).saturating_sub(self.next.saturating_sub(read));
        let most = AT_ONCE.min(usize::try_from(window).unwrap_or(AT_ONCE));
        let printed = state.scrollback.read(self.next, most);
        if !printed.is_empty() {
            self.next += printed.len() as u64;
            return Some(Event::Printed(printed));
        }
        let at_the_end = self.next == state.scrollback.end();
        match &state.exit {
            Some(exit) if at_the_end && !self.told_exit => {
                self.told_exit = true;
                Some(Event::Exited(exit.clone()))
            }
            Some(_) | None => None,
        }
    }

    /// Says how many bytes, of all that were told to this reader, it has read by now.
    pub fn has_read(&self, n_bytes: u64) {
        let place = (self.began + n_bytes).min(self.next);
        self.shell.state().send_if_modified(|state| match state.readers.get_mut(&self.number) {
            Some(read) if *read < place => {
                *read = place;
                true
            }
            Some(_) | None => false,
        });
    }

    /// Types into the terminal.
    pub async fn type_in(&self, bytes: Vec<u8>) {
        self.shell.ask(Command::Type(bytes)).await;
    }

    /// Gives the terminal another size, for all who look at it.
    pub async fn resize(&self, size: TerminalSize) {
        self.shell.ask(Command::Resize(size)).await;
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.shell.state().send_modify(|state| {
            state.readers.remove(&self.number);
        });
    }
}
