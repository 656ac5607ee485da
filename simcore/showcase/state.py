"""The public state of a Showcase deal, and what one seat sees of it.

``VIEW`` holds what lies open: showcases and which two cards form a trick, the turned or display card, every card played.  Before a
decision the engine writes the deciding seat's slots into it: seat, hand, legal actions and, once the reserve is empty, the other
holding, which by then each player can work out.  The order of the reserve and the hands are in ``TABLE``, which no player sees.

A set of actions is a mask and an action a one-bit mask, for every kind of decision:

    FIRST    the card's bit, from hand or showcase
    TRUMP    bit t for TRUMPS[t]: clubs, diamonds, hearts, spades, no trump, all trump
    SECOND   the card's bit
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "ALL_TRUMP",
    "DONE",
    "FIRST",
    "NAMING",
    "NO_TRUMP",
    "PLAYOUT_1",
    "PLAYOUT_2",
    "SECOND",
    "TABLE",
    "TRUMP",
    "VIEW",
    "new_table",
    "new_view",
]

# Kinds of decision.
FIRST, TRUMP, SECOND = 0, 1, 2
# Phases of a deal.
PLAYOUT_1, NAMING, PLAYOUT_2, DONE = 0, 1, 2, 3
# Trump numbers above the four suits.
NO_TRUMP, ALL_TRUMP = 4, 5

VIEW = np.dtype(
    [
        # slots of the deciding seat
        ("seat", "i8"),
        ("hand", "u8"),  # in the second playout the whole holding (S11)
        ("legal", "u8"),
        ("other", "u8"),  # the other holding, from the naming on; zero before
        # public
        ("dealer", "i8"),
        ("turned", "i8"),  # bit number of the card turned up at S2 (the first display card, M2)
        ("turned_to", "i8"),  # who drew it as the last card, -1 for nobody
        ("display", "i8"),  # display card (M6), -1 for none
        ("reserve", "i8"),  # cards still to be drawn
        ("playout", "i8"),  # 1 or 2
        ("leader", "i8"),
        ("tricks_played", "i8"),  # of the current playout
        ("on_table", "i8"),
        ("lead", "u8"),  # card led, zero before the lead
        ("suit", "u8"),  # mask of the suit led
        ("trump", "u8"),  # mask of the trump suit of the current playout; zero for none, no trump, all trump
        ("all_trump", "i8"),
        ("show", "u8", (2,)),  # cards in each showcase
        ("lies_in", "i1", (64,)),  # number of the trick a showcase card lies in, for cards in a showcase
        ("owned", "u8", (2,)),  # tricks of each showcase, bit = trick number
        ("broken", "u8"),  # tricks of which a card has been played
        ("whole", "u8"),  # cards of the showcases whose tricks are whole (S8); with Magri none
        ("played", "u8", (2,)),  # cards each seat has played in the current playout
        ("discards", "u8"),  # M6: cards out of play
        ("won", "i8", (2,)),  # tricks won in the first playout
        ("value", "i8", (2,)),  # value tricks won (M5)
        ("count", "i8", (2,)),  # S8, from the naming on
        ("middle", "i8"),  # winner of the 13th trick of the first playout
        ("namer", "i8"),
        ("named", "i8"),  # trump number of the second playout, -1 until named
        ("second_leader", "i8"),  # -1 until known
        ("points", "i8", (2,)),
        ("history", "i1", (2, 52)),  # bit numbers of the cards in order of play, one row a playout
        ("source", "i1", (52,)),  # first playout: 0 from hand, 1 from the showcase
        ("leaders", "i1", (2, 26)),
        ("winners", "i1", (2, 26)),
        ("taken", "i1", (26,)),  # display card taken after each trick, -1 for none
    ],
    align=True,
)

TABLE = np.dtype(
    [
        ("hands", "u8", (2,)),  # from the naming on the holdings
        ("dealt", "u8", (2,)),
        ("stock", "i1", (26,)),  # the reserve in order, the turned card first
        ("next", "i8"),  # place of the next card of the stock
        ("drawn", "i1", (26,)),  # card drawn after each trick
        ("policies", "i8", (2, 3)),
        ("phase", "i8"),
        ("turn", "i8"),
        # about players called by pointer (pointers.py)
        ("asked", "i8"),  # how many decisions so far
        ("asking", "i8"),  # one is being waited for
        ("refused", "u8"),  # the last action: an illegal one ends the run
    ],
    align=True,
)


def new_view() -> np.ndarray[Any, Any]:
    """Return an empty one-row VIEW array."""
    return np.zeros(1, VIEW).view(np.recarray)


def new_table() -> np.ndarray[Any, Any]:
    """Return an empty one-row TABLE array."""
    return np.zeros(1, TABLE).view(np.recarray)
