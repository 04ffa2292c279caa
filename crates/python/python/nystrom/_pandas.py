"""Reads columns of pandas frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from . import _times
from ._cells import text_of_number
from ._columns import Cells, Numbers, Texts, neither, of_distinct, of_integers, of_objects


def column_of(name: str, column: Any) -> Cells:
    """Reads a column according to its type; objects according to their values."""
    kind = column.dtype
    if isinstance(kind, pd.SparseDtype):
        return column_of(name, column.sparse.to_dense())
    if isinstance(kind, pd.CategoricalDtype):
        return _categories(name, column)
    if isinstance(kind, pd.ArrowDtype):
        from ._arrow import cells_of

        return cells_of(name, column.array.__arrow_array__())
    missing = column.isna().to_numpy()
    if isinstance(kind, pd.PeriodDtype):
        distinct, codes = np.unique(column.array.asi8, return_inverse=True)
        levels = [
            _times.of_period(pd.Period(ordinal=i, freq=kind.freq))
            for i in distinct.tolist()
            if i != np.iinfo(np.int64).min
        ]
        # missing values are the smallest integer, so they come first
        first = len(distinct) - len(levels)
        return Texts(levels, np.where(missing, -1, codes - first))
    if isinstance(kind, pd.DatetimeTZDtype):
        naive = column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        return _instants(naive, missing, utc=True)
    if pd.api.types.is_datetime64_dtype(kind):
        return _instants(column.to_numpy(), missing, utc=False)
    if pd.api.types.is_timedelta64_dtype(kind):
        return of_distinct(column.to_numpy(), missing, _known(_times.durations))
    if pd.api.types.is_bool_dtype(kind) and kind != object:
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return Numbers(values, lambda: of_truths(values))
    if pd.api.types.is_integer_dtype(kind):
        values = column.fillna(0).to_numpy()
        return of_integers(name, np.asarray(values), missing)
    if pd.api.types.is_complex_dtype(kind):
        raise neither(name, kind)
    if pd.api.types.is_numeric_dtype(kind):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return Numbers(values, lambda: of_floats(list(column.array), missing))
    if kind == object or isinstance(kind, pd.IntervalDtype) or pd.api.types.is_string_dtype(kind):
        return of_objects(name, column.tolist(), missing)
    raise neither(name, kind)


def _categories(name: str, column: Any) -> Cells:
    levels = column.cat.categories
    written = of_objects(name, levels.tolist(), np.zeros(len(levels), dtype=bool), True)
    assert isinstance(written, Texts)
    codes = column.cat.codes.to_numpy()
    places = np.append(written.codes, -1)  # the last entry is that of code -1
    return Texts(written.levels, places[codes], True)


def _instants(values: np.ndarray, missing: np.ndarray, utc: bool) -> Cells:
    return of_distinct(values, missing, _known(lambda known: _times.instants(known, utc)))


def _known(write: Any) -> Any:
    """`write` with an empty text for NaT. The values are sorted, with NaT last."""
    return lambda values: [*write(values[~np.isnat(values)]), *[""] * int(np.isnat(values).sum())]


def of_truths(values: np.ndarray) -> list[str | None]:
    """Booleans as text."""
    return [None if np.isnan(value) else str(bool(value)) for value in values]


def of_floats(values: list[Any], missing: np.ndarray) -> list[str | None]:
    """Numbers as text."""
    return [None if g else text_of_number(v) for v, g in zip(values, missing, strict=True)]
