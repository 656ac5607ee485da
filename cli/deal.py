"""simcore deal: deals only."""

from __future__ import annotations

import click

from cli.options import format_option, quiet_option, range_options, use_options
from cli.output import note, to_json
from simcore.errors import BadInput

__all__ = ["command"]

_BLOCK = 4096


@click.command("deal")
@click.argument("game", metavar="[GAME]", default="elections", type=click.Choice(["elections", "showcase"]))
@click.option("--deals", type=int, default=1, show_default=True, metavar="N", help="How many deals.")
@use_options(*range_options)
@format_option("pbn", "text", "json", "jsonl", default="pbn")
@quiet_option
def command(game: str, deals: int, seed: str | None, first: int | None, format_: str, quiet: bool) -> int:
    """Write the deals that `simcore simulate` plays with the same seed, without playing them.

    pbn writes a PBN file ([Deal "…"] tags; Showcase has its two hands there and the reserve beside it), text draws the hands round
    a table; json is one document, jsonl one object a line.
    """
    from simcore.rng import draw_seed, parse_seed

    start = first or 0
    if deals < 1 or start < 0 or start + deals > 1 << 63:
        raise BadInput(f"deals {deals} from index {start} are out of range; accepted: at least 1 deal, indices 0 to 2**63 - 1")
    number = draw_seed() if seed is None else parse_seed(seed)
    note(f"seed {number}", quiet)
    if format_ == "pbn":
        click.echo(f"% PBN 2.1\n% simcore deal {game} --seed {number} --first {start} --deals {deals}")
    for block in range(start, start + deals, _BLOCK):
        size = min(_BLOCK, start + deals - block)
        lines = _elections(number, block, size, format_) if game == "elections" else _showcase(number, block, size, format_)
        if format_ == "json":  # a list, written as it grows
            begin = "[" if block == start else ","
            click.echo(begin + ",\n".join(lines) + ("]" if block + size == start + deals else ""))
        else:
            click.echo("\n".join(lines))
    return 0


def _elections(seed: int, first: int, deals: int, format_: str) -> list[str]:
    from simcore.deals.dealing import deal_hands
    from simcore.deals.pbn import Deal

    lines = []
    for index, masks in enumerate(deal_hands(seed, first, deals), first):
        deal = Deal.from_masks(masks)
        if format_ in ("json", "jsonl"):
            hands = {seat: str(hand) for seat, hand in zip("NESW", deal.hands, strict=True)}
            lines.append(to_json({"deal": index, "seed": str(seed), "pbn": deal.pbn(), "hands": hands}, lines=True))
        elif format_ == "text":
            lines.append(f"deal {index}\n{deal}\n")
        else:
            lines.append(f'[Board "{index}"]\n[Deal "{deal.pbn()}"]\n')
    return lines


def _showcase(seed: int, first: int, deals: int, format_: str) -> list[str]:
    from simcore.cards import format_card, format_hand
    from simcore.deals.dealing import deal_showcase

    lines = []
    hands, reserves, dealers = deal_showcase(seed, first, deals)
    for i in range(deals):
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
