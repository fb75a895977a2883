//! Secrets: 256 random bits, not shown in logs, compared in constant time, kept on disk as hashes only.

use subtle::ConstantTimeEq as _;

/// A secret that does not show itself in logs or panics, and compares in constant time.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Makes a new secret of 256 random bits.
    pub fn random() -> anyhow::Result<Self> {
        random_hex::<32>().map(Self)
    }

    /// Takes a secret that the user gave.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the secret itself; the name makes every use easy to find.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub(crate) fn matches(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }

    pub(super) fn hash(&self) -> SecretHash {
        SecretHash::of(&self.0)
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What is kept of a secret: enough to know it again. Ours have 256 random bits, so that a plain hash cannot be guessed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(super) struct SecretHash(String);

impl SecretHash {
    fn of(text: &str) -> Self {
        Self(blake3::hash(text.as_bytes()).to_hex().to_string())
    }

    pub(super) fn matches(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(Self::of(given).0.as_bytes()).into()
    }
}

/// Returns `N` random bytes as hexadecimal digits.
pub(super) fn random_hex<const N: usize>() -> anyhow::Result<String> {
    let mut bytes = [0_u8; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("the system has no random numbers ({error})"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_256_bits_and_no_two_are_alike() {
        let (a, b) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert_eq!((a.expose().len(), b.expose().len()), (64, 64));
        assert_ne!(a.expose(), b.expose());
    }

    #[test]
    fn a_secret_does_not_show_itself() {
        assert_eq!(format!("{:?}", Secret::new("hidden")), "Secret(…)");
    }

    #[test]
    fn a_hash_knows_its_secret_and_no_other() {
        let hash = Secret::new("the secret").hash();
        assert!(hash.matches("the secret"));
        for wrong in ["", "the secre", "the secret ", &hash.0] {
            assert!(!hash.matches(wrong), "{wrong}");
        }
    }
}
