//! What may run for an untrusted workspace: nothing that is in it, is started in it, or is pointed at it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{ChildKind, GateError, SpawnRequest};
use crate::CanonicalRoot;

/// Refuses what an untrusted workspace could influence. `program` and `cwd` are without links.
pub(super) fn check(request: &SpawnRequest, program: &Path, cwd: &Path) -> Result<(), GateError> {
    let root = &request.root;
    let refuse = |what: String| Err(GateError::Untrusted { root: root.clone(), what });
    match request.kind {
        ChildKind::Agent => return refuse(format!("{} runs a workspace's hooks", request.label)),
        ChildKind::LanguageServer => {
            return refuse(format!("{} runs a workspace's build scripts and plugins", request.label));
        }
        ChildKind::Git => return refuse("git runs programs that a repository's config names".to_owned()),
        ChildKind::Shell => return refuse("a shell's prompt and completion run what is in it".to_owned()),
        ChildKind::Command | ChildKind::Test => {
            return refuse(format!("{} runs what a workspace names", request.label));
        }
        ChildKind::Service => {}
        // The gate has a rule of its own for these.
        ChildKind::Installer | ChildKind::Records => {
            return refuse(format!("{} is run in no workspace", request.label));
        }
    }
    if inside(root, program) || inside(root, &request.program) {
        return refuse(format!("the program {} lies inside it", request.program.display()));
    }
    if inside(root, cwd) || inside(root, &request.cwd) {
        return refuse(format!("the working folder {} lies inside it", request.cwd.display()));
    }
    match request.args.iter().find(|arg| points_into(root, cwd, arg)) {
        Some(arg) => refuse(format!("the argument {} lies inside it", Path::new(arg).display())),
        None => Ok(()),
    }
}

/// Whether an argument leads into the root: it holds the root's path, or what follows its `=` or all of it is
/// a path that resolves to the inside.
fn points_into(root: &CanonicalRoot, cwd: &Path, arg: &OsStr) -> bool {
    let bytes = arg.as_bytes();
    let root_bytes = root.as_path().as_os_str().as_bytes();
    if bytes.windows(root_bytes.len()).any(|window| window == root_bytes) {
        return true;
    }
    let value = bytes.iter().position(|byte| *byte == b'=').map(|at| &bytes[at + 1..]);
    [Some(bytes), value].into_iter().flatten().any(|text| inside(root, &cwd.join(OsStr::from_bytes(text))))
}

fn inside(root: &CanonicalRoot, path: &Path) -> bool {
    path.starts_with(root.as_path()) || path.canonicalize().is_ok_and(|real| real.starts_with(root.as_path()))
}
