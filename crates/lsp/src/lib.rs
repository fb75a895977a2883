//! What the compiler knows: language servers, diagnostics, navigation.
