"""simcore deal: deals only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli.options import condition_options, format_option, quiet_option, range_options, use_options
from cli.output import interrupted, note, to_json
from simcore.errors import BadInput

if TYPE_CHECKING:
    from simcore.deals.constrained import Plan

__all__ = ["command"]

_BLOCK = 4096


@click.command("deal")
@click.argument("game", metavar="[GAME]", default="elections", type=click.Choice(["elections", "showcase"]))
@click.option("--deals", type=int, default=1, show_default=True, metavar="N", help="How many deals.")
@use_options(*range_options, *condition_options)
@format_option("pbn", "text", "json", "jsonl", default="pbn")
@quiet_option
def command(
    game: str, deals: int, seed: str | None, first: int | None, known: str | None, where: str | None, format_: str, quiet: bool
) -> int:
    """Write the deals that `simcore simulate` plays with the same seed, without playing them.

    pbn writes a PBN file ([Deal "…"] tags; Showcase has its two hands there and the reserve beside it), text draws the hands round
    a table; json is one document, jsonl one object a line.
    """
    from simcore.rng import draw_seed, parse_seed

    start = first or 0
    if deals < 1 or start < 0 or start + deals > 1 << 63:
        raise BadInput(f"deals {deals} from index {start} are out of range; accepted: at least 1 deal, indices 0 to 2**63 - 1")
    number = draw_seed() if seed is None else parse_seed(seed)
    plan = None
    if known is not None or where is not None:
        from simcore.batches.config import dealing_plan

        plan = dealing_plan(game, known, where)
    note(f"seed {number}", quiet)
    if format_ == "pbn":
        extra = "".join(f" --{name} {value!r}" for name, value in (("known", known), ("where", where)) if value is not None)
        click.echo(f"% PBN 2.1\n% simcore deal {game} --seed {number} --first {start} --deals {deals}{extra}")
    try:
        tried = _print(game, number, start, deals, plan, format_)
    except KeyboardInterrupt:
        return interrupted(None, *([] if seed is not None else ["--seed", str(number)]))
    if plan is not None:
        note(f"{tried:,} deals tried: acceptance {100 * deals / tried:.3g} %", quiet)
    return 0


def _print(game: str, number: int, start: int, deals: int, plan: Plan | None, format_: str) -> int:
    """Print deals as they are dealt; returns how many were tried."""
    tried = 0
    for block in range(start, start + deals, _BLOCK):
        size = min(_BLOCK, start + deals - block)
        hands, reserves, dealers, tries = _deal(game, number, block, size, plan)
        tried += tries
        if game == "elections":
            lines = _elections(number, block, hands, format_)
        else:
            lines = _showcase(number, block, hands, reserves, dealers, format_)
        if format_ == "json":  # a list, written as it grows
            begin = "[" if block == start else ","
            click.echo(begin + ",\n".join(lines) + ("]" if block + size == start + deals else ""))
        else:
            click.echo("\n".join(lines))
    return tried


def _deal(game: str, seed: int, first: int, deals: int, plan: Plan | None) -> tuple[Any, Any, Any, int]:
    """Return hands, reserves, dealers (the last two for Showcase) and how many deals were tried."""
    from simcore.deals.dealing import deal_conditioned, deal_hands, deal_showcase

    hands, reserves, dealers = (
        (deal_hands(seed, first, deals), None, None) if game == "elections" else deal_showcase(seed, first, deals)
    )
    if plan is None:
        return hands, reserves, dealers, deals
    hands, reserves, tries = deal_conditioned(seed, first, deals, plan)
    return hands, reserves, dealers, int(tries.sum())


def _elections(seed: int, first: int, hands: Any, format_: str) -> list[str]:
    from simcore.deals.pbn import Deal

    lines = []
    for index, masks in enumerate(hands, first):
        deal = Deal.from_masks(masks)
        if format_ in ("json", "jsonl"):
            hands = {seat: str(hand) for seat, hand in zip("NESW", deal.hands, strict=True)}
            lines.append(to_json({"deal": index, "seed": str(seed), "pbn": deal.pbn(), "hands": hands}, lines=True))
        elif format_ == "text":
            lines.append(f"deal {index}\n{deal}\n")
        else:
            lines.append(f'[Board "{index}"]\n[Deal "{deal.pbn()}"]\n')
    return lines


def _showcase(seed: int, first: int, hands: Any, reserves: Any, dealers: Any, format_: str) -> list[str]:
    from simcore.cards import format_card, format_hand

    lines = []
    for i in range(len(hands)):
        north, south = (format_hand(int(mask)) for mask in hands[i])
        turned, *reserve = [format_card(int(card)) for card in reserves[i]]
        dealer = "NS"[dealers[i]]
        if format_ in ("json", "jsonl"):
            data = {"deal": first + i, "seed": str(seed), "dealer": dealer, "hands": {"N": north, "S": south}}
            lines.append(to_json(data | {"turned": turned, "reserve": reserve}, lines=True))
        elif format_ == "text":
            lines.append(f"deal {first + i}, dealer {dealer}\nN {north}\nS {south}\nturned {turned}, reserve {' '.join(reserve)}\n")
        else:
            lines.append(
                f'[Board "{first + i}"]\n[Deal "N:{north} - {south} -"]\n[Turned "{turned}"]\n[Reserve "{" ".join(reserve)}"]\n'
            )
    return lines
