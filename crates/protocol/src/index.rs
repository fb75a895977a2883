//! The index: tool inputs, envelopes, hints.
