"""The trace of an Elections deal: written out, checked, drawn.  The format is docs/formats.md.

``trace`` turns a finished deal's state into plain data.  ``verify_trace`` replays foreign data through the same rule kernels, after
looking at the type of everything, and compares every field.  ``render`` draws a trace as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np

from simcore.cards import SEATS, SUIT_NAMES, format_card, format_hand
from simcore.elections.auction import apply_call, apply_contract, legal_calls, legal_contracts
from simcore.elections.engine import force_contract, start_deal
from simcore.elections.play import apply_play, credits_of, result_of
from simcore.elections.state import AUCTION, DONE, NAMING, PLAYED, new_table, new_view
from simcore.rules import SHIPPED, Ruleset, load_ruleset
from simcore.tracing import Reader, bold, card_word, cost_width, cost_word, deal_diagram, seat_word, shown
from simcore.tricks import following

__all__ = ["make_calls", "render", "trace", "verify_trace"]

_STATUS = ("played", "passed-out", "redealt")
_RESULT = ("win", "loss", "draw")

#: The clause a field of the outcome follows from; calls and tricks are checked one by one.
_CLAUSES = {
    "status": "E8, E9",
    "type": "E7, E8",
    "contract": "E11",
    "declarer": "E10",
    "partner": "E7, E8",
    "matched": "E7, E8",
    "tricks_won": "E14",
    "side_points": "E15",
    "result": "E16",
    "credits": "E17",
}


def trace(ruleset: Ruleset, seed: int, index: int, table: Any, view: Any) -> dict[str, Any]:
    """Return the trace of a finished deal.

    Args:
        table, view: the deal's final records (``advance`` has returned -1).
    """
    data = {
        "game": "elections",
        "ruleset": ruleset.name,
        "seed": str(int(seed)),
        "deal": int(index),
        "dealer": SEATS[view.dealer],
        "lot_pairs": [["N", SEATS[view.lots]], [SEATS[s] for s in range(1, 4) if s != view.lots]],
        "hands": {seat: format_hand(table.dealt[s]) for s, seat in enumerate(SEATS)},
        "forced": bool(view.forced),
    }
    return data | _outcome(ruleset, table, view)


def _outcome(ruleset: Ruleset, table: Any, view: Any) -> dict[str, Any]:
    """Return everything of a trace that follows from the deal's play."""
    words = ("pass", *ruleset.type_ids)
    data: dict[str, Any] = {
        "calls": [[SEATS[view.callers[i]], words[view.calls[i]]] for i in range(view.calls_made)],
        "status": _STATUS[table.status],
    }
    if table.status != PLAYED:
        nothing = ("type", "contract", "declarer", "partner", "matched")
        data |= dict.fromkeys(nothing) | {"tricks": []} | dict.fromkeys(("tricks_won", "side_points", "result"))
        return data | {"credits": dict.fromkeys(SEATS, 0)}
    attackers, defenders, result = result_of(ruleset.record[0], view)
    return data | {
        "type": ruleset.type_ids[view.type],
        "contract": ruleset.contract_ids[view.contract],
        "declarer": SEATS[view.declarer],
        "partner": SEATS[view.declarer ^ view.pairing],
        "matched": None if view.forced else bool(view.matched),
        "tricks": [
            {
                "leader": SEATS[view.leaders[t]],
                "cards": [format_card(int(card)) for card in view.history[4 * t : 4 * t + 4]],
                "winner": SEATS[view.winners[t]],
            }
            for t in range(view.tricks_played)
        ],
        "tricks_won": {seat: int(view.tricks[s]) for s, seat in enumerate(SEATS)},
        "side_points": {"attackers": int(attackers), "defenders": int(defenders)},
        "result": _RESULT[result],
        "credits": {
            seat: int(credits_of(ruleset.record[0], view, s, attackers, defenders, result)) for s, seat in enumerate(SEATS)
        },
    }


def verify_trace(data: object, ruleset: Ruleset) -> None:
    """Replay a trace, whoever wrote it, and refuse it unless it keeps every rule and every field is right.

    Raises:
        TraceError: naming deal, trick, card and clause.
    """
    reader = Reader(data, "elections")
    reader.word("ruleset", (ruleset.name,))
    table, view = new_table()[0], new_view()[0]
    _deal(reader, table, view)
    rules = ruleset.record[0]
    if reader.boolean("forced"):
        _force(reader, ruleset, table, view)
    else:
        _auction(reader, ruleset, table, view)
    if table.phase != DONE:
        _play(reader, rules, table, view)
    elif reader.items("tricks"):
        reader.bad("tricks of a deal without a contract; accepted: none (E8, E9)")
    outcome = _outcome(ruleset, table, view)
    reader.compare({key: outcome[key] for key in _CLAUSES}, _CLAUSES)


def _deal(reader: Reader, table: Any, view: Any) -> None:
    """Read hands, dealer and lot pairs."""
    masks = reader.hands(SEATS, clause="E2")
    pairs = reader.items("lot_pairs")
    seats = [seat for pair in pairs if isinstance(pair, list) and len(pair) == 2 for seat in pair]
    if len(pairs) != 2 or not all(isinstance(seat, str) for seat in seats) or sorted(seats) != sorted(SEATS):
        reader.bad(f"lot pairs {shown(pairs)}; accepted: two pairs of the four seats (E1)")
    first = pairs[0] if "N" in pairs[0] else pairs[1]
    partner = first[1] if first[0] == "N" else first[0]
    table.hands[:] = np.array(masks, np.uint64)
    start_deal(table, view, SEATS.index(reader.seat("dealer", SEATS)), SEATS.index(partner))


def _force(reader: Reader, ruleset: Ruleset, table: Any, view: Any) -> None:
    """Read a contract that the caller gave."""
    if reader.items("calls"):
        reader.bad("calls in a forced deal; accepted: none (E3)")
    contract = reader.word("contract", ruleset.contract_ids)
    declarer, partner = (SEATS.index(reader.seat(key, SEATS)) for key in ("declarer", "partner"))
    if declarer == partner:
        reader.bad(f"declarer and partner are both {SEATS[partner]}; accepted: two seats (E7)")
    force_contract(ruleset.record[0], table, view, ruleset.contract_ids.index(contract), declarer, declarer ^ partner)


def make_calls(ruleset: Ruleset, table: Any, view: Any, calls: Iterable[tuple[str, str]], bad: Callable[[str], NoReturn]) -> None:
    """Make calls, (seat, word) pairs; ``bad`` is told of the first that is not legal, with its clause."""
    rules = ruleset.record[0]
    words = ("pass", *ruleset.type_ids)
    for number, (seat, word) in enumerate(calls, 1):
        where = f"call {number}"
        if table.phase != AUCTION:
            bad(f"{where}: {shown(word)} by {shown(seat)} comes after the auction has ended (E7, E8, E9)")
        if seat != SEATS[table.turn]:
            bad(f"{where}: {shown(seat)} calls, but it is {SEATS[table.turn]}'s turn (E3, E6)")
        if word not in words:
            bad(f"{where}: {seat} calls {shown(word)}; accepted: {', '.join(words)} (E4)")
        bit = np.uint64(1 << words.index(word))
        if not legal_calls(rules, view, table.turn) & bit:
            reason = (
                "E5: named before by the same seat"
                if view.named[table.turn] >> np.uint64(words.index(word) - 1) & np.uint64(1)
                else "E4: lower than the standing type"
            )
            bad(f"{where}: {seat} calls {word!r}, which is not legal ({reason})")
        apply_call(rules, table, view, table.turn, bit)


def _auction(reader: Reader, ruleset: Ruleset, table: Any, view: Any) -> None:
    """Replay the calls and the naming of the contract."""
    rules = ruleset.record[0]
    calls = reader.items("calls")
    for number, call in enumerate(calls, 1):
        if not (isinstance(call, list) and len(call) == 2 and all(isinstance(word, str) for word in call)):
            reader.bad(f"call {number}: {shown(call)}; accepted: a seat and a call")
    make_calls(ruleset, table, view, calls, reader.bad)
    if table.phase == AUCTION:
        reader.bad(f"the auction stops at {SEATS[table.turn]}'s turn before it has ended (E7, E8, E9)")
    if table.phase == NAMING:
        contract = reader.word("contract", ruleset.contract_ids)
        bit = np.uint64(1 << ruleset.contract_ids.index(contract))
        if not legal_contracts(rules, view) & bit:
            reader.bad(f"contract {contract!r} does not belong to type {ruleset.type_ids[view.type]!r} (E11)")
        apply_contract(rules, table, view, bit)


def _play(reader: Reader, rules: Any, table: Any, view: Any) -> None:
    """Replay the tricks."""
    tricks = reader.items("tricks")
    for number, trick in enumerate(tricks, 1):
        where = f"trick {number}"
        if table.phase == DONE:
            reader.bad(f"{where}: all 13 tricks have been played (E2)")
        cards = reader.cards(trick, "cards", where, 4)
        if trick.get("leader") != SEATS[table.turn]:
            before = "dealer" if rules.lead == 1 else "declarer"
            clause = f"E12: left of the {before}" if number == 1 else "E12: the winner of the trick before"
            reader.bad(f"{where}: leader is {shown(trick.get('leader'))}, but {SEATS[table.turn]} leads ({clause})")
        for card in cards:
            seat = int(table.turn)
            bit = np.uint64(1 << card)
            hand = table.hands[seat]
            if not hand & bit:
                what = "has played before" if view.played[seat] & bit else "does not hold"
                reader.bad(f"{where}: {SEATS[seat]} plays {format_card(card)}, which he {what} (E13)")
            if view.on_table > 0 and not following(hand, view.suit) & bit:
                suit = SUIT_NAMES[int(view.suit).bit_length() - 1 >> 4]
                reader.bad(f"{where}: {SEATS[seat]} plays {format_card(card)} but holds {suit}, the suit led (E13: revoke)")
            apply_play(table, view, seat, bit)
        if trick.get("winner") != SEATS[table.turn]:  # who is also the next to play, but for the last trick
            reader.bad(f"{where}: winner is {shown(trick.get('winner'))}, but {SEATS[table.turn]} takes it (E14)")
    if table.phase != DONE:
        reader.bad(f"only {len(tricks)} of 13 tricks are played (E2)")


def render(data: dict[str, Any], *, symbols: bool = True, colour: bool = False) -> str:
    """Draw a trace as text.

    Args:
        data: a trace that keeps the rules.
        symbols: suit symbols; else letters only (plain ASCII).
        colour: ANSI colours: red suits red, winners bold.
    """
    style = (symbols, colour)
    lines = [f"Elections ({data['ruleset']}), seed {data['seed']}, deal {data['deal']}", ""]
    lines += deal_diagram(data["hands"], data["dealer"], style)
    pairs = " and ".join("-".join(pair) for pair in data["lot_pairs"])
    lines += ["", f"Dealer {seat_word(data['dealer'])}; lot pairs {pairs}", ""]
    if data["forced"]:
        lines.append("No auction: the contract was given")
    else:
        lines += _auction_lines(data)
    if data["status"] == "played":
        lines += _play_lines(data, style)
    else:
        ended = "All four pass" if all(call == "pass" for _, call in data["calls"]) else "No two agree: the deal is thrown in"
        lines += ["", f"{ended}; nobody scores"]
    text = "\n".join(lines)
    return text if symbols else text.encode("ascii", "replace").decode()  # a ruleset's name may be in any script


def _play_lines(data: dict[str, Any], style: tuple[bool, bool]) -> list[str]:
    """Return contract, tricks and score."""
    colour = style[1]
    declarer, partner = data["declarer"], data["partner"]
    how = {True: ", partners by matching", False: ", partners by lot", None: ""}[data["matched"]]
    lines = ["", bold(f"{data['contract']} by {seat_word(declarer)} with {seat_word(partner)}{how}", colour)]
    lines += _contract_lines(data)
    sides = ["attacker" if seat in (declarer, partner) else "defender" for seat in SEATS]
    width = cost_width(data["tricks"])
    lines += ["", "trick" + "".join(f"{seat:>6}" + " " * width for seat in SEATS) + "   attackers : defenders"]
    lines.append((" " * 5 + "".join(f"{side[:3]:>6}" + " " * width for side in sides)).rstrip())
    won = {"attacker": 0, "defender": 0}
    for number, trick in enumerate(data["tricks"], 1):
        winner, start = SEATS.index(trick["winner"]), SEATS.index(trick["leader"])
        won[sides[winner]] += 1
        cells = [""] * 4
        for i, card in enumerate(trick["cards"]):
            seat = (start + i) % 4
            cells[seat] = card_word(card, style, width=6, lead=i == 0, won=seat == winner) + cost_word(trick, i, width)
        lines.append(f"{number:>5}" + "".join(cells) + f"{won['attacker']:>11} : {won['defender']}")
    lines += ["", "In each row > marks the lead, * the card that takes the trick.", *_perfect_lines(data), ""]
    points = data["side_points"]
    lines.append("Tricks   " + "".join(f"{seat:>3} {data['tricks_won'][seat]:<4}" for seat in SEATS).rstrip())
    score = f"Attackers {points['attackers']:+d}, defenders {points['defenders']:+d}: {_said(data['result'])}"
    lines.append(bold(score, colour))
    lines.append("Credits  " + "".join(f"{seat:>3} {data['credits'][seat]:<+4d}" for seat in SEATS).rstrip())
    return lines


def _perfect_lines(data: dict[str, Any]) -> list[str]:
    """Say what perfect play gives, where it is known."""
    if "double_dummy" not in data:
        return []
    perfect = data["double_dummy"]
    said = "A number behind a card: the points it cost its side against perfect play, all hands seen"
    if perfect is None:
        return [f"{said}; ? where that is not known: the deal is too hard."]
    return [f"{said} (attackers {perfect['attackers']:+d}, defenders {perfect['defenders']:+d})."]


def _contract_lines(data: dict[str, Any]) -> list[str]:
    """Say what the contract pays, where the rules are shipped ones."""
    contracts = load_ruleset(data["ruleset"]).contracts if data["ruleset"] in SHIPPED else ()
    both = sum(data["side_points"].values())  # a designer's own file may bear a shipped name
    return [c.describe() for c in contracts if (c.id, c.type, c.total) == (data["contract"], data["type"], both)]


def _said(result: str) -> str:
    return {"win": "the attackers win", "loss": "the attackers lose", "draw": "a draw"}[result]


def _auction_lines(data: dict[str, Any]) -> list[str]:
    """Return the auction as a table, a column a seat, beginning left of the dealer."""
    start = (SEATS.index(data["dealer"]) + 1) % 4
    order = [SEATS[(start + i) % 4] for i in range(4)]
    width = max([len(call) for _, call in data["calls"]] + [6]) + 2
    lines = ["".join(seat.ljust(width) for seat in order).rstrip()]
    row = [""] * 4
    last = -1
    for seat, call in data["calls"]:
        place = order.index(seat)
        if place <= last:
            lines.append("".join(word.ljust(width) for word in row).rstrip())
            row = [""] * 4
        row[place] = call
        last = place
    return [*lines, "".join(word.ljust(width) for word in row).rstrip()]
