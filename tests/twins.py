"""Plain-Python twins of the bit primitives and random streams: Python integers only, nothing of simcore.

Word sizes are parameters where the claim can then be checked by enumerating every word (``below``, ``Picker``).
"""

from __future__ import annotations

from collections.abc import Iterator

W64 = (1 << 64) - 1


# ---- bits


def popcount(x: int) -> int:
    return bin(x).count("1")


def ctz(x: int) -> int:
    return next((i for i in range(64) if x >> i & 1), 64)


def clz(x: int) -> int:
    return next((i for i in range(64) if x << i & 1 << 63), 64)


def product(x: int, y: int) -> tuple[int, int]:
    return divmod(x * y, 1 << 64)


def set_bits(x: int) -> list[int]:
    return [1 << i for i in range(64) if x >> i & 1]


# ---- Philox4x64-10, as in the paper: counter of four words, key of two


def philox(key: int, counter: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    k0, k1 = key & W64, key >> 64
    c0, c1, c2, c3 = counter
    for _ in range(10):
        product0, product1 = 0xD2E7470EE14C6C93 * c0, 0xCA5A826395121157 * c2
        c0, c1, c2, c3 = product1 >> 64 ^ c1 ^ k0, product1 & W64, product0 >> 64 ^ c3 ^ k1, product0 & W64
        k0, k1 = k0 + 0x9E3779B97F4A7C15 & W64, k1 + 0xBB67AE8584CAA73B & W64
    return c0, c1, c2, c3


# ---- Source: SFC64 and exact uniform integers


def sfc64(a: int, b: int, c: int, counter: int) -> Iterator[int]:
    while True:
        result = a + b + counter & W64
        counter = counter + 1 & W64
        a, b, c = b ^ b >> 11, c + (c << 3) & W64, ((c << 24 | c >> 40) + result) & W64
        yield result


def below(words: Iterator[int], n: int, bits: int = 64) -> int:
    """Lemire 2019: of the 2**bits products with n, the first 2**bits mod n of each stretch are refused."""
    refused = (1 << bits) % n
    while True:
        high, low = divmod(next(words) * n, 1 << bits)
        if low >= refused:
            return high


def random_split(words: Iterator[int], pack: int, size: int) -> int:
    chosen = next(words) & pack
    while popcount(chosen) > size:
        held = set_bits(chosen)
        chosen -= held[below(words, len(held))]
    while popcount(chosen) < size:
        left = set_bits(pack - chosen)
        chosen += left[below(words, len(left))]
    return chosen


# ---- Stream: digits of mixed-radix fractions


def lane_words(seed: int, index: int, lane: int, lanes: int) -> Iterator[int]:
    """Word w of a lane is word w * lanes + lane of the blocks (index, number, 1, 0), counted through."""
    position = lane
    while True:
        yield philox(seed, (index, position // 4, 1, 0))[position % 4]
        position += lanes


class Picker:
    """``pick`` in integers: a word is a fraction of 2**bits; each choice takes a digit, until the room is used up."""

    def __init__(self, words: Iterator[int], bits: int = 64, room: int = 1 << 33) -> None:
        self.words, self.bits, self.limit = words, bits, room
        self.fraction, self.room = next(words), 1

    def pick(self, n: int) -> int:
        if self.room * n > self.limit:
            self.fraction, self.room = next(self.words), 1
        self.room *= n
        digit, self.fraction = divmod(self.fraction * n, 1 << self.bits)
        return digit


def deal(words: Iterator[int], full: int = 0x1FFF1FFF1FFF1FFF) -> list[int]:
    """Four hands: the pack in halves, each half in halves."""
    half = random_split(words, full, 26)
    north = random_split(words, half, 13)
    south = random_split(words, full - half, 13)
    return [north, half - north, south, full - half - south]
