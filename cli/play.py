"""simcore play: a person plays a deal in the terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.options import deal_options, game_argument, quiet_option, range_options, use_options
from cli.output import colour_wanted, note, notes_before, to_json, utf8
from simcore.errors import BadInput, RunError

if TYPE_CHECKING:
    from simcore.batches.sessions import Session

__all__ = ["command"]

_HELP = """\
  a card     as SA, s10 or AS; a rank alone where only one such card is legal; legal cards stand in [brackets]
  a call     pass, or a type; a contract or trump by its name; the first letters are enough
  undo       take back your last decision and what followed it
  show       the table and your cards once more
  quit       leave the deal (so do Ctrl-C and Ctrl-D)"""


class _Left(Exception):
    """The person has left the deal."""


@click.command("play")
@game_argument
@click.option("--me", required=True, metavar="SEAT", help="Your seat.")
@click.option("--others", default="expert", show_default=True, metavar="SPEC", help="The other seats' player.")
@click.option("--player", multiple=True, metavar="SEAT=SPEC", help="Player of one other seat; may be repeated.")
@click.option("--ruleset", metavar="NAME|FILE.toml", help="A shipped ruleset or your own file.  [default: the game's]")
@use_options(*range_options, *deal_options)
@click.option("--double-dummy", is_flag=True, help="At the end mark what each card cost (takes long in Elections).")
@click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where the trace goes, at the end of the file.  [default: GAME-SEED-DEAL.jsonl]",
)
@quiet_option
def command(
    game: str,
    me: str,
    others: str,
    player: tuple[str, ...],
    first: int | None,
    double_dummy: bool,
    save: Path | None,
    quiet: bool,
    **options: Any,
) -> int:
    """Play a deal against any players: the deal that `simulate` has at --seed and --first.

    You see what your seat may see, legal cards in brackets.  `undo` takes back, `help` tells the rest.  The trace is appended to
    --save; `simcore replay --trace FILE` shows and checks it.  Answers may also come from a pipe, one a line.
    """
    from simcore.batches.config import make_config
    from simcore.batches.sessions import Session, check_seat

    for item in player:
        if item.partition("=")[0].upper() == me.upper():
            raise BadInput(f"player {item!r} is for your own seat; accepted: the others'")
    config = make_config(game, first=first or 0, deals=1, players=others, player=player, **options)
    check_seat(config, me)
    path = save or Path(f"{game}-{config.seed}-{config.first}.jsonl")
    _check_writable(path)
    note(f"seed {config.seed}", quiet)
    notes_before(config, quiet)
    try:
        session = Session(config, me)
        _play(session)
        trace = session.trace()
    except (_Left, KeyboardInterrupt):
        given = sys.argv[1:]
        again = [] if options["seed"] is not None else ["--seed", str(config.seed)]
        click.echo(f"\nsimcore: the deal was left; to play it again: {shlex.join(['simcore', *given, *again])}", err=True)
        return 130
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(to_json(trace, lines=True) + "\n")
    except OSError as error:
        raise RunError(f"file {str(path)!r} cannot be written: {error.strerror}") from None
    _show_end(session, trace, double_dummy)
    note(f"trace in {path}", quiet)
    return 0


def _check_writable(path: Path) -> None:
    """Find out before the deal whether its trace can be kept; leaves no empty file behind."""
    new = not path.exists()
    try:
        with open(path, "a", encoding="utf-8"):
            pass
        if new:
            path.unlink()
    except OSError as error:
        raise RunError(f"file {str(path)!r} cannot be written: {error.strerror}; accepted: --save FILE") from None


def _play(session: Session) -> None:
    """Ask until the deal is over."""
    table = _Table(session)
    click.echo(table.head())
    table.show()
    while session.kind is not None:
        answer = _ask(table.prompt())
        word = answer.lower()
        if word in ("q", "quit", "exit"):
            raise _Left
        if word in ("?", "h", "help"):
            click.echo(_HELP)
        elif word in ("u", "undo"):
            if session.undo():
                table.show(again=True)
            else:
                click.echo("There is nothing to take back.")
        elif word == "show":
            table.show(again=True)
        elif word:
            try:
                session.act(answer)
            except BadInput as error:
                click.echo(f"{error}")
                continue
            table.show()


def _ask(prompt: str) -> str:
    """Return a line of the person's.

    Raises:
        _Left: there is none any more.
    """
    try:
        if sys.stdin.isatty():
            return input(prompt).strip()
        click.echo(prompt, nl=False)
        line = sys.stdin.readline()
    except EOFError:
        raise _Left from None
    except UnicodeDecodeError as error:
        raise BadInput(f"standard input is not text: {error.reason} at byte {error.start}") from None
    if not line:
        raise _Left
    click.echo(line.strip())
    return line.strip()


class _Table:
    """What the person is shown: what has happened since the last time, and the cards."""

    def __init__(self, session: Session) -> None:
        from simcore.batches.config import GAME_SEATS

        self._session = session
        self._seats = GAME_SEATS[session.config.game]
        self._style = (utf8(), colour_wanted())
        self._forget()

    def _forget(self) -> None:
        """Begin anew with what has been told."""
        self._told_calls, self._told_contract, self._told_tricks = 0, False, [0, 0]

    def head(self) -> str:
        """Return what is known before the first decision."""
        from simcore.tracing import seat_word

        config, view = self._session.config, self._session.view
        who = [
            f"{seat_word(s)} {p.spec}"
            for n, (s, p) in enumerate(zip(self._seats, config.players, strict=True))
            if n != self._session.me
        ]
        lines = [
            f"{config.game.capitalize()} ({config.ruleset.name}), seed {config.seed}, deal {config.first}",
            f"You are {seat_word(self._seats[self._session.me])}; {', '.join(who)}",
            f"Dealer {seat_word(self._seats[view.dealer])}",
        ]
        if config.game == "elections":
            pairs = ["N" + self._seats[view.lots], "".join(s for n, s in enumerate(self._seats) if n and n != view.lots)]
            lines[-1] += f"; lot pairs {pairs[0]} and {pairs[1]}"
            lines += [f"  {contract.id}: {contract.describe()}" for contract in config.ruleset.contracts]
        return "\n".join([*lines, "Type help for what you can type.", ""])

    def prompt(self) -> str:
        """Return the question."""
        kind, legal = self._session.kind, self._session.legal
        if kind in ("call", "contract", "trump"):
            what = {"call": "your call", "contract": "your contract", "trump": "the trump"}[str(kind)]
            return f"{what} ({', '.join(legal)}): "
        return "your card: "

    def show(self, again: bool = False) -> None:
        """Print what is new, or everything once more."""
        if again:
            self._forget()
        lines = self._elections() if self._session.config.game == "elections" else self._showcase()
        text = "\n".join(lines)
        click.echo(text if self._style[0] else text.encode("ascii", "replace").decode())

    # What is new

    def _elections(self) -> list[str]:
        session, view = self._session, self._session.view
        words = ("pass", *session.config.ruleset.type_ids)
        calls = [f"{self._seats[view.callers[i]]} {words[view.calls[i]]}" for i in range(self._told_calls, view.calls_made)]
        lines = [f"calls: {', '.join(calls)}"] if calls else []
        self._told_calls = int(view.calls_made)
        if view.contract >= 0 and not self._told_contract:
            contract = session.config.ruleset.contracts[view.contract]
            sides = f"{self._seats[view.declarer]} and {self._seats[view.declarer ^ view.pairing]} attack"
            lines.append(f"{contract.id} ({contract.describe()}): {sides}")
            self._told_contract = True
        for trick in range(self._told_tricks[0], int(view.tricks_played)):
            cards = [int(card) for card in view.history[4 * trick : 4 * trick + 4]]
            lines.append(self._trick(trick + 1, int(view.leaders[trick]), cards, int(view.winners[trick])))
        self._told_tricks[0] = int(view.tricks_played)
        if session.kind is None:
            return lines
        if session.kind == "play":
            tricks = [f"{seat} {view.tricks[n]}" for n, seat in enumerate(self._seats)]
            on_table = [int(card).bit_length() - 1 for card in view.trick_cards[: view.on_table]]
            lines += [
                "",
                f"trick {view.tricks_played + 1} (tricks: {', '.join(tricks)}): " + self._on_table(int(view.leader), on_table),
            ]
        return [*lines, *self._cards("your hand", int(view.hand))]

    def _showcase(self) -> list[str]:
        from simcore.rules import TRUMPS

        session, view = self._session, self._session.view
        lines = []
        for playout in range(2):
            played = int(view.won[0] + view.won[1]) if playout == 0 else (int(view.tricks_played) if view.playout == 2 else 0)
            for trick in range(self._told_tricks[playout], played):
                cards = [int(card) for card in view.history[playout, 2 * trick : 2 * trick + 2]]
                lines.append(self._trick(trick + 1, int(view.leaders[playout, trick]), cards, int(view.winners[playout, trick])))
            self._told_tricks[playout] = played
        if session.kind is None:
            return lines
        other = 1 - session.me
        lines.append("")
        if session.kind == "first":
            if session.config.ruleset.style == "magri":
                lines.append(f"no trump; display card {self._word(int(view.display))}, reserve {view.reserve}")
            else:
                lines.append(f"turned {self._word(int(view.turned))}: its suit is trump; reserve {view.reserve}")
            for seat, whose in ((other, "their showcase"), (session.me, "your showcase")):
                lines += self._cards(whose, int(view.show[seat]), marked=seat == session.me)
            lines.append(f"tricks won: you {view.won[session.me]}, they {view.won[other]}")
        else:
            counts = f"counted tricks: you {view.count[session.me]}, they {view.count[other]}"
            lines.append(counts if view.named < 0 else f"{counts}; {self._seats[view.namer]} named {TRUMPS[view.named]}")
            lines += self._cards("their cards", int(view.other), marked=False)
            if session.kind == "second":
                lines.append(f"tricks: you {view.points[session.me]}, they {view.points[other]}")
            else:
                lines.append(f"{self._seats[view.second_leader]} will lead")
        if session.kind != "trump":
            lead = [int(view.lead).bit_length() - 1] if view.on_table else []
            lines.append(f"trick {view.tricks_played + 1}: " + self._on_table(int(view.leader), lead))
        return [*lines, *self._cards("your hand" if session.kind == "first" else "your cards", int(view.hand))]

    # Cards

    def _word(self, card: int) -> str:
        from simcore.cards import format_card
        from simcore.tracing import card_word

        return card_word(format_card(card), self._style).strip() if card >= 0 else "-"

    def _trick(self, number: int, leader: int, cards: Sequence[int], winner: int) -> str:
        played = [f"{self._seats[(leader + i) % len(self._seats)]} {self._word(card)}" for i, card in enumerate(cards)]
        return f"  trick {number:>2}: {', '.join(played)}; {self._seats[winner]} takes it"

    def _on_table(self, leader: int, cards: Sequence[int]) -> str:
        if not cards:
            return "you lead"
        return ", ".join(f"{self._seats[(leader + i) % len(self._seats)]} {self._word(card)}" for i, card in enumerate(cards))

    def _cards(self, title: str, mask: int, marked: bool = True) -> list[str]:
        """Return cards by suits, the legal ones in brackets."""
        from simcore.cards import RANKS, format_card
        from simcore.tracing import bold, card_word

        shown = []
        for suit in (3, 2, 1, 0):
            held = [card for card in range(16 * suit + 12, 16 * suit - 1, -1) if mask >> card & 1]
            if not held:
                continue
            symbol = card_word(format_card(held[0]), self._style).strip()[:-1]
            ranks = []
            for card in held:
                rank = "10" if RANKS[card & 15] == "T" else RANKS[card & 15]
                legal = marked and format_card(card) in self._session.legal
                ranks.append(bold(f"[{rank}]", self._style[1]) if legal else rank)
            shown.append(f"{symbol} {' '.join(ranks)}")
        return [f"{title}: " + ("   ".join(shown) or "none")]


def _show_end(session: Session, trace: dict[str, Any], double_dummy: bool) -> None:
    """Print the whole deal and what came of it."""
    from simcore.batches.costs import add_costs
    from simcore.batches.replaying import render

    if double_dummy:
        trace = add_costs(trace, session.config.ruleset)
    click.echo("\n" + render(trace, symbols=utf8(), colour=colour_wanted()))
    seat = ("NESW" if trace["game"] == "elections" else "NS")[session.me]
    if trace["game"] == "showcase":
        click.echo(f"You {'win' if trace['winner'] == seat else 'lose'}: {trace['points'][seat]} tricks of 13.")
    else:
        click.echo(f"Your credit: {trace['credits'][seat]:+d}.")
