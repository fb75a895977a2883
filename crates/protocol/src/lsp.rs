//! The language service: diagnostics, status, configuration.
