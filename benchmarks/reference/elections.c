/* Elections, forced contracts, random players: deals two at a time, so that one's latencies hide behind the other's work. */

#include <string.h>

#include "streams.h"

enum { MAX_GROUPS = 52, COLUMNS = 10 };

typedef struct {
    u64 trump; /* zero for none */
    i64 low, trick, most, groups;
    u64 cards[MAX_GROUPS];
    i64 points[MAX_GROUPS];
} contract_rules;

typedef struct {
    u64 hands[4], fraction[4];
    u64 trump, low; /* low: all ones or zero */
    u64 taken;      /* the attackers' cards */
    u64 attackers;  /* mask of seats */
    u64 leader;
    u64 contract;
} deal;

typedef struct {
    u64 key0, key1;
    i64 contract, declarer, pairing; /* below zero: by lot; a pairing is 1 … 3 */
    i64 contracts, tie_is_draw;
} options;

INLINE void start(deal *d, const contract_rules *rules, const options *o, u64 index)
{
    source s = open_source(o->key0, o->key1, index, DEAL);
    u64 half = random_split(&s, FULL, 26);
    d->hands[0] = random_split(&s, half, 13);
    d->hands[1] = half ^ d->hands[0];
    d->hands[2] = random_split(&s, FULL ^ half, 13);
    d->hands[3] = FULL ^ half ^ d->hands[2];
    s = open_source(o->key0, o->key1, index, FORCED);
    u64 declarer = below(&s, 4), pairing = below(&s, 3) + 1, contract = below(&s, (u64)o->contracts);
    if (o->declarer >= 0)
        declarer = (u64)o->declarer;
    if (o->pairing >= 0)
        pairing = (u64)o->pairing;
    if (o->contract >= 0)
        contract = (u64)o->contract;
    d->contract = contract;
    d->attackers = 1ull << declarer | 1ull << (declarer ^ pairing);
    d->leader = (declarer + 1) & 3;
    d->trump = rules[contract].trump;
    d->low = -(u64)rules[contract].low;
    d->taken = 0;
    philox(d->fraction, o->key0, o->key1, index, 0, PLAYERS);
}

/* Take a random card of `legal` out of a hand.  A word of the stream serves a hand's thirteen choices. */
INLINE u64 play_card(deal *d, u64 seat, u64 hand, u64 legal)
{
    unsigned __int128 product = (unsigned __int128)d->fraction[seat] * (u64)popcount(legal);
    d->fraction[seat] = (u64)product;
    u64 card = nth_set_bit(legal, (u64)(product >> 64));
    d->hands[seat] = hand ^ card;
    return card;
}

INLINE u64 lead(deal *d) { return play_card(d, d->leader, d->hands[d->leader], d->hands[d->leader]); }

INLINE u64 follow(deal *d, u64 place, u64 suit)
{
    u64 seat = (d->leader + place) & 3, hand = d->hands[seat];
    return play_card(d, seat, hand, first_of(hand & suit, hand));
}

INLINE void take_trick(deal *d, u64 suit, u64 card0, u64 card1, u64 card2, u64 card3)
{
    u64 trick = card0 | card1 | card2 | card3, candidates = first_of(trick & d->trump, trick & suit);
    u64 best = (candidates & -candidates & d->low) | (highest(candidates) & ~d->low);
    u64 place = (u64)(best == card1) + 2 * (u64)(best == card2) + 3 * (u64)(best == card3);
    d->leader = (d->leader + place) & 3;
    d->taken |= trick & -(d->attackers >> d->leader & 1);
}

/* Everyone has one card left: nothing to choose, and choosing one of one spends no random bits. */
INLINE void last_trick(deal *d)
{
    u64 card0 = d->hands[d->leader], card1 = d->hands[(d->leader + 1) & 3];
    take_trick(d, suit_of(card0), card0, card1, d->hands[(d->leader + 2) & 3], d->hands[(d->leader + 3) & 3]);
}

INLINE void count(i64 *tally, const contract_rules *rules, const options *o, const deal *d)
{
    const contract_rules *r = &rules[d->contract];
    i64 tricks = popcount(d->taken) / 4, sum = 13 * r->trick + r->most;
    i64 points = r->trick * tricks + (2 * tricks > 13 ? r->most : 0);
    for (i64 g = 0; g < r->groups; g++) {
        points += r->points[g] * popcount(d->taken & r->cards[g]);
        sum += r->points[g] * popcount(r->cards[g]);
    }
    i64 win = 2 * points > sum, draw = 2 * points == sum && o->tie_is_draw;
    i64 *row = tally + COLUMNS * d->contract;
    /* deals, wins, draws, points; clusters (a deal each) and sums of their products */
    row[0]++, row[1] += win, row[2] += draw, row[3] += points;
    row[4]++, row[5]++, row[6] += win, row[7] += win, row[8] += points, row[9] += points * points;
}

/* Play `deals` deals from index `first` on and add them to tally: int64[contracts][10], as simcore.elections.rows.TALLY. */
void elections_random(const contract_rules *rules, const options *given, u64 first, i64 deals, i64 *tally)
{
    const options o = *given;
    build_tables();
    for (i64 i = 0; i < deals; i += 2) {
        deal a, b;
        start(&a, rules, &o, first + (u64)i);
        start(&b, rules, &o, first + (u64)i + 1);
        for (int trick = 0; trick < 12; trick++) {
            u64 a0 = lead(&a), b0 = lead(&b);
            u64 sa = suit_of(a0), sb = suit_of(b0);
            u64 a1 = follow(&a, 1, sa), b1 = follow(&b, 1, sb);
            u64 a2 = follow(&a, 2, sa), b2 = follow(&b, 2, sb);
            u64 a3 = follow(&a, 3, sa), b3 = follow(&b, 3, sb);
            take_trick(&a, sa, a0, a1, a2, a3);
            take_trick(&b, sb, b0, b1, b2, b3);
        }
        last_trick(&a);
        last_trick(&b);
        count(tally, rules, &o, &a);
        if (i + 1 < deals)
            count(tally, rules, &o, &b);
    }
}
