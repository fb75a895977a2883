//! A file that overflows the stack inside of tree-sitter, in a process that it may take down: this test itself, started
//! once more as the helper.

use std::os::unix::process::ExitStatusExt as _;

use super::*;

/// Set in the process that is the helper.
const HELPER: &str = "CHARTROOM_TEST_OVERFLOW";
/// A thread of the server had 2 MiB, of which a longer text takes more.
const STACK: usize = 256 * 1024;
const ABORTED: i32 = 6;

/// Each `a=>` may be read in many ways; when the time is over, tree-sitter lets go of all of them in one recursion. It is far
/// longer than any machine reads in that time, and a few thousand of them overflow the stack.
fn text() -> String {
    "a=>".repeat(4_000_000)
}

struct Overflowing(Arc<AtomicUsize>);

impl Worker for Overflowing {
    #[expect(clippy::disallowed_methods, reason = "a test starts itself")]
    fn ask(&mut self, _: &[u8], _: Duration) -> Answer {
        let name = std::thread::current().name().unwrap().to_owned();
        let helper = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &name, "--nocapture"])
            .env(HELPER, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&helper.stderr).into_owned();
        assert!(said.contains("has overflowed its stack"), "{}: {said}", helper.status);
        assert_eq!(helper.status.signal(), Some(ABORTED));
        self.0.fetch_add(1, Ordering::SeqCst);
        Err(WorkerError::Died(said))
    }
}

#[test]
fn a_stack_overflow_inside_the_grammar_takes_down_the_helper_alone() {
    if std::env::var_os(HELPER).is_some() {
        let parse = || InProcess::default().extract("overflow.c", &text());
        std::thread::Builder::new().stack_size(STACK).spawn(parse).unwrap().join().unwrap().ok();
        return;
    }
    let deaths: Arc<AtomicUsize> = Arc::default();
    let data = tempfile::tempdir().unwrap();
    let seen = Arc::clone(&deaths);
    let parser = HelperParser::new(data.path(), "1", move || Ok(Box::new(Overflowing(Arc::clone(&seen)))));
    assert_eq!(parser.extract("overflow.c", &text()), Err(Unparsed::Fatal));
    assert_eq!(deaths.load(Ordering::SeqCst), 2);
    // It is known now: no third helper is asked.
    assert_eq!(parser.extract("copy.c", &text()), Err(Unparsed::Fatal));
    assert_eq!(deaths.load(Ordering::SeqCst), 2);
}
