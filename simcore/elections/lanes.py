"""Records of many deals that are played in lockstep (many_at_once.py), a lane each.

Everything of a trick is kept by place: the leader's hand stands in row 0, that of his left neighbour in row 1.  Rows stand at fixed
distances in one record, else LLVM cannot tell that they do not overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined
from simcore.bits import ZERO, either

__all__ = ["BLOCK", "LANES", "QUESTIONS", "VIEWS", "WHOLE", "by_suit", "usual_points"]

_SIXTEEN, _THIRTY_TWO = np.uint64(16), np.uint64(32)

#: Deals of a block.
LANES = 256
#: Questions are padded to whole vectors, because what a vectorised loop leaves over is done one by one.
WHOLE = 8

BLOCK = np.dtype(
    [
        ("dealt", "u8", (4, LANES)),  # by seat
        ("taken", "u8", (4, LANES)),  # cards in the tricks each seat has won
        ("declarer", "i8", (LANES,)),
        ("pairing", "i8", (LANES,)),
        ("dealer", "i8", (LANES,)),
        ("place", "i8", (LANES,)),  # which deal it is, for whoever filled the block
        # the play, by place
        ("hands", "u8", (4, LANES)),
        ("leader", "i8", (LANES,)),  # seat
        ("seen", "u8", (LANES,)),  # cards played
        ("void", "u8", (LANES,)),  # in each suit's lowest four bits the places that have shown out
        ("own", "i8", (LANES,)),  # tricks of the attackers
    ],
    align=True,
)

#: What the seats whose turn it is see, a lane each, and what they play.  docs/plugins.md describes every field.
VIEWS = np.dtype(
    [
        ("count", "i8"),
        ("contract", "u8"),
        ("trump", "u8"),
        ("low", "i8"),
        ("tricks_played", "i8"),
        ("place", "i8"),
        ("seat", "i8", (LANES,)),
        ("partner", "i8", (LANES,)),
        ("declarer", "i8", (LANES,)),
        ("dealer", "i8", (LANES,)),
        ("hand", "u8", (LANES,)),
        ("legal", "u8", (LANES,)),
        ("unseen", "u8", (LANES,)),
        ("void", "u8", (LANES,)),
        ("own", "i8", (LANES,)),
        ("suit", "u8", (LANES,)),
        ("trick", "u8", (LANES,)),
        ("winning", "u8", (LANES,)),
        ("winner", "i8", (LANES,)),
        ("points", "i8", (LANES,)),
        ("card", "u8", (LANES,)),  # the answer
    ],
    align=True,
)
PLACES = LANES + WHOLE
#: Working space of ``expert``: which lanes are asked, by kind of decision; of one kind what is known, and what the estimates have
#: in common.
QUESTIONS = np.dtype(
    [
        ("kind", "i8", (LANES,)),
        ("asked", "i8", (4, PLACES)),
        ("count", "i8", (4,)),
        ("hand", "u8", (PLACES,)),
        ("unseen", "u8", (PLACES,)),
        ("voids", "u8", (PLACES,)),  # in each suit's lowest three bits the seats that have shown out
        ("partner", "i8", (PLACES,)),
        ("own", "i8", (PLACES,)),  # tricks of the own side
        ("led", "u8", (PLACES,)),
        ("winning", "u8", (PLACES,)),
        ("won", "i8", (PLACES,)),
        ("points", "i8", (PLACES,)),
        ("odd", "i8", (4, PLACES)),  # what the unseen odd cards of a suit have beyond the usual points
        ("e_suit", "i8", (4, PLACES)),  # mean points of the unseen cards of a suit
        ("e_all", "i8", (PLACES,)),
        ("pays", "i8", (PLACES,)),
        ("any_trick", "i8", (PLACES,)),
        ("stake", "i8", (PLACES,)),
        ("leading", "i8", (PLACES,)),
        ("ruff", "i8", (PLACES,)),
        ("none", "i8", (PLACES,)),  # of the suit led
        ("here", "i8", (PLACES,)),
        ("seats", "i8", (PLACES,)),
        ("keep", "i8", (PLACES,)),
        ("ours", "i8", (PLACES,)),
        ("wanted", "i8", (PLACES,)),
        ("unwanted", "i8", (PLACES,)),
        ("table", "i8", (PLACES,)),
        ("scale", "i8", (PLACES,)),
        ("common", "i8", (PLACES,)),
        ("best", "i8", (PLACES,)),
    ],
    align=True,
)


@inlined
def by_suit(shift: U64, c: Any, d: Any, h: Any, s: Any) -> Any:
    """Return what belongs to a suit: chosen, not read at an index, because what is written meanwhile could be what is read."""
    return either(shift & _THIRTY_TWO == ZERO, either(shift & _SIXTEEN == ZERO, c, d), either(shift & _SIXTEEN == ZERO, h, s))


@inlined
def usual_points(rules: Any, contract: U64) -> tuple[I64, I64, I64, I64]:
    """Return the usual points of the cards of each suit, in 64ths."""
    points = rules.suit_points
    return 64 * points[contract, 0], 64 * points[contract, 1], 64 * points[contract, 2], 64 * points[contract, 3]
