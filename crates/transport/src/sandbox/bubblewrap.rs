//! Bubblewrap: the command sees a file system of its own, in which what is hidden is not there.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Network, Sandbox, grants};

/// Where the distributions put it.
pub(super) const PROGRAM: &str = "/usr/bin/bwrap";

/// Returns the command that starts `program` inside.
pub(super) fn command(sandbox: &Sandbox, program: &OsString, args: &[OsString]) -> (OsString, Vec<OsString>) {
    let mut mounts: Vec<(PathBuf, [OsString; 3])> = Vec::new();
    let bind = |how: &str, path: &Path| [OsString::from(how), path.into(), path.into()];
    for path in grants::real(&sandbox.read) {
        mounts.push((path.clone(), bind("--ro-bind", &path)));
    }
    // `/bin` is a link in many systems, and programs are known by that name.
    for path in sandbox.read.iter().collect::<BTreeSet<_>>().into_iter().filter(|path| path.is_symlink()) {
        if let Ok(target) = path.read_link() {
            mounts.push((path.clone(), ["--symlink".into(), target.into(), path.into()]));
        }
    }
    for path in grants::real(&sandbox.write) {
        mounts.push((path.clone(), bind("--bind", &path)));
    }
    for path in grants::real(&sandbox.hidden) {
        let cover = if path.is_dir() {
            // An empty folder that is nobody's.
            ["--tmpfs".into(), path.clone().into(), OsString::new()]
        } else {
            ["--ro-bind".into(), "/dev/null".into(), path.clone().into()]
        };
        mounts.push((path, cover));
    }
    // A mount covers what was mounted below it before: what is above comes first. Of two at one place the later counts.
    mounts.sort_by_key(|(path, _)| path.components().count());
    let mut words: Vec<OsString> =
        ["--die-with-parent", "--unshare-pid"].into_iter().map(OsString::from).collect();
    if sandbox.network == Network::Ports(Vec::new()) {
        words.push("--unshare-net".into());
    }
    if sandbox.apart {
        words.push("--unshare-ipc".into());
    }
    // The empty folders of the sandbox itself: writing there would look as if it had worked.
    let empty = mounts.iter().filter(|(_, mount)| mount[0] == "--tmpfs").map(|(path, _)| path.clone());
    let mut own: Vec<PathBuf> = empty.collect();
    if !mounts.iter().any(|(path, _)| path == Path::new("/")) {
        own.push("/".into());
    }
    let (root, below): (Vec<_>, Vec<_>) = mounts.into_iter().partition(|(path, _)| path == Path::new("/"));
    words.extend(root.into_iter().flat_map(|(_, mount)| mount));
    words.extend(["--dev-bind", "/dev", "/dev", "--proc", "/proc"].map(OsString::from));
    let below = below.into_iter().filter(|(path, _)| {
        !["/dev", "/proc"].iter().any(|own| path == Path::new(own) || path.starts_with("/proc"))
    });
    words.extend(below.flat_map(|(_, mount)| mount).filter(|word| !word.is_empty()));
    words.extend(own.into_iter().flat_map(|path| ["--remount-ro".into(), path.into()]));
    words.push("--".into());
    words.push(program.clone());
    words.extend(args.iter().cloned());
    (PROGRAM.into(), words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::SandboxTool;

    #[test]
    fn what_is_above_is_mounted_first_and_the_hidden_is_covered() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        std::fs::create_dir_all(home.join("project")).unwrap();
        std::fs::create_dir_all(home.join(".ssh/pub")).unwrap();
        std::fs::write(home.join(".netrc"), "").unwrap();
        let sandbox = Sandbox {
            tool: SandboxTool::Bubblewrap,
            read: vec![home.join(".ssh/pub"), "/".into()],
            write: vec![home.join("project"), home.join("missing")],
            hidden: vec![home.join(".ssh"), home.join(".netrc")],
            network: Network::Ports(Vec::new()),
            apart: false,
        };
        let (program, words) = command(&sandbox, &"/bin/x".into(), &["-y".into()]);
        assert_eq!(program, PROGRAM);
        let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let home = home.display();
        let expected = format!(
            "--die-with-parent --unshare-pid --unshare-net --ro-bind / / --dev-bind /dev /dev --proc /proc \
             --bind {home}/project {home}/project --ro-bind /dev/null {home}/.netrc --tmpfs {home}/.ssh \
             --ro-bind {home}/.ssh/pub {home}/.ssh/pub --remount-ro {home}/.ssh -- /bin/x -y"
        );
        let sorted =
            |text: &str| text.split(" --").map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(sorted(&words.join(" ")), sorted(&expected));
        let place = |part: &str| words.join(" ").find(part).unwrap();
        assert!(place("--ro-bind / /") < place("--dev-bind"));
        assert!(place("/.ssh ") < place("/.ssh/pub"));
    }
}
