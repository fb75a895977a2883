//! How large a file may be, for each way in which its content is read. One place, so that the numbers can be compared.

/// For the index: a larger file is generated or data, and its chunks would only be noise.
pub const INDEXED_FILE: u64 = 1_000_000;
/// For the index, where the file is in no language whose symbols are known: long prose says little per byte.
pub const INDEXED_PROSE: u64 = 400_000;
/// For a language server: the servers choke on more.
pub const CHECKED_FILE: u64 = 4 * 1024 * 1024;
/// For a tool that reads or edits a file: whatever an agent may sensibly look into.
pub const READ_FILE: u64 = 16 * 1024 * 1024;

// What is indexed can be checked, and what is checked can be read.
const _: () =
    assert!(INDEXED_PROSE < INDEXED_FILE && INDEXED_FILE < CHECKED_FILE && CHECKED_FILE < READ_FILE);
