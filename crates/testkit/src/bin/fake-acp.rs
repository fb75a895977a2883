//! fake-acp
fn main() {}
