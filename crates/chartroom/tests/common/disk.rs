//! A data folder on a disk that gets full or cannot be written: by mounts where this process may mount, by what any user
//! can do where it may not.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(unreachable_pub, reason = "a module of a test binary has no outside")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail them")]
#![allow(clippy::disallowed_methods, reason = "mount and umount are programs")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Something that is mounted until dropped.
pub struct Mount(PathBuf);

impl Mount {
    /// A small disk of its own; none where mounting is not permitted.
    pub fn tmpfs(at: &Path, size: &str) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let options = format!("size={size},mode=700");
        done(Command::new("mount").args(["-t", "tmpfs", "-o", &options, "chartroom-test"]).arg(at))
            .then(|| Self(at.to_owned()))
    }

    /// The folder itself again, to be written by nobody; none where mounting is not permitted.
    pub fn read_only(at: &Path) -> Option<Self> {
        if !done(Command::new("mount").arg("--bind").arg(at).arg(at)) {
            return None;
        }
        let mount = Self(at.to_owned());
        assert!(
            done(Command::new("mount").args(["-o", "remount,ro,bind"]).arg(at)),
            "what is mounted can be closed"
        );
        Some(mount)
    }

    pub fn resize(&self, size: &str) {
        let options = format!("remount,size={size}");
        assert!(done(Command::new("mount").args(["-o", &options]).arg(&self.0)), "the disk grows");
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily: a process that is just ending may still have a file open.
        if !done(Command::new("umount").arg("-l").arg(&self.0)) {
            eprintln!("{} is still mounted", self.0.display());
        }
    }
}

fn done(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Writes a file until the disk takes no more, then gives `spare` bytes back.
pub fn fill(folder: &Path, spare: u64) -> PathBuf {
    let path = folder.join("filler");
    let mut file = std::fs::File::create(&path).unwrap();
    for block in [1 << 16, 1 << 12, 1] {
        let bytes = vec![7; block];
        while file.write_all(&bytes).is_ok() {}
    }
    let length = file.metadata().unwrap().len();
    file.set_len(length.saturating_sub(spare)).unwrap();
    path
}
