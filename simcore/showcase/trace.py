"""The trace of a Showcase deal: written out, checked, drawn.  The format is docs/formats.md."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore.cards import SUIT_NAMES, format_card, format_hand, parse_card, parse_hand
from simcore.errors import TraceError
from simcore.rules import TRUMPS, Ruleset
from simcore.showcase.play import apply_first, apply_second, apply_trump, legal_first, legal_second, start_deal
from simcore.showcase.state import NAMING, PLAYOUT_1, new_table, new_view
from simcore.tracing import Reader, bold, card_word, cost_width, cost_word, hand_lines, seat_word

__all__ = ["holdings", "render", "trace", "verify_trace"]

SEATS = "NS"
_SOURCES = ("hand", "showcase")
_TRICKS_A_LINE = 8


def trace(ruleset: Ruleset, seed: int, index: int, table: Any, view: Any) -> dict[str, Any]:
    """Return the trace of a finished deal.

    Args:
        table, view: the deal's final records.
    """
    turned, *reserve = [format_card(int(card)) for card in table.stock]
    data = {
        "game": "showcase",
        "ruleset": ruleset.name,
        "seed": str(seed),
        "deal": index,
        "dealer": SEATS[view.dealer],
        "hands": {seat: format_hand(table.dealt[s]) for s, seat in enumerate(SEATS)},
        "turned": turned,
        "reserve": reserve,
    }
    return data | _outcome(table, view)


def _outcome(table: Any, view: Any) -> dict[str, Any]:
    """Return everything of a trace that follows from the deal's play."""
    first_tricks = int(view.won[0] + view.won[1])
    return {
        "first": [
            _trick(view, 0, t)
            | {"from": [_SOURCES[view.source[2 * t]], _SOURCES[view.source[2 * t + 1]]]}
            | {
                "winner": SEATS[view.winners[0, t]],
                "drawn": format_card(int(table.drawn[t])),
                "taken": None if view.taken[t] < 0 else format_card(int(view.taken[t])),
            }
            for t in range(first_tricks)
        ],
        "counts": {seat: int(view.count[s]) for s, seat in enumerate(SEATS)},
        "namer": SEATS[view.namer],
        "trump": TRUMPS[view.named],
        "second": [_trick(view, 1, t) | {"winner": SEATS[view.winners[1, t]]} for t in range(13)],
        "points": {seat: int(view.points[s]) for s, seat in enumerate(SEATS)},
        "winner": SEATS[int(view.points[1] > view.points[0])],
    }


def _trick(view: Any, playout: int, number: int) -> dict[str, Any]:
    cards = [format_card(int(card)) for card in view.history[playout, 2 * number : 2 * number + 2]]
    return {"leader": SEATS[view.leaders[playout, number]], "cards": cards}


def verify_trace(data: object, ruleset: Ruleset) -> None:
    """Replay a trace, whoever wrote it, and refuse it unless it keeps every rule and every field is right.

    Raises:
        TraceError: naming deal, trick, card and clause.
    """
    reader = Reader(data, "showcase")
    reader.word("ruleset", (ruleset.name,))
    rules = ruleset.record[0]
    table, view = new_table()[0], new_view()[0]
    masks = reader.hands(SEATS, clause="S2")
    stock = [reader.card(reader.data.get("turned"), "key 'turned'")]
    stock += [reader.card(card, "key 'reserve'") for card in reader.items("reserve")]
    if len(stock) != 26:
        reader.bad(f"S2: the reserve has {len(stock) - 1} cards besides the turned one; accepted: 25")
    seen = masks[0] | masks[1]
    for card in stock:
        if seen >> card & 1:
            reader.bad(f"S2: {format_card(card)} is in the pack twice")
        seen |= 1 << card
    table.hands[:] = np.array(masks, np.uint64)
    table.stock[:] = stock
    start_deal(rules, table, view, SEATS.index(reader.seat("dealer", SEATS)))
    _first(reader, rules, table, view)
    _field(reader, "counts", {seat: int(view.count[s]) for s, seat in enumerate(SEATS)}, "M8" if rules.magri == 1 else "S8")
    _field(reader, "namer", SEATS[view.namer], "S9")
    trump = reader.data.get("trump")
    if trump not in TRUMPS:
        reader.bad(f"key 'trump' is {trump!r}; accepted: {', '.join(TRUMPS)} (S9)")
    apply_trump(table, view, TRUMPS.index(trump))
    _second(reader, rules, table, view)
    _field(reader, "points", {seat: int(view.points[s]) for s, seat in enumerate(SEATS)}, "S14")
    _field(reader, "winner", SEATS[int(view.points[1] > view.points[0])], "S14")
    reader.compare(_outcome(table, view))


def _field(reader: Reader, key: str, wanted: object, clause: str) -> None:
    """Refuse a field that is not as it must be, by its clause."""
    try:
        reader.compare({key: wanted})
    except TraceError as error:
        raise TraceError(f"{error} ({clause})") from None


def _first(reader: Reader, rules: Any, table: Any, view: Any) -> None:
    """Replay the first playout."""
    clauses = ("M3", "M4", "M5") if rules.magri == 1 else ("S3", "S4", "S5")
    tricks = reader.items("first")
    for number, trick in enumerate(tricks, 1):
        where = f"first playout, trick {number}"
        if table.phase != PLAYOUT_1:
            reader.bad(f"{where}: the reserve is empty, the playout is over ({'M6' if rules.magri == 1 else 'S7'})")
        cards = reader.cards(trick, "cards", where, 2)
        _leader(reader, trick, where, SEATS[table.turn], clauses[0])
        for place, card in enumerate(cards):
            seat = int(table.turn)
            hand, show = table.hands[seat], view.show[seat]
            bit = np.uint64(1 << card)
            if not (hand | show) & bit:
                what = f"{SEATS[seat]} plays {format_card(card)}, which is neither in his hand nor in his showcase"
                reader.bad(f"{where}: {what} ({clauses[place]})")
            if not legal_first(rules, view, hand, show) & bit:
                reader.bad(f"{where}: {SEATS[seat]} may not play {format_card(card)} here ({clauses[place]})")
            apply_first(rules, table, view, bit)
        if trick.get("winner") != SEATS[view.winners[0, number - 1]]:
            reader.bad(
                f"{where}: winner is {trick.get('winner')!r}, but {SEATS[view.winners[0, number - 1]]} takes it ({clauses[2]})"
            )
        _settled(reader, trick, where, rules, table, view, number - 1)
    if table.phase != NAMING:
        clause = "M6" if rules.magri == 1 else "S7"
        reader.bad(f"the first playout stops after {len(tricks)} tricks with {view.reserve} cards still to be drawn ({clause})")


def _settled(reader: Reader, trick: dict[str, Any], where: str, rules: Any, table: Any, view: Any, number: int) -> None:
    """Check what a trick says besides its cards: where each came from, what was drawn and what was taken."""
    magri = rules.magri == 1
    given = trick.get("from")
    if not isinstance(given, list) or len(given) != 2:
        reader.bad(f"{where}: 'from' is {given!r}; accepted: a list of two words out of {', '.join(_SOURCES)}")
    for place in range(2):
        card = format_card(int(view.history[0, 2 * number + place]))
        source = _SOURCES[view.source[2 * number + place]]
        if given[place] != source:
            clause = ("M3" if magri else "S3") if place == 0 else ("M4" if magri else "S4")
            reader.bad(f"{where}: {card} is said to come from {given[place]!r}, but it lies in the {source} ({clause})")
    clause = "M6" if magri else "S6"
    drawn = int(table.drawn[number])
    if "drawn" not in trick or reader.card(trick["drawn"], f"{where}, drawn") != drawn:
        reader.bad(f"{where}: drawn is {trick.get('drawn')!r}, but the next card of the reserve is {format_card(drawn)} ({clause})")
    if "taken" not in trick:
        reader.bad(f"{where}: 'taken' is missing; accepted: the display card, or null without one ({clause})")
    if not magri and trick["taken"] is not None:
        reader.bad(f"{where}: taken is {trick['taken']!r}, but there is no display card; accepted: null (S6)")
    if magri and reader.card(trick["taken"], f"{where}, taken") != int(view.taken[number]):
        taken = format_card(int(view.taken[number]))
        reader.bad(f"{where}: taken is {trick['taken']!r}, but the display card is {taken} (M6)")


def _leader(reader: Reader, trick: dict[str, Any], where: str, seat: str, clause: str) -> None:
    if trick.get("leader") != seat:
        reader.bad(f"{where}: leader is {trick.get('leader')!r}, but {seat} leads ({clause})")


def _second(reader: Reader, rules: Any, table: Any, view: Any) -> None:
    """Replay the second playout."""
    tricks = reader.items("second")
    if len(tricks) != 13:
        reader.bad(f"the second playout has {len(tricks)} tricks; accepted: 13 (S14)")
    for number, trick in enumerate(tricks, 1):
        where = f"second playout, trick {number}"
        cards = reader.cards(trick, "cards", where, 2)
        _leader(reader, trick, where, SEATS[table.turn], "S10")
        for card in cards:
            seat = int(table.turn)
            bit = np.uint64(1 << card)
            if not table.hands[seat] & bit:
                reader.bad(f"{where}: {SEATS[seat]} plays {format_card(card)}, which is not in his holding (S11)")
            if not legal_second(view, table.hands[seat]) & bit:
                suit = SUIT_NAMES[int(view.suit).bit_length() - 1 >> 4]
                reader.bad(f"{where}: {SEATS[seat]} plays {format_card(card)} on {suit} but could follow or trump (S12: revoke)")
            apply_second(rules, table, view, bit)
        if trick.get("winner") != SEATS[view.winners[1, number - 1]]:
            reader.bad(f"{where}: winner is {trick.get('winner')!r}, but {SEATS[view.winners[1, number - 1]]} takes it (S13)")


def render(data: dict[str, Any], *, symbols: bool = True, colour: bool = False) -> str:
    """Draw a trace as text.

    Args:
        symbols: suit symbols; else letters only (plain ASCII).
        colour: ANSI colours: red suits red, winners bold.
    """
    style = (symbols, colour)
    magri = any(trick["taken"] for trick in data["first"])
    lines = [f"Showcase ({data['ruleset']}), seed {data['seed']}, deal {data['deal']}", ""]
    blocks = [hand_lines(data["hands"][seat], style) for seat in SEATS]
    lines.append(f"{'North':<32}South")
    for (north, width), (south, _) in zip(*blocks, strict=True):
        lines.append(north + " " * max(32 - width, 1) + south)
    turned = card_word(data["turned"], style).strip()
    what = "first display card" if magri else "turned up, its suit is trump"
    lines += ["", f"Dealer {seat_word(data['dealer'])}; {turned} {what}", "", bold("First playout", colour)]
    extra = "   loser draws" + ("   winner takes" if magri else "")
    lines.append("trick     N     S" + extra)
    for number, trick in enumerate(data["first"], 1):
        row = _row(number, trick, style)
        row += (
            " " * 9
            + card_word(trick["drawn"], style).strip()
            + (" " * 13 + card_word(trick["taken"], style).strip() if magri else "")
        )
        notes = [
            f"{SEATS[(SEATS.index(trick['leader']) + i) % 2]} from the showcase" for i in range(2) if trick["from"][i] == "showcase"
        ]
        lines.append(row + ("   " + ", ".join(notes) if notes else ""))
    counts = data["counts"]
    shown = "value tricks" if magri else "whole tricks in the showcase"
    lines += ["", f"Counts: N {counts['N']}, S {counts['S']} {shown}", *_showcase_lines(data, style)]
    held = holdings(data)
    lines += ["", f"{'North holds':<36}South holds"]
    for (north, width), (south, _) in zip(*(hand_lines(held[seat], style) for seat in SEATS), strict=True):
        lines.append(north + " " * max(36 - width, 1) + south)
    lines += [
        "",
        bold(f"{seat_word(data['namer'])} names {data['trump'].replace('-', ' ')}", colour),
        "",
        bold("Second playout", colour),
    ]
    width = cost_width(data["second"])
    blank = " " * width
    lines.append(f"trick     N{blank}     S{blank}   N : S")
    won = dict.fromkeys(SEATS, 0)
    for number, trick in enumerate(data["second"], 1):
        won[trick["winner"]] += 1
        lines.append(_row(number, trick, style, width) + f"{won['N']:>4} : {won['S']}")
    points = data["points"]
    lines += ["", "In each row > marks the lead, * the card that takes the trick."]
    if "double_dummy" in data:
        values = " : ".join(str(data["double_dummy"][seat]) for seat in SEATS)
        lines.append(f"A number behind a card: the tricks it cost against perfect play ({values}).")
    lines.append("")
    lines.append(bold(f"{seat_word(data['winner'])} wins, {max(points.values())} : {min(points.values())}", colour))
    return "\n".join(lines)


def _row(number: int, trick: dict[str, Any], style: tuple[bool, bool], width: int = 0) -> str:
    start = SEATS.index(trick["leader"])
    cells = ["", ""]
    for i, card in enumerate(trick["cards"]):
        seat = (start + i) % 2
        word = card_word(card, style, width=6, lead=i == 0, won=SEATS[seat] == trick["winner"])
        cells[seat] = word + cost_word(trick, i, width)
    return f"{number:>5}" + "".join(cells)


def _showcase_lines(data: dict[str, Any], style: tuple[bool, bool]) -> list[str]:
    """Return what lies open when the first playout is over: whole tricks (S8) and cards left over, or the cards taken (M6)."""
    laid: dict[str, list[list[int]]] = {seat: [] for seat in SEATS}
    for trick in data["first"]:
        played = [parse_card(card) for card in trick["cards"]]  # a foreign trace may write a card in several ways
        for place, card in enumerate(played):
            if trick["from"][place] == "showcase":
                for cards in laid[SEATS[(SEATS.index(trick["leader"]) + place) % 2]]:
                    if card in cards:
                        cards.remove(card)
        laid[trick["winner"]].append([parse_card(trick["taken"])] if trick["taken"] else played)
    lines = []
    for seat in SEATS:
        whole = [" ".join(card_word(format_card(card), style).strip() for card in cards) for cards in laid[seat] if len(cards) == 2]
        loose = [card_word(format_card(cards[0]), style).strip() for cards in laid[seat] if len(cards) == 1]
        lines += ["", f"{seat_word(seat)}'s showcase"]
        lines += ["  " + "   ".join(whole[i : i + _TRICKS_A_LINE]) for i in range(0, len(whole), _TRICKS_A_LINE)]
        if loose:
            lines.append(("  left over: " if whole else "  ") + " ".join(loose))
        if not whole and not loose:
            lines.append("  empty")
    return lines


def holdings(data: dict[str, Any]) -> dict[str, str]:
    """Return both holdings of a trace at S11: what the second playout's cards come from."""
    holding = {seat: parse_hand(data["hands"][seat]) for seat in SEATS}
    for trick in data["first"]:
        start = SEATS.index(trick["leader"])
        for i, card in enumerate(trick["cards"]):
            holding[SEATS[(start + i) % 2]] &= ~(1 << parse_card(card))
        loser = "N" if trick["winner"] == "S" else "S"
        gained = [trick["taken"]] if trick["taken"] else trick["cards"]
        for card in gained:
            holding[trick["winner"]] |= 1 << parse_card(card)
        holding[loser] |= 1 << parse_card(trick["drawn"])
    return {seat: format_hand(mask) for seat, mask in holding.items()}
