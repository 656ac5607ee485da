"""Counter-based random streams.

Everything random in a run is a function of the seed (128 bits), the deal index and a purpose:

    block(seed, index, purpose, number) = Philox4x64-10, key = seed, counter = (index, number, purpose, 0)

Philox is Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC11); the tests compare it word by word
with ``numpy.random.Philox``.  Distinct counters give distinct blocks, so streams never overlap.

Two ways to draw from it:

* ``Source`` (deals, worlds): the four words of block 0 start an SFC64 generator (Doty-Humphrey; tested against
  ``numpy.random.SFC64``), and ``below`` draws exactly uniform integers (Lemire, "Fast random integer generation in an
  interval", 2019: multiply, reject the few low products).
* ``Stream`` (a seat's player): word number w of lane l (of L lanes, one a seat) is word ``w * L + l`` of the blocks, counted
  through.  ``pick`` spends one 64-bit word on several choices, as digits of a mixed-radix fraction (Brackett-Rozinsky & Lemire,
  "Batched ranged random integer generation", 2024, without the rejection): as long as the product of the choices' sizes stays
  below 2**33 the probability of a choice is off by less than 2**-31.  A hand's card plays need at most 13! < 2**33: one word.
"""

from __future__ import annotations

import numbers
import re
import secrets
from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, product
from simcore.errors import BadInput

__all__ = [
    "DEAL",
    "FORCED",
    "LOTS",
    "PLAYERS",
    "SEARCH",
    "SEED_LIMIT",
    "SOURCE",
    "STREAM",
    "STREAM_VERSION",
    "WORLDS",
    "below",
    "draw_seed",
    "next_word",
    "open_source",
    "open_streams",
    "parse_seed",
    "philox",
    "pick",
    "seed_words",
]

#: Changes whenever the same (seed, index) would give other deals or other random choices.
STREAM_VERSION = 1
SEED_LIMIT = 1 << 128

# Purposes: the third counter word.
DEAL = np.uint64(0)
PLAYERS = np.uint64(1)
FORCED = np.uint64(2)
LOTS = np.uint64(3)
WORLDS = np.uint64(4)
SEARCH = np.uint64(5)

SOURCE = np.dtype([("a", "u8"), ("b", "u8"), ("c", "u8"), ("counter", "u8")], align=True)
STREAM = np.dtype(
    [
        ("key0", "u8"),
        ("key1", "u8"),
        ("index", "u8"),
        ("lane", "u8"),
        ("lanes", "u8"),
        ("word", "u8"),  # number of the next word to take
        ("spare", "u8"),  # with two lanes: the lane's second word of the current block
        ("fraction", "u8"),
        ("room", "u8"),  # product of the sizes of the choices taken from the fraction
    ],
    align=True,
)

_SEED = re.compile("-?[0-9]+|0[xX][0-9a-fA-F]+")

_M0 = np.uint64(0xD2E7470EE14C6C93)
_M1 = np.uint64(0xCA5A826395121157)
_W0 = np.uint64(0x9E3779B97F4A7C15)
_W1 = np.uint64(0xBB67AE8584CAA73B)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_U11 = np.uint64(11)
_U24 = np.uint64(24)
_U40 = np.uint64(40)
_ROOM = np.uint64(1 << 33)


def draw_seed() -> int:
    """Return a fresh 128-bit seed from the operating system."""
    return secrets.randbits(128)


def parse_seed(text: str | int) -> int:
    """Read a seed: an integer from 0 to 2**128 - 1 in decimal (or 0x… hexadecimal).

    Raises:
        BadInput: the text is no integer, or out of range.
    """
    number: Any = text
    if isinstance(text, str) and _SEED.fullmatch(text):
        digits = text.lower().removeprefix("0x").lstrip("0") or "0"
        # so many digits are out of range anyway, and int() refuses to read thousands of them
        number = int(digits, 10 if text.lstrip("-").isdigit() else 16) if len(digits) < 50 else SEED_LIMIT
    elif isinstance(number, (str, bool)) or not isinstance(number, numbers.Integral):
        raise BadInput(f"seed {_short(text)} is not an integer; accepted: 0 to 2**128 - 1")
    if not 0 <= number < SEED_LIMIT:
        raise BadInput(f"seed {_short(text)} is out of range; accepted: 0 to 2**128 - 1")
    return int(number)


def _short(seed: Any) -> str:
    shown = hex(seed) if isinstance(seed, int) and abs(seed) >> 999 else repr(seed)
    return shown if len(shown) < 60 else shown[:60] + "…"


def seed_words(seed: int) -> tuple[np.uint64, np.uint64]:
    """Return the two key words of a seed, low word first."""
    return np.uint64(seed & 0xFFFFFFFFFFFFFFFF), np.uint64(seed >> 64)


@inlined
def philox(key0: U64, key1: U64, c0: U64, c1: U64, c2: U64, c3: U64) -> tuple[U64, U64, U64, U64]:
    """Return the Philox4x64-10 block of a key and counter, four uint64."""
    for _ in range(10):
        high0, low0 = product(_M0, c0)
        high1, low1 = product(_M1, c2)
        c0 = high1 ^ c1 ^ key0
        c1 = low1
        c2 = high0 ^ c3 ^ key1
        c3 = low0
        key0 = key0 + _W0
        key1 = key1 + _W1
    return c0, c1, c2, c3


@inlined
def open_source(source: Any, key0: U64, key1: U64, index: U64, number: U64, purpose: U64) -> None:
    """Start a Source at block (index, number, purpose) of a seed."""
    a, b, c, counter = philox(key0, key1, index, number, purpose, ZERO)
    source.a = a
    source.b = b
    source.c = c
    source.counter = counter


@inlined
def next_word(source: Any) -> U64:
    """Return the next 64 random bits of a Source (SFC64)."""
    result = source.a + source.b + source.counter
    source.counter = source.counter + ONE
    source.a = source.b ^ (source.b >> _U11)
    source.b = source.c + (source.c << _THREE)
    source.c = ((source.c << _U24) | (source.c >> _U40)) + result
    return result


@inlined
def below(source: Any, n: I64) -> I64:
    """Return an exactly uniform integer from 0 to n - 1."""
    size = np.uint64(n)
    high, low = product(next_word(source), size)
    if low < size:
        threshold = (ZERO - size) % size
        while low < threshold:
            high, low = product(next_word(source), size)
    return np.int64(high)


@njit
def open_streams(streams: Any, key0: U64, key1: U64, index: U64) -> None:
    """Start the streams of all seats of a deal: ``streams`` is a STREAM array, one a seat (two or four)."""
    lanes = np.uint64(len(streams))
    w0, w1, w2, w3 = philox(key0, key1, index, ZERO, PLAYERS, ZERO)
    for lane in range(len(streams)):
        stream = streams[lane]
        stream.key0 = key0
        stream.key1 = key1
        stream.index = index
        stream.lane = np.uint64(lane)
        stream.lanes = lanes
        stream.word = ONE
        stream.room = ONE
        stream.fraction = w0 if lane == 0 else (w1 if lane == 1 else (w2 if lane == 2 else w3))
        stream.spare = w2 if lane == 0 else w3


@njit
def _refill(stream: Any) -> None:
    """Take the stream's next word as the fraction."""
    number = stream.word
    stream.word = number + ONE
    stream.room = ONE
    if stream.lanes == _TWO and (number & ONE) == ONE:
        stream.fraction = stream.spare
        return
    position = number * stream.lanes + stream.lane
    w0, w1, w2, w3 = philox(stream.key0, stream.key1, stream.index, position >> _TWO, PLAYERS, ZERO)
    inside = position & _THREE
    stream.fraction = w0 if inside == ZERO else (w1 if inside == ONE else (w2 if inside == _TWO else w3))
    stream.spare = w2 if inside == ZERO else w3


@inlined
def pick(stream: Any, n: I64) -> I64:
    """Return a random integer from 0 to n - 1, every value within 2**-31 of 1/n; n up to 2**30, so that the room cannot wrap."""
    size = np.uint64(n)
    room = stream.room * size
    if room > _ROOM:
        _refill(stream)
        room = size
    choice, fraction = product(stream.fraction, size)
    stream.room = room
    stream.fraction = fraction
    return np.int64(choice)
