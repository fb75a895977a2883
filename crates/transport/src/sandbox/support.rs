//! What this system can enforce.

use std::path::{Path, PathBuf};

/// The first version of landlock that keeps every way of changing a file: before it, anybody could truncate.
pub const WRITES_ABI: u32 = 3;

/// The first version of landlock that knows TCP ports.
const PORTS_ABI: u32 = 4;

/// Which sandboxes there are. A value, so that a test can be on another kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxSupport {
    /// The version of the kernel's landlock, as far as it makes a difference to us; none where there is none.
    pub landlock: Option<u32>,
    /// `bwrap`, where the distributions put it: not looked up, so that no PATH decides about it.
    pub bubblewrap: Option<PathBuf>,
    /// macOS's `sandbox-exec`.
    pub seatbelt: bool,
}

impl SandboxSupport {
    /// Asks this system.
    pub fn of_this_system() -> Self {
        SandboxSupport {
            landlock: landlock_abi(),
            bubblewrap: cfg!(target_os = "linux")
                .then(|| PathBuf::from(super::bubblewrap::PROGRAM))
                .filter(|program| program.is_file()),
            seatbelt: cfg!(target_os = "macos") && Path::new(super::seatbelt::PROGRAM).is_file(),
        }
    }

    /// Says why landlock cannot keep files here; nothing when it can.
    pub fn landlock_refusal(&self) -> Option<String> {
        match self.landlock {
            None => Some(
                "this kernel has no landlock (Linux 6.2 or later, with `landlock` among its security modules)"
                    .to_owned(),
            ),
            Some(abi) if abi < WRITES_ABI => {
                Some(format!("this kernel's landlock is too old (ABI {abi}; Linux 6.2 has {WRITES_ABI})"))
            }
            Some(_) => None,
        }
    }

    /// Says why ports cannot be kept here; nothing when they can.
    pub fn ports_refusal(&self) -> Option<String> {
        match self.landlock {
            Some(abi) if abi >= PORTS_ABI => None,
            _ => Some(format!("this kernel's landlock knows no ports (Linux 6.7 has ABI {PORTS_ABI})")),
        }
    }
}

#[cfg(target_os = "linux")]
use super::landlock::abi as landlock_abi;

#[cfg(not(target_os = "linux"))]
fn landlock_abi() -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_landlock_or_with_an_old_one_says_so() {
        let kernel = |landlock| SandboxSupport { landlock, ..SandboxSupport::default() };
        assert!(kernel(None).landlock_refusal().unwrap().starts_with("this kernel has no landlock"));
        assert!(kernel(Some(2)).landlock_refusal().unwrap().contains("ABI 2"));
        assert_eq!(kernel(Some(3)).landlock_refusal(), None);
        assert!(kernel(Some(3)).ports_refusal().is_some());
        assert_eq!(kernel(Some(4)).ports_refusal(), None);
    }
}
