"""The verb ``choose``, for both games."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from simcore.batches.config import GAME_SEATS
from simcore.batches.single import fresh_folder, write_manifest
from simcore.batches.store import file_sha256, write_atomically
from simcore.choosing.result import Choices
from simcore.errors import BadInput, RunError

__all__ = ["choose"]

_WORLDS = "worlds.parquet"


def choose(
    game: str,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Choices:
    """Compare the choices of one hand, or without a hand on average: contracts and calls in Elections, trumps in Showcase.

    Args:
        game: ``elections`` or ``showcase``.
        out: a folder for one Parquet row a world (hand, deal) and choice, and a manifest.
        overwrite: replace what is in ``out``.
        threads: default all cores; changes no answer.
        progress: called with (worlds so far, most worlds).
        options: Elections, as :meth:`simcore.choosing.question.ElectionsQuestion.of`: hand, seat, dealer, lot, calls, partner,
            ruleset, players, player, objective, method, confidence, max_deals, max_solved, max_time, seed; Showcase, at the naming,
            as :func:`simcore.choosing.showcase.answer_showcase`: hand, seat, leader, show, turned, discards, won, ruleset; without
            a hand as :func:`simcore.choosing.average_showcase.average_showcase`: ruleset, players, player, confidence, max_deals,
            max_time, seed.

    Returns:
        Choices with ``.table()`` (a pyarrow Table, one row a choice, the best first), ``.best()``, ``.rows`` and ``.decided``.

    Raises:
        SimcoreError: an option is not accepted, no deal fits the calls heard, or the folder cannot be written.

    >>> choose("elections", hand="AKQJT98765432...", seat="S", objective="win", max_deals=512, seed=1).rows[0]["win"]
    1.0
    """
    if game not in GAME_SEATS:
        raise BadInput(f"game {game!r} is unknown; accepted: {', '.join(GAME_SEATS)}")
    if game == "showcase":
        return _showcase(options, out, overwrite=overwrite, threads=threads, progress=progress)
    from simcore.choosing.average import average_elections
    from simcore.choosing.elections import answer_elections
    from simcore.choosing.question import ElectionsQuestion

    question = ElectionsQuestion.of(**options)
    if out is not None:
        fresh_folder(Path(out), overwrite=overwrite, files=(_WORLDS,))
    answer = answer_elections if question.hand else average_elections
    choices = answer(question, threads=threads, progress=progress)
    if out is not None:
        _write(choices, question.config.ruleset.text, Path(out))
    return choices


def _showcase(
    options: dict[str, Any],
    out: str | Path | None,
    *,
    overwrite: bool,
    threads: int | None,
    progress: Callable[[int, int], None] | None,
) -> Choices:
    """Answer for Showcase: one hand at the naming, or on average."""
    given = {name: value for name, value in options.items() if value not in (None, (), "")}
    if "hand" in given:
        from simcore.choosing.showcase import answer_showcase

        for name in ("seat", "leader"):
            if name not in given:
                raise BadInput(f"hand {str(given['hand'])!r} needs a {name}; accepted: N or S")
        _refuse(given, _WITHOUT_HAND, "goes without a hand only: the answer at the naming is exact")
        if out is not None:
            raise BadInput(f"out {str(out)!r} does not go with a hand of showcase: its answer is exact, no worlds are drawn")
        return answer_showcase(**given)
    from simcore.choosing.average_showcase import average_showcase

    _refuse(given, ("seat", "leader", "show", "turned", "discards", "won"), "needs a hand")
    if out is not None:
        fresh_folder(Path(out), overwrite=overwrite, files=(_WORLDS,))
    choices = average_showcase(**given, threads=threads, progress=progress)
    if out is not None:
        from simcore.rules import load_ruleset

        _write(choices, load_ruleset(given.get("ruleset", "showcase"), "showcase").text, Path(out))
    return choices


_WITHOUT_HAND = ("players", "player", "confidence", "max_deals", "max_time", "seed")


def _refuse(given: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    for name in names:
        if name in given:
            raise BadInput(f"{name.replace('_', ' ')} {given[name]!r} {why}; accepted: left out")


def _write(choices: Choices, ruleset_text: str, folder: Path) -> None:
    """Write worlds and manifest; the manifest comes last."""
    import pyarrow.parquet as pq

    table = choices.worlds().replace_schema_metadata({"simcore:config": json.dumps(choices.config, sort_keys=True)})
    path = folder / _WORLDS
    try:
        write_atomically(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))
        files = [{"name": _WORLDS, "rows": table.num_rows, "bytes": path.stat().st_size, "sha256": file_sha256(path)}]
    except OSError as error:
        raise RunError(f"writing to {str(folder)!r} failed: {error.strerror or error}") from None
    manifest = {
        "kind": "choose",
        "config": choices.config,
        "ruleset_text": ruleset_text,
        "complete": True,
        "files": files,
        "result": choices.data(),
    }
    write_manifest(folder, manifest)
