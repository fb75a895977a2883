//! Any bytes as a session file of Claude or Codex: no panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chartroom_providers::fuzzing::session_file(data));
