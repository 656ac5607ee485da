"""Where the solver keeps its state: two flat arrays, one of masks and one of counts.

A search is a walk over *plies*, four to a trick; each ply has a row of its own in both arrays, so going back one card is
decrementing a counter.  Flat arrays with named places, because a kernel takes two arguments instead of forty.

``u``  uint64: hands of N E S W, trump mask, sets of scoring cards; then rows of 32 words.
``v``  int64: pairing, sides, terms of the contract, counters, points a card; then rows of 32 words.

Points: most cards of a suit score alike, the suit's *common* points; what scores otherwise is *special* and has *extra* points on
top.  Where each suit knows one amount of extra and has at most five special cards, they are *loose*: the memory asks for them one
by one, and only where a result rests on them.  Else they are told apart in the key of the shape.

Kernels always see ranks the high way round: a low contract is turned round before it gets here (``four_root``).
"""

from __future__ import annotations

# u: one word each
TRUMP, SPECIAL, LOOSE, PLUS, MINUS, UNEVEN = range(4, 10)
# 4 words each, a word a suit: comparisons that the last value rests on; how all come out at the root; then one word
RESULT, COMPARED, LOOSE_CANON = 10, 14, 18
PAIRS = 24  # 64 words, the comparisons of each card (with the cards of its suit in other hands)
CANON, CARD_AT = 88, 152  # 64 words each, the place of each card in order of suit, seat and rank, and the way back
U_ROWS, U_ROW = 216, 32
# a row of u: one ply
CARD, WINNING, LED, LIVE, REPS, RELEVANT, TOPS, SHAPE, KEY, TRIED, COUNTED, CANON_LIVE = range(12)
FOUND, ALIVE, WORDS = 16, 20, 24  # 4 words each: comparisons found to matter; those between live cards; how they come out

# v: one word each
PAIRING, SIDES, KIND, TRICK, MOST, TRICKS, NODES, FIRST, LEADER, START, WON, SCALE, HALVES, MIXED, STEP, MARKED = range(16)
AVERAGE = 80  # 4 words, points of the average card of each suit, in thirteenths
POINTS = 16  # 64 words, points of each card for the side that takes it
SCORES = 84  # 14 words, scratch of the ordering
COMMON, EXTRA = 98, 102  # 4 words each, points of the cards of a suit, and what its special ones bring on top
STOP = 106  # the count of plies at which a solve gives up
V_ROWS, V_ROW = 112, 32
# a row of v: one ply
SEAT, WINNER, GAIN, BEST, NEXT, END, HINT, HINT_SLOT, TAKEN, TAKEN_TRICKS, WON_BEFORE = range(11)
LIST = 12  # 13 cards, so 12 … 24
ENTERED, WIDE_LOW, WIDE_HIGH, WISH = range(25, 29)

PLIES = 54
HIT = U_ROWS + U_ROW * PLIES  # a pattern that was found: its bounds, the special cards and 4 words of comparisons it rests on
LEFT = HIT + 12  # 8 words, scratch of the search in long lists
U_WORDS = LEFT + 8
V_WORDS = V_ROWS + V_ROW * PLIES

# v[KIND]: what pays: tricks alone, more; tricks and a bonus for most of them, where a question is which numbers of tricks will do
TRICKS_ONLY, SCORING, OUTCOMES = range(3)
