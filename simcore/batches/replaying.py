"""Single deals of a simulation, shown: the same kernels at one index, their final state written out as a trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from simcore.batches.backends import backend_for
from simcore.batches.config import GAME_SEATS, Config, make_config
from simcore.batches.costs import add_costs
from simcore.batches.explaining import Asked, add_explanations, explanation_lines, parse_asked
from simcore.batches.partfile import file_sha256
from simcore.batches.places import BucketPath, Place, open_bucket, place_of
from simcore.batches.store import command_of, read_run
from simcore.deals.pbn import read_deals
from simcore.errors import BadInput, TraceError
from simcore.rules import SHIPPED, TRUMPS, Ruleset, load_ruleset, parse_ruleset
from simcore.solvers import MOST_PLIES, PLIES_ACCEPTED, is_plies

__all__ = ["check_traces", "config_of_run", "find_player_files", "render", "replay", "replay_config", "verify"]

#: What other commands' folders hold.
_OF_OTHERS = {
    "solve": "solved deals, of 'simcore solve'",
    "compare": "a comparison, of 'simcore compare'",
    "choose": "an answer of 'simcore choose'",
}


def replay_config(
    config: Config, *, double_dummy: bool = False, max_plies: int | None = MOST_PLIES, explain: str | None = None
) -> Iterator[dict[str, Any]]:
    """Return the traces of every deal of a config (one a contract or trump where all are played), as they are played.

    Args:
        double_dummy: also what each card cost (:mod:`simcore.batches.costs`), as far as ``max_plies`` a deal go.
        explain: also what a player saw and thought at each decision (:mod:`simcore.batches.explaining`): SPEC, SEAT=SPEC or SEAT.

    Raises:
        BadInput: no such seat or player to explain, before anything is played.
    """
    plies = _checked_plies(config.game, double_dummy, max_plies)
    return _traces(config, double_dummy, plies, None if explain is None else parse_asked(explain, config.game, config))


def _checked_plies(game: str, double_dummy: bool, max_plies: int | None) -> int | None:
    if max_plies is not None and not is_plies(max_plies):
        raise BadInput(f"max plies {max_plies!r} is out of range; accepted: {PLIES_ACCEPTED}, or None for no limit")
    if max_plies != MOST_PLIES and not (double_dummy and game == "elections"):
        raise BadInput(f"max plies {max_plies!r} goes with double dummy and elections only; accepted: left out")
    return max_plies


def _traces(config: Config, double_dummy: bool, plies: int | None, asked: Asked | None) -> Iterator[dict[str, Any]]:
    choices = [config]
    if config.contract == "all":
        choices = [replace(config, contract=contract) for contract in config.ruleset.contract_ids]
    elif config.trump == "all":
        choices = [replace(config, trump=trump) for trump in TRUMPS]
    backends = [backend_for(choice) for choice in choices]
    for index in range(config.first, config.first + config.deals):
        for backend in backends:
            yield _with_more(backend.trace(index), config.ruleset, double_dummy, plies, asked)


def _with_more(
    trace: dict[str, Any], ruleset: Ruleset, double_dummy: bool, plies: int | None, asked: Asked | None
) -> dict[str, Any]:
    """Return a trace with what was asked for besides."""
    if double_dummy:
        trace = add_costs(trace, ruleset, max_plies=plies)
    return trace if asked is None else add_explanations(trace, ruleset, asked)


def replay(
    game: str,
    *,
    first: int = 0,
    deals: int = 1,
    double_dummy: bool = False,
    max_plies: int | None = MOST_PLIES,
    explain: str | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Replay deals: traces of exactly the deals that ``simulate`` plays with the same options.

    Args:
        game: ``elections`` or ``showcase``.
        first, deals: which indices.
        double_dummy: also what each card cost against perfect play, all hands seen.
        max_plies: of that, Elections: plies for a deal; what is not known by then is None.  None: no limit.
        explain: also what a player saw and thought at each decision: SPEC, SEAT=SPEC, or SEAT for that seat's own player.
        options: as :func:`simcore.simulate` (a seed is needed for anything that can be compared).

    Returns:
        One trace a deal, plain data as described in docs/formats.md.

    >>> replay("elections", seed=7, first=5)[0]["deal"]
    5
    """
    config = make_config(game, first=first, deals=deals, **options)
    return list(replay_config(config, double_dummy=double_dummy, max_plies=max_plies, explain=explain))


def config_of_run(
    folder: str | Place, *, first: int | None = None, deals: int | None = None, file: Any = None, game: str | None = None
) -> Config:
    """Return the config that a run's folder was made with, for other indices if asked.

    Args:
        file: the PBN file it was made with, if it was.
        game: to be told where it is another one.

    Raises:
        BadInput: no manifest, another stream version, indices that the run does not have, or deals from a file that is not given.
        RunError: an object store that cannot be reached.
    """
    folder = place_of(folder)
    if isinstance(folder, BucketPath):
        open_bucket(folder)
    manifest = read_run(folder)
    data = manifest["config"]
    if game is not None and game != data.get("game"):
        raise BadInput(f"game {game!r} is not the game of run {str(folder)!r}; accepted: {data.get('game')!r}, or none")
    belongs = _OF_OTHERS.get(command_of(data))
    if belongs is not None:
        raise BadInput(f"folder {str(folder)!r} holds {belongs}; accepted: a folder that 'simcore simulate --out' wrote")
    try:
        if file is None and data["given_deals"] is not None:
            raise BadInput(f"run {str(folder)!r} played deals from a file; accepted: the same file with --file")
        config = make_config(
            data["game"],
            ruleset=parse_ruleset(manifest["ruleset_text"], where=f"manifest of {str(folder)!r}"),
            seed=data["seed"],
            first=data["first"] if first is None else first,
            deals=deals if deals is not None else (data["deals"] if first is None else 1),
            player=manifest.get("specs") or data["players"],
            contract=data["contract"],
            pairs=data["pairs"],
            declarer=data["declarer"],
            trump=data["trump"],
            dealer=data["dealer"],
            file=file,
            hands=data["hands"],
            rounds=data["rounds"],
            known=data["known"],
            where=data["where"],
            player_files=find_player_files(data["player_files"], folder),
        )
        if not (data["first"] <= config.first and config.first + config.deals <= data["first"] + data["deals"]):
            raise BadInput(
                f"deals {config.deals} from index {config.first} are not all in run {str(folder)!r}; "
                f"accepted: indices {data['first']} to {data['first'] + data['deals'] - 1}"
            )
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"manifest of {str(folder)!r} is damaged: {error!r}") from None
    whole = config if file is None else replace(config, given=read_deals(file)[data["first"] : data["first"] + data["deals"]])
    if whole.describe()["given_deals"] != data["given_deals"]:
        raise BadInput(f"file {str(file)!r} does not hold the deals of run {str(folder)!r}")
    if config.describe()["players"] != data["players"] or config.describe()["player_files"] != data["player_files"]:
        raise BadInput(f"manifest of {str(folder)!r} is damaged: its players are {data['players']!r}")
    if config.describe()["stream_version"] != data.get("stream_version"):
        raise BadInput(f"run {str(folder)!r} has stream version {data.get('stream_version')!r}, this simcore another")
    return config


def find_player_files(recorded: dict[str, str], folder: Place) -> dict[str, Path]:
    """Return where the players' files of a run lie, by the names the run knows them by, with the contents it was played with.

    A relative name is looked up here, then in the folders above the run's: a run is mostly kept below the folder it was started in.

    Raises:
        BadInput: there is no such file, naming the places.
    """
    files: dict[str, Path] = {}
    above_it = folder.resolve().parents if isinstance(folder, Path) else ()
    for player, sha256 in recorded.items():
        name = player.rpartition(":")[0]
        places = [Path(name), *([] if Path(name).is_absolute() else [above / name for above in above_it])]
        found = next((path for path in places if path.is_file() and file_sha256(path) == sha256), None)
        if found is None:
            others = [str(path) for path in places if path.is_file()]
            what = f"has other contents now in {', '.join(others)}" if others else "is not there any more"
            looked = ", ".join(str(path.parent.resolve()) for path in places)
            raise BadInput(
                f"player file {name!r} of run {str(folder)!r} {what} (looked in {looked}); "
                f"accepted: the file the run was played with, of SHA-256 {sha256}"
            )
        files[name] = found
    return files


def verify(trace: object, ruleset: Ruleset | None = None) -> Ruleset:
    """Check one foreign trace against the rules; returns the ruleset it was checked under.

    Raises:
        TraceError: naming deal, trick, card and clause.
        RulesError: the trace names a ruleset that is not shipped and none was given.
    """
    if not isinstance(trace, dict) or trace.get("game") not in ("elections", "showcase"):
        shown = trace.get("game") if isinstance(trace, dict) else type(trace).__name__
        raise TraceError(f"trace is of game {shown!r}; accepted: an object with game 'elections' or 'showcase'")
    game = str(trace["game"])
    if ruleset is None and trace.get("ruleset") not in SHIPPED:  # never a path: a trace is foreign data
        raise TraceError(f"trace names ruleset {trace.get('ruleset')!r}, which is not shipped; accepted: with that ruleset given")
    rules = load_ruleset(ruleset if ruleset is not None else str(trace["ruleset"]), game)
    if rules.name != trace.get("ruleset"):
        raise TraceError(f"trace names ruleset {trace.get('ruleset')!r}, to be checked under {rules.name!r}")
    if game == "elections":
        from simcore.elections.trace import verify_trace
    else:
        from simcore.showcase.trace import verify_trace
    verify_trace(trace, rules)
    return rules


def check_traces(
    lines: Iterator[str],
    where: str,
    ruleset: Ruleset | None = None,
    *,
    double_dummy: bool = False,
    max_plies: int | None = MOST_PLIES,
    explain: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Read traces, one JSON object a line (or one JSON list), and yield each after checking it.

    What a trace says of its cards' costs and of players' thoughts is not believed: it is left out, or with ``double_dummy`` (and
    ``max_plies``, see :func:`replay`) and ``explain`` (SPEC or SEAT=SPEC) made anew.

    Raises:
        TraceError: with the line.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except ValueError as error:  # also what Python refuses to read, as numbers of 10,000 digits
            raise TraceError(f"{where}, line {number}: not JSON: {error}") from None
        except RecursionError:
            raise TraceError(f"{where}, line {number}: nested too deeply") from None
        for trace in data if isinstance(data, list) else [data]:
            try:
                rules = verify(trace, ruleset)
            except TraceError as error:
                raise TraceError(f"{where}, line {number}: {error}") from None
            trace.pop("double_dummy", None)
            trace.pop("explain", None)
            for trick in [*trace.get("tricks", ()), *trace.get("second", ())]:
                trick.pop("cost", None)
            plies = _checked_plies(rules.game, double_dummy, max_plies)
            yield _with_more(trace, rules, double_dummy, plies, None if explain is None else parse_asked(explain, rules.game))


def render(trace: dict[str, Any], *, symbols: bool = True, colour: bool = False) -> str:
    """Draw a trace as text: hands, auction, every trick with its winner, the score, and explanations if there are any.

    Raises:
        BadInput: it is no trace of either game, or one with something missing; :func:`check_traces` says what.
    """
    if not isinstance(trace, dict) or trace.get("game") not in GAME_SEATS:
        raise BadInput(f"trace {str(trace)[:60]!r} is none of {' or '.join(GAME_SEATS)}; accepted: what replay returns")
    if trace["game"] == "elections":
        from simcore.elections.trace import render as draw
    else:
        from simcore.showcase.trace import render as draw
    try:
        text = draw(trace, symbols=symbols, colour=colour)
        return "\n".join([text, *explanation_lines(trace.get("explain", []), colour=colour)])
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        which = str(trace.get("deal"))[:60]
        raise BadInput(
            f"trace of deal {which} is damaged ({type(error).__name__}: {error}); accepted: what replay returns"
        ) from error
