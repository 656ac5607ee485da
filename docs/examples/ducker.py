"""A player of Elections: never takes a trick that it can leave to the others.  Try it where tricks cost points:

simcore simulate elections --contract nt-fewest --players greedy --player N=greedy+docs/examples/ducker.py:ducker
"""

from numba import njit

from simcore.bits import ONE, ZERO, ctz, lowest_bit, nth_set_bit, popcount
from simcore.rng import pick
from simcore.tricks import trick_winner


@njit
def ducker_play(view, rules, stream):
    """Play a card: the last in order that does not win the trick; to lead, or where every card wins, any card."""
    best = ZERO
    rest = view.legal
    while view.on_table > 0 and rest != ZERO:
        card = lowest_bit(rest)
        rest ^= card
        if trick_winner(view.trick | card, view.suit, view.trump, view.low == 1) != card:
            best = card  # cards come in rising order: clubs first, low cards first
    if best != ZERO:
        return best
    return nth_set_bit(view.legal, pick(stream, popcount(view.legal)))


@njit
def ducker_call(view, rules, stream):
    """Call: pass, unless the standing type is one that this hand has four trumps in.

    Bit 0 is pass, bit 1 + t the type number t; a type's first contract tells its trump suit.
    """
    if view.standing >= 0:
        match = ONE << (view.standing + 1)
        trump = rules.trump[rules.type_contract[view.standing, 0]]
        if view.legal & match != ZERO and popcount(view.hand & trump) >= 4:
            return match
    return view.legal & ONE if view.legal & ONE != ZERO else lowest_bit(view.legal)


@njit
def ducker_contract(view, rules, stream):
    """Name the contract of the type: the one in which tricks are worth least (bit c is the contract number c)."""
    best = lowest_bit(view.legal)
    for contract in range(rules.contracts):
        here = ONE << contract
        if here & view.legal != ZERO and rules.trick[contract] < rules.trick[ctz(best)]:
            best = here
    return best
