//! The ids themselves, kept here so that a line cannot vanish from docs/traceability.toml unnoticed.

/// Provider streaming, by section: the last letter of each acceptance criterion's test cases.
const TEST_CASES: &[(&str, char)] = &[
    ("1.1", 'f'),
    ("1.2", 'c'),
    ("1.3", 'b'),
    ("2.1", 'c'),
    ("2.2", 'b'),
    ("3.1", 'c'),
    ("3.2", 'c'),
    ("3.3", 'g'),
    ("3.4", 'c'),
    ("4.1", 'c'),
    ("4.2", 'c'),
    ("5.1", 'd'),
    ("5.2", 'f'),
    ("5.3", 'b'),
    ("5.4", 'f'),
    ("6.1", 'f'),
    ("6.2", 'd'),
    ("6.3", 'b'),
    ("6.4", 'c'),
    ("7.1", 'c'),
    ("7.2", 'c'),
    ("7.3", 'b'),
    ("7.4", 'a'),
    ("8.1", 'c'),
    ("8.2", 'b'),
    ("8.3", 'b'),
];

/// Provider streaming: how many non-functional requirements each heading has.
const NON_FUNCTIONAL: &[(&str, usize)] = &[("PERFORMANCE", 4), ("RELIABILITY", 3), ("TESTABILITY", 3)];

/// Language service requirements by area.
const REQUIREMENTS: &[(&str, &str)] = &[
    ("DIAG", "010 015 017 020 030 040 045 050 060 070"),
    ("FMT", "010 020 030 040 050 055 060 065 066 067 068 070 080 090"),
    ("TIME", "010 015 020 030 040 050 060 070 080 085 090"),
    ("TIMING", "010 020"),
    ("SCOPE", "010 020 025 030"),
    ("KNOWN", "010 020 030"),
    ("CONTENT", "010 020"),
    ("NAV", "010 020 030 040 050 055 060"),
    ("NAVR", "010"),
    ("LIFE", "010 020 030 040 050 060 070 080 090"),
    ("START", "010 020 030 040"),
    ("CONC", "010 020"),
    ("ARCH", "010 020 030 040 050 060 070 080 090"),
    ("GRACE", "010 020 030 040 045 050 055"),
    ("CFG", "010 015 020 030 040 050 055 060 070 080"),
    ("LANG", "010 020 030 040"),
    ("BOUNDARY", "010 020 030"),
    ("PATH", "010"),
    ("STATUS", "010 020 025 030 035 040 045 050"),
    ("OBS", "010 020 030"),
    ("PKG", "010 020 025 030 040 050 060"),
    ("DRIFT", "010 020"),
    ("EXCL", "010 020 030 040 050"),
];

/// Every outcome, status and reason that an answer about an index can carry.
const INDEX_WORDS: &[(&str, &str)] = &[
    (
        "PROOF",
        "valid missing_marker_doc invalid_marker_kind invalid_payload path_mismatch fingerprint_mismatch probe_failed",
    ),
    ("MANAGE", "ok not_ready not_indexed requires_reindex blocked error"),
    (
        "MANAGE-REASON",
        "indexing not_indexed requires_reindex unnecessary_reindex_ignore_only preflight_unknown mutation_in_progress runtime_owner_conflict needs_create",
    ),
    ("READ", "ok not_ready not_indexed requires_reindex not_found unsupported ambiguous"),
    (
        "READ-REASON",
        "indexing requires_reindex not_indexed missing_symbol unsupported_language missing_sidecar",
    ),
];

/// Returns every id, in the documents' order.
pub(crate) fn all() -> Vec<String> {
    let mut ids = Vec::new();
    for (criterion, last) in TEST_CASES {
        ids.extend(('a'..=*last).map(|letter| format!("TC-{criterion}{letter}")));
    }
    for (heading, last) in NON_FUNCTIONAL {
        ids.extend((1..=*last).map(|n| format!("NFR-{heading}-{n}")));
    }
    ids.extend((1..=92).map(|n| format!("BR-{n}")));
    ids.extend((1..=52).map(|n| format!("EC-{n}")));
    for (area, numbers) in REQUIREMENTS {
        ids.extend(numbers.split(' ').map(|number| format!("REQ-{area}-{number}")));
    }
    ids.extend((1..=7).map(|n| format!("INV-{n}")));
    ids.extend((1..=8).map(|n| format!("ACC-{n}")));
    ids.extend(('A'..='G').map(|letter| format!("ISS-INDEX-STABILITY-{letter}")));
    for (what, words) in INDEX_WORDS {
        ids.extend(words.split(' ').map(|word| format!("INDEX-{what}-{word}")));
    }
    ids
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_id_of_the_documents_is_missing() {
        let ids = super::all();
        let count = |prefix: &str| ids.iter().filter(|id| id.starts_with(prefix)).count();
        assert_eq!(
            (
                count("TC-"),
                count("NFR-"),
                count("BR-"),
                count("EC-"),
                count("REQ-"),
                count("INV-") + count("ACC-") + count("ISS-"),
                count("INDEX-")
            ),
            (87, 10, 92, 52, 128, 22, 34)
        );
    }
}
