//! Maps for what every event is looked up in. The standard library's hash is made for keys that an attacker chooses, and
//! takes a thirtieth of an event; the ids here are ours and the agent's, and this hash has a seed of each process too.

/// A map by ids.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;
/// A set of ids.
pub(crate) type HashSet<T> = std::collections::HashSet<T, foldhash::fast::RandomState>;
