"""Which contract, which call, which trump: choices for one hand, compared on the same worlds."""
