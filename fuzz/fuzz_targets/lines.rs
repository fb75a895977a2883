//! Any bytes, cut in any way, through the `Lines` framing.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    chartroom_fuzz::any_cut_gives_the_same(chartroom_transport::Framing::Lines, data);
});
