"""What a ruleset makes of the game: balance, spread, drama; two rulesets beside each other on the same deals."""
