"""Rulesets shipped with simcore, as TOML data (schema: docs/rulesets.md)."""
