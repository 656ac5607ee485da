/* What both games share: simcore's random streams, uniform splits of the pack, selection of the n-th card of a mask.

   Card = bit 16 * suit + rank (suits C D H S, 2 low).  Built with -DFAST_PDEP where pdep is an instruction of a few cycles. */

#include <stdint.h>

#ifdef FAST_PDEP
#include <immintrin.h>
#endif

typedef uint64_t u64;
typedef int64_t i64;

#define FULL 0x1FFF1FFF1FFF1FFFull
#define INLINE static inline __attribute__((always_inline))

enum { DEAL = 0, PLAYERS = 1, FORCED = 2 };

/* ---- random words ------------------------------------------------------------------------------------------------------- */

/* Philox4x64-10: out = block (index, number, purpose, 0) of the key. */
INLINE void philox(u64 out[4], u64 key0, u64 key1, u64 index, u64 number, u64 purpose)
{
    u64 c0 = index, c1 = number, c2 = purpose, c3 = 0;
    for (int round = 0; round < 10; round++) {
        unsigned __int128 a = (unsigned __int128)c0 * 0xD2E7470EE14C6C93ull, b = (unsigned __int128)c2 * 0xCA5A826395121157ull;
        c0 = (u64)(b >> 64) ^ c1 ^ key0;
        c1 = (u64)b;
        c2 = (u64)(a >> 64) ^ c3 ^ key1;
        c3 = (u64)a;
        key0 += 0x9E3779B97F4A7C15ull;
        key1 += 0xBB67AE8584CAA73Bull;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

typedef struct {
    u64 a, b, c, counter;
} source; /* SFC64, started by a Philox block */

INLINE source open_source(u64 key0, u64 key1, u64 index, u64 purpose)
{
    u64 w[4];
    philox(w, key0, key1, index, 0, purpose);
    return (source){w[0], w[1], w[2], w[3]};
}

INLINE u64 next_word(source *s)
{
    u64 result = s->a + s->b + s->counter++;
    s->a = s->b ^ (s->b >> 11);
    s->b = s->c + (s->c << 3);
    s->c = (s->c << 24 | s->c >> 40) + result;
    return result;
}

/* Exactly uniform below n (Lemire). */
INLINE u64 below(source *s, u64 n)
{
    unsigned __int128 product = (unsigned __int128)next_word(s) * n;
    if (__builtin_expect((u64)product < n, 0))
        while ((u64)product < -n % n)
            product = (unsigned __int128)next_word(s) * n;
    return (u64)(product >> 64);
}

/* ---- masks -------------------------------------------------------------------------------------------------------------- */

INLINE int popcount(u64 x) { return __builtin_popcountll(x); }

#ifdef FAST_PDEP

static void build_tables(void) {}
INLINE u64 nth_set_bit(u64 x, u64 n) { return _pdep_u64(1ull << n, x); }

#else

/* PLACES[holding]: the places of its set bits, lowest first, four bits each. */
static u64 PLACES[1 << 13];

static void build_tables(void)
{
    for (u64 holding = 0; holding < 1 << 13; holding++) {
        u64 places = 0;
        for (int rank = 12; rank >= 0; rank--)
            if (holding >> rank & 1)
                places = places << 4 | (u64)rank;
        PLACES[holding] = places;
    }
}

/* Popcounts tell the suit, a table the rank in it.  Sums, not conditions: gcc would make branches of them. */
INLINE u64 nth_set_bit(u64 x, u64 n)
{
    u64 suit = (u64)(n >= (u64)popcount(x & 0xFFFF)) + (u64)(n >= (u64)popcount(x & 0xFFFFFFFF)) + (u64)(n >= (u64)popcount(x << 16));
    u64 below = (u64)popcount(x & ((1ull << 16 * suit) - 1));
    return 1ull << (16 * suit) << (PLACES[(x >> 16 * suit) & 0x1FFF] >> 4 * (n - below) & 15);
}

#endif

INLINE u64 suit_of(u64 card) { return 0x1FFFull << (__builtin_ctzll(card) & 48); }

/* Uniform subset of `size` cards of a pack: cards move out of a random subset or into it; one loop for both, without a branch. */
INLINE u64 random_split(source *s, u64 pack, int size)
{
    u64 chosen = next_word(s) & pack;
    int excess = popcount(chosen) - size;
    u64 pool = chosen ^ (pack & -(u64)(excess <= 0));
    for (int moves = excess < 0 ? -excess : excess; moves > 0; moves--) {
        u64 card = nth_set_bit(pool, below(s, (u64)popcount(pool)));
        pool ^= card;
        chosen ^= card;
    }
    return chosen;
}

/* a, or b where a is zero, without a branch. */
INLINE u64 first_of(u64 a, u64 b) { return a | (b & ((u64)(a != 0) - 1)); }

/* Highest set bit; x must not be zero. */
INLINE u64 highest(u64 x) { return 1ull << 63 >> __builtin_clzll(x); }
