"""A player of Showcase in plain Python: keeps its showcase whole.  Slow, but nothing to compile:

simcore simulate showcase --deals 200 --player N=greedy+docs/examples/hoarder.py:hoarder
"""

from simcore.cards import cards_of


def hoarder_first(view, rules, stream):
    """First playout: a card of the hand if one is legal, the highest of them to lead, the lowest to follow."""
    own = int(view.legal) & int(view.hand)
    cards = cards_of(own or int(view.legal))
    by_rank = sorted(cards, key=lambda card: card & 15)
    card = by_rank[-1] if view.on_table == 0 else by_rank[0]
    return 1 << card


def hoarder_trump(view, rules, stream):
    """Name the suit in which the own holding is longest against the other one (bits: clubs, diamonds, hearts, spades)."""
    own, other = int(view.hand), int(view.other)
    lane = 0x1FFF
    margin = [(own >> 16 * suit & lane).bit_count() - (other >> 16 * suit & lane).bit_count() for suit in range(4)]
    return 1 << margin.index(max(margin))
