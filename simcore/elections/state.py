"""The public state of an Elections deal, and what one seat sees of it.

``VIEW`` is everything that happened in the open: dealer and lot pairs, calls, contract, cards played.  Before a decision the
engine writes three slots into it, the deciding seat, its hand and its legal actions, and hands the record to the player with the
ruleset's record and the seat's own random stream: that is all a player gets.  Hidden cards live in ``TABLE``, which no player sees.

A set of actions is a mask and an action a one-bit mask, for every kind of decision:

    CALL        bit 0 pass, bit 1 + t the type number t
    CONTRACT    bit c the contract number c
    PLAY        the card's bit

At most 10 types make at most 4 × 10 names (E5), before each at most two passes, three at the start and three at the end: 124 calls.
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "AUCTION",
    "CALL",
    "CONTRACT",
    "DONE",
    "MAX_CALLS",
    "NAMING",
    "PASSED_OUT",
    "PLAY",
    "PLAYED",
    "PLAYING",
    "REDEALT",
    "TABLE",
    "VIEW",
    "new_table",
    "new_view",
]

MAX_CALLS = 128

# Kinds of decision.
CALL, CONTRACT, PLAY = 0, 1, 2
# Phases of a deal.
AUCTION, NAMING, PLAYING, DONE = 0, 1, 2, 3
# How a deal ended (E9).
PLAYED, PASSED_OUT, REDEALT = 0, 1, 2

VIEW = np.dtype(
    [
        # slots of the deciding seat
        ("seat", "i8"),
        ("hand", "u8"),
        ("legal", "u8"),
        # public
        ("dealer", "i8"),
        ("lots", "i8"),  # lot pairing: the lot partner of a seat is seat ^ lots (1 N–E, 2 N–S, 3 N–W)
        ("calls_made", "i8"),
        ("calls", "i1", (MAX_CALLS,)),  # 0 pass, 1 + t type t
        ("callers", "i1", (MAX_CALLS,)),
        ("standing", "i8"),  # type last named, -1 for none
        ("standing_seat", "i8"),
        ("passed", "i8"),  # mask of seats out of the auction
        ("passes", "i8"),  # passes in a row
        ("named", "u8", (4,)),  # types each seat has named, bit t
        ("forced", "i8"),  # the caller gave the contract, there was no auction
        ("matched", "i8"),
        ("type", "i8"),
        ("contract", "i8"),  # -1 until known
        ("declarer", "i8"),  # -1 until known
        ("pairing", "i8"),  # the partner of a seat is seat ^ pairing; 0 until known
        ("attackers", "i8"),  # mask of seats
        ("trump", "u8"),  # mask of the suit that trumps (zero also for low contracts under low_trump = "plain")
        ("low", "i8"),
        ("leader", "i8"),
        ("tricks_played", "i8"),
        ("on_table", "i8"),  # cards of the current trick
        ("suit", "u8"),  # mask of the suit led, zero before the lead
        ("trick", "u8"),  # mask of the cards on the table
        ("trick_cards", "u8", (4,)),  # the cards on the table in order of play, the leader's first
        ("played", "u8", (4,)),  # cards each seat has played
        ("void", "u8", (4,)),  # suits each seat has shown out of, as masks of whole suits
        ("taken", "u8", (4,)),  # cards in the tricks each seat has won
        ("tricks", "i8", (4,)),
        ("history", "i1", (52,)),  # bit numbers of the cards in order of play
        ("leaders", "i1", (13,)),
        ("winners", "i1", (13,)),
    ],
    align=True,
)

TABLE = np.dtype(
    [
        ("hands", "u8", (4,)),  # cards still held
        ("dealt", "u8", (4,)),
        ("policies", "i8", (4, 3)),  # who decides: policy number of a seat for CALL, CONTRACT, PLAY
        ("phase", "i8"),
        ("status", "i8"),
        ("turn", "i8"),
        # about players called by pointer (pointers.py)
        ("asked", "i8"),  # how many decisions so far
        ("asking", "i8"),  # one is being waited for
        ("refused", "u8"),  # the last action: an illegal one ends the run
    ],
    align=True,
)


def new_view() -> np.ndarray:
    """Return an empty one-row VIEW array."""
    return np.zeros(1, VIEW).view(np.recarray)


def new_table() -> np.ndarray:
    """Return an empty one-row TABLE array."""
    return np.zeros(1, TABLE).view(np.recarray)
