"""The verb ``compare``, for both games."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simcore.batches.beside import PAGES, TABLES, is_page
from simcore.batches.partfile import file_sha256, open_parquet, part_paths, write_atomically
from simcore.batches.places import Place, file_size, place_of
from simcore.batches.run import Interrupted, check_threads, workers_of
from simcore.batches.store import MANIFEST, Store
from simcore.contests.contest import Contest, make_contest
from simcore.contests.mistakes import cards_schema, judge_cards
from simcore.contests.playing import play_contest, rows_schema
from simcore.contests.result import Comparison
from simcore.errors import BadInput, RunError

if TYPE_CHECKING:
    import pyarrow as pa

    from simcore.batches.cluster import Cluster

__all__ = ["CARDS", "RESULT", "compare", "run_contest"]

RESULT, CARDS = "result.json", "cards.parquet"

Progress = Callable[[int, int], None]


def compare(
    game: str,
    *players: str,
    out: str | Place | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    repair: bool = False,
    progress: Progress | None = None,
    note: Callable[[str], object] = lambda text: None,
    cluster: str | None = None,
    **options: Any,
) -> Comparison:
    """Compare players: the same deals for all, every swap of sides, a verdict with its interval.

    Args:
        game: ``elections`` or ``showcase``.
        players: two or more SPECs.
        out: a folder, or ``s3://bucket/prefix``, for Parquet parts, ``cards.parquet``, ``result.json`` and manifest; an interrupted
            comparison goes on.
        threads: default all cores; changes no result.
        overwrite, repair: replace what is in ``out``, or only its parts that are damaged.
        progress: called with (playings done, playings in all at most), then with judged deals likewise.
        note: told what is out of the ordinary in ``out``, a line each.
        cluster: ``local:N``, or a Dask scheduler's address whose workers play (docs/scale.md); cards are judged here.
        options: ``contract`` (an id, ``all``, ``auction``), ``pairs`` (NE, NS, NW, all), ``trump`` (one, ``all``), ``deals``,
            ``sprt`` (``d0 d1 alpha beta``: two players; ends early), ``confidence``, ``solved`` (deals whose cards are judged by
            exact solving) and ``solve_from`` (from this trick on), ``ruleset``, ``seed``, ``first``, ``declarer``, ``dealer``,
            ``file``, ``known``, ``where`` as in :func:`simcore.simulate`.

    Returns:
        A Comparison with ``.rows``, ``.decided``, ``.table()``, ``.cards()``, ``.data()``, ``.command`` and ``.seed``.

    Raises:
        SimcoreError: an option is not accepted, or the folder cannot be used.
        simcore.batches.run.Interrupted: Ctrl-C; complete parts are left in ``out``.

    >>> compare("elections", "greedy", "random", contract="hearts-spades", deals=40, solved=0, seed=1).rows[0]["verdict"]
    'a'
    """
    contest = make_contest(game, players, **options)
    return run_contest(
        contest, out=out, threads=threads, overwrite=overwrite, repair=repair, progress=progress, note=note, cluster=cluster
    )


def run_contest(
    contest: Contest,
    *,
    out: str | Place | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    repair: bool = False,
    progress: Progress | None = None,
    note: Callable[[str], object] = lambda text: None,
    cluster: str | None = None,
) -> Comparison:
    """Run a checked comparison; see :func:`compare`."""
    threads = check_threads(threads, cluster)
    with ExitStack() as stack:
        try:
            workers = None if cluster is None else workers_of(cluster, stack, note)
        except KeyboardInterrupt:
            raise Interrupted from None
        return _run(contest, out, threads, overwrite, repair, progress, note, workers)


def _run(
    contest: Contest,
    out: str | Place | None,
    threads: int,
    overwrite: bool,
    repair: bool,
    progress: Progress | None,
    note: Callable[[str], object],
    workers: Cluster | None,
) -> Comparison:
    start = time.perf_counter()
    schema = rows_schema(contest)
    if out is None:
        kept: list[pa.Table] = []
        try:
            cells = play_contest(contest, threads=threads, keep=kept.append, progress=progress, cluster=workers)
            cards = _judged(contest, cells, threads, progress)
        except KeyboardInterrupt:
            raise Interrupted from None
        return Comparison(contest, cells, None, time.perf_counter() - start, threads, lambda: _joined(kept, schema), cards)
    folder = place_of(out)
    if not overwrite:
        _refuse_foreign(folder)
    with Store(folder, contest, schema=schema, more=contest.as_named, overwrite=overwrite, repair=repair, note=note) as store:
        found = len(store.parts)
        try:
            cells = play_contest(contest, threads=threads, store=store, progress=progress, cluster=workers)
            cards = _judged(contest, cells, threads, progress)
        except KeyboardInterrupt:
            store.write_manifest(complete=False)
            raise Interrupted from None
        seconds = time.perf_counter() - start
        fresh = len(store.parts) > found
        result = Comparison(contest, cells, folder, seconds, threads, lambda: _read(folder, schema), cards, fresh)
        text = json.dumps(result.data(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        with store.failures():
            write_atomically(folder / CARDS, lambda path: _write_cards(path, cards))
            write_atomically(folder / RESULT, lambda path: path.write_bytes(text.encode()))
            files = [
                {"name": name, "bytes": file_size(folder / name), "sha256": file_sha256(folder / name)} for name in (CARDS, RESULT)
            ]
        store.write_manifest(complete=True, more={"kind": "compare", "files": files})
    return result


def _refuse_foreign(folder: Place) -> None:
    """Refuse a folder with files in the way of a comparison's that no run left there, before anything is played.

    Raises:
        BadInput: naming the file.
    """
    of_a_run = folder.is_dir() and ((folder / MANIFEST).exists() or part_paths(folder))
    for name in (*TABLES, *PAGES) if not of_a_run else PAGES:
        path = folder / name
        try:
            foreign = path.exists() and not (of_a_run and is_page(path))
        except OSError as error:
            raise RunError(f"file {str(path)!r} cannot be read: {error.strerror or error}") from None
        if foreign:
            raise BadInput(f"file {str(path)!r} is in the way and no comparison's; accepted: another folder, or --overwrite")


def _judged(contest: Contest, cells: Any, threads: int, progress: Progress | None) -> pa.Table:
    """Return the judged cards."""
    if contest.solved == 0:
        return cards_schema(contest).empty_table()
    return judge_cards(contest, cells, threads=threads, progress=progress)


def _joined(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    return pa.concat_tables(tables) if tables else schema.empty_table()


def _read(folder: Place, schema: pa.Schema) -> pa.Table:
    tables = []
    for path in part_paths(folder).values():
        with open_parquet(path) as parquet:
            tables.append(parquet.read().cast(schema))
    return _joined(tables, schema)


def _write_cards(path: Path, cards: pa.Table) -> None:
    import pyarrow.parquet as pq

    pq.write_table(cards, path, compression="zstd")
