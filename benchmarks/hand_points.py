"""What makes a hand good in each contract: models of a hand's margin, and points to add up in one's head.

    python -m benchmarks.hand_points                       # all shipped contracts; writes simcore/hand_points.json
    python -m benchmarks.hand_points --ruleset my.toml     # your own: prints only

Experts play every contract of random deals; target is the attackers' margin, features are those of the declarer's hand.  Two models
are fitted by least squares (a little ridge, for sums of cards and lengths overlap):

* *full*: a number a card and a number a suit length, for each class of suits that the contract does not tell apart;
* *points*: at most ``MOST`` features chosen forward out of simple ones (an ace, a card of a suit, a void …), rounded to a tenth.

R² is cross-validated in five folds of deals; the features of *points* are chosen anew in each.  A single deal's margin depends on
39 cards that nobody has seen, so ``r2_deal`` is small for any model; ``r2_hand`` is the share of the variance of hands' *expected*
margins, from fresh hands asked in many worlds each, the noise of those means taken out.  Calibration: held-out deals in ten groups
by the points predicted.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import simcore
from simcore.cards import RANKS, SUIT_NAMES
from simcore.choosing.elections import Worlds
from simcore.choosing.question import ElectionsQuestion
from simcore.elections.worlds import RESULTS
from simcore.rules import SHIPPED, Contract, Ruleset, load_ruleset
from simcore.worth import TABLE, HandModel, suit_classes

SEED = 20261201
FOLDS = 5
#: Points: most features, and how much of the full model's R² another one must add.
MOST, LEAST_GAIN = 8, 0.01
RIDGE = 20.0
Floats = np.ndarray[Any, np.dtype[np.float64]]
_RANK_WORDS = {"T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}


@dataclass(frozen=True)
class Play:
    """Declarers' hands, their cards as 0 and 1 [deals, 4, 13], and the attackers' margin in each contract."""

    hands: np.ndarray
    held: np.ndarray
    margins: np.ndarray


def play(rules: Ruleset, deals: int) -> Play:
    """Let experts play every contract of random deals."""
    options = {"seed": SEED, "deals": deals, "contract": "all", "players": "expert", "hands": True}
    table = simcore.simulate("elections", ruleset=rules, **options).table()
    count = len(rules.contracts)
    seats = np.array(["NESW".index(seat) for seat in table["declarer"].combine_chunks().dictionary.to_pylist()])
    declarers = seats[table["declarer"].combine_chunks().indices.to_numpy()][::count]
    dealt = np.stack([table[f"hand_{seat}"].to_numpy()[::count] for seat in "nesw"], 1)
    points = [table[f"points_{side}"].to_numpy().astype(np.int64) for side in ("attackers", "defenders")]
    hands = dealt[np.arange(deals), declarers]
    return Play(hands, held_cards(hands), (points[0] - points[1]).reshape(deals, count))


def held_cards(hands: np.ndarray) -> np.ndarray:
    """Return the cards of hands as 0 and 1, int8[n, 4, 13]."""
    lanes = hands[:, None] >> (16 * np.arange(4, dtype=np.uint64))
    return (lanes[..., None] >> np.arange(13, dtype=np.uint64) & np.uint64(1)).astype(np.int8)


def full_features(held: np.ndarray, classes: Sequence[int]) -> np.ndarray:
    """Return the features of the full model, float32[n, 27 a class]: cards by rank, then suits by length."""
    features = np.zeros((len(held), 27 * (max(classes) + 1)), np.float32)
    rows = np.arange(len(held))
    for suit, k in enumerate(classes):
        features[:, 27 * k : 27 * k + 13] += held[:, suit]
        features[rows, 27 * k + 13 + held[:, suit].sum(1)] += 1
    return features


def class_words(contract: Contract, classes: Sequence[int]) -> list[str]:
    """Name the classes of suits."""
    words = []
    for k in range(max(classes) + 1):
        suits = [SUIT_NAMES[suit] for suit in range(4) if classes[suit] == k]
        words.append("" if len(suits) == 4 else " or ".join(suits) + (" (trumps)" if contract.trump == classes.index(k) else ""))
    return words


@dataclass(frozen=True)
class Feature:
    """What a player can count: cards of some ranks (bit mask) in a class of suits, or something else in words."""

    suits: int
    ranks: int
    words: str
    of: str


def simple_features(held: np.ndarray, contract: Contract, classes: Sequence[int]) -> tuple[list[Feature], np.ndarray]:
    """Return features and their values, float32[n, features]."""
    features: list[Feature] = []
    columns: list[np.ndarray] = []
    groups = (*RANKS, "AK", "AKQ", "AKQJ", "KQ", "QJ", "23", "234", "2345", "TJ", "T98")
    for k, name in enumerate(class_words(contract, classes)):
        cards = np.stack([held[:, suit] for suit in range(4) if classes[suit] == k], 1)  # [n, suits, 13]
        lengths, short, over = cards.sum(2), np.maximum(3 - cards.sum(2), 0), np.maximum(cards.sum(2)[..., None] - (3, 4, 5), 0)
        in_suit = f" of {name}" if name else ""
        for group in groups:
            ranks = [RANKS.index(letter) for letter in group]
            features.append(Feature(k, sum(1 << rank for rank in ranks), "", in_suit))
            columns.append(cards[:, :, ranks].sum((1, 2)))
        if name:
            features.append(Feature(k, 0, "each card", in_suit))
            columns.append(lengths.sum(1))
        for place, most in enumerate(("third", "fourth", "fifth")):
            features.append(Feature(k, 0, f"each card of a suit after its {most}", f", in {name}" if name else ""))
            columns.append(over[:, :, place].sum(1))
        for few, word in enumerate(("a void", "a singleton", "a doubleton")):
            features.append(Feature(k, 0, word, f" in {name}" if name else ""))
            columns.append((lengths == few).sum(1))
        features.append(Feature(k, 0, "each card that a suit is short of three", f", in {name}" if name else ""))
        columns.append(short.sum(1))
    return features, np.stack(columns, 1).astype(np.float32)


def in_words(features: Sequence[Feature], chosen: Sequence[int], points: Floats) -> list[list[Any]]:
    """Return what to count and for how much: ranks of overlapping features added up, equal ones together."""
    found: list[list[Any]] = []
    by_rank: dict[tuple[int, str], Floats] = {}
    for feature, value in zip((features[c] for c in chosen), points, strict=True):
        if feature.ranks == 0:
            found.append([feature.words + feature.of, round(float(value), 1)])
            continue
        ranks = by_rank.setdefault((feature.suits, feature.of), np.zeros(13))
        ranks += value * (feature.ranks >> np.arange(13) & 1)
    cards: list[list[Any]] = []
    for (_, of), ranks in sorted(by_rank.items(), key=lambda item: item[0]):
        amounts = [round(float(amount), 1) for amount in ranks]
        for amount in sorted(set(amounts) - {0.0}, key=lambda amount: (-abs(amount), amount)):
            letters = [_RANK_WORDS.get(RANKS[rank], RANKS[rank]) for rank in range(12, -1, -1) if amounts[rank] == amount]
            cards.append([f"each {' or '.join(letters)}{of}", amount])
    return cards + found


@dataclass(frozen=True)
class Sums:
    """What least squares needs of a set of deals; sums of several sets add up."""

    n: int
    x: Floats
    xx: Floats
    xy: Floats
    y: float
    yy: float

    @classmethod
    def of(cls, features: np.ndarray, margins: np.ndarray) -> Sums:
        x = features.astype(np.float64)
        return cls(len(x), x.sum(0), x.T @ x, x.T @ margins, float(margins.sum()), float(margins @ margins))

    def __add__(self, other: Sums) -> Sums:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Sums(*(a + b for a, b in pairs))

    def fit(self, chosen: Sequence[int], ridge: float = RIDGE) -> tuple[float, Floats]:
        """Return base and numbers of some features."""
        pick = np.array(chosen)
        mean_x, mean_y = self.x[pick] / self.n, self.y / self.n
        matrix = self.xx[np.ix_(pick, pick)] - self.n * np.outer(mean_x, mean_x)
        numbers = np.linalg.solve(matrix + ridge * np.eye(len(pick)), self.xy[pick] - self.n * mean_x * mean_y)
        return mean_y - float(mean_x @ numbers), numbers

    def r2(self, chosen: Sequence[int], base: float, numbers: Floats) -> float:
        """Return R² of given numbers on this set."""
        pick = np.array(chosen)
        w, xx = numbers, self.xx[np.ix_(pick, pick)]
        squares = self.yy - 2 * (base * self.y + w @ self.xy[pick]) + base**2 * self.n + 2 * base * (w @ self.x[pick]) + w @ xx @ w
        return float(1 - squares / (self.yy - self.y**2 / self.n))


def choose_features(sums: Sums, goal: float) -> list[int]:
    """Choose features forward, each the one that explains most, until too little is gained."""
    chosen: list[int] = []
    explained = 0.0
    while len(chosen) < MOST:
        best, gain = -1, 0.0
        for feature in range(len(sums.x)):
            if feature in chosen:
                continue
            trial = [*chosen, feature]
            now = sums.r2(trial, *sums.fit(trial))
            if now - explained > gain:
                best, gain = feature, now - explained
        if best < 0 or gain < LEAST_GAIN * goal:
            break
        chosen.append(best)
        explained += gain
    return chosen


def rounded(sums: Sums, chosen: Sequence[int], step: float) -> tuple[float, Floats]:
    """Return base and numbers in whole steps; the base sets the mean right."""
    _, numbers = sums.fit(chosen)
    numbers = np.rint(numbers / step) * step
    base = (sums.y - float(numbers @ sums.x[np.array(chosen)])) / sums.n
    return round(base / step) * step, numbers


def asked_hands(rules: Ruleset, hands: int, worlds: int) -> tuple[np.ndarray, Floats, Floats]:
    """Ask fresh hands in many worlds: masks, mean margins and squared standard errors, [hands, contracts]."""
    kernel = Worlds(ElectionsQuestion.of(ruleset=rules, seed=SEED + 1))
    masks = simcore.deal_hands(SEED + 1, 0, hands)[np.arange(hands), np.arange(hands) % 4]
    means, noise = [], []
    for number, mask in enumerate(masks):
        chunk = kernel.chunk(number << 16, worlds, tuple(range(len(rules.contracts))), (), held=(number % 4, int(mask)))
        margins = chunk.results[0][:, :, RESULTS.index("margin")]
        means.append(margins.mean(0))
        noise.append(margins.var(0, ddof=1) / worlds)
    return masks, np.array(means), np.array(noise)


def r2_of_hands(predicted: Floats, means: Floats, noise: Floats) -> float:
    """Return the share of the variance of hands' expected margins that a prediction explains."""
    left = float(((means - predicted) ** 2).mean() - noise.mean())
    return 1 - left / float(means.var(ddof=1) - noise.mean())


def calibration(predicted: Floats, margins: np.ndarray) -> list[list[float]]:
    """Return ten groups by prediction: mean prediction, mean margin, its standard error, deals."""
    order = np.argsort(predicted, kind="stable")
    return [
        [
            round(float(predicted[part].mean()), 2),
            round(float(margins[part].mean()), 2),
            round(float(margins[part].std(ddof=1)) / len(part) ** 0.5, 3),
            len(part),
        ]
        for part in np.array_split(order, 10)
    ]


def model_row(contract: Contract, number: int, data: Play, asked: tuple[np.ndarray, Floats, Floats]) -> dict[str, Any]:
    """Fit both models of a contract."""
    classes = suit_classes(contract)
    margins = data.margins[:, number].astype(np.float64)
    folds = np.arange(len(margins)) % FOLDS
    full = full_features(data.held, classes)
    features, simple = simple_features(data.held, contract, classes)
    parts = {"full": full, "points": simple}
    by_fold = {name: [Sums.of(x[folds == f], margins[folds == f]) for f in range(FOLDS)] for name, x in parts.items()}
    total = {name: sums[0] + sums[1] + sums[2] + sums[3] + sums[4] for name, sums in by_fold.items()}
    step = 0.1
    everything = list(range(full.shape[1]))
    r2_full, r2_points = [], []
    held_out = np.zeros(len(margins))
    goal = total["full"].r2(everything, *total["full"].fit(everything))
    for f in range(FOLDS):
        train = {name: sum_of([part for g, part in enumerate(parts_) if g != f]) for name, parts_ in by_fold.items()}
        r2_full.append(by_fold["full"][f].r2(everything, *train["full"].fit(everything)))
        chosen = choose_features(train["points"], goal)
        base, numbers = rounded(train["points"], chosen, step)
        r2_points.append(by_fold["points"][f].r2(chosen, base, numbers))
        held_out[folds == f] = base + simple[folds == f][:, chosen] @ numbers
    base, numbers = total["full"].fit(everything)
    table = numbers.reshape(-1, 27)
    # cards of a class have mean zero; what is taken from them goes to the lengths
    middle = table[:, :13].mean(1, keepdims=True)
    cards, lengths = table[:, :13] - middle, table[:, 13:] + middle * np.arange(14)
    chosen = choose_features(total["points"], goal)
    points_base, points = rounded(total["points"], chosen, step)
    masks, means, noise = asked
    spread = float((full.astype(np.float64) @ numbers).std())
    model = HandModel(base, spread, cards[list(classes)], lengths[list(classes)])
    _, fresh = simple_features(held_cards(masks), contract, classes)
    here = means[:, number], noise[:, number]
    return {
        "id": contract.id,
        "deals": len(margins),
        "mean": round(float(margins.mean()), 3),
        "sd": round(float(margins.std()), 2),
        "r2_deal": round(float(np.mean(r2_full)), 4),
        "r2_hand": round(r2_of_hands(model.margins(masks), *here), 3),
        "points": {
            "base": round(points_base, 1),
            "add": in_words(features, chosen, points),
            "r2_deal": round(float(np.mean(r2_points)), 4),
            "r2_hand": round(r2_of_hands(points_base + fresh[:, chosen] @ points, *here), 3),
            "calibration": calibration(held_out, margins),
        },
        "hands_asked": len(masks),
        "base": round(base, 3),
        "spread": round(spread, 3),
        "cards": [[round(float(value), 3) for value in row] for row in cards],
        "lengths": [[round(float(value), 3) for value in row] for row in lengths],
    }


def sum_of(parts: Sequence[Sums]) -> Sums:
    """Add sums up."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def rows_of(rules: Ruleset, wanted: Sequence[str], deals: int, hands: int, worlds: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield meaning and row of the contracts wanted."""
    data, asked = play(rules, deals), asked_hands(rules, hands, worlds)
    for number, contract in enumerate(rules.contracts):
        if contract.id in wanted:
            yield rules.meaning(contract), model_row(contract, number, data, asked)


def tell(row: dict[str, Any]) -> None:
    """Print a row."""
    points = row["points"]
    added = ", ".join(f"{value:+g} for {word}" for word, value in points["add"])
    print(f"{row['id']}: {points['base']:+g}, {added}")
    hands, deals = (f"{points[key]:.3f} (full {row[key]:.3f})" for key in ("r2_hand", "r2_deal"))
    print(f"    R² of hands {hands}, of deals {deals}")


def main() -> None:
    """Fit and write, or print."""
    parser = argparse.ArgumentParser(description="What makes a hand good in each contract.")
    parser.add_argument("--ruleset", help="print the models of this ruleset only")
    parser.add_argument("--deals", type=int, default=200_000)
    parser.add_argument("--hands", type=int, default=1_000, help="asked in worlds, for R² of hands")
    parser.add_argument("--worlds", type=int, default=128)
    options = parser.parse_args()
    sizes = (options.deals, options.hands, options.worlds)
    if options.ruleset:
        rules = load_ruleset(options.ruleset, "elections")
        for _, row in rows_of(rules, rules.contract_ids, *sizes):
            tell(row)
        return
    contracts: dict[str, Any] = {}
    for name in SHIPPED:
        rules = load_ruleset(name)
        if rules.game != "elections":
            continue
        wanted = [contract.id for contract in rules.contracts if rules.meaning(contract) not in contracts]
        for meaning, row in rows_of(rules, wanted, *sizes):
            contracts[meaning] = row
            tell(row)
    write(TABLE, contracts)


def write(path: Path, contracts: dict[str, Any]) -> None:
    """Write the table, a line a key."""
    head = {
        "what": "margin a declarer's hand may expect, experts at the table; benchmarks/hand_points.py",
        "simcore": simcore.__version__,
        "seed": str(SEED),
    }
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    bodies = []
    for meaning, row in contracts.items():
        inner = ",\n".join(f"   {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in row.items())
        bodies.append(f"  {json.dumps(meaning)}: {{\n{inner}\n  }}")
    path.write_text("{\n" + "\n".join(lines) + '\n "contracts": {\n' + ",\n".join(bodies) + "\n }\n}\n")


if __name__ == "__main__":
    main()
