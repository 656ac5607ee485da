"""A finished choice: one row a choice, and what it rests on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simcore.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DOUBLE_DUMMY", "Choices", "comparison_verdict"]

#: The table of exact values of contracts.
DOUBLE_DUMMY = "double-dummy"


def comparison_verdict(data: dict[str, Any]) -> str:
    """Say whether rollouts and exact values agree (``comparison`` of an answer); where a side is tied, that it cannot tell."""
    best, tied = data["best"], data["tied"]
    if data["agree"]:
        return f"both put {best['rollout']} first"
    said = []
    for side, name in (("rollout", "rollouts"), ("double_dummy", "double dummy")):
        others = f"({best[side]} tied with {', '.join(tied[side])})"
        puts = "put" if side == "rollout" else "puts"
        said.append(f"{name} cannot tell {others}" if tied[side] else f"{name} {puts} {best[side]} first")
    return "; ".join(said) if data["agree"] is None else f"they disagree: {', '.join(said)}"


@dataclass(frozen=True)
class Choices:
    """The ranked choices of one or more tables (``double-dummy``, ``contract``, ``call``, ``trump``; on average others).

    ``rows`` has the choices of each table, the best first; ``config`` everything the answer depends on; ``sampling`` how the worlds
    were found (empty where the answer is exact); ``comparison`` rollouts beside exact values, where both were asked for;
    ``hand_points`` (on average) what makes a hand good in each contract.
    """

    config: dict[str, Any]
    rows: list[dict[str, Any]]
    sampling: dict[str, Any] = field(default_factory=dict)
    comparison: dict[str, Any] = field(default_factory=dict)
    hand_points: list[dict[str, Any]] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)
    solving_seconds: float = field(default=0.0, compare=False)
    threads: int = field(default=1, compare=False)
    _worlds: Callable[[], pa.Table] | None = field(default=None, compare=False, repr=False)

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables there are."""
        return tuple(dict.fromkeys(row["table"] for row in self.rows))

    def best(self, table: str | None = None) -> str:
        """Return the best choice of a table; by default of the last one that ranks, which answers what to do now.

        Raises:
            BadInput: there is no such table, or it ranks nothing.
        """
        best = {row["table"]: str(row["choice"]) for row in self.rows if row["best"]}
        wanted = list(best)[-1] if table is None else table
        if wanted not in best:
            raise BadInput(f"table {table!r} has no best choice; accepted: {', '.join(best)}")
        return best[wanted]

    @property
    def decided(self) -> bool:
        """Whether in every table the best choice is separated from every other; exact values beside rollouts do not count."""
        method = self.config["method"]
        return method == "exact" or not any(row["tied"] for row in self.rows if method != "both" or row["table"] != DOUBLE_DUMMY)

    @property
    def seed(self) -> int | None:
        """The seed used; None where nothing was drawn."""
        return int(self.config["seed"]) if "seed" in self.config else None

    def table(self) -> pa.Table:
        """Return a pyarrow Table, one row a choice; a figure that another table has is null."""
        import pyarrow as pa

        names = dict.fromkeys(key for row in self.rows for key in row)
        return pa.table({name: [row.get(name) for row in self.rows] for name in names})

    def worlds(self) -> pa.Table:
        """Return a pyarrow Table, one row a world and choice played in it.

        Raises:
            BadInput: the answer is exact, no worlds were drawn.
        """
        if self._worlds is None:
            raise BadInput("no worlds were drawn: the answer is exact")
        return self._worlds()

    def data(self) -> dict[str, Any]:
        """Return everything as plain data (JSON-ready)."""
        return self.config | {
            "sampling": self.sampling,
            **({"comparison": self.comparison} if self.comparison else {}),
            **({"hand_points": self.hand_points} if self.hand_points else {}),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "decided": self.decided,
            "rows": self.rows,
        }
