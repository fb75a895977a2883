//! Other forms of a word: questions are in the plural and in the past, names are not.

/// What another form of a word is worth.
pub const FORM_WEIGHT: f32 = 0.6;

/// Names are singular and infinitive, questions are not: `requests`, `parsed`, `retrying`.
pub fn other_forms(word: &str) -> Vec<String> {
    let mut forms = Vec::new();
    let mut stem = |suffix: &str, endings: &[&str]| {
        if let Some(stem) = word.strip_suffix(suffix)
            && stem.len() >= 3
            && stem.is_ascii()
        {
            forms.extend(endings.iter().map(|ending| format!("{stem}{ending}")));
        }
    };
    if word.ends_with("ies") || word.ends_with("ied") {
        stem("ies", &["y"]);
        stem("ied", &["y"]);
    } else if word.ends_with("ing") {
        stem("ing", &["", "e"]);
    } else if word.ends_with("ed") {
        stem("ed", &["", "e"]);
    } else if word.ends_with("es") {
        stem("es", &["", "e"]);
    } else if !word.ends_with("ss") {
        stem("s", &[""]);
    }
    forms
}
