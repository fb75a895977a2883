//! Locking a mutex that may be poisoned.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A poisoned mutex still holds whole values here: nothing is left half-changed across a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
