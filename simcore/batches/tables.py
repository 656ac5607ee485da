"""Arrow tables out of kernel buffers: schema, metadata, and the way back from masks to PBN."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from simcore.batches.backends import Backend, Buffers, Column
from simcore.batches.config import GAME_SEATS, Config
from simcore.cards import format_hand
from simcore.deals.pbn import format_deal
from simcore.errors import BadInput

__all__ = ["check_whole_numbers", "hands_to_pbn", "schema_of", "table_of"]


def _type_of(column: Column) -> pa.DataType:
    if column.words is not None:
        return pa.dictionary(pa.int8(), pa.string())
    if column.boolean:
        return pa.bool_()
    return {"names": pa.int8(), "points": pa.int16(), "hands": pa.uint64()}[column.buffer]


def schema_of(backend: Backend, config: Config) -> pa.Schema:
    """Return the table's schema with the run's metadata, the same for every part."""
    fields = [pa.field("deal", pa.uint64(), nullable=False)]
    fields += [pa.field(column.name, _type_of(column), nullable=column.nullable) for column in backend.columns]
    described = config.describe()
    metadata = {
        "simcore:config": json.dumps(described, sort_keys=True),
        "simcore:config_hash": config.hash,
        "simcore:ruleset_text": config.ruleset.text,
    }
    for key in ("schema_version", "game", "ruleset", "ruleset_hash", "seed", "stream_version", "first", "deals", "simcore"):
        metadata[f"simcore:{key}"] = str(described[key])
    metadata["simcore:players"] = json.dumps(described["players"])
    return pa.schema(fields, metadata=metadata)


def table_of(schema: pa.Schema, backend: Backend, buffers: Buffers, first: int, deals: int) -> pa.Table:
    """Turn the first ``deals`` deals of the buffers into a table; copies nothing that Arrow can use as it is."""
    repeat = backend.rows_per_deal
    count = deals * repeat
    indices = np.arange(first, first + deals, dtype=np.uint64)
    arrays: list[pa.Array] = [pa.array(np.repeat(indices, repeat) if repeat > 1 else indices)]
    for column, field in zip(backend.columns, list(schema)[1:], strict=True):
        if column.buffer == "hands":
            hands = np.ascontiguousarray(buffers.hands[:deals, column.place])
            arrays.append(pa.array(np.repeat(hands, repeat) if repeat > 1 else hands))
            continue
        values = getattr(buffers, column.buffer)[column.place, :count]
        null = None
        if column.nullable:
            missing = _missing(backend, buffers, column, count)
            null = missing if missing.any() else None
        if column.words is not None:
            indexes = pa.array(values, type=pa.int8(), mask=null)
            arrays.append(pa.DictionaryArray.from_arrays(indexes, pa.array(column.words, type=pa.string()), safe=False))
        elif column.boolean:
            arrays.append(pa.array(values.astype(bool), mask=null))
        else:
            arrays.append(pa.array(values, type=field.type, mask=null))
    return pa.Table.from_arrays(arrays, schema=schema)


def _missing(backend: Backend, buffers: Buffers, column: Column, count: int) -> np.ndarray:
    """Return where a column is null: -1 among names; points where the deal was not played."""
    if column.buffer == "names":
        missing: np.ndarray = buffers.names[column.place, :count] < 0
        return missing
    status = next(c.place for c in backend.columns if c.name == "status")
    not_played: np.ndarray = buffers.names[status, :count] != 0
    return not_played


def check_whole_numbers(table: Any, names: Sequence[str]) -> None:
    """Refuse a table that lacks a column, or has one of something else than whole numbers without nulls.

    Raises:
        BadInput: naming the column.
    """
    for name in names:
        if name not in table.column_names:
            raise BadInput(f"the table has no column {name!r}; accepted: a table as 'simcore simulate' makes them")
        column = table.column(name)
        if not pa.types.is_integer(column.type) or column.null_count:
            nulls = " with nulls" if column.null_count else ""
            raise BadInput(f"column {name!r} is of type {column.type}{nulls}; accepted: whole numbers, no nulls")


def hands_to_pbn(table: Any, first: str = "N") -> list[str]:
    """Return each row's hands as PBN: deals of four, or the two hands of Showcase.

    Args:
        table: a pyarrow Table (or anything with ``column_names`` and ``column``) made with ``hands``.
        first: the seat named first.

    Raises:
        BadInput: the table has no hand columns.
    """
    if not hasattr(table, "column_names"):
        raise BadInput(f"{type(table).__name__} is no table; accepted: a pyarrow Table simulated with --hands")
    seats = "".join(seat for seat in GAME_SEATS["elections"] if f"hand_{seat.lower()}" in table.column_names)
    if not seats:
        raise BadInput("the table has no columns hand_n …; accepted: a table simulated with --hands")
    names = [f"hand_{seat.lower()}" for seat in seats]
    check_whole_numbers(table, names)
    columns = [table.column(name).to_pylist() for name in names]
    if len(seats) == 4:
        return [format_deal(masks, first) for masks in zip(*columns, strict=True)]
    return [f"{seats[0]}:" + " ".join(format_hand(mask) for mask in masks) for masks in zip(*columns, strict=True)]
