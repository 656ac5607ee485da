"""simcore choose: which contract, which call, which trump."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from cli.options import Choices as Games
from cli.options import (
    OutType,
    check_folder_options,
    cluster_option,
    folder_options,
    format_option,
    nothing_else_goes_with,
    plies_option,
    quiet_option,
    take_plies,
    use_options,
)
from cli.output import interrupted, note, note_if_cold, number, progress_bar, text_table, to_be_replaced, to_json, utf8
from simcore.errors import BadInput

if TYPE_CHECKING:
    from simcore.choosing.result import Choices

#: The table of exact values.
DOUBLE_DUMMY = "double-dummy"

__all__ = ["command"]

_hand_options = (
    click.option("--hand", metavar="PBN", help="The hand, as AKQ.T98.75.65432.  Without it: random hands, on average."),
    click.option("--seat", metavar="SEAT", help="Who holds it."),
)
_sampling_options = (
    click.option("--max-time", metavar="TIME", help="As 60s or 2m; the answer is then not reproducible."),
    click.option("--seed", metavar="INT", help="0 to 2**128 - 1.  Default: drawn from the operating system, and printed."),
    click.option("--threads", type=int, metavar="N", help="Default: all cores.  Changes no answer."),
    cluster_option,
    click.option(
        "--out",
        type=OutType(),
        metavar="DIR|s3://…",
        help="Folder for the worlds (Parquet) and a manifest.",
    ),
    *folder_options,
    click.option(
        "--resume",
        type=OutType(),
        metavar="DIR|s3://…",
        help="Go on with the answer in this folder; the question is taken from there.",
    ),
)
_common_options = (
    click.option("--ruleset", metavar="NAME|FILE.toml", help="A shipped ruleset or your own file.  [default: the game's]"),
    format_option("text", "json", "jsonl"),
    quiet_option,
)
_BAR = 24
_LINE_TRICKS = 4


@click.group("choose", cls=Games)
def command() -> None:
    """Compare the choices of one hand: contracts and calls of Elections, trumps of Showcase.

    The manual, docs/choosing.md, says what the figures mean.
    """


@command.command("elections")
@use_options(*_hand_options)
@click.option("--dealer", metavar="SEAT", help="Needed with --calls, and to ask what to call.")
@click.option("--lot", metavar="PAIR", help="A lot pair, as NS or SW.  [default: any, drawn in each world]")
@click.option("--calls", metavar="CALLS", help="Calls so far, as 'E pass, S clubs'.")
@click.option("--partner", default="any", show_default=True, metavar="SEAT|lot|any", help="Partner in the contracts compared.")
@click.option("--players", default="expert", show_default=True, metavar="SPEC", help="The model: every seat's player.")
@click.option("--player", multiple=True, metavar="SEAT=SPEC", help="The model of one seat; may be repeated.")
@click.option(
    "--objective", default="relative", show_default=True, metavar="relative|margin|win|credit", help="What to compare by."
)
@click.option(
    "--method",
    default="rollout",
    show_default=True,
    metavar="rollout|double-dummy|both",
    help="Play by the model, exact values of the contracts with all hands seen, or both side by side.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, metavar="P", help="That the best is the best.")
@click.option(
    "--max-deals", type=int, metavar="N", help="Most worlds.  [default: 100,000; to solve, 200; hands without --hand, 4,000]"
)
@click.option("--max-solved", type=int, metavar="N", help="With --method both: most worlds to solve.  [default: 200]")
@plies_option("Of exact values: end where a contract in a world takes more cards tried.")
@use_options(*_sampling_options)
@use_options(*_common_options)
def elections(format_: str, quiet: bool, **options: Any) -> int:
    """Compare every contract as declarer and, at this seat's turn, every call; without --hand, contracts over random hands.

    All are judged on the same random worlds that fit the hand and the calls heard.  Sampling stops as soon as the best is separated
    from every other at the confidence asked, or at the limit: then it is said which are tied, and the exit status is 3.
    """
    take_plies(options)
    modules = {True: "four_search", False: "worlds"}
    choices = _sampled("elections", options, quiet, modules[options["method"] != "rollout"])
    if isinstance(choices, int):
        return choices
    return _report(choices, format_, quiet, _elections_text if choices.config["hand"] else _average_text)


def _sampled(game: str, options: dict[str, Any], quiet: bool, module: str) -> Choices | int:
    """Answer from samples, after printing the seed and with progress shown; returns the exit status where it was interrupted."""
    from simcore.choosing.verb import choose, resume_choice
    from simcore.rng import draw_seed, parse_seed

    resume, out, seed = options.pop("resume"), options["out"], options["seed"]
    how: dict[str, Any] = {name: options[name] for name in ("repair", "threads", "cluster")}
    how["note"] = lambda text: note(f"simcore: {text}", quiet)

    def begun() -> None:
        if resume is None:
            note(f"seed {options['seed']}", quiet)
        note_if_cold(quiet, module)

    how["begun"] = begun
    if resume is None:
        check_folder_options(out, overwrite=options["overwrite"], repair=options["repair"])
        options["seed"] = draw_seed() if seed is None else parse_seed(seed)
    else:
        nothing_else_goes_with("resume", "repair", "threads", "cluster", "format_", "quiet")
    replaced = to_be_replaced(out, options["overwrite"])
    try:
        with progress_bar(1, "worlds" if options["hand"] or options.get("view") else "deals", quiet) as progress:
            if resume is not None:
                return resume_choice(resume, game, progress=progress, **how)
            return choose(game, progress=progress, **options | how)
    except KeyboardInterrupt:
        known = resume is not None or seed is not None
        return interrupted(out or resume, *([] if known else ["--seed", str(options["seed"])]), replaced=replaced)


def _report(choices: Choices, format_: str, quiet: bool, text: Callable[[Choices], str]) -> int:
    """Print an answer from samples with its notes; returns the exit status."""
    if not choices.config["reproducible"]:
        note("simcore: not reproducible: --max-time makes the answer depend on the machine", quiet)
    for warning in choices.warnings:
        note(f"simcore: warning: {warning}", quiet)
    _print(choices, format_, text)
    found = [(choices.sampling[what], what) for what in ("worlds", "hands", "deals") if what in choices.sampling]
    count, what = found[0] if found else (1, "exact answer")
    note(f"{count:,} {what} in {choices.seconds:.2f} s on {choices.threads} thread(s)", quiet)
    if choices.solving_seconds:
        solves, seconds = choices.sampling["solves"], choices.solving_seconds
        note(f"{solves:,} solves in {seconds:.1f} s: {solves / seconds:,.1f} solves/s on {choices.threads} thread(s)", quiet)
    return 0 if choices.decided else 3


@command.command("showcase")
@use_options(*_hand_options)
@click.option("--leader", metavar="SEAT", help="Who leads to the second playout (S10).")
@click.option("--show", metavar="SHOWCASES", help="Both showcases, as 'N:AK... S:.QJ..'.")
@click.option("--turned", metavar="CARD", help="The turned card, where it is out of play (S2).")
@click.option("--discards", metavar="CARDS", help="Rules of Magri: the 26 discards, as 'SA HT …' (M6).")
@click.option("--won", metavar="TRICKS", help="Tricks won in the first playout, as 'N:12 S:13': to check the cards (S11).")
@click.option(
    "--view",
    type=click.File("r", encoding="utf-8"),
    metavar="FILE|-",
    help="What one seat sees at its turn: a trace with '-' for what it cannot know.",
)
@click.option("--end", metavar="expert|exact", help="With --view: who plays the second playout.  [default: expert]")
@click.option("--objective", metavar="points|win", help="With --view: what to compare by.  [default: points]")
@click.option("--players", metavar="SPEC", help="Without --hand: who plays on; the first playout.  [default: expert]")
@click.option("--player", multiple=True, metavar="SEAT=SPEC", help="Player of one seat; may be repeated.")
@click.option("--confidence", type=float, metavar="P", help="That the best is the best.  [default: 0.95]")
@click.option("--max-deals", type=int, metavar="N", help="Most deals.  [default: 4,000; worlds of a view, 10,000]")
@use_options(*_sampling_options)
@use_options(*_common_options)
def showcase(format_: str, quiet: bool, **options: Any) -> int:
    """Compare the six trumps for the seat that names (S9), any seat's choices at its turn, or trumps on average over deals.

    With a hand both holdings follow from what is seen: the own hand, the showcases, the turned card or the discards.  Values are
    exact.  With --view, every legal card of the first playout is tried in the same random worlds that fit what the seat has seen;
    from the naming on values are exact.  With neither, the players play the first playout, and trumps, naming and the lead of the
    13th trick are valued exactly after it.
    """
    if options["hand"]:
        from simcore.choosing.verb import choose

        if options.pop("resume") is not None:
            raise BadInput("--resume does not go with --hand of showcase: its answer is exact, and at once")
        note_if_cold(quiet, "two_kernel")
        _print(choose("showcase", **options), format_, _showcase_text)
        return 0
    viewed = options["view"] is not None
    if viewed:
        options["view"] = _read_view(options["view"])
    choices = _sampled("showcase", options, quiet, "" if viewed else "two_kernel")
    if isinstance(choices, int):
        return choices
    return _report(choices, format_, quiet, _view_text if choices.config["about"] == "view" else _average_text)


def _read_view(file: Any) -> str:
    """Return the text of a view.

    Raises:
        BadInput: it cannot be read.
    """
    from simcore.errors import BadInput

    try:
        return str(file.read())
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"view {file.name!r} cannot be read: {error}") from None


def _print(choices: Choices, format_: str, text: Callable[[Choices], str]) -> None:
    if format_ == "json":
        click.echo(to_json(choices.data()))
    elif format_ == "jsonl":
        for row in choices.rows:
            click.echo(to_json(row, lines=True))
    else:
        click.echo(text(choices))


def _elections_text(choices: Choices) -> str:
    """Return the tables for people."""
    config, sampling = choices.config, choices.sampling
    specs = sorted(set(config["players"].values()))
    who = specs[0] if len(specs) == 1 else ", ".join(f"{seat} {spec}" for seat, spec in config["players"].items())
    lines = [
        f"elections, ruleset {config['ruleset']}: {config['seat']} holds {config['hand']}, players {who}",
        f"seed {config['seed']}" + ("" if config["reproducible"] else " (not reproducible: limited by time)"),
        f"{sampling['worlds']:,} worlds, every choice on the same ones",
    ]
    if "solved_worlds" in sampling:
        lines.append(f"{sampling['solved_worlds']:,} of them solved exactly, all hands seen ({sampling['solves']:,} solves)")
    if config["calls"]:
        heard = ", ".join(" ".join(call) for call in config["calls"])
        slips, share = sampling["slips"], f"{100 * sampling['acceptance']:.3g} % of {sampling['tested']:,} deals"
        fit = f"{share} fit them"
        if slips and "pilot_deals" in sampling:
            plain = sampling["pilot_fit_without_slips"]
            fit = f"{plain or 'none'} of {sampling['pilot_deals']:,} pilot deals fit{'' if plain > 1 else 's'} them; "
            fit += f"with up to {slips} slip{'s' if slips > 1 else ''} {share} do"
        lines.append(f"calls heard: {heard}; {fit}, effective sample size {sampling['effective_worlds']:,}")
    lines += [*choices.notes, *(f"warning: {text}" for text in choices.warnings)]
    for table in choices.tables:
        lines += ["", *_table_lines(choices, [row for row in choices.rows if row["table"] == table])]
    if choices.comparison:
        lines += ["", *_comparison_lines(choices)]
    return "\n".join([*lines, "", "* best, = cannot be told from it.  Intervals hold at every look, each for its own row."])


def _table_lines(choices: Choices, rows: list[dict[str, Any]]) -> list[str]:
    """Return one table with its verdict."""
    config = choices.config
    objective, confidence = config["objective"], f"{100 * config['confidence']:g} %"
    if rows[0]["table"] == "call":
        title = f"Calls of {config['seat']} now"
    else:
        partner = {"any": "any partner", "lot": "the lot partner"}.get(config["partner"], f"partner {config['partner']}")
        exact = "Double dummy: contracts" if rows[0]["table"] == DOUBLE_DUMMY else "Contracts"
        title = f"{exact}, {config['seat']} declarer, {partner}"
    percent = objective == "win"

    def figure(value: float) -> str:
        return number(value, 2, sign=not percent, percent=percent)

    bars = _bars([row["mean"] for row in rows])
    others = [column for column in ("relative", "margin", "win", "credit") if column != objective]
    dots = "…" if utf8() else ".."
    heads = {"relative": "relative", "margin": "margin", "win": "win %", "credit": "credit"}
    body = [
        [
            "*" if row["best"] else ("=" if row["tied"] else " "),
            row["choice"],
            figure(row["mean"]),
            f"{figure(row['low'])} {dots} {figure(row['high'])}",
            bar,
            *(number(row[column], 1, sign=column != "win", percent=column == "win") for column in others),
            f"{row['deals']:,}",
        ]
        for row, bar in zip(rows, bars, strict=True)
    ]
    header = ["", "choice", heads[objective], f"{confidence} interval", "", *(heads[column] for column in others), "worlds"]
    what = "relative credit" if objective == "relative" else objective
    return [f"{title}: by {what}", text_table(header, body, left=2), _verdict(rows)]


def _comparison_lines(choices: Choices) -> list[str]:
    """Return rollouts and exact values side by side, and whether they agree."""
    from simcore.choosing.result import comparison_verdict

    data, objective = choices.comparison, choices.config["objective"]
    percent, pm = objective == "win", "±" if utf8() else "+-"

    def figure(value: float | None) -> str:
        return number(value, 2, sign=not percent, percent=percent)

    def margin(value: float | None, stderr: float | None) -> str:
        return number(value, 2, sign=True) + ("" if stderr is None else f" {pm} {stderr:.2f}")

    body = []
    for row in data["rows"]:
        bias = row["random_deals"]
        body.append(
            [
                row["choice"],
                figure(row["rollout"]),
                figure(row["double_dummy"]),
                f"{row['worlds']:,}",
                margin(row["flattered"], row["flattered_stderr"]),
                margin(bias["bias_best_hand"], bias["bias_best_hand_stderr"]) if bias else "not measured",
                f"{bias['deals']:,}" if bias else "",
            ]
        )
    header = ["choice", "rollout", "exact", "worlds", "flattered", "on random deals", "deals"]
    players = ", ".join(data["players"])
    return [
        f"Rollouts by {players} beside double dummy, by {'relative credit' if objective == 'relative' else objective}",
        text_table(header, body),
        comparison_verdict(data),
        f"flattered: exact margin less the margin played, {pm} standard error, on these worlds; on random deals: for the declarer",
        "with the best hand for the contract, experts at the table (docs/choosing.md)",
    ]


def _verdict(rows: list[dict[str, Any]]) -> str:
    """Say what follows from a table."""
    best, tied = rows[0], [row for row in rows if row["tied"]]
    confidence = f"{100 * best['confidence']:g} %"
    if not tied:
        beaten = f"better than every other, {confidence} sure" if len(rows) > 1 else "there is no other choice"
        return f"best: {best['choice']}, {beaten}"
    within = max(max(abs(row["behind_low"]), abs(row["behind_high"])) for row in tied)
    unit = f"{100 * within:.1f} percentage points" if best["objective"] in ("win", "best") else f"{within:.2f} points"
    names = ", ".join(row["choice"] for row in [best, *tied])
    return f"tied: {names}; {best['choice']} leads, the others are within {unit} of it ({confidence})"


def _bars(means: Sequence[float]) -> list[str]:
    """Return a bar for each mean, from a common zero, as text of one width."""
    full, axis = ("█", "│") if utf8() else ("#", "|")
    low, high = min(0.0, *means), max(0.0, *means)
    scale = _BAR / ((high - low) or 1.0)
    zero = round(-low * scale)
    bars = []
    for mean in means:
        length = round(abs(mean) * scale)
        left = (full * min(length, zero)).rjust(zero) if mean < 0 else " " * zero
        right = (full * min(length, _BAR - zero)).ljust(_BAR - zero) if mean > 0 else " " * (_BAR - zero)
        bars.append(left + axis + right)
    return bars


def _average_text(choices: Choices) -> str:
    """Return the tables of an average for people."""
    config, sampling = choices.config, choices.sampling
    specs = sorted(set(config["players"].values()))
    who = specs[0] if len(specs) == 1 else ", ".join(f"{seat} {spec}" for seat, spec in config["players"].items())
    lines = [
        f"{config['game']}, ruleset {config['ruleset']}: on average, players {who}",
        f"seed {config['seed']}" + ("" if config["reproducible"] else " (not reproducible: limited by time)"),
    ]
    parts = _average_elections if config["game"] == "elections" else _average_showcase
    lines += parts(choices, sampling)
    return "\n".join([*lines, "", "* best, = cannot be told from it.  Intervals hold at every look; ± is one standard error."])


def _with_error(value: float | None, stderr: float | None, *, sign: bool = True, percent: bool = False) -> str:
    pm = "±" if utf8() else "+-"
    text = number(value, 1 if percent else 2, sign=sign, percent=percent)
    return text if stderr is None else f"{text} {pm} {(100 if percent else 1) * stderr:.{1 if percent else 2}f}"


def _share_cells(row: dict[str, Any], bar: str) -> list[str]:
    """Return the cells that every table of "how often the best" begins with."""
    dots = "…" if utf8() else ".."
    mark = "*" if row["best"] else ("=" if row["tied"] else " ")
    return [mark, row["choice"], f"{100 * row['mean']:.1f}", f"{100 * row['low']:.1f} {dots} {100 * row['high']:.1f}", bar]


def _average_elections(choices: Choices, sampling: dict[str, Any]) -> list[str]:
    """Return the two tables of Elections."""
    first = [row for row in choices.rows if row["table"] == "best-for-a-hand"]
    second = [row for row in choices.rows if row["table"] == "position"]
    objective = choices.config["objective"]
    percent, what = objective == "win", "relative credit" if objective == "relative" else objective
    body = [
        [
            *_share_cells(row, bar),
            _with_error(row["worth_then"], row["worth_then_stderr"], percent=percent, sign=not percent),
            _with_error(row["worth_by_chance"], row["worth_by_chance_stderr"], percent=percent, sign=not percent),
        ]
        for row, bar in zip(first, _bars([row["mean"] for row in first]), strict=True)
    ]
    confidence = f"{100 * first[0]['confidence']:g} %"
    worth = _with_error(sampling["worth_of_choosing"], sampling["worth_of_choosing_stderr"], percent=percent, sign=not percent)
    looked = sampling["worlds_a_hand"]
    lines = [
        f"{sampling['hands']:,} random hands, each the declarer's, {looked['all']} worlds a hand and {looked['close']} more for "
        "contracts close to the best",
        "",
        f"How often each contract is a hand's best, in %, and what it is worth: {what}",
        text_table(["", "contract", "best %", f"{confidence} interval", "", "worth then", "worth by chance"], body, left=2),
        _verdict(first),
        f"a hand's best contract is worth {worth} on average; two are too close to call for {100 * sampling['close']:.0f} %",
        "",
        "What the places are worth: margins",
    ]
    names = ("left", "opposite", "right")
    body = [
        [
            row["choice"],
            _with_error(row["mean"], row["stderr"]),
            *(_with_error(row[f"partner_{name}"], row[f"partner_{name}_stderr"]) for name in names),
        ]
        for row in second
    ]
    header = ["contract", "leader's side", *(f"partner {name}" for name in names)]
    legend = "leader's side: its margin; then the attackers', by where the declarer's partner sits"
    return [*lines, text_table(header, body), legend, *_points_lines(choices)]


def _points_lines(choices: Choices) -> list[str]:
    """Return what makes a hand good, to be added up in one's head."""
    if not choices.hand_points:
        return []
    lines = ["", "What makes a hand good: points to add up for the margin to expect as declarer, experts at the table"]
    for row in choices.hand_points:
        share = f"R{'²' if utf8() else '2'} {row['r2_hand']:.2f} of what hands are worth"
        lines.append(f"{row['choice']}: start from {row['base']:+g}   ({share})")
        lines += [f"  {value:>+5.1f}  {what}" for what, value in row["add"]]
    return lines


def _average_showcase(choices: Choices, sampling: dict[str, Any]) -> list[str]:
    """Return the two tables of Showcase."""
    first = [row for row in choices.rows if row["table"] == "best-trump"]
    second = [row for row in choices.rows if row["table"] == "worth"]
    body = [
        [
            *_share_cells(row, bar),
            f"{100 * row['alone']:.1f}",
            _with_error(row["tricks"], row["tricks_stderr"], sign=False),
            f"{100 * row['win']:.1f}",
        ]
        for row, bar in zip(first, _bars([row["mean"] for row in first]), strict=True)
    ]
    confidence = f"{100 * first[0]['confidence']:g} %"
    dots = "…" if utf8() else ".."
    lines = [
        f"{sampling['deals']:,} deals, the second playout exact",
        "",
        "How often each trump is the namer's best, ties shared, and what it brings him",
        text_table(["", "trump", "best %", f"{confidence} interval", "", "alone %", "tricks", "wins %"], body, left=2),
        _verdict(first),
        "",
        "What naming (S9) and the lead of trick 13 (S10) are worth",
    ]
    rows = []
    for row in second:
        percent = row["objective"] == "win"
        scale, digits, sign = (100, 1, "+") if percent else (1, 2, "+" if row["choice"] != "namer" else "")
        value = _with_error(row["mean"], row["stderr"], percent=percent, sign=row["choice"] != "namer")
        interval = f"{scale * row['low']:{sign}.{digits}f} {dots} {scale * row['high']:{sign}.{digits}f}"
        rows.append([row["what"], value + (" %" if percent else ""), interval, f"{row['deals']:,}"])
    return [*lines, text_table(["", "worth", f"{confidence} interval", "deals"], rows)]


def _view_text(choices: Choices) -> str:
    """Return the table of one seat's choices for people."""
    config, rows, dots = choices.config, choices.rows, "…" if utf8() else ".."
    percent, exact = config["objective"] == "win", config["method"] == "exact"
    what = {"first": "plays to the first playout", "trump": "names the trump", "second": "plays to the second playout"}
    lines = [
        f"showcase, ruleset {config['ruleset']}: {config['seat']} {what[config['decision']]}, holding {config['hand']}",
        "exact values"
        if exact
        else f"{choices.sampling['worlds']:,} worlds, seed {config['seed']}"
        + ("" if config["reproducible"] else " (not reproducible: limited by time)")
        + f"; played out by {config['players']['N']}, the second playout by {config['end']}",
    ]
    bars = _bars([row["mean"] - min(row["mean"] for row in rows) for row in rows])
    body = []
    for row, bar in zip(rows, bars, strict=True):
        low, high = (number(row[end], 1 if percent else 2, percent=percent) for end in ("low", "high"))
        body.append(
            [
                "*" if row["best"] else ("=" if row["tied"] else " "),
                row["choice"] + (f" (as {row['equal_to']})" if row.get("equal_to") else ""),
                number(row["mean"], 1 if percent else 2, percent=percent),
                "exact" if exact else f"{low} {dots} {high}",
                bar,
                number(row["tricks"] if percent else row["win"], 2 if percent else 1, percent=not percent),
                row.get("from", ""),
                f"{row['deals']:,}",
            ]
        )
    heads = ("win %", "tricks") if percent else ("tricks", "win %")
    confidence = f"{100 * config['confidence']:g} % interval"
    header = ["", rows[0]["table"], heads[0], "" if exact else confidence, "", heads[1], "from", "worlds"]
    legend = (
        "* best, = as good.  Tricks of the second playout."
        if exact
        else ("* best, = cannot be told from it.  Tricks of the second playout; bars show what is gained over the worst choice.")
    )
    verdict = [] if exact else [_verdict([row for row in rows if not row.get("equal_to")])]
    return "\n".join([*lines, "", text_table(header, body, left=2), *verdict, "", legend])


def _showcase_text(choices: Choices) -> str:
    """Return the table of trumps for people."""
    data, rows = choices.config, choices.rows
    bars = _bars([row["mean"] for row in rows])
    lines = [f"showcase, ruleset {data['ruleset']}: {data['seat']} names the trump, {data['leader']} leads"]
    lines += [f"{seat} {holding}" for seat, holding in data["holdings"].items()]
    body = [
        [
            "*" if row["best"] else ("=" if row["tied"] else " "),
            row["choice"],
            f"{row['mean']:.0f} : {13 - row['mean']:.0f}",
            bar,
            "  ".join("-".join(trick) for trick in row["line"][:_LINE_TRICKS]),
        ]
        for row, bar in zip(rows, bars, strict=True)
    ]
    header = ["", "trump", "tricks", "", f"first {_LINE_TRICKS} tricks of best play"]
    legend = "* best, = as good.  Tricks of the namer and of the other, exact."
    return "\n".join([*lines, "", text_table(header, body, left=2), "", legend])
