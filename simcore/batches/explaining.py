"""What a player saw at each decision of a deal, and how it valued each choice.

The deal is played again out of its trace, move by move.  At each decision with a choice of the seats asked about, the player gets
what that seat saw there (its view, its stream), and says what it thinks: searching players their means with standard errors, others
only an order, found by asking again without what they chose before.  Where the player is the seat's own, this is how the decision
was made; else it is what that player would have thought in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from simcore.batches.config import GAME_SEATS, Config, check_text
from simcore.cards import SUIT_LETTERS, SUIT_MASKS, format_card, format_hand, parse_card, parse_hand
from simcore.errors import BadInput
from simcore.players import DECISIONS, EXTERNAL
from simcore.plugins import ask
from simcore.rng import STREAM, open_streams, seed_words
from simcore.rules import TRUMPS, Ruleset
from simcore.searchers.valuing import Choice, Valuation
from simcore.specs import Player, parse_player
from simcore.tracing import bold, seat_word

__all__ = ["Asked", "add_explanations", "explanation_lines", "parse_asked"]

_MOST_ASKED = 64
Record = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """Whose decisions are explained by which player: one a seat, None for seats not asked about."""

    game: str
    players: tuple[Player | None, ...]


def parse_asked(text: str, game: str, config: Config | None = None) -> Asked:
    """Read ``SPEC`` (that player at every seat), ``SEAT=SPEC``, or ``SEAT`` (that seat's own player, known from ``config``).

    Raises:
        BadInput: no such seat or player; a seat alone where nobody knows who played.
    """
    check_text("explain", text)
    seats = GAME_SEATS[game]
    seat, equals, spec = text.partition("=")
    # an option's '=' stands behind a colon
    if equals and ":" not in seat and ".py" not in seat:
        if len(seat) != 1 or seat.upper() not in seats:
            raise BadInput(f"explain {text!r}: {seat!r} is not a seat of {game}; accepted: {' '.join(seats)}")
        who = parse_player(spec, game)
        return Asked(game, tuple(who if each == seat.upper() else None for each in seats))
    if len(text) == 1 and text.upper() in seats:
        if config is None:
            raise BadInput(f"explain {text!r}: a trace does not say who played; accepted: a player, as in 'pimc' or '{text}=pimc'")
        return Asked(game, tuple(p if each == text.upper() else None for p, each in zip(config.players, seats, strict=True)))
    return Asked(game, (parse_player(text, game),) * len(seats))


def add_explanations(trace: Record, ruleset: Ruleset, asked: Asked) -> Record:
    """Return a trace that keeps the rules with ``explain``: one object a decision (docs/formats.md)."""
    moments = _showcase_moments if trace["game"] == "showcase" else _elections_moments
    told = []
    for kind, table, view, streams, action in moments(trace, ruleset):
        player = asked.players[int(view.seat)]
        legal = int(view.legal)
        if player is not None and legal & (legal - 1):
            told.append(_explained(trace["game"], ruleset, player, kind, table, view, streams, action))
    return trace | {"explain": told}


def _streams(trace: Record, seats: int) -> Any:
    streams = np.zeros(seats, STREAM).view(np.recarray)
    open_streams(streams, *seed_words(int(trace["seed"])), np.uint64(trace["deal"]))
    return streams


def _elections_moments(trace: Record, ruleset: Ruleset) -> Iterator[tuple[int, Any, Any, Any, int]]:
    """Yield each decision (kind, table, prepared view, streams) with the action taken, as a bit number."""
    from simcore.elections import engine
    from simcore.elections.state import CALL, CONTRACT, PLAY, new_table, new_view

    seats = GAME_SEATS["elections"]
    rules, table, view = ruleset.record[0], new_table()[0], new_view()[0]
    table.hands[:] = [parse_hand(trace["hands"][seat]) for seat in seats]
    lots = next(seats.index(pair[1 - pair.index("N")]) for pair in trace["lot_pairs"] if "N" in pair)
    engine.start_deal(table, view, seats.index(trace["dealer"]), lots)
    words = ("pass", *ruleset.type_ids)
    actions = [(CALL, words.index(word)) for _, word in trace["calls"]]
    if trace["status"] == "played":
        contract = ruleset.contract_ids.index(trace["contract"])
        if trace["forced"]:
            declarer = seats.index(trace["declarer"])
            engine.force_contract(rules, table, view, contract, declarer, declarer ^ seats.index(trace["partner"]))
        else:
            actions.append((CONTRACT, contract))
        actions += [(PLAY, parse_card(card)) for trick in trace["tricks"] for card in trick["cards"]]
    streams = _streams(trace, 4)
    for kind, action in actions:
        engine.prepare(rules, table, view)
        yield kind, table, view, streams, action
        engine.apply(rules, table, view, kind, np.uint64(1 << action))


def _showcase_moments(trace: Record, ruleset: Ruleset) -> Iterator[tuple[int, Any, Any, Any, int]]:
    """The same for Showcase."""
    from simcore.showcase import engine
    from simcore.showcase.state import FIRST, SECOND, TRUMP, new_table, new_view

    seats = GAME_SEATS["showcase"]
    rules, table, view = ruleset.record[0], new_table()[0], new_view()[0]
    table.hands[:] = [parse_hand(trace["hands"][seat]) for seat in seats]
    table.stock[:] = [parse_card(card) for card in [trace["turned"], *trace["reserve"]]]
    engine.start_deal(rules, table, view, seats.index(trace["dealer"]))
    actions = [(FIRST, parse_card(card)) for trick in trace["first"] for card in trick["cards"]]
    actions.append((TRUMP, TRUMPS.index(trace["trump"])))
    actions += [(SECOND, parse_card(card)) for trick in trace["second"] for card in trick["cards"]]
    streams = _streams(trace, 2)
    for kind, action in actions:
        engine.prepare(rules, table, view)
        yield kind, table, view, streams, action
        engine.apply(rules, table, view, kind, np.uint64(1 << action))


def _words(word: str, ruleset: Ruleset) -> tuple[str, ...]:
    """Return what the bits of a decision stand for, where they are no cards."""
    return {"call": ("pass", *ruleset.type_ids), "contract": ruleset.contract_ids, "trump": TRUMPS}.get(word, ())


def _explained(game: str, ruleset: Ruleset, player: Player, kind: int, table: Any, view: Any, streams: Any, action: int) -> Record:
    """Return what a player thinks of one decision."""
    seats = GAME_SEATS[game]
    word = DECISIONS[game][kind]

    def named(bit: int) -> str:
        words = _words(word, ruleset)
        return words[bit] if words else format_card(bit)

    value = _valued(game, player, kind, table, view, ruleset, streams)
    on_table = word in ("play", "first", "second")
    return {
        "seat": seats[int(view.seat)],
        "decision": word,
        "trick": int(view.tricks_played) + 1 if on_table else None,
        "place": int(view.on_table) + 1 if on_table else None,
        "player": player.spec,
        "saw": _saw(game, word, view),
        "chosen": named(action),
        "best": named(value.best),
        "method": value.method,
        "unit": value.unit or None,
        "worlds": value.worlds,
        "effective_worlds": value.effective,
        "slips": value.slips,
        "choices": [
            {
                "choice": named(choice.action),
                "mean": choice.mean if value.unit else None,
                "stderr": choice.stderr,
                "behind": choice.behind if value.unit else None,
                "behind_stderr": choice.behind_stderr,
                "visits": choice.visits,
            }
            for choice in _ranked(value)
        ],
    }


def _ranked(value: Valuation) -> list[Choice]:
    """Return the choices, the best first; an order without values is kept."""
    if not value.unit:
        return list(value.choices)
    return sorted(value.choices, key=lambda choice: (choice.action != value.best, -choice.mean, choice.action))


def _saw(game: str, word: str, view: Any) -> Record:
    """Return what lay before the seat, besides all that was done in the open."""
    seen: Record = {"hand": format_hand(int(view.hand))}
    if game == "showcase":
        seen["showcases"] = {seat: format_hand(int(view.show[s])) for s, seat in enumerate("NS")}
        seen["table"] = [format_card(int(view.lead).bit_length() - 1)] if view.on_table else []
        if word == "first":
            seen["reserve"] = int(view.reserve)
            seen["display"] = format_card(int(view.display)) if view.display >= 0 else None
        else:
            seen["other"] = format_hand(int(view.other))
        return seen
    if word == "play":
        seen["table"] = [format_card(int(card).bit_length() - 1) for card in view.trick_cards[: view.on_table]]
        seen["voids"] = {
            seat: "".join(SUIT_LETTERS[s] for s in (3, 2, 1, 0) if int(view.void[i]) & int(SUIT_MASKS[s]))
            for i, seat in enumerate(GAME_SEATS[game])
        }
        played = int(view.played[0] | view.played[1] | view.played[2] | view.played[3])
        seen["unseen"] = format_hand(sum(int(mask) for mask in SUIT_MASKS) & ~(int(view.hand) | played))
    return seen


def _valued(game: str, player: Player, kind: int, table: Any, view: Any, ruleset: Ruleset, streams: Any) -> Valuation:
    """Return a player's valuation of a decision, or only its order of the choices.

    Raises:
        PlayerError: a player from a file raised, answered out of the rules, or not in time.
    """
    rules, stream = ruleset.record[0], streams[view.seat]
    words = _words(DECISIONS[game][kind], ruleset)
    decision = player.outside[kind]
    if decision is not None and decision.value is not None:
        value: Valuation = decision.value(view, rules, stream)
        return value
    asked = view.copy()
    order: list[int] = []
    while int(asked.legal) and len(order) < _MOST_ASKED:
        own = stream.copy()
        if int(asked.legal) & (int(asked.legal) - 1) == 0:
            action = int(asked.legal)
        elif decision is not None:
            action = ask(game, decision, table, asked, rules, streams, words=words)
        else:
            assert player.policies[kind] < EXTERNAL
            action = int(_decide(game)(player.policies[kind], kind, asked, rules, own))
        if action & int(asked.legal) != action or action == 0:
            break  # what it likes best does not hang on what it may do
        order.append(action.bit_length() - 1)
        asked.legal = np.uint64(int(asked.legal) & ~action)
        if decision is not None:
            break  # slow, and nobody knows what a player from outside makes of half the choices
    rest = [bit for bit in range(64) if int(view.legal) >> bit & 1 and bit not in order]
    choices = [Choice(action, 0.0, None, 0.0, None) for action in order + rest]
    return Valuation(tuple(choices), order[0], "", "order" if not rest else "choice", 0, 0.0)


def _decide(game: str) -> Any:
    if game == "elections":
        from simcore.elections.policies import decide
    else:
        from simcore.showcase.policies import decide
    return decide


# ---- text -----------------------------------------------------------------------------------------------------------------------


def explanation_lines(told: list[Record], *, colour: bool = False) -> list[str]:
    """Return explanations as text."""
    lines: list[str] = []
    for one in told:
        place = f"trick {one['trick']}, card {one['place']}" if one["trick"] else f"{one['decision']}"
        playout = {"first": "first playout, ", "second": "second playout, "}.get(one["decision"], "")
        lines += ["", bold(f"{seat_word(one['seat'])}, {playout}{place}: {one['chosen']}", colour)]
        saw = one["saw"]
        lines.append("  saw   " + ", ".join(_saw_words(saw)))
        how = one["player"]
        if one["unit"]:
            how += f": {one['unit']}, {one['method']} of {one['worlds']} " + ("iterations" if one["method"] == "tree" else "worlds")
            if one["effective_worlds"] < one["worlds"] and one["method"] != "tree":
                how += f" (as good as {one['effective_worlds']:.1f})"
            if one["slips"]:
                how += f", {one['slips']} call(s) that its model would not have made"
        else:
            how += ": its choice" if one["method"] == "choice" else ": in its order"
        lines.append("  asked " + how)
        if one["unit"]:
            lines += [_choice_line(one, choice) for choice in one["choices"]]
        elif one["method"] == "choice":
            lines.append(f"        {one['best']}, out of {' '.join(choice['choice'] for choice in one['choices'])}")
        else:
            lines.append("        " + " ".join(choice["choice"] for choice in one["choices"]))
    return lines


def _saw_words(saw: Record) -> Iterator[str]:
    yield f"hand {saw['hand']}"
    if "showcases" in saw:
        yield "showcases " + " ".join(f"{seat}:{cards}" for seat, cards in saw["showcases"].items())
    if saw.get("other"):
        yield f"other {saw['other']}"
    if saw.get("display"):
        yield f"display {saw['display']}"
    if "reserve" in saw:
        yield f"reserve {saw['reserve']}"
    if saw.get("table"):
        yield "table " + " ".join(saw["table"])
    voids = {seat: suits for seat, suits in saw.get("voids", {}).items() if suits}
    if voids:
        yield "void " + " ".join(f"{seat}:{suits}" for seat, suits in voids.items())


def _choice_line(one: Record, choice: Record) -> str:
    mark = "*" if choice["choice"] == one["best"] else " "
    error = "" if not choice["stderr"] else f" ± {choice['stderr']:.2f}"
    line = f"      {mark} {choice['choice']:<14} {choice['mean']:+8.2f}{error:<8}"
    if choice["visits"] is not None:
        line += f"  tried {choice['visits']}"
    elif choice["behind"]:
        behind = "" if not choice["behind_stderr"] else f" ± {choice['behind_stderr']:.2f}"
        line += f"  behind by {choice['behind']:.2f}{behind}"
    return line + ("   <- played" if choice["choice"] == one["chosen"] else "")
