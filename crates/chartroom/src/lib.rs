//! One binary for people who run coding agents: sessions, senses, charts.
