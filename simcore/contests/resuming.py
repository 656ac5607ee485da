"""The comparison that a folder holds, so that it goes on without its options."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from simcore.batches.places import Place, place_of
from simcore.batches.replaying import find_player_files
from simcore.batches.store import read_run
from simcore.contests.contest import Contest, make_contest
from simcore.errors import BadInput
from simcore.rules import parse_ruleset

__all__ = ["contest_of_run"]

_SAME = ("declarer", "dealer", "known", "where", "confidence", "solved", "solve_from", "seed", "first", "deals")


def contest_of_run(folder: str | Place, *, file: str | Path | None = None, game: str | None = None) -> Contest:
    """Return the contest that a folder was made for.

    Args:
        file: the PBN file its deals came from, if they did.
        game: to be told where it is another one.

    Raises:
        BadInput: the folder holds no comparison, or a player's file or the file of deals is not there or another.
    """
    folder = place_of(folder)
    run = read_run(folder)
    data = run["config"]
    if data.get("command") != "compare":
        raise BadInput(f"folder {str(folder)!r} holds no comparison; accepted: a folder that 'simcore compare --out' wrote")
    if game not in (None, data.get("game")):
        raise BadInput(f"game {game!r} is not the game of {str(folder)!r}; accepted: {data.get('game')!r}, or none")
    try:
        if file is None and data["given_deals"] is not None:
            raise BadInput(f"comparison {str(folder)!r} played deals from a file; accepted: the same file with --file")
        forced = data["contracts"][0] if len(data["contracts"]) == 1 else "all"
        options: dict[str, Any] = {name: data[name] for name in _SAME}
        options["trump" if data["game"] == "showcase" else "contract"] = forced
        options["sprt"] = None if data["sprt"] is None else [data["sprt"][name] for name in ("d0", "d1", "alpha", "beta")]
        if data["game"] == "elections" and len(data["seatings"]) == 2:
            options["pairs"] = Contest.pairs_of(data["seatings"][0])
        given = run.get("given") or {}
        contest = make_contest(
            data["game"],
            run.get("specs") or data["players"],
            ruleset=parse_ruleset(run["ruleset_text"], where=f"manifest of {str(folder)!r}"),
            file=file,
            player_files=find_player_files(data["player_files"], folder),
            **options,
        )
        contest = replace(contest, given={str(key): str(value) for key, value in given.items()})
    except (KeyError, TypeError, AttributeError, IndexError, StopIteration) as error:
        raise BadInput(f"manifest of {str(folder)!r} is damaged: {error!r}") from None
    if contest.base.describe()["given_deals"] != data["given_deals"]:
        raise BadInput(f"file {str(file)!r} does not hold the deals of {str(folder)!r}")
    return contest
