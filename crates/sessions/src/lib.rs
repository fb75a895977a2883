//! The conversation: provider trait, session actor, upsert processor, journal, history.
