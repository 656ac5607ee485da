"""The verb ``choose``, for both games."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from simcore.batches.config import GAME_SEATS
from simcore.batches.places import Place, place_of
from simcore.batches.run import check_threads, workers_of
from simcore.batches.store import read_run
from simcore.choosing.kept import ChoiceWork, Kept, KeptInFolder
from simcore.choosing.result import Choices
from simcore.errors import BadInput
from simcore.rules import parse_ruleset

if TYPE_CHECKING:
    from simcore.batches.cluster import Cluster

__all__ = ["choose", "resume_choice"]


def choose(
    game: str,
    *,
    out: str | Place | None = None,
    overwrite: bool = False,
    repair: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    note: Callable[[str], object] = lambda text: None,
    begun: Callable[[], object] = lambda: None,
    cluster: str | None = None,
    **options: Any,
) -> Choices:
    """Compare the choices of one hand, or without a hand on average: contracts and calls in Elections, trumps in Showcase.

    Args:
        game: ``elections`` or ``showcase``.
        out: a folder, or ``s3://bucket/prefix``, for one Parquet row a world (hand, deal) and choice, and a manifest; one
            that was interrupted at the same question is gone on with, a complete answer is returned.
        overwrite, repair: replace what is in ``out``, or only its parts that are damaged.
        threads: default all cores; changes no answer.
        progress: called with (worlds so far, most worlds).
        note: told what is out of the ordinary in ``out``, a line each.
        begun: called once, when all is checked and the work begins.
        cluster: ``local:N``, or a Dask scheduler's address whose workers play (docs/scale.md).
        options: Elections, as :meth:`simcore.choosing.question.ElectionsQuestion.of`: hand, seat, dealer, lot, calls,
            partner, ruleset, players, player, objective, method, confidence, max_deals, max_solved, max_plies, max_time,
            seed; Showcase, at the naming, as :func:`simcore.choosing.showcase.answer_showcase`: hand, seat, leader, show,
            turned, discards, won, ruleset; without a hand as
            :meth:`simcore.choosing.average_showcase.ShowcaseAverage.of`: ruleset, players, player, confidence, max_deals,
            max_time, seed; with a ``view`` (what one seat sees, at any point) as
            :meth:`simcore.choosing.one_view.ViewQuestion.of`: view, ruleset, players, end, objective, confidence,
            max_deals, max_time, seed.

    Returns:
        Choices with ``.table()`` (a pyarrow Table, one row a choice, the best first), ``.best()``, ``.rows`` and ``.decided``.

    Raises:
        SimcoreError: an option is not accepted, no deal fits the calls heard, or the folder cannot be written.

    >>> choose("elections", hand="AKQJT98765432...", seat="S", objective="win", max_deals=512, seed=1).rows[0]["win"]
    1.0
    """
    if game not in GAME_SEATS:
        raise BadInput(f"game {game!r} is unknown; accepted: {', '.join(GAME_SEATS)}")
    check_threads(threads, cluster)
    how: dict[str, Any] = {
        "overwrite": overwrite,
        "repair": repair,
        "threads": threads,
        "progress": progress,
        "note": note,
        "begun": begun,
    }
    with ExitStack() as stack:
        workers = None
        if cluster is not None:
            from simcore.choosing import sending  # noqa: F401 (questions can be sent)

            workers = workers_of(cluster, stack, note)
        return _choose(game, options, out, workers=workers, **how)


def _choose(
    game: str,
    options: dict[str, Any],
    out: str | Place | None,
    *,
    overwrite: bool,
    repair: bool,
    threads: int | None,
    progress: Callable[[int, int], None] | None,
    note: Callable[[str], object],
    begun: Callable[[], object],
    workers: Cluster | None,
) -> Choices:
    """Answer, see :func:`choose`."""

    def answered(work: ChoiceWork, answer: Callable[[Kept], Choices]) -> Choices:
        if out is None:
            begun()
            return answer(Kept())
        with KeptInFolder(place_of(out), work, overwrite=overwrite, repair=repair, note=note) as kept:
            begun()
            choices = kept.finished()
            if choices is None:
                choices = answer(kept)
                kept.finish(choices)
            return choices

    if game == "showcase":
        return _showcase(options, out, answered, begun, threads=threads, progress=progress, cluster=workers)
    from simcore.choosing.average import average_elections
    from simcore.choosing.elections import answer_elections
    from simcore.choosing.question import ElectionsQuestion

    question = ElectionsQuestion.of(**options)
    answer = answer_elections if question.hand else average_elections
    work = ChoiceWork(question.describe(), question.config.ruleset)
    return answered(work, lambda kept: answer(question, kept=kept, threads=threads, progress=progress, cluster=workers))


#: What a folder's question is asked again by, by game and what it is about; players and ruleset are there as well.
_LIMITS = ("confidence", "max_deals", "max_time", "seed")
_OF_ELECTIONS = ("hand", "seat", "dealer", "lot", "partner", "objective", "method", "max_solved", "max_plies", *_LIMITS)
_ASKED = {
    ("elections", "hand"): _OF_ELECTIONS,
    ("elections", "average"): _OF_ELECTIONS,
    ("showcase", "average"): _LIMITS,
    ("showcase", "view"): ("view", "end", "objective", *_LIMITS),
}


def resume_choice(folder: str | Place, game: str | None = None, **how: Any) -> Choices:
    """Go on with the answer in a folder, or return it if it is complete; the question is in the folder.

    Args:
        game: to be told where it is of the other.
        how: repair, threads, cluster, progress, note as in :func:`choose`.

    Raises:
        SimcoreError: the folder holds no answer of ``choose``, or it cannot be gone on with.
    """
    run = read_run(place_of(folder))
    asked = run["config"]
    names = _ASKED.get((str(asked.get("game")), str(asked.get("about"))))
    if names is None:
        raise BadInput(f"folder {str(folder)!r} holds no answer; accepted: a folder that 'simcore choose --out' wrote")
    if game not in (None, asked["game"]):
        raise BadInput(f"game {game!r} is not the game of {str(folder)!r}; accepted: {asked['game']!r}")
    try:
        options = {name: asked[name] for name in names}
        if asked["about"] == "view":  # one player for both
            options["players"] = asked["players"]["N"]
        else:
            options["player"] = asked["players"]
        if options.get("max_plies") == "none":
            options["max_plies"] = None
        elif options.get("method") == "rollout":
            del options["max_plies"]
        if asked.get("calls"):
            options["calls"] = [tuple(call) for call in asked["calls"]]
    except (KeyError, TypeError) as error:
        raise BadInput(f"the question in {str(folder)!r} is damaged: {error!r}") from None
    ruleset = parse_ruleset(run["ruleset_text"], where=f"manifest of {str(folder)!r}")
    return choose(asked["game"], out=folder, ruleset=ruleset, **options, **how)


def _showcase(
    options: dict[str, Any],
    out: str | Place | None,
    answered: Callable[[ChoiceWork, Callable[[Kept], Choices]], Choices],
    begun: Callable[[], object],
    *,
    threads: int | None,
    progress: Callable[[int, int], None] | None,
    cluster: Cluster | None,
) -> Choices:
    """Answer for Showcase: one seat's view, one hand at the naming, or on average."""
    given = {name: value for name, value in options.items() if value is not None and value not in ((), "")}
    if "view" in given:
        from simcore.choosing.one_view import ViewQuestion, answer_view

        _refuse(given, (*_OF_HAND, "hand", "player"), "does not go with a view")
        asked = ViewQuestion.of(**given)
        if asked.seen.kind != "first":
            if out is not None:
                raise BadInput(f"out {str(out)!r} does not go with this view: its answer is exact, no worlds are drawn")
            begun()
            return answer_view(asked)
        work = ChoiceWork(asked.describe(), asked.seen.ruleset)
        return answered(work, lambda kept: answer_view(asked, kept=kept, threads=threads, progress=progress, cluster=cluster))
    _refuse(given, ("end", "objective"), "needs a view")
    if "hand" in given:
        from simcore.choosing.showcase import answer_showcase

        for name in ("seat", "leader"):
            if name not in given:
                raise BadInput(f"hand {str(given['hand'])!r} needs a {name}; accepted: N or S")
        _refuse(given, _WITHOUT_HAND, "goes without a hand only: the answer at the naming is exact")
        if out is not None:
            raise BadInput(f"out {str(out)!r} does not go with a hand of showcase: its answer is exact, no worlds are drawn")
        return answer_showcase(**given)
    from simcore.choosing.average_showcase import ShowcaseAverage, average_showcase

    _refuse(given, _OF_HAND, "needs a hand")
    question = ShowcaseAverage.of(**given)
    work = ChoiceWork(question.describe(), question.config.ruleset)
    return answered(work, lambda kept: average_showcase(question, kept=kept, threads=threads, progress=progress, cluster=cluster))


_OF_HAND = ("seat", "leader", "show", "turned", "discards", "won")
_WITHOUT_HAND = ("players", "player", "confidence", "max_deals", "max_time", "seed")


def _refuse(given: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    for name in names:
        if name in given:
            raise BadInput(f"{name.replace('_', ' ')} {given[name]!r} {why}; accepted: left out")
