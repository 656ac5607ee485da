"""Measure everything and write the report: ``python -m benchmarks.report [--quick] [--out DIR]`` (``make bench``).

report.json holds all that was measured, with machine, versions and commit; report.md the table of what must be reached; the plots
are drawn from the JSON alone (``--plots`` draws them again).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import stages
from benchmarks.measure import ROOT
from benchmarks.peers import peers
from simcore import __version__
from simcore._jit import FAST_PDEP, cpu_name
from simcore.players import PLAYERS_KNOWN

__all__ = ["load", "main", "markdown", "targets"]

MB = 1_000_000


def _first_line(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def _model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor())


def _facts() -> dict[str, Any]:
    """Return what the figures depend on."""
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": _first_line("git", "rev-parse", "HEAD"),
        "cpu": f"{_model()} ({cpu_name()})",
        "cores": os.cpu_count(),
        "fast_pdep": FAST_PDEP,
        "load_at_start": os.getloadavg()[0],
        "system": platform.platform(),
        "compiler": _first_line(os.environ.get("CC", "gcc"), "--version"),
        "versions": {"simcore": __version__, "python": platform.python_version()}
        | {name: version(name) for name in ("numba", "llvmlite", "numpy", "pyarrow", "click")},
    }


def measure(quick: bool, largest: int) -> dict[str, Any]:
    """Measure everything; with ``quick`` on a tenth of the deals and three turns each; the longest run is of ``largest`` deals."""
    times = 3 if quick else 5
    deals = 50_000 if quick else 500_000

    def say(text: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)

    data: dict[str, Any] = {"facts": _facts(), "quick": quick}
    say("kernels against C")
    data["c"] = {game: stages.against_c(game, deals // (1 if game == "elections" else 3), times) for game in stages.CARDS}
    say("peers")
    found, data["missing"] = peers(quick)
    data["peers"] = stages.against_peers(found, deals // 2, times)
    say("players")
    names = [name for name in ("greedy", "expert") if name in PLAYERS_KNOWN]
    data["players"] = stages.players(names, deals // 10, times)
    say("threads")
    data["threads"] = {game: stages.threads(game, deals // (1 if game == "elections" else 3), times) for game in stages.CARDS}
    say("writer")
    # fixed costs of a run (folder, manifest, fsync) are no costs of a row: a million rows at least, and parts for both writers
    data["writer"] = stages.writer(1 << (20 if quick else 23), times)
    data["stages"] = stages.where_time_goes(deals, times)
    say("start-up")
    data["startup"] = stages.startup(times)
    say("growth")
    data["growth"] = stages.growth(largest)
    say("memory")
    data["memory"] = stages.memory(largest)
    say("done")
    return data


def _best_peer(data: dict[str, Any], word: str, end: str, key: str) -> float | None:
    """Return the smallest ratio against the peers whose name has a word and ends so, None if there is none."""
    ratios = [row[key] for row in data["peers"] if word in row["name"] and row["name"].endswith(end)]
    return min(ratios) if ratios else None


def targets(data: dict[str, Any]) -> list[tuple[str, float | None, str, float, str]]:
    """Return what must be reached: (what, measured or None, "at least" or "at most", limit, unit)."""
    c, memory, start = data["c"], data["memory"], data["startup"]
    small, large = (memory[key] for key in sorted(memory, key=int)) if len(memory) == 2 else (None, None)
    more = None if small is None else (large - small) / MB
    return [
        ("random Elections deals against C", c["elections"].get("ratio"), "at least", 0.9, "×"),
        ("random Showcase deals against C", c["showcase"].get("ratio"), "at least", 0.9, "×"),
        ("OpenSpiel bridge, C++ playouts, per card", _best_peer(data, "bridge", "C++", "ratio_per_card"), "at least", 15, "×"),
        (
            "OpenSpiel's Python loop, bridge, per deal",
            _best_peer(data, "bridge", ", Python", "ratio_per_deal"),
            "at least",
            400,
            "×",
        ),
        ("colver's compiled playouts, per card", _best_peer(data, "colver", "", "ratio_per_card"), "at least", 3.5, "×"),
        ("uniform deals, against dealer", _best_peer(data, "dealer", "", "ratio_per_deal"), "at least", 6, "×"),
        ("player expert against random", data["players"].get("expert"), "at least", 0.15, "×"),
        *(
            (f"two threads against one, kernels only, {game}{how}", data["threads"][game][key], "at least", 1.85, "×")
            for game in data["threads"]
            for how, key in ((", by the clock", "ratio"), (", by core time", "ratio_by_core_time"))
        ),
        ("Parquet writer, core time a row", data["writer"]["microseconds_per_row"], "at most", 0.35, "µs"),
        ("Parquet, a row without hands", data["writer"]["bytes_per_row"], "at most", 8, "bytes"),
        ("Parquet on two threads against kernels only", data["writer"]["two_threads_parquet_to_kernels"], "at least", 0.5, "×"),
        ("memory of the largest run, above 1e6 deals", more, "at most", 50, "MB"),
        ("memory of the largest run", None if large is None else large / MB, "at most", 500, "MB"),
        ("simcore --help against a bare click program", start["help"] / start["bare click"], "at most", 2, "×"),
        (
            "1,000 deals, warm, above importing numba and pyarrow",
            start["simulate, warm"] - start["import numba, pyarrow"],
            "at most",
            1,
            "s",
        ),
        ("1,000 deals, cold cache", start["simulate, cold"], "at most", 25, "s"),
    ]


def markdown(data: dict[str, Any]) -> str:
    """Return the report as Markdown."""
    facts = data["facts"]
    lines = [
        "# Benchmark report",
        "",
        f"{facts['date']}, commit {facts['commit'][:12]}, {facts['cpu']}, {facts['cores']} cores, "
        f"load {facts['load_at_start']:.1f} at the start.",
        ", ".join(f"{name} {number}" for name, number in facts["versions"].items()) + f"; {facts['compiler']}.",
        "Ratios are of medians of runs by turns, in CPU time; what runs on two threads, by the clock, which other load",
        "spoils." + (" A quick run: rough." if data["quick"] else ""),
        "",
        "| what | measured | wanted | |",
        "|---|---|---|---|",
    ]
    for what, value, sense, limit, unit in targets(data):
        shown, verdict = "not measured", ""
        if value is not None:
            shown = f"{value:.3g} {unit}"
            verdict = "reached" if (value >= limit if sense == "at least" else value <= limit) else "**missed**"
        lines.append(f"| {what} | {shown} | {sense} {limit:g} {unit} | {verdict} |")
    lines += [
        "",
        "| player of cards | version | what | million cards/s | simcore, by turns | ratio a card | ratio a deal |",
        "|---|---|---|---|---|---|---|",
    ]
    for game, row in data["c"].items():
        if "ratio" in row:
            rate = row["cards_per_second"]
            equal = "equal tallies" if row["equal_tallies"] else "DIFFERENT TALLIES"
            lines.append(
                f"| C, {game} | | same deals, {equal} | {rate['c'] / 1e6:.1f} | {rate['simcore'] / 1e6:.1f} "
                f"| {row['ratio']:.2f} | {row['ratio']:.2f} |"
            )
    for row in data["peers"]:
        cards = row.get("cards_per_second")
        if cards:
            lines.append(
                f"| {row['name']} | {row['version']} | {row['what']} | {cards['peer'] / 1e6:.3g} | {cards['simcore'] / 1e6:.1f} "
                f"| {row['ratio_per_card']:,.1f} | {row['ratio_per_deal']:,.1f} |"
            )
        else:
            rate = row["deals_per_second"]
            lines.append(
                f"| {row['name']} | {row['version']} | {row['what']} | {rate['peer'] / 1e6:.3g} million deals/s "
                f"| {rate['simcore'] / 1e6:.2f} million deals/s | | {row['ratio_per_deal']:,.1f} |"
            )
    lines += [f"| {name} | | | not there: {why} | | | |" for name, why in data["missing"].items()]
    lines += ["", "| stage of a run, forced contracts by lot, to Parquet | ns of core time a deal |", "|---|---|"]
    lines += [f"| {stage} | {value:.0f} |" for stage, value in data["stages"].items()]
    lines += [
        "",
        "Players against `random`: " + ", ".join(f"{name} {ratio:.2f} ×" for name, ratio in data["players"].items()) + ".",
    ]
    lines += ["", *(f"![{name}]({name}.svg)" for name in ("peers", "growth", "threads", "stages")), ""]
    return "\n".join(lines)


def plots(data: dict[str, Any], out: Path) -> None:
    """Draw the four plots as SVG."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "simcore"
    import matplotlib.pyplot as plt

    def save(figure: Any, name: str) -> None:
        figure.tight_layout()
        figure.savefig(out / f"{name}.svg", metadata={"Date": None})
        plt.close(figure)

    bars = [(f"C, {game}", row["cards_per_second"]["c"]) for game, row in data["c"].items() if "ratio" in row]
    bars += [(f"simcore, {game}", row["cards_per_second"]["simcore"]) for game, row in data["c"].items() if "ratio" in row]
    bars += [(row["name"], row["cards_per_second"]["peer"]) for row in data["peers"] if "cards_per_second" in row]
    bars.sort(key=lambda bar: bar[1])
    figure, axes = plt.subplots(figsize=(8, 0.4 * len(bars) + 1.2))
    colours = ["tab:orange" if name.startswith("simcore") else "tab:grey" for name, _ in bars]
    drawn = axes.barh([name for name, _ in bars], [rate for _, rate in bars], color=colours)
    axes.bar_label(drawn, [f"{rate / 1e6:.3g} M" for _, rate in bars], padding=3)
    axes.set_xscale("log")
    axes.set_xlim(right=6 * bars[-1][1])
    axes.set_xlabel("cards played a second, one thread (logarithmic)")
    axes.set_title("Random play against other programs")
    save(figure, "peers")

    counts, seconds = zip(*data["growth"], strict=True)
    figure, axes = plt.subplots(figsize=(8, 4.5))
    axes.loglog(counts, seconds, "o-", color="tab:orange", label="simcore simulate elections, contracts by lot, tallies only")
    axes.loglog(counts, [seconds[-1] * n / counts[-1] for n in counts], ":", color="tab:grey", label="in proportion to the deals")
    axes.set_xlabel("deals")
    axes.set_ylabel("seconds, all cores, warm kernels")
    axes.set_title("Time against number of deals")
    axes.grid(alpha=0.3)
    axes.legend()
    save(figure, "growth")

    figure, axes = plt.subplots(figsize=(6, 4.5))
    for game, colour in (("elections", "tab:orange"), ("showcase", "tab:blue")):
        rate = data["threads"][game]["deals_per_second"]
        axes.plot(
            [1, 2], [1, rate["2"] / rate["1"]], "o-", color=colour, label=f"{game}: {rate['1'] / 1e6:.2f} million deals/s on one"
        )
    axes.plot([1, 2], [1, 2], ":", color="tab:grey", label="twice")
    axes.set_xticks([1, 2])
    axes.set_ylim(0, 2.2)
    axes.set_xlabel("threads")
    axes.set_ylabel("throughput against one thread")
    axes.set_title(f"Kernels on threads (load of the machine {data['threads']['elections']['load']:.1f})")
    axes.legend(loc="lower right")
    save(figure, "threads")

    figure, axes = plt.subplots(figsize=(8, 3.4))
    left = 0.0
    for stage, value in data["stages"].items():
        width = max(value, 0.0)
        axes.barh(["a deal"], [width], left=left, label=f"{stage}: {value:.0f} ns")
        left += width
    axes.set_xlabel("nanoseconds of core time")
    axes.set_title("Where the time of a deal goes, from shuffle to Parquet")
    axes.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.5))
    save(figure, "stages")


def load(folder: Path) -> dict[str, Any]:
    """Read a report's data."""
    data: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return data


def main() -> None:
    """Run the benchmark or draw the plots of a finished one again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work: rough figures in about a minute")
    parser.add_argument(
        "--largest", type=int, default=None, metavar="N", help="deals of the longest run (100000000; quick 1000000)"
    )
    parser.add_argument("--plots", action="store_true", help="measure nothing: report and plots again from report.json")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "report", help="folder of the report")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    stored = options.out / "report.json"
    if not options.plots:
        stored.write_text(
            json.dumps(measure(options.quick, options.largest or (10**6 if options.quick else 10**8)), indent=1) + "\n"
        )
    data = load(options.out)
    (options.out / "report.md").write_text(markdown(data))
    plots(data, options.out)


if __name__ == "__main__":
    main()
