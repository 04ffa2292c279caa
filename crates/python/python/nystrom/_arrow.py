"""Arrow columns, which pandas frames may contain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from . import _times
from ._columns import Cells, Numbers, neither, of_distinct, of_integers, of_objects


def cells_of(name: str, column: Any) -> Cells:
    """Reads a column according to its type."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # older versions return chunks here
            column = pa.concat_arrays(column.chunks)
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        levels = column.dictionary_decode().to_pylist()
        missing = np.array([level is None for level in levels], dtype=bool)
        return of_objects(name, levels, missing, True)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    if types.is_null(kind):
        return Numbers(np.full(len(column), np.nan), lambda: [None] * len(column))
    if types.is_timestamp(kind) or types.is_date(kind):
        days = types.is_date(kind)
        unit = {"date32[day]": "D", "date64[ms]": "ms"}.get(str(kind)) or kind.unit
        values = _steps(column).view(f"datetime64[{unit}]")
        values = values.astype("datetime64[D]") if days else values
        utc = not days and kind.tz is not None
        return of_distinct(values, missing, lambda known: _times.instants(known, utc))
    if types.is_duration(kind) or types.is_time(kind):
        values = _steps(column).view(f"timedelta64[{kind.unit}]")
        return of_distinct(values, missing, _times.durations)
    if types.is_integer(kind):
        return of_integers(name, column.fill_null(0).to_numpy(zero_copy_only=False), missing)
    if types.is_floating(kind):
        values = list(column.fill_null(float("nan")).to_numpy(zero_copy_only=False))
        return of_objects(name, values, np.isnan(values))
    if _is_plain(kind):
        return of_objects(name, column.to_pylist(), missing)
    raise neither(name, kind)


def _is_plain(kind: Any) -> bool:
    types = pa.types
    names = ("string", "large_string", "binary", "large_binary", "fixed_size_binary")
    names += ("decimal", "boolean", "string_view", "binary_view")  # older versions lack views
    return any(getattr(types, f"is_{name}", lambda _: False)(kind) for name in names)


def _steps(column: Any) -> np.ndarray:
    """The integers that encode times or durations, as 64-bit integers, 0 where missing."""
    narrow = pa.int32() if column.type.bit_width == 32 else pa.int64()
    steps = column.view(narrow).fill_null(0).to_numpy(zero_copy_only=False)
    return steps.astype(np.int64)
