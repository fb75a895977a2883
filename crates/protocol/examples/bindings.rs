//! Prints the page's TypeScript types; `ui/src/protocol.ts` is this output.

use std::io::Write;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(chartroom_protocol::typescript::bindings().as_bytes())
}
