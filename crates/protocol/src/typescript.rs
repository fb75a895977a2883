//! The page's TypeScript types, made from the Rust ones. `cargo xtask types` writes them; CI checks for drift.

use std::any::TypeId;
use std::collections::{BTreeMap, HashSet};

use ts_rs::{Config, TS, TypeVisitor};

/// Returns the text of `ui/src/protocol.ts`: every type that crosses the socket, by name.
pub fn bindings() -> String {
    // JSON has one kind of number, and `JSON.parse` makes no bigint of it.
    let config = Config::new().with_large_int("number");
    let mut declarations = Declarations { config, seen: HashSet::new(), by_name: BTreeMap::new() };
    roots(&mut declarations);
    let mut text = String::from("// Generated from crates/protocol by `cargo xtask types`. Do not edit.\n");
    for declaration in declarations.by_name.values() {
        text.push_str("\nexport ");
        text.push_str(declaration);
        text.push('\n');
    }
    text
}

/// The messages the page reads and writes; what they are made of follows by itself.
fn roots(to: &mut impl TypeVisitor) {
    to.visit::<crate::ws::ServerFrame>();
    to.visit::<crate::ws::ClientFrame>();
    to.visit::<crate::error::ErrorResponse>();
    to.visit::<crate::agent::AgentListResponse>();
    to.visit::<crate::agent::HealthResponse>();
    to.visit::<crate::device::EnterParams>();
    to.visit::<crate::device::EnterResponse>();
    to.visit::<crate::device::DeviceListResponse>();
    to.visit::<crate::device::RevokeDevicesParams>();
    to.visit::<crate::device::RevokeDevicesResponse>();
    to.visit::<crate::project::AddProjectParams>();
    to.visit::<crate::project::ProjectListResponse>();
    to.visit::<crate::project::TrustParams>();
    to.visit::<crate::project::FileLinesResponse>();
    to.visit::<crate::project::FileListResponse>();
    to.visit::<crate::project::FolderListResponse>();
    to.visit::<crate::session::CreateSessionParams>();
    to.visit::<crate::session::SessionResponse>();
    to.visit::<crate::session::SessionListResponse>();
    to.visit::<crate::session::SessionStatusResponse>();
    to.visit::<crate::session::SendResponse>();
    to.visit::<crate::session::QueueResponse>();
    to.visit::<crate::session::SetTitleParams>();
    to.visit::<crate::session::ArchiveParams>();
    to.visit::<crate::session::DoneResponse>();
    to.visit::<crate::session::SessionOptions>();
    to.visit::<crate::context::ContextResponse>();
    to.visit::<crate::changes::Changes>();
    to.visit::<crate::changes::FilePatch>();
    to.visit::<crate::review::Review>();
    to.visit::<crate::review::ViewedParams>();
    to.visit::<crate::changes::ScopesResponse>();
    to.visit::<crate::changes::RestoreParams>();
    to.visit::<crate::changes::RewindParams>();
    to.visit::<crate::changes::RewindResponse>();
    to.visit::<crate::changes::ForkParams>();
    to.visit::<crate::changes::ForkResponse>();
    to.visit::<crate::keep::RepositoryStatus>();
    to.visit::<crate::keep::KeepParams>();
    to.visit::<crate::keep::KeepResponse>();
    to.visit::<crate::keep::CommitParams>();
    to.visit::<crate::keep::CommitResponse>();
    to.visit::<crate::keep::SwitchParams>();
    to.visit::<crate::keep::ActResponse>();
    to.visit::<crate::keep::PullRequestParams>();
    to.visit::<crate::keep::PullRequestResponse>();
    to.visit::<crate::undo::UndoListResponse>();
    to.visit::<crate::undo::UndoResponse>();
    to.visit::<crate::worktree::AddWorktreeResponse>();
    to.visit::<crate::worktree::WorktreeListResponse>();
    to.visit::<crate::worktree::BringParams>();
    to.visit::<crate::worktree::BringResponse>();
    to.visit::<crate::worktree::RemoveWorktreeResponse>();
    to.visit::<crate::tries::StartTriesParams>();
    to.visit::<crate::tries::TriesListResponse>();
    to.visit::<crate::tries::TestTriesParams>();
    to.visit::<crate::tries::KeepTryParams>();
    to.visit::<crate::tries::EndTriesResponse>();
    to.visit::<crate::lsp::LspStatusResponse>();
    to.visit::<crate::lsp::ProjectServersResponse>();
    to.visit::<crate::lsp::CheckResponse>();
    to.visit::<crate::lsp::RestartParams>();
    to.visit::<crate::lsp::InstallListResponse>();
    to.visit::<crate::lsp::InstallParams>();
    to.visit::<crate::lsp::InstallResponse>();
    to.visit::<crate::index::ListCodebasesResponse>();
    to.visit::<crate::index::TeamServerResponse>();
    to.visit::<crate::index::SearchCodebaseParams>();
    to.visit::<crate::index::SearchCodebaseResponse>();
    to.visit::<crate::index::ManageIndexParams>();
    to.visit::<crate::index::ManageIndexResponse>();
    to.visit::<crate::index::FileOutlineResponse>();
    to.visit::<crate::file::WholeFileResponse>();
    to.visit::<crate::file::FilePlacesResponse>();
    to.visit::<crate::file::BlameResponse>();
    to.visit::<crate::terminal::OpenTerminalParams>();
    to.visit::<crate::terminal::TerminalListResponse>();
    to.visit::<crate::terminal::TerminalFrame>();
    to.visit::<crate::terminal::TerminalCommand>();
}

struct Declarations {
    config: Config,
    seen: HashSet<TypeId>,
    by_name: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if !self.seen.insert(TypeId::of::<T>()) {
            return;
        }
        // Only types of our own have an output path; strings, lists and maps are named in place.
        if T::output_path().is_some() {
            self.by_name.insert(T::name(&self.config), T::decl(&self.config));
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}
