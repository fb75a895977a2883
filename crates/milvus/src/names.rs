//! How things are called on the server: prefix with the version of the layout, then hashes, so that no name is too long
//! and none holds a character that Milvus refuses.

use chartroom_search::store::Fingerprint;

/// Raised with every change of the layout on the server.
const PREFIX: &str = "chartroom2";

/// The longest name of a project.
pub(crate) const MAX_PROJECT: usize = 512;

/// The names of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names {
    key: String,
}

impl Names {
    pub(crate) fn of(project: &str) -> Self {
        Self { key: short(project.as_bytes()) }
    }

    /// The alias of the generation that answers.
    pub(crate) fn current(&self) -> String {
        format!("{PREFIX}_{}", self.key)
    }

    /// The collection of a generation, which has one writer.
    pub(crate) fn generation(&self, fence: u64, owner: &str) -> String {
        format!("{PREFIX}_{}_g{fence}_{}", self.key, short(owner.as_bytes()))
    }

    /// The alias that one writer alone can create.
    pub(crate) fn claim(&self, fence: u64) -> String {
        format!("{PREFIX}_{}_w{fence}", self.key)
    }

    /// The number of a generation, by the name of its collection.
    pub(crate) fn fence(&self, collection: &str) -> Option<u64> {
        let rest = collection.strip_prefix(&format!("{PREFIX}_{}_g", self.key))?;
        rest.split('_').next()?.parse().ok()
    }

    /// The key of a version of a file.
    pub(crate) fn file_key(&self, path: &str, hash: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [&self.key, path, hash] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        format!("{}{}", self.keys(), &hasher.finalize().to_hex()[..40])
    }

    /// The key of what was embedded.
    pub(crate) fn vector_key(&self, content_hash: &str) -> String {
        format!("{}{content_hash}", self.keys())
    }

    /// What every key of this project begins with; a hash in hexadecimal follows.
    pub(crate) fn keys(&self) -> String {
        format!("{}_", self.key)
    }
}

/// Where the versions of files are that were made with this fingerprint, whatever the store is called.
pub(crate) fn files(fingerprint: &Fingerprint) -> String {
    format!("{PREFIX}_{}_files", made_with(fingerprint))
}

/// Where their vectors are.
pub(crate) fn vectors(fingerprint: &Fingerprint) -> String {
    format!("{PREFIX}_{}_vectors", made_with(fingerprint))
}

fn made_with(fingerprint: &Fingerprint) -> String {
    let Fingerprint { embedding_provider, embedding_model, embedding_dimension, schema_version, .. } =
        fingerprint;
    short(
        format!("{embedding_provider}\n{embedding_model}\n{embedding_dimension}\n{schema_version}")
            .as_bytes(),
    )
}

fn short(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

/// Why a project cannot be called this.
pub(crate) fn check_project(name: &str) -> Result<(), String> {
    if name.trim().is_empty() {
        return Err("the name of a shared index is empty".into());
    }
    if name.len() > MAX_PROJECT {
        return Err(format!(
            "the name of a shared index has {} bytes; {MAX_PROJECT} are allowed",
            name.len()
        ));
    }
    if name.chars().any(char::is_control) {
        return Err("the name of a shared index holds a control character".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_one_that_milvus_takes() {
        for project in ["git.example.org/team/app", "ü", &"x".repeat(MAX_PROJECT)] {
            let names = Names::of(project);
            for name in [names.current(), names.generation(u64::MAX, "host:1"), names.claim(u64::MAX)] {
                assert!(
                    name.len() <= 255
                        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                );
                assert!(name.starts_with(char::is_alphabetic), "{name}");
            }
            assert_eq!(names.fence(&names.generation(17, "host:1")), Some(17));
            assert_eq!(names.fence(&Names::of("another").generation(17, "host:1")), None);
        }
    }

    #[test]
    fn a_name_that_is_none_is_refused() {
        for bad in ["", "  ", "a\nb", &"x".repeat(MAX_PROJECT + 1)] {
            assert!(check_project(bad).is_err(), "{bad:?}");
        }
        assert_eq!(check_project("team/app"), Ok(()));
    }
}
