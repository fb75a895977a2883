//! Who talks: Claude Code, Codex and any ACP agent, behind the provider trait.
