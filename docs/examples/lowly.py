"""A player of Elections that plays many deals at once where it holds all four seats of a forced contract:

simcore simulate elections --contract nt-fewest --players greedy+docs/examples/lowly.py:lowly
"""

from numba import njit

from simcore.bits import ONE, ZERO, either, highest_bit, lowest_bit


@njit
def below(legal, suit, trick):
    """Return the highest legal card below the best of the suit led; where there is none (or to lead), the first legal card.

    Without branches, so that the loop over deals becomes vector instructions.
    """
    lower = legal & suit & (highest_bit(trick & suit | ONE) - ONE)
    return either(lower != ZERO, highest_bit(lower | ONE), lowest_bit(legal))


@njit
def lowly_play(view, rules, stream):
    """Play a card."""
    return below(view.legal, view.suit, view.trick)


@njit
def lowly_play_many(views, rules):
    """Play a card in each of many deals."""
    for i in range(views.count):
        views.card[i] = below(views.legal[i], views.suit[i], views.trick[i])
