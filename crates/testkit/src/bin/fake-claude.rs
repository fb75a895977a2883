//! fake-claude
fn main() {}
