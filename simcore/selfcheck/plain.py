"""A second engine for Elections and Showcase, slow and obvious, kept as an outside referee of simcore.

It shares nothing with simcore: cards are strings, suit then rank ("SA", "HT"), hands are sets of them, and the rules
below were written from the rules text on their own (clauses E1.. are Elections, S1.. and M2.. Showcase). Contents: the
rulesets as plain data, primitives, the two games as classes with `legal()` and `apply()`, `check_trace`, `perft`, round
totals, and exhaustive searches of endings with neither memory nor pruning.

A game changes its state by binding new values, never in place, so that `copy.copy` of a game is a full copy.
"""

import copy
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

SEATS = ["N", "E", "S", "W"]  # clockwise
SUITS = ["S", "H", "D", "C"]
RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A"]
PACK = [suit + rank for suit in SUITS for rank in RANKS]
TRUMPS = {"clubs": "C", "spades": "S", "diamonds": "D", "hearts": "H", "no-trump": None, "all-trump": "all"}  # S9
RANK_OF = {card: RANKS.index(card[1]) for card in PACK}

Ruleset = dict[str, Any]
Contract = dict[str, Any]
Trace = dict[str, Any]

# ---- Rules as data ---------------------------------------------------------------------------------------------------

SETTINGS = {  # every (choice) with its values, the default first
    "calls": ["rising", "free"],  # E4
    "pass": ["final", "turn"],  # E6
    "match": ["standing", "any"],  # E7
    "unmatched": ["lot-partner", "redeal"],  # E8
    "passed_out": ["counts", "redeal"],  # E9
    "lead": ["left-of-declarer", "left-of-dealer"],  # E12
    "low_trump": ["beats", "plain"],  # E14
    "tie": ["loss", "draw"],  # E16
    "result": ["net", "both-signs"],  # E16
    "turned_card": ["out", "last"],  # S2
    "showcase_follow": ["must", "may"],  # S4
    "tie_namer": ["non-leader", "leader"],  # S9
    "second_lead": ["trick-13", "last-trick"],  # S10
    "all_trump": ["ruff", "rank"],  # S13
    "follow_from": ["showcase", "hand-and-showcase"],  # M4
}
ELECTIONS_CHOICES = ["calls", "pass", "match", "unmatched", "passed_out", "lead", "low_trump", "tie", "result"]
SECOND_PLAYOUT_CHOICES = ["tie_namer", "second_lead", "all_trump"]
REDS = {"H": 1, "D": 1}
COLOURS = {"H": 1, "D": 1, "S": -1, "C": -1}
HONOURS = {"ST": 5, "SJ": 5, "CT": 5, "CJ": 5, "HT": -5, "HJ": -5, "DT": -5, "DJ": -5}


def terms(trump: str | None, low: bool = False, trick: int = 0, most: int = 0, **points: dict[str, int]) -> Contract:
    """A contract: points a trick, for more tricks than the other side, a card of each suit, single cards (E15)."""
    return {"trump": trump, "low": low, "trick": trick, "most": most, "suits": {}, "cards": {}} | points


def elections(name: str, types: dict[str, dict[str, Contract]], **choices: Any) -> Ruleset:
    return {
        "name": name,
        "game": "elections",
        "choices": {key: SETTINGS[key][0] for key in ELECTIONS_CHOICES} | {"failure_bonus": 0} | choices,
        "types": [(type_id, list(contracts)) for type_id, contracts in types.items()],
        "contracts": {key: contract for contracts in types.values() for key, contract in contracts.items()},
    }


def showcase(name: str, *keys: str) -> Ruleset:
    """The first playout is Magri's (M2-M8) where `follow_from` is among the choices, else that of S2-S8."""
    choices = {key: SETTINGS[key][0] for key in [*keys, *SECOND_PLAYOUT_CHOICES]}
    return {"name": name, "game": "showcase", "choices": choices}


RULESETS: dict[str, Ruleset] = {
    rules["name"]: rules
    for rules in [
        elections(
            "elections",
            {
                "no-trump": {"nt-most": terms(None, most=12), "nt-fewest": terms(None, trick=-2)},
                "clubs": {"clubs-tricks": terms("C", trick=2), "clubs-reds": terms("C", low=True, suits=REDS)},
                "hearts": {"hearts-spades": terms("H", suits={"S": 2})},
                "diamonds": {"diamonds-colours": terms("D", suits=COLOURS)},
                "spades": {"spades-honours": terms("S", cards=HONOURS), "spades-clubs": terms("S", suits={"C": -2})},
            },
        ),
        elections(
            "elections-joint",
            {
                "no-trump": {"nt-joint": terms(None, trick=-2, most=12)},
                "clubs": {"clubs-joint": terms("C", low=True, trick=2, suits=REDS)},
                "hearts": {"hearts-spades": terms("H", suits={"S": 2})},
                "diamonds": {"diamonds-colours": terms("D", suits=COLOURS)},
                "spades": {"spades-joint": terms("S", suits={"C": -2}, cards=HONOURS)},
            },
        ),
        elections(
            "variety",
            {
                "nt-most": {"nt-most": terms(None, most=12)},
                "clubs-tricks": {"clubs-tricks": terms("C", trick=1)},
                "hearts-spades": {"hearts-spades": terms("H", suits={"S": 2})},
                "diamonds-colours": {"diamonds-colours": terms("D", suits=COLOURS)},
                "spades-honours": {"spades-honours": terms("S", cards=HONOURS)},
                "clubs-reds": {"clubs-reds": terms("C", low=True, suits=REDS)},
                "spades-clubs": {"spades-clubs": terms("S", suits={"C": -1})},
                "nt-fewest": {"nt-fewest": terms(None, trick=-2)},
            },
            **{"calls": "free", "pass": "turn", "match": "any", "unmatched": "redeal", "passed_out": "redeal"},
            failure_bonus=10,
        ),
        elections(
            "tricks",
            {
                "no-trump": {"nt-tricks": terms(None, trick=1)},
                "clubs": {"clubs-tricks": terms("C", trick=1)},
                "hearts": {"hearts-tricks": terms("H", trick=1)},
                "diamonds": {"diamonds-tricks": terms("D", trick=1)},
                "spades": {"spades-tricks": terms("S", trick=1)},
            },
        ),
        showcase("showcase", "turned_card", "showcase_follow"),
        showcase("showcase-magri", "follow_from"),
    ]
}


def variant(name: str, **choices: Any) -> Ruleset:
    """The ruleset `name` with some choices changed; `pass` is a Python word, so write `**{"pass": "turn"}`."""
    rules = copy.deepcopy(RULESETS[name])
    for key, value in choices.items():
        if key not in rules["choices"] or value not in SETTINGS.get(key, [value]):
            raise ValueError(f"{name} has no choice {key} = {value!r}")
        rules["choices"][key] = value
    return rules


# ---- Primitives ------------------------------------------------------------------------------------------------------


def left(seat: str) -> str:
    return SEATS[(SEATS.index(seat) + 1) % 4]


def of_suit(cards: Iterable[str], suit: str | None) -> set[str]:
    return {card for card in cards if card[0] == suit}


def parse_hand(text: str) -> list[str]:
    """Cards of a canonical PBN hand S.H.D.C: ranks high to low, a void left empty."""
    parts = text.split(".")
    if len(parts) != 4:
        raise ValueError(f"hand {text!r} has not four suits")
    cards = [suit + rank for suit, ranks in zip(SUITS, parts, strict=True) for rank in ranks]
    if any(card not in PACK for card in cards) or format_hand(cards) != text:
        raise ValueError(f"hand {text!r} is not in PBN, ranks high to low, each card once")
    return cards


def format_hand(cards: Iterable[str]) -> str:
    held = set(cards)
    return ".".join("".join(rank for rank in reversed(RANKS) if suit + rank in held) for suit in SUITS)


def legal_plays(hand: Iterable[str], led: str | None) -> list[str]:
    """E13: follow the suit led if able; any card otherwise and when leading (`led` None)."""
    hand = set(hand)
    return sorted(of_suit(hand, led) or hand)


def trick_winner(cards: Sequence[str], trump: str | None, low: bool = False, low_trump: str = "beats") -> int:
    """E14: which card of the trick, in order of play, wins it."""
    contenders = [card for card in cards if card[0] == cards[0][0]]
    trumps = [card for card in cards if card[0] == trump]
    if trumps and not (low and low_trump == "plain"):
        contenders = trumps
    if low:
        return cards.index(min(contenders, key=lambda card: RANK_OF[card]))
    return cards.index(max(contenders, key=lambda card: RANK_OF[card]))


def legal_calls(rules: Ruleset, calls: Sequence[tuple[str, str]], seat: str) -> list[str]:
    """E4, E5: what `seat` may call after `calls`, a list of (seat, "pass" or type)."""
    order = [type_id for type_id, _ in rules["types"]]
    named = [call for _, call in calls if call != "pass"]
    legal = ["pass"]
    for type_id in order:
        too_low = bool(named) and order.index(type_id) < order.index(named[-1])
        if (seat, type_id) not in calls and not (too_low and rules["choices"]["calls"] == "rising"):
            legal.append(type_id)
    return legal


def out_of_auction(rules: Ruleset, calls: Sequence[tuple[str, str]]) -> set[str]:
    """E6: the players who take no further part."""
    return {seat for seat, call in calls if call == "pass"} if rules["choices"]["pass"] == "final" else set()


def next_caller(rules: Ruleset, calls: Sequence[tuple[str, str]], dealer: str) -> str:
    """E3, E6: who calls next in an auction that goes on."""
    seat = left(calls[-1][0] if calls else dealer)
    while seat in out_of_auction(rules, calls):
        seat = left(seat)
    return seat


def auction_end(rules: Ruleset, calls: Sequence[tuple[str, str]]) -> tuple[str, str | None, list[str]] | None:
    """E7-E9: None while the auction goes on; then how it ended, the type and those who stand for it.

    ("passed-out", None, []), ("unmatched", type, [owner]) or ("matched", type, [a, b]).
    """
    named = [(seat, call) for seat, call in calls if call != "pass"]
    if not named:
        return ("passed-out", None, []) if len(calls) == 4 else None
    owner, standing = named[-1]
    if calls[-1] == named[-1]:
        earlier = named[:-1]
        if rules["choices"]["match"] == "standing":
            earlier = earlier[-1:]
        for seat, call in earlier:
            if call == standing and seat not in out_of_auction(rules, calls):
                return ("matched", standing, [seat, owner])
    if rules["choices"]["pass"] == "final":
        over = out_of_auction(rules, calls) == set(SEATS) - {owner}
    else:
        over = [call for _, call in calls[-3:]] == ["pass"] * 3
    return ("unmatched", standing, [owner]) if over else None


def lines_scored(contract: Contract, own_tricks: int, other_tricks: int, cards: Iterable[str]) -> list[int]:
    """E15: every amount a side scores, one by one, for its tricks and the cards in them."""
    scored = [contract["trick"]] * own_tricks
    if own_tricks > other_tricks:
        scored.append(contract["most"])
    for card in cards:
        scored += [contract["suits"].get(card[0], 0), contract["cards"].get(card, 0)]
    return scored


def has_both_signs(contract: Contract) -> bool:
    amounts = [contract["trick"], contract["most"], *contract["suits"].values(), *contract["cards"].values()]
    return bool(max(amounts) > 0 > min(amounts))


def deal_result(rules: Ruleset, contract: Contract, attackers: list[int], defenders: list[int]) -> str:
    """E16: "win", "loss" or "draw" of the attackers, from the lines both sides scored."""
    if rules["choices"]["result"] == "both-signs" and has_both_signs(contract):
        more_plus = sum(x for x in attackers if x > 0) > sum(x for x in defenders if x > 0)
        fewer_minus = sum(-x for x in attackers if x < 0) < sum(-x for x in defenders if x < 0)
        return "win" if more_plus and fewer_minus else "loss"
    if sum(attackers) == sum(defenders):
        return str(rules["choices"]["tie"])
    return "win" if sum(attackers) > sum(defenders) else "loss"


# ---- Elections -------------------------------------------------------------------------------------------------------


class ElectionsGame:
    """One deal. `phase` is "auction", "contract", "play" or "done"; `turn` is the seat to act.

    `forced` = (contract id, declarer, partner) skips the auction. Hands may be shorter than 13 cards, all equal.
    """

    def __init__(
        self,
        rules: Ruleset,
        hands: Mapping[str, Iterable[str]],
        dealer: str,
        lot_pairs: Sequence[Sequence[str]],
        forced: tuple[str, str, str] | None = None,
    ) -> None:
        self.rules, self.dealer, self.lot_pairs, self.forced = rules, dealer, lot_pairs, forced
        self.dealt = {seat: frozenset(hands[seat]) for seat in SEATS}
        self.hands = {seat: set(hands[seat]) for seat in SEATS}
        self.calls: list[tuple[str, str]] = []
        self.status = "played"
        self.type: str | None = None
        self.contract: str | None = None
        self.declarer: str | None = None
        self.partner: str | None = None
        self.matched: bool | None = None
        self.table: list[str] = []  # the cards of the trick being played, the leader's first
        self.leader: str | None = None
        self.tricks: list[dict[str, Any]] = []
        self.phase, self.turn = "auction", left(dealer)
        if forced is not None:
            self.contract, self.declarer, self.partner = forced
            self.type = next(type_id for type_id, ids in rules["types"] if self.contract in ids)
            self.start_play()

    @property
    def done(self) -> bool:
        return self.phase == "done"

    def holding(self, seat: str) -> set[str]:
        return self.hands[seat]

    def legal(self) -> list[str]:
        if self.phase == "auction":
            return legal_calls(self.rules, self.calls, self.turn)
        if self.phase == "contract":
            return list(dict(self.rules["types"])[self.type])
        if self.phase == "play":
            return legal_plays(self.hands[self.turn], self.table[0][0] if self.table else None)
        return []

    def apply(self, action: str) -> None:
        if action not in self.legal():
            raise ValueError(f"{action!r} is not legal for {self.turn} in {self.phase}")
        if self.phase == "auction":
            self.calls = [*self.calls, (self.turn, action)]
            self.after_call()
        elif self.phase == "contract":
            self.contract = action
            self.start_play()
        else:
            self.hands = {**self.hands, self.turn: self.hands[self.turn] - {action}}
            self.table = [*self.table, action]
            self.after_card()

    def after_call(self) -> None:
        end = auction_end(self.rules, self.calls)
        if end is None:
            self.turn = next_caller(self.rules, self.calls, self.dealer)
            return
        kind, self.type, attackers = end
        choices = self.rules["choices"]
        if kind == "passed-out":
            self.status = "redealt" if choices["passed_out"] == "redeal" else "passed-out"  # E9
        elif kind == "unmatched" and choices["unmatched"] == "redeal":
            self.status, self.type = "redealt", None  # E8, E9
        if self.status != "played":
            self.phase = "done"
            return
        if kind == "unmatched":
            owner = attackers[0]
            attackers = next(list(pair) for pair in self.lot_pairs if owner in pair)  # E8
        self.matched = kind == "matched"
        self.declarer = next(seat for seat, call in self.calls if call == self.type and seat in attackers)  # E10
        self.partner = next(seat for seat in attackers if seat != self.declarer)
        contract_ids = dict(self.rules["types"])[self.type]
        if len(contract_ids) > 1:
            self.phase, self.turn = "contract", self.declarer  # E11
        else:
            self.contract = contract_ids[0]
            self.start_play()

    def start_play(self) -> None:
        assert self.declarer is not None
        before = self.declarer if self.rules["choices"]["lead"] == "left-of-declarer" else self.dealer
        self.phase = "play"
        self.leader = self.turn = left(before)  # E12

    def after_card(self) -> None:
        if len(self.table) < 4:
            self.turn = left(self.turn)
            return
        contract = self.rules["contracts"][self.contract]
        best = trick_winner(self.table, contract["trump"], contract["low"], self.rules["choices"]["low_trump"])
        assert self.leader is not None
        winner = SEATS[(SEATS.index(self.leader) + best) % 4]
        self.tricks = [*self.tricks, {"leader": self.leader, "cards": self.table, "winner": winner}]
        self.table = []
        self.leader = self.turn = winner  # E12
        if not any(self.hands.values()):
            self.phase = "done"

    def score(self) -> dict[str, Any]:
        """E15-E17: tricks_won, side_points, result and credits of a finished deal."""
        if self.status != "played":
            return {"tricks_won": None, "side_points": None, "result": None, "credits": dict.fromkeys(SEATS, 0)}
        contract = self.rules["contracts"][self.contract]
        tricks_won = {seat: sum(trick["winner"] == seat for trick in self.tricks) for seat in SEATS}
        attackers = {self.declarer, self.partner}
        won = [trick["cards"] for trick in self.tricks if trick["winner"] in attackers]
        lost = [trick["cards"] for trick in self.tricks if trick["winner"] not in attackers]
        attack = lines_scored(contract, len(won), len(lost), [card for cards in won for card in cards])
        defence = lines_scored(contract, len(lost), len(won), [card for cards in lost for card in cards])
        result = deal_result(self.rules, contract, attack, defence)
        bonus = self.rules["choices"]["failure_bonus"] if result == "loss" else 0
        credits = {seat: sum(attack) if seat in attackers else sum(defence) + bonus for seat in SEATS}
        side_points = {"attackers": sum(attack), "defenders": sum(defence)}
        return {"tricks_won": tricks_won, "side_points": side_points, "result": result, "credits": credits}

    def trace(self, seed: str = "0", deal: int = 0) -> Trace:
        return {
            **trace_head(self, seed, deal),
            "lot_pairs": [list(pair) for pair in self.lot_pairs],
            "forced": self.forced is not None,
            "calls": [list(call) for call in self.calls],
            **{name: getattr(self, name) for name in ["status", "type", "contract", "declarer", "partner", "matched"]},
            "tricks": copy.deepcopy(self.tricks),
            **self.score(),
        }


# ---- Showcase --------------------------------------------------------------------------------------------------------


def second_follow(holding: Iterable[str], led: str, trump: str | None) -> list[str]:
    """S12: follow suit, else trump, else any card (under all trump every card is one); `trump` as in TRUMPS' values."""
    holding = set(holding)
    return sorted(of_suit(holding, led) or of_suit(holding, trump) or holding)


def leader_wins(lead: str, reply: str, trump: str | None, all_trump: str = "ruff") -> bool:
    """S5, S13: whether the first card of the two wins the trick; `trump` as in TRUMPS' values."""
    if lead[0] == reply[0]:
        return RANK_OF[lead] > RANK_OF[reply]
    if trump == "all":
        return all_trump == "rank" and RANK_OF[lead] >= RANK_OF[reply]
    return reply[0] != trump


class ShowcaseGame:
    """One deal. `phase` is "first", "naming", "second" or "done"; `turn` is the seat to act.

    `reserve` is in the order it is drawn, without the turned card.
    """

    def __init__(
        self, rules: Ruleset, hands: Mapping[str, Iterable[str]], turned: str, reserve: Sequence[str], dealer: str
    ) -> None:
        self.rules, self.choices, self.magri = rules, rules["choices"], "follow_from" in rules["choices"]
        self.turned, self.reserve, self.dealer = turned, list(reserve), dealer
        self.dealt = {seat: frozenset(hands[seat]) for seat in "NS"}
        self.hands = {seat: set(hands[seat]) for seat in "NS"}
        # What lies before each player: tricks as sets of those of their cards not yet played (S6), or display cards.
        self.laid: dict[str, list[set[str]]] = {"N": [], "S": []}
        self.value_tricks = {"N": 0, "S": 0}  # M5
        self.display: str | None = turned if self.magri else None  # M2
        self.pile = self.reserve + ([turned] if self.choices.get("turned_card") == "last" else [])  # S2
        self.table: list[str] = []
        self.sources: list[str] = []
        self.first: list[dict[str, Any]] = []
        self.second: list[dict[str, Any]] = []
        self.counts: dict[str, int] | None = None
        self.namer: str | None = None
        self.trump: str | None = None
        self.phase = "first"
        self.leader = self.turn = self.other(dealer)  # S3: the elder

    @property
    def done(self) -> bool:
        return self.phase == "done"

    @staticmethod
    def other(seat: str) -> str:
        return "S" if seat == "N" else "N"

    def shown(self, seat: str) -> set[str]:
        """The cards that lie in a player's showcase."""
        return {card for cards in self.laid[seat] for card in cards}

    def holding(self, seat: str) -> set[str]:
        return self.hands[seat] | self.shown(seat)

    def legal(self) -> list[str]:
        if self.phase == "first":
            return sorted(self.legal_lead() if not self.table else self.legal_follow(self.table[0][0]))
        if self.phase == "naming":
            return list(TRUMPS)
        if self.phase == "second":
            holding = self.holding(self.turn)
            return second_follow(holding, self.table[0][0], TRUMPS[self.trump or ""]) if self.table else sorted(holding)
        return []

    def legal_lead(self) -> set[str]:
        """S3, M3."""
        hand, shown = self.hands[self.turn], self.shown(self.turn)
        return hand | shown if self.magri else hand or shown

    def legal_follow(self, led: str) -> set[str]:
        """S4, M4."""
        hand = self.hands[self.turn]
        suit_in_hand, suit_in_shown = of_suit(hand, led), of_suit(self.shown(self.turn), led)
        if self.magri:
            if suit_in_shown:
                return suit_in_hand | suit_in_shown
            if self.choices["follow_from"] == "hand-and-showcase" and suit_in_hand:
                return suit_in_hand
            return hand
        if suit_in_hand:
            return suit_in_hand | suit_in_shown
        off_suit = of_suit(hand, self.turned[0]) or hand
        if self.choices["showcase_follow"] == "may":
            return suit_in_shown | off_suit
        return suit_in_shown or off_suit

    def apply(self, action: str) -> None:
        if action not in self.legal():
            raise ValueError(f"{action!r} is not legal for {self.turn} in {self.phase}")
        if self.phase == "naming":
            self.trump = action
            self.phase = "second"
            self.turn = self.leader
            return
        self.sources = [*self.sources, "hand" if action in self.hands[self.turn] else "showcase"]
        self.hands = {**self.hands, self.turn: self.hands[self.turn] - {action}}
        self.laid = {**self.laid, self.turn: [cards - {action} for cards in self.laid[self.turn]]}
        self.table = [*self.table, action]
        if len(self.table) == 1:
            self.turn = self.other(self.turn)
        elif self.phase == "first":
            self.end_first_trick()
        else:
            self.end_second_trick()

    def end_first_trick(self) -> None:
        lead, reply = self.table
        trump = None if self.magri else self.turned[0]
        followed = lead[0] == reply[0]
        leader_won = leader_wins(lead, reply, trump) and (followed or not self.magri)  # S5, M5
        winner = self.leader if leader_won else self.other(self.leader)
        loser = self.other(winner)
        if self.magri:
            if not followed:
                self.value_tricks = {**self.value_tricks, winner: self.value_tricks[winner] + 1}  # M5
            assert self.display is not None
            gained = {self.display}  # M6
        else:
            gained = {lead, reply}  # S6
        self.laid = {**self.laid, winner: [*self.laid[winner], gained]}
        drawn, self.pile = self.pile[0], self.pile[1:]
        self.hands = {**self.hands, loser: self.hands[loser] | {drawn}}
        trick = {"leader": self.leader, "cards": self.table, "from": self.sources, "winner": winner}
        self.first = [*self.first, {**trick, "drawn": drawn, "taken": self.display}]
        if self.magri:
            self.display, self.pile = (self.pile[0] if self.pile else None), self.pile[1:]  # M6
        self.table, self.sources = [], []
        self.leader = self.turn = winner
        if not self.pile and self.display is None:
            self.end_first_playout()

    def end_first_playout(self) -> None:
        if self.magri:
            self.counts = dict(self.value_tricks)  # M8
        else:
            self.counts = {seat: sum(len(cards) == 2 for cards in self.laid[seat]) for seat in "NS"}  # S8
        deciding = self.first[12] if self.choices["second_lead"] == "trick-13" else self.first[-1]
        self.leader = deciding["winner"]  # S10
        if self.counts["N"] != self.counts["S"]:  # S9
            self.namer = "N" if self.counts["N"] < self.counts["S"] else "S"
        else:
            self.namer = self.leader if self.choices["tie_namer"] == "leader" else self.other(self.leader)
        self.phase, self.turn = "naming", self.namer

    def end_second_trick(self) -> None:
        leader_won = leader_wins(self.table[0], self.table[1], TRUMPS[self.trump or ""], self.choices["all_trump"])
        winner = self.leader if leader_won else self.other(self.leader)
        self.second = [*self.second, {"leader": self.leader, "cards": self.table, "winner": winner}]
        self.table, self.sources = [], []
        self.leader = self.turn = winner
        if len(self.second) == 13:  # S14
            self.phase = "done"

    def trace(self, seed: str = "0", deal: int = 0) -> Trace:
        points = {seat: sum(trick["winner"] == seat for trick in self.second) for seat in "NS"}  # S14
        return {
            **trace_head(self, seed, deal),
            **{name: getattr(self, name) for name in ["turned", "reserve", "counts", "namer", "trump"]},
            "first": copy.deepcopy(self.first),
            "second": copy.deepcopy(self.second),
            "points": points,
            "winner": "N" if points["N"] > points["S"] else "S",
        }


Game = ElectionsGame | ShowcaseGame


def trace_head(game: Game, seed: str, deal: int) -> Trace:
    assert game.done, "a trace is made of a finished deal"
    names = {"game": game.rules["game"], "ruleset": game.rules.get("name", "?"), "seed": seed, "deal": deal}
    return names | {"dealer": game.dealer, "hands": {seat: format_hand(hand) for seat, hand in game.dealt.items()}}


def random_deal(rules: Ruleset, rng: random.Random, forced: tuple[str, str, str] | None = None) -> Game:
    """A game of 13-card hands from a shuffled pack, nothing played yet."""
    pack = rng.sample(PACK, 52)
    if rules["game"] == "showcase":
        return ShowcaseGame(rules, {"N": pack[:13], "S": pack[13:26]}, pack[26], pack[27:], rng.choice("NS"))
    hands = {seat: pack[13 * i : 13 * i + 13] for i, seat in enumerate(SEATS)}
    mate = rng.choice("ESW")
    pairs = [["N", mate], [seat for seat in "ESW" if seat != mate]]
    return ElectionsGame(rules, hands, rng.choice(SEATS), pairs, forced)


def perft(game: Game, depth: int) -> int:
    """Count the legal lines of `depth` actions; a line that ends the game sooner counts as one."""
    if depth == 0 or game.done:
        return 1
    lines = 0
    for action in game.legal():
        after = copy.copy(game)
        after.apply(action)
        lines += perft(after, depth - 1)
    return lines


# ---- Checking traces -------------------------------------------------------------------------------------------------

ELECTIONS_FIELDS = {"status": "E8, E9", "type": "E7, E8", "contract": "E11", "declarer": "E10", "partner": "E7, E8"}
ELECTIONS_FIELDS |= {"matched": "E7, E8", "tricks_won": "E14", "side_points": "E15", "result": "E16", "credits": "E17"}
# The clauses broken by a wrong leader, card, number of tricks, winner ...
PLAY = {"leader": "E12", "card": "E13", "length": "E2", "winner": "E14"}
FIRST = {"leader": "S3", "card": "S3, S4", "length": "S7", "winner": "S5", "from": "S4, S6", "drawn": "S6", "taken": "S6"}
MAGRI = {"leader": "S3", "card": "M3, M4", "length": "M6", "winner": "M5", "from": "M4", "drawn": "M6", "taken": "M6"}
SECOND = {"leader": "S10", "card": "S12", "length": "S14", "winner": "S13"}


class Illegal(Exception):
    """A trace cannot be replayed beyond this point."""


def check_trace(trace: Trace, ruleset: Ruleset | None = None) -> list[str]:
    """Replay one deal trace; return its violations, each beginning with the clause broken. Empty: the trace is right."""
    problems: list[str] = []
    try:
        rules = RULESETS[trace["ruleset"]] if ruleset is None else ruleset
        check_head(trace, rules, problems)
        if not problems:
            check = check_elections if rules["game"] == "elections" else check_showcase
            check(trace, rules, problems)
    except Illegal as error:
        problems.append(str(error))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        problems.append(f"formats: malformed trace: {error!r}")
    return problems


def check_head(trace: Trace, rules: Ruleset, problems: list[str]) -> None:
    """What every trace begins with: names, seed, dealer, lot pairs, and hands that make up the pack."""
    seats = SEATS if rules["game"] == "elections" else ["N", "S"]
    seed, deal, pairs = trace["seed"], trace["deal"], trace.get("lot_pairs", [])
    if trace["game"] != rules["game"] or not isinstance(trace["ruleset"], str):
        problems.append(f"formats: {trace['game']!r} with ruleset {trace['ruleset']!r}")
    if not (isinstance(seed, str) and seed.isascii() and seed.isdigit()):
        problems.append(f"formats: seed {seed!r} is not a decimal string")
    if isinstance(deal, bool) or not isinstance(deal, int) or deal < 0:
        problems.append(f"E1: deal {deal!r} is not an index")
    if trace["dealer"] not in seats:
        problems.append(f"E1, S1: dealer {trace['dealer']!r} is not a seat")
    paired = {seat for pair in pairs for seat in pair}
    if rules["game"] == "elections" and (paired != set(SEATS) or [len(pair) for pair in pairs] != [2, 2]):
        problems.append(f"E1: lot pairs {pairs} are not two pairs of the four seats")
    cards = []
    for seat in seats:
        hand = parse_hand(trace["hands"][seat])
        cards += hand
        if len(hand) != 13:
            problems.append(f"E2, S2: {seat} has {len(hand)} cards, not 13")
    if len(trace["hands"]) != len(seats):
        problems.append(f"E2, S2: hands of {list(trace['hands'])}, not of {seats}")
    if rules["game"] == "showcase":
        cards += [trace["turned"], *trace["reserve"]]
    wrong = [card for card in PACK if cards.count(card) != 1] + [card for card in cards if card not in PACK]
    if wrong:
        problems.append(f"E2, S2: not each card of the pack exactly once: {wrong}")


def check_elections(trace: Trace, rules: Ruleset, problems: list[str]) -> None:
    forced = None
    if trace["forced"] is True:
        forced = contract, declarer, partner = trace["contract"], trace["declarer"], trace["partner"]
        if trace["calls"]:
            raise Illegal("E3: calls in a deal whose contract was forced")
        if contract not in rules["contracts"]:
            raise Illegal(f"E11: no contract {contract!r} in the ruleset")
        if declarer not in SEATS or partner not in SEATS or declarer == partner:
            raise Illegal(f"E7: the attackers {declarer!r} and {partner!r} are not two seats")
    elif trace["forced"] is not False:
        raise Illegal(f"formats: forced is {trace['forced']!r}, not true or false")
    hands = {seat: parse_hand(trace["hands"][seat]) for seat in SEATS}
    game = ElectionsGame(rules, hands, trace["dealer"], trace["lot_pairs"], forced)

    for number, (seat, call) in enumerate(trace["calls"], start=1):
        where = f"call {number} ({seat} {call})"
        if game.phase != "auction":
            raise Illegal(f"E7, E8, E9: {where}: the auction was over")
        if seat != game.turn:
            raise Illegal(f"E3, E6: {where}: it was {game.turn}'s turn to call")
        if call not in game.legal():
            clause = "E5" if (seat, call) in game.calls else "E4"
            raise Illegal(f"{clause}: {where}: the legal calls are {game.legal()}")
        game.apply(call)
    if game.phase == "auction":
        raise Illegal(f"E7, E8, E9: the auction stops too soon: it is {game.turn}'s turn to call")
    if game.phase == "contract":
        if trace["contract"] not in game.legal():
            raise Illegal(f"E11: contract {trace['contract']!r} does not belong to type {game.type!r}")
        game.apply(trace["contract"])
    replay_tricks(trace["tricks"], "play", game, PLAY, problems)
    compare_fields(trace, game.trace(), ELECTIONS_FIELDS, problems)


def check_showcase(trace: Trace, rules: Ruleset, problems: list[str]) -> None:
    hands = {seat: parse_hand(trace["hands"][seat]) for seat in "NS"}
    game = ShowcaseGame(rules, hands, trace["turned"], trace["reserve"], trace["dealer"])
    replay_tricks(trace["first"], "first", game, MAGRI if game.magri else FIRST, problems)
    for seat in "NS":
        expected = 13 if game.magri else 13 + sum(trick["winner"] == seat for trick in game.first)
        if len(game.holding(seat)) != expected:
            problems.append(f"S11, M11: {seat} holds {len(game.holding(seat))} cards, not {expected}")
    right = {"counts": game.counts, "namer": game.namer}
    compare_fields(trace, right, {"counts": "M8" if game.magri else "S8", "namer": "S9"}, problems)
    if trace["trump"] not in game.legal():
        raise Illegal(f"S9: trump {trace['trump']!r} is not one of {game.legal()}")
    game.apply(trace["trump"])
    replay_tricks(trace["second"], "second", game, SECOND, problems)
    compare_fields(trace, game.trace(), {"points": "S14", "winner": "S14"}, problems)


def replay_tricks(tricks: Sequence[dict[str, Any]], phase: str, game: Game, clauses: dict[str, str], problems: list[str]) -> None:
    for number, trick in enumerate(tricks, start=1):
        where = f"{phase}, trick {number}"
        if game.phase != phase:
            raise Illegal(f"{clauses['length']}: {where}: no trick is left to be played")
        if trick["leader"] != game.turn:
            problems.append(f"{clauses['leader']}: {where}: {game.turn} leads, not {trick['leader']!r}")
        if len(trick["cards"]) != (4 if phase == "play" else 2):
            raise Illegal(f"{clauses['card']}: {where}: {len(trick['cards'])} cards")
        for card in trick["cards"]:
            if card not in game.legal():
                what = "a revoke or otherwise barred" if card in game.holding(game.turn) else "which he does not hold"
                raise Illegal(f"{clauses['card']}: {where}: {game.turn} plays {card}, {what}; legal: {game.legal()}")
            game.apply(card)
        made = {"play": "tricks"}.get(phase, phase)  # the attribute that keeps the tricks of this phase
        of_trick = {field: clauses[field] for field in ["winner", "from", "drawn", "taken"] if field in clauses}
        compare_fields(trick, getattr(game, made)[-1], of_trick, problems, where + ": ")
    if game.phase == phase:
        raise Illegal(f"{clauses['length']}: {phase}: only {len(tricks)} tricks; more are to be played")


def compare_fields(
    given: dict[str, Any], right: dict[str, Any], clauses: dict[str, str], problems: list[str], where: str = ""
) -> None:
    """A field that is absent counts as null, which is right only where the value is null."""
    for field, clause in clauses.items():
        if not same(given.get(field), right[field]):
            problems.append(f"{clause}: {where}{field} is {given.get(field)!r}, should be {right[field]!r}")


def same(a: Any, b: Any) -> bool:
    """Equal as JSON values, where 1 is not true."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def check_series(traces: Iterable[Trace]) -> list[str]:
    """E1 over Elections traces of one seed: within a round the dealer moves clockwise and the lot pairs stay."""
    problems = []
    rounds: dict[int, tuple[Any, Any]] = {}
    for trace in traces:
        first_dealer = SEATS[(SEATS.index(trace["dealer"]) - trace["deal"] % 8) % 4]
        found = (first_dealer, {frozenset(pair) for pair in trace["lot_pairs"]})
        if rounds.setdefault(trace["deal"] // 8, found) != found:
            problems.append(f"E1: deal {trace['deal']}: dealer or lot pairs do not agree with its round")
    return problems


def round_totals(traces: Iterable[Trace]) -> tuple[dict[str, int], dict[str, int]]:
    """E18: each seat's total of credits, and its place; equal totals share the better place."""
    totals = dict.fromkeys(SEATS, 0)
    for trace in traces:
        for seat in SEATS:
            totals[seat] += trace["credits"][seat]
    places = {seat: 1 + sum(total > totals[seat] for total in totals.values()) for seat in SEATS}
    return totals, places


# ---- Exhaustive search of endings, every line to its end -------------------------------------------------------------


def minimax_elections(
    hands: Mapping[str, Iterable[str]],
    contract: Contract,
    attackers: Iterable[str],
    leader: str,
    table: Sequence[tuple[str, str]] = (),
    low_trump: str = "beats",
    tricks_won: tuple[int, int] = (0, 0),
    points: tuple[int, int] = (0, 0),
    remember: bool = False,
) -> int:
    """Attackers' minus defenders' points at the end, both sides playing perfectly with all cards seen (E12-E15).

    `table`: the (seat, card)s of the unfinished trick, `leader`'s first, no longer in `hands`. `tricks_won` and
    `points` (without those for more tricks) are (attackers', defenders') so far; both are part of the answer.
    Up to 5 cards a hand take seconds; for 6, `remember` keeps the values of positions at the start of a trick.
    """
    seats = [SEATS[(SEATS.index(leader) + i) % 4] for i in range(4)]  # numbered from the leader on
    own = [[PACK.index(card) for card in hands[seat]] for seat in seats]  # a card is 13 * suit + rank here
    sizes = {len(own[i]) + (i < len(table)) for i in range(4)}
    if len(sizes) != 1 or sizes == {0} or len(table) > 3 or [seat for seat, _ in table] != seats[: len(table)]:
        raise ValueError("hands or table do not fit the turn to play")
    attackers = set(attackers)
    attacks = [seat in attackers for seat in seats]
    trick_points, most = int(contract["trick"]), int(contract["most"])
    worth: list[int] = [contract["suits"].get(card[0], 0) + contract["cards"].get(card, 0) for card in PACK]
    trumps_beat = not (contract["low"] and low_trump == "plain")
    strength = {suit: [0] * 52 for suit in range(4)}  # what each card is worth in a trick where this suit is led
    for led, suit in enumerate(SUITS):
        for number, card in enumerate(PACK):
            height = 13 - RANK_OF[card] if contract["low"] else 1 + RANK_OF[card]
            if card[0] == contract["trump"] and trumps_beat:
                strength[led][number] = 100 + height
            elif card[0] == suit:
                strength[led][number] = height

    known: dict[Any, int] = {}

    def search(seat: int, trick: list[int], won: int, lost: int) -> int:
        """The margin still to come; `seat` is to play; `won` and `lost` count the attackers' and defenders' tricks."""
        position = (seat, won, *map(frozenset, own)) if remember and not trick else None
        if position in known:
            return known[position]
        last = not trick and len(own[seat]) == 1  # the last trick plays itself
        if last:
            trick = [own[(seat + i) % 4][0] for i in range(4)]
        if len(trick) == 4:  # all have played, so `seat` is the one who led
            strengths = [strength[trick[0] // 13][card] for card in trick]
            winner = (seat + strengths.index(max(strengths))) % 4
            gain = trick_points + sum([worth[card] for card in trick])
            won, lost = won + attacks[winner], lost + (not attacks[winner])
            margin = gain if attacks[winner] else -gain
            if last or not own[seat]:
                return margin + most * ((won > lost) - (won < lost))
            return margin + search(winner, [], won, lost)
        legal = own[seat][:]
        if trick:
            legal = [card for card in legal if card // 13 == trick[0] // 13] or legal
        margins = []
        for card in legal:
            own[seat].remove(card)
            margins.append(search((seat + 1) % 4, [*trick, card], won, lost))
            own[seat].append(card)
        best = max(margins) if attacks[seat] else min(margins)
        if position is not None:
            known[position] = best
        return best

    return points[0] - points[1] + search(len(table), [PACK.index(card) for _, card in table], *tricks_won)


def minimax_showcase(
    hand_n: Iterable[str], hand_s: Iterable[str], trump: str, leader: str, tricks: int, all_trump: str = "ruff"
) -> int:
    """How many of the `tricks` next tricks of the second playout `leader` takes, both playing perfectly (S11-S14).

    The hands may be unequal and longer than `tricks`; `trump` is a name of S9.
    """
    trump_suit = TRUMPS[trump]

    def search(lead_hand: frozenset[str], reply_hand: frozenset[str], left_over: int) -> int:
        """Tricks of the player on lead."""
        if left_over == 0:
            return 0
        values = []
        for lead in lead_hand:
            outcomes = []
            for reply in second_follow(reply_hand, lead[0], trump_suit):
                rest_lead, rest_reply = lead_hand - {lead}, reply_hand - {reply}
                if leader_wins(lead, reply, trump_suit, all_trump):
                    outcomes.append(1 + search(rest_lead, rest_reply, left_over - 1))
                else:
                    outcomes.append(left_over - 1 - search(rest_reply, rest_lead, left_over - 1))
            values.append(min(outcomes))
        return max(values)

    hands = {"N": frozenset(hand_n), "S": frozenset(hand_s)}
    if min(len(hands["N"]), len(hands["S"])) < tricks:
        raise ValueError("a hand is shorter than the tricks to be played")
    return search(hands[leader], hands["S" if leader == "N" else "N"], tricks)
