//! Any patch on any text: no panic, and no more text than was sent. The two are parted by the first NUL.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(data) = std::str::from_utf8(data) else { return };
    let (patch, text) = data.split_once('\0').unwrap_or((data, "one\ntwo\nthree\n"));
    chartroom_edits::fuzzing::apply_patch(patch, text);
});
