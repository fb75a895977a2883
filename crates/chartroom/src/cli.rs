//! The command line: one file per command, one closed list of them.
//!
//! To add a command: a file in `cli/` with its `Args` and `run`, a variant of [`Command`], a line in its `match`.

mod browser;
mod calls;
mod check;
mod checkpoint;
mod completions;
mod doctor;
mod hook;
mod index;
mod index_eval;
mod install;
mod link;
mod lsp;
mod lsp_service;
mod mcp;
mod outline;
mod rewind;
mod running;
mod search;
mod serve;
mod settings;
mod tool;
mod tries;
mod trust;
mod words;
mod workspace;
mod worktree;

pub(crate) use lsp::install::unknown as unknown_server;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::app::{ending, index as index_parts};
use crate::exit::{Failure, Outcome, report};

/// The command line; without a subcommand it serves.
#[derive(Debug, Parser)]
#[command(
    name = "chartroom",
    version,
    about = "One binary for people who run coding agents: sessions, senses, charts.",
    args_conflicts_with_subcommands = true
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: serve::Args,
}

/// Everything Chartroom can be asked to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the workbench (what `chartroom` alone does)
    Serve(serve::Args),
    /// Print a new one-time link to the workbench that runs already; list the browsers, or put them out
    Link(link::Args),
    /// Trust a folder, take trust back, or list what is trusted
    Trust(trust::Args),
    /// Register the MCP server (and the hook) in a client's own config
    Install(install::Args),
    /// Take them out again
    Uninstall(install::Args),
    /// Say what was found, what is missing, and the command that mends it
    Doctor(doctor::Args),
    /// Serve the tools on stdio to any MCP client
    Mcp(mcp::Args),
    /// List the MCP tools, or call one by hand
    Tool(tool::Args),
    /// Show the diagnostics of files; exit code 1 when there are some
    Check(check::Args),
    /// Record the working tree of a folder, compare records, and go back to one
    Checkpoint(checkpoint::Args),
    /// Go back to before a turn of a session: files, conversation, or both
    Rewind(rewind::Args),
    /// Go on from a turn of a session in a session of its own
    Fork(rewind::ForkArgs),
    /// Make a worktree of a repository, bring its work back, remove it
    Worktree(worktree::Args),
    /// Give one message to several agents, each in a worktree of its own; compare them, keep one
    Tries(tries::Args),
    /// Show what changed: in a session, since the last commit, or beside a branch
    Changes(checkpoint::ChangesArgs),
    /// Make, follow, inspect and remove the index of a folder
    Index(index::Args),
    /// Search an indexed folder
    Search(search::Args),
    /// Show the symbols of a file
    Outline(outline::Args),
    /// Show who calls a symbol and whom it calls
    Calls(calls::Args),
    /// Look at the language servers of a workspace, or restart them
    Lsp(lsp::Args),
    /// Answer a hook of an agent
    Hook(hook::Args),
    /// The language service's own process
    #[command(hide = true)]
    LspService,
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print the JSON Schema of the config file
    #[command(hide = true)]
    ConfigSchema,
}

pub(crate) fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    // A keeper forks and execs, so it must run before any thread, log or runtime is started.
    let first = args.next();
    if first.as_deref().is_some_and(|first| first == "keeper") {
        return chartroom_transport::keeper::run(args);
    }
    // A helper has limits that the rest need not fit in.
    if first.as_deref().is_some_and(|first| first == index_parts::PARSE_HELPER) {
        return index_parts::parse_helper();
    }
    // An agent starts it while it starts itself; knowing all the commands would take longer than what it does.
    if first.as_deref().is_some_and(|first| first == "mcp")
        && let Some(socket) = mcp::bridge_alone(args)
    {
        return report(mcp::cross(&socket));
    }
    let cli = Cli::parse();
    if let Some(Command::LspService) = cli.command {
        return lsp_service::run();
    }
    report(cli.run())
}

impl Cli {
    fn run(self) -> Result<Outcome, Failure> {
        if self.command.is_none() {
            serve::refuse_unknown_command(&self.serve)?;
        }
        match self.command.unwrap_or(Command::Serve(self.serve)) {
            Command::Serve(args) => serve::run(args),
            Command::Link(args) => link::run(&args),
            Command::Trust(args) => trust::run(&args),
            Command::Install(args) => install::run(&args, install::Act::Install),
            Command::Uninstall(args) => install::run(&args, install::Act::Uninstall),
            Command::Doctor(args) => doctor::run(&args),
            Command::Mcp(args) => mcp::run(&args),
            Command::Tool(args) => tool::run(&args),
            Command::Check(args) => check::run(&args),
            Command::Checkpoint(args) => checkpoint::run(&args),
            Command::Rewind(args) => rewind::run(&args),
            Command::Fork(args) => rewind::fork(&args),
            Command::Worktree(args) => worktree::run(&args),
            Command::Tries(args) => tries::run(&args),
            Command::Changes(args) => checkpoint::changes(&args),
            Command::Index(args) => index::run(args),
            Command::Search(args) => search::run(args),
            Command::Outline(args) => outline::run(&args),
            Command::Calls(args) => calls::run(&args),
            Command::Lsp(args) => lsp::run(&args),
            Command::Hook(args) => hook::run(&args),
            // `main` has taken it.
            Command::LspService => Ok(Outcome::Done),
            Command::Completions(args) => completions::run(&args),
            Command::ConfigSchema => settings::print_schema(),
        }
    }
}

/// Starts the runtime of a command that needs one.
fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    block_on_threads(std::thread::available_parallelism().map_or(1, usize::from), future)
}

/// The same with so many threads for tasks.
fn block_on_threads<T>(
    n_threads: usize,
    future: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(n_threads).enable_all().build().map_err(|error| {
        Failure::impossible(format!("the system gives no threads ({error}); end some programs"))
    })?;
    let result = runtime.block_on(future);
    // Dropping it would wait for a thread that reads a slow disk, however long that takes.
    runtime.shutdown_timeout(ending::THREADS);
    result
}

/// Prints a command's answer: the one place that writes to stdout.
fn answer(text: &str) -> Result<(), Failure> {
    use std::io::Write as _;
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        // `chartroom … | head` is no failure.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => {
            result.map_err(|error| Failure::impossible(format!("the answer cannot be written ({error})")))
        }
    }
}
