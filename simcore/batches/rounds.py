"""Full rounds of Elections out of the rows (E18): a round is eight deals, players add up credits, equal totals share a place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from simcore.batches.partfile import open_parquet, part_paths
from simcore.batches.places import Place
from simcore.batches.tables import check_whole_numbers
from simcore.cards import SEATS
from simcore.errors import BadInput

__all__ = ["ROUNDS_SCHEMA", "rounds_of", "write_rounds"]

_SEATS = [seat.lower() for seat in SEATS]
ROUNDS_SCHEMA = pa.schema(
    [pa.field("round", pa.uint64(), nullable=False)]
    + [pa.field(f"total_{seat}", pa.int32(), nullable=False) for seat in _SEATS]
    + [pa.field(f"place_{seat}", pa.int8(), nullable=False) for seat in _SEATS]
)
_ROUNDS_PER_GROUP = 1 << 16


def _rounds(deals: np.ndarray, credits: np.ndarray) -> pa.Table:
    """Return the table of whole rounds: ``deals`` uint64[8 k], ``credits`` [8 k, 4], consecutive from a round's first deal."""
    totals = credits.reshape(-1, 8, 4).sum(axis=1, dtype=np.int32)
    places = 1 + (totals[:, None, :] > totals[:, :, None]).sum(axis=2).astype(np.int8)
    columns: list[Any] = [deals[::8] // np.uint64(8)]
    columns += [np.ascontiguousarray(totals[:, i]) for i in range(4)] + [np.ascontiguousarray(places[:, i]) for i in range(4)]
    return pa.Table.from_arrays(
        [pa.array(c, type=f.type) for c, f in zip(columns, ROUNDS_SCHEMA, strict=True)], schema=ROUNDS_SCHEMA
    )


def _whole_rounds(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield tables of whole rounds; deals of a round that begins or ends outside the rows are left out."""
    rest_deals, rest_credits = np.empty(0, np.uint64), np.empty((0, 4), np.int32)
    for batch in batches:
        deals = np.concatenate([rest_deals, batch.column("deal").to_numpy()])
        new = np.stack([batch.column(f"credit_{seat}").to_numpy() for seat in _SEATS], axis=1)
        credits = np.concatenate([rest_credits, new.astype(np.int32)])
        skip = int(-int(deals[0]) % 8) if len(deals) else 0
        deals, credits = deals[skip:], credits[skip:]
        whole = len(deals) // 8 * 8
        if whole:
            yield _rounds(deals[:whole], credits[:whole])
        rest_deals, rest_credits = deals[whole:], credits[whole:]


def rounds_of(table: pa.Table) -> pa.Table:
    """Return the rounds of a table of deals (one row a deal).

    Raises:
        BadInput: the table has several rows a deal, or not the columns.
    """
    columns = ["deal", *(f"credit_{seat}" for seat in _SEATS)]
    check_whole_numbers(table, columns)
    deals = table.column("deal").to_numpy()
    if len(deals) > 1 and not np.all(np.diff(deals) == 1):
        raise BadInput("a table with one row a contract has no rounds; accepted: one row a deal, consecutive deals")
    rounds = list(_whole_rounds(iter(table.select(columns).combine_chunks().to_batches())))
    return pa.concat_tables(rounds) if rounds else ROUNDS_SCHEMA.empty_table()


def write_rounds(folder: Place, path: Path) -> None:
    """Write the rounds of a run's parts into one file, part by part, in row groups of a fixed size."""
    columns = ["deal", *(f"credit_{seat}" for seat in _SEATS)]

    def batches() -> Iterator[pa.RecordBatch]:
        for part in part_paths(folder).values():
            with open_parquet(part) as file:
                yield from file.iter_batches(batch_size=8 * _ROUNDS_PER_GROUP, columns=columns)

    with (
        open(path, "wb") as file,
        pq.ParquetWriter(
            file,
            ROUNDS_SCHEMA,
            compression="zstd",
            column_encoding={"round": "DELTA_BINARY_PACKED"},
            use_dictionary=ROUNDS_SCHEMA.names[1:],
        ) as writer,
    ):
        for table in _whole_rounds(batches()):
            writer.write_table(table, row_group_size=_ROUNDS_PER_GROUP)
