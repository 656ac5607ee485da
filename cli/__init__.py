"""The simcore command: parse, make one call into simcore, print."""
