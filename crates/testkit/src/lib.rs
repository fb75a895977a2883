//! The rehearsal: fixtures, scripted fakes, scripted model APIs. For tests only.
