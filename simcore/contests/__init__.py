"""Which player is better: every swap of sides on the same deals, and what follows from it."""
