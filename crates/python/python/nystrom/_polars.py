"""Reads columns of polars frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from . import _times
from ._cells import LARGEST_WHOLE
from ._columns import Cells, Numbers, neither, of_distinct, of_integers, of_objects


def column_of(name: str, column: Any) -> Cells:
    """Reads a column according to its type; objects according to their values."""
    kind = column.dtype
    missing = column.is_null().to_numpy()
    if kind == pl.Null:
        return Numbers(np.full(len(column), np.nan), lambda: [None] * len(column))
    if kind in (pl.Categorical, pl.Enum):
        return of_objects(name, column.cast(pl.String).to_list(), missing, True)
    if kind.is_integer():
        return _integers(name, column, missing)
    if kind.is_float():
        missing = missing | column.is_nan().fill_null(True).to_numpy()
        exact = of_objects(name, list(column.to_numpy()), missing)
        assert isinstance(exact, Numbers)
        return Numbers(column.cast(pl.Float64).to_numpy(), exact.exact)
    if kind == pl.Datetime:
        values = _steps(column).view(f"datetime64[{kind.time_unit}]")
        utc = kind.time_zone is not None
        return of_distinct(values, missing, lambda known: _times.instants(known, utc))
    if kind == pl.Date:
        values = _steps(column).view("datetime64[D]")
        return of_distinct(values, missing, lambda known: _times.instants(known, False))
    if kind == pl.Duration or kind == pl.Time:
        unit = "ns" if kind == pl.Time else kind.time_unit
        return of_distinct(_steps(column).view(f"timedelta64[{unit}]"), missing, _times.durations)
    if kind in (pl.String, pl.Binary, pl.Decimal, pl.Boolean, pl.Object):
        values = column.to_list()
        if kind == pl.Object:
            gaps = [v is None or isinstance(v, float) and v != v for v in values]
            missing = np.array(gaps, dtype=bool)
        return of_objects(name, values, missing)
    raise neither(name, kind)


def _integers(name: str, column: Any, missing: np.ndarray) -> Cells:
    if column.len() and not missing.all():
        largest = max(abs(int(column.max())), abs(int(column.min())))
        if largest > LARGEST_WHOLE:  # possibly 128-bit integers
            return of_objects(name, column.to_list(), missing)
    return of_integers(name, column.fill_null(0).cast(pl.Int64).to_numpy(), missing)


def _steps(column: Any) -> np.ndarray:
    """The integers that encode times or durations, as 64-bit integers, 0 where missing."""
    return column.to_physical().cast(pl.Int64).fill_null(0).to_numpy().copy()
