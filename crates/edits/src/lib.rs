//! A safe pen: edit, write, apply_patch; write first, then append what the compiler says.
