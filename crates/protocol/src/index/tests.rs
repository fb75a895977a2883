//! Golden answers and round trips of the index.
