//! Any bytes, cut in any way, through the `ContentLength` framing.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    chartroom_fuzz::any_cut_gives_the_same(chartroom_transport::Framing::ContentLength, data);
});
