/* Showcase, default ruleset, random players: deals two at a time, so that one's latencies hide behind the other's work. */

#include "streams.h"

enum { COLUMNS = 12, NO_TRUMP = 4, ALL_TRUMP = 5 };

typedef struct {
    u64 fraction, room; /* room: product of the sizes of the choices taken from the fraction */
    u64 spare, word;
} stream;

typedef struct {
    u64 hands[2], show[2], owned[2]; /* owned: tricks of each showcase, bit = number */
    u64 broken;                      /* tricks of which a card has been played */
    u64 trump, leader;
    stream streams[2];
    u64 index, dealer, middle, namer, named, second_leader;
    i64 count[2], points;   /* points: N's */
    uint8_t stock[26];      /* the reserve, the turned card first */
    uint8_t lies_in[64];    /* number of the trick a showcase card lies in */
} deal;

typedef struct {
    u64 key0, key1;
    i64 trump; /* below zero: the namer names one */
} options;

INLINE void start(deal *d, const options *o, u64 index)
{
    source s = open_source(o->key0, o->key1, index, DEAL);
    u64 half = random_split(&s, FULL, 26), rest = FULL ^ half, w[4];
    d->hands[0] = random_split(&s, half, 13);
    d->hands[1] = half ^ d->hands[0];
    d->dealer = next_word(&s) & 1;
    for (u64 place = 0; place < 26; place++) {
        u64 card = nth_set_bit(rest, below(&s, 26 - place));
        rest ^= card;
        d->stock[place] = (uint8_t)__builtin_ctzll(card);
    }
    philox(w, o->key0, o->key1, index, 0, PLAYERS);
    d->streams[0] = (stream){w[0], 1, w[2], 1};
    d->streams[1] = (stream){w[1], 1, w[3], 1};
    d->index = index;
    d->show[0] = d->show[1] = d->owned[0] = d->owned[1] = d->broken = 0;
    d->leader = d->dealer ^ 1;
    d->trump = suit_of(1ull << d->stock[0]);
    d->points = 0;
    for (int card = 0; card < 64; card++)
        d->lies_in[card] = 63; /* not in a showcase: what is shifted there is never counted */
}

/* Take a stream's next word: word number w of seat s is word 2 * w + s of the blocks. */
static __attribute__((noinline)) void refill(stream *s, const options *o, u64 index, u64 seat)
{
    u64 w[4];
    if (s->word & 1) {
        s->fraction = s->spare;
    } else {
        philox(w, o->key0, o->key1, index, s->word / 2, PLAYERS);
        s->fraction = w[seat];
        s->spare = w[seat + 2];
    }
    s->word++;
}

INLINE u64 pick(deal *d, const options *o, u64 seat, u64 size)
{
    stream *s = &d->streams[seat];
    u64 room = s->room * size;
    if (__builtin_expect(room > 1ull << 33, 0)) {
        refill(s, o, d->index, seat);
        room = size;
    }
    unsigned __int128 product = (unsigned __int128)s->fraction * size;
    s->room = room;
    s->fraction = (u64)product;
    return (u64)(product >> 64);
}

INLINE u64 play_card(deal *d, const options *o, u64 seat, u64 legal)
{
    return nth_set_bit(legal, pick(d, o, seat, (u64)popcount(legal)));
}

/* A card leaves hand or showcase, whichever holds it. */
INLINE void take_out(deal *d, u64 seat, u64 card)
{
    u64 from_show = (u64)((d->show[seat] & card) != 0);
    d->broken |= from_show << d->lies_in[__builtin_ctzll(card)];
    d->show[seat] &= ~card;
    d->hands[seat] &= ~card;
}

INLINE u64 first_lead(deal *d, const options *o)
{
    u64 card = play_card(d, o, d->leader, first_of(d->hands[d->leader], d->show[d->leader]));
    take_out(d, d->leader, card);
    return card;
}

INLINE u64 takes(u64 lead, u64 card, u64 suit, u64 trump)
{
    u64 both = lead | card;
    return (u64)(highest(first_of(both & trump, both & suit)) == card);
}

INLINE void first_follow(deal *d, const options *o, u64 lead, u64 number)
{
    u64 seat = d->leader ^ 1, suit = suit_of(lead), hand = d->hands[seat], trump = d->trump;
    u64 legal = first_of((hand | d->show[seat]) & suit, first_of(hand & trump, hand));
    u64 card = play_card(d, o, seat, legal);
    take_out(d, seat, card);
    u64 winner = d->leader ^ takes(lead, card, suit, trump);
    d->show[winner] |= lead | card;
    d->lies_in[__builtin_ctzll(lead)] = d->lies_in[__builtin_ctzll(card)] = (uint8_t)number;
    d->owned[winner] |= 1ull << number;
    d->hands[winner ^ 1] |= 1ull << d->stock[number + 1];
    d->leader = winner;
}

INLINE void name_trump(deal *d, const options *o)
{
    for (int seat = 0; seat < 2; seat++) {
        d->count[seat] = popcount(d->owned[seat] & ~d->broken);
        d->hands[seat] |= d->show[seat];
    }
    d->second_leader = d->owned[1] >> 12 & 1; /* the winner of trick 13 */
    d->namer = d->count[0] == d->count[1] ? d->second_leader ^ 1 : (u64)(d->count[1] < d->count[0]);
    d->named = o->trump >= 0 ? (u64)o->trump : pick(d, o, d->namer, 6);
    d->trump = d->named < NO_TRUMP ? 0x1FFFull << 16 * d->named : 0;
    d->leader = d->second_leader;
}

INLINE u64 second_lead(deal *d, const options *o)
{
    u64 card = play_card(d, o, d->leader, d->hands[d->leader]);
    d->hands[d->leader] ^= card;
    return card;
}

INLINE void second_follow(deal *d, const options *o, u64 lead)
{
    u64 seat = d->leader ^ 1, suit = suit_of(lead), hand = d->hands[seat], trump = d->trump;
    u64 card = play_card(d, o, seat, first_of(hand & suit, first_of(hand & trump, hand)));
    d->hands[seat] = hand ^ card;
    u64 ruff = (u64)(d->named == ALL_TRUMP) & (u64)((card & suit) == 0);
    d->leader ^= ruff | takes(lead, card, suit, trump);
    d->points += (i64)(d->leader ^ 1);
}

INLINE void count(i64 *tally, const deal *d)
{
    i64 winner = d->points < 7, points = d->namer ? 13 - d->points : d->points;
    i64 *row = tally + COLUMNS * d->named;
    row[0]++, row[1] += winner == (i64)d->namer, row[2] += points, row[3] += points * points;
    row[4] += 1 - winner, row[5] += winner != (i64)d->dealer, row[6] += winner == (i64)d->second_leader;
    row[7] += d->count[0] == d->count[1];
    for (int seat = 0; seat < 2; seat++)
        row[8 + seat] += popcount(d->owned[seat]), row[10 + seat] += d->count[seat];
}

/* Play `deals` deals from index `first` on and add them to tally: int64[6][12], as simcore.showcase.rows.TALLY. */
void showcase_random(const options *given, u64 first, i64 deals, i64 *tally)
{
    const options o = *given;
    build_tables();
    for (i64 i = 0; i < deals; i += 2) {
        deal a, b;
        start(&a, &o, first + (u64)i);
        start(&b, &o, first + (u64)i + 1);
        for (u64 number = 0; number < 25; number++) {
            u64 lead_a = first_lead(&a, &o), lead_b = first_lead(&b, &o);
            first_follow(&a, &o, lead_a, number);
            first_follow(&b, &o, lead_b, number);
        }
        name_trump(&a, &o);
        name_trump(&b, &o);
        for (int number = 0; number < 13; number++) {
            u64 lead_a = second_lead(&a, &o), lead_b = second_lead(&b, &o);
            second_follow(&a, &o, lead_a);
            second_follow(&b, &o, lead_b);
        }
        count(tally, &a);
        if (i + 1 < deals)
            count(tally, &b);
    }
}
