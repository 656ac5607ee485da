"""The line that makes a result again, out of its manifest."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from simcore import __version__
from simcore.reports.blocks import Block, Command, Facts, Fold, Note, Section
from simcore.rules import SHIPPED, load_ruleset
from simcore.solvers import MOST_PLIES

__all__ = ["command_line", "reproduction"]

#: Words of the command of each kind of result.
_COMMANDS = {"simulate": "simulate", "choose": "choose", "balance": "rulesets balance"}
#: Options by kind: key of the config → option; a value of None leaves it out.
_OPTIONS: dict[str, dict[str, str]] = {
    "simulate": {
        "deals": "--deals",
        "seed": "--seed",
        "first": "--first",
        "contract": "--contract",
        "pairs": "--pairs",
        "declarer": "--declarer",
        "trump": "--trump",
        "dealer": "--dealer",
        "known": "--known",
        "where": "--where",
        "rounds": "--rounds",
        "hands": "--hands",
    },
    "choose": {
        "hand": "--hand",
        "seat": "--seat",
        "dealer": "--dealer",
        "lot": "--lot",
        "calls": "--calls",
        "partner": "--partner",
        "leader": "--leader",
        "objective": "--objective",
        "confidence": "--confidence",
        "method": "--method",
        "max_deals": "--max-deals",
        "max_solved": "--max-solved",
        "max_plies": "--max-plies",
        "max_time": "--max-time",
        "seed": "--seed",
    },
    "balance": {"deals": "--deals", "traced": "--traced", "seed": "--seed", "confidence": "--confidence"},
}
#: What an option is without being given, and what is no option's value; others are written out.
_LEFT_OUT: dict[str, tuple[Any, ...]] = {
    "first": (0,),
    "rounds": (False,),
    "hands": (False,),
    "partner": ("any",),
    "objective": ("relative",),
    "method": ("rollout", "exact after rollout"),
    "confidence": (0.95,),
    "max_plies": (MOST_PLIES,),
}


def ruleset_option(name: str, digest: str, game: str) -> tuple[str | None, str | None]:
    """Return the value of --ruleset (None: the game's own) and the file it has to be kept in (None: it is shipped)."""
    for shipped in SHIPPED:
        if shipped == name and load_ruleset(shipped).hash == digest:
            return (None if shipped == game else shipped), None
    file = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name) + ".toml"
    return file, file


def _against(config: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the value of --against, and the file it has to be kept in."""
    value, file = ruleset_option(config["against"], config["against_hash"], "")
    if file is not None and file == ruleset_option(config["ruleset"], config["ruleset_hash"], "")[1]:
        value = file = file.removesuffix(".toml") + "-against.toml"  # both have the same name
    return str(value), file


def command_line(kind: str, config: Mapping[str, Any], out: str = "again") -> list[str]:
    """Return the words of the command that makes a result with this config in the folder ``out``."""
    game = config["game"]
    words = ["simcore", *_COMMANDS[kind].split(), game]
    for key, option in _OPTIONS[kind].items():
        value = config.get(key)
        if value is None or value in _LEFT_OUT.get(key, ()):
            continue
        if key == "calls":
            if value:
                words += [option, ", ".join(" ".join(call) for call in value)]
        elif value is True:
            words.append(option)
        else:
            words += [option, f"{value:g}s" if key == "max_time" else str(value)]
    ruleset, _ = ruleset_option(config["ruleset"], config["ruleset_hash"], game)
    if ruleset is not None:
        words += ["--ruleset", ruleset]
    if config.get("against") is not None:
        words += ["--against", _against(config)[0]]
    players = config.get("players") or {}
    specs = list(dict.fromkeys(players.values()))
    if len(specs) == 1:
        words += ["--players", specs[0]]
    else:
        for seat, spec in players.items():
            words += ["--player", f"{seat}={spec}"]
    if config.get("given_deals") is not None:
        words += ["--file", "deals.pbn"]
    return [*words, "--out", out]


def reproduction(
    kind: str, config: Mapping[str, Any], ruleset_text: str, extra: Mapping[str, str] | None = None, line: str | None = None
) -> Section:
    """Return the section that says how to make the result again: the line, what it needs, versions, the ruleset.

    Args:
        line: the command, where the result knows it itself.
    """
    line = shlex.join(command_line(kind, config)) if line is None else line
    again = "The same options and seed give the same bytes:"
    if config.get("reproducible") is False:
        again = "The same options and seed ask the same, but need not give the same bytes:"
    blocks: list[Block] = [Command(line, again)]
    files = {config["ruleset"]: ruleset_option(config["ruleset"], config["ruleset_hash"], config["game"])[1]}
    if config.get("against") is not None:
        files[f"{config['against']}, set against it,"] = _against(config)[1]
    for name, file in files.items():
        if file is not None:
            blocks.append(Note(f"The ruleset {name} is not shipped with simcore {__version__}: keep its text below as {file}."))
    if config.get("given_deals") is not None:
        blocks.append(Note(f"The deals came from a file; the SHA-256 of their cards is {config['given_deals']}."))
    for player, digest in (config.get("player_files") or {}).items():
        blocks.append(Note(f"Player {player} comes from a file with the SHA-256 {digest}."))
    if config.get("reproducible") is False:
        blocks.append(Note("A time limit was set: how far it came depends on the machine, so another run may differ.", "warning"))
    facts = [("simcore", str(config["simcore"]))]
    if "seed" in config:
        facts.append(("seed", str(config["seed"])))
    facts += [("random streams", f"version {config['stream_version']}")] if "stream_version" in config else []
    facts += [("ruleset", str(config["ruleset"])), ("its SHA-256", str(config["ruleset_hash"])[:16] + " …")]
    facts += list((extra or {}).items())
    blocks += [Facts(facts), Fold("The ruleset, whole", [Command(ruleset_text)])]
    return Section("How to get this again", blocks)
