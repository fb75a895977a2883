//! What can lie where an agent's session file is expected; for the tests of every reader of such files.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// Puts a pipe without a writer, a device, a folder and a file without an end into a folder, each named as a session.
pub(crate) fn plant(folder: &Path) {
    let path = |name: &str| folder.join(name);
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path("pipe.jsonl"), fifo, 0o600.into(), 0).expect("a pipe");
    std::os::unix::fs::symlink("/dev/zero", path("device.jsonl")).expect("a link");
    std::fs::create_dir(path("folder.jsonl")).expect("a folder");
    let endless = std::fs::File::create(path("endless.jsonl")).expect("a file");
    endless.set_len(8 << 30).expect("a sparse file");
}

/// What a reader says; one that hangs fails the test.
pub(crate) fn in_time<T: Send + 'static>(read: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(read()));
    receive.recv_timeout(Duration::from_secs(20)).expect("the reader does not hang")
}
