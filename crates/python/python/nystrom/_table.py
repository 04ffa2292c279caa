"""Frames and arrays as columns of numbers or of texts."""

from __future__ import annotations

from typing import Any

import numpy as np

Column = tuple[str, np.ndarray] | tuple[str, list[str], np.ndarray]


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def columns_of_frame(X: Any) -> list[Column]:
    """The columns of a frame, numbers as numbers and everything else that has an order of its own
    refused."""
    if hasattr(X, "get_column"):
        return [_polars(str(name), X.get_column(name)) for name in X.columns]
    return [_pandas(str(name), X[name]) for name in X.columns]


def columns_of_array(X: np.ndarray, names: list[str]) -> list[Column]:
    """The columns of an array of numbers."""
    return [(name, np.ascontiguousarray(X[:, j])) for j, name in enumerate(names)]


def texts(name: str, values: list[str | None]) -> Column:
    """A column of texts, `None` where one is missing; an empty text is none."""
    known = sorted({value for value in values if value})
    place = {value: code for code, value in enumerate(known)}
    codes = np.array([place[value] if value else -1 for value in values], dtype=np.int32)
    return name, known, codes


def _polars(name: str, column: Any) -> Column:
    import polars as pl

    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return name, _finite(name, column.cast(pl.Float64).to_numpy())
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        return texts(name, column.cast(pl.String).to_list())
    if column.dtype == pl.Null:
        return name, np.full(len(column), np.nan)
    raise _neither(name, column.dtype)


def _pandas(name: str, column: Any) -> Column:
    import pandas as pd

    types = pd.api.types
    if types.is_bool_dtype(column.dtype) or types.is_numeric_dtype(column.dtype):
        if types.is_complex_dtype(column.dtype):
            raise _neither(name, column.dtype)
        return name, _finite(name, column.to_numpy(dtype=np.float64, na_value=np.nan))
    if isinstance(column.dtype, pd.CategoricalDtype) or types.is_string_dtype(column.dtype):
        return texts(name, _strings(name, column))
    if column.dtype == object:
        return texts(name, _strings(name, column))
    raise _neither(name, column.dtype)


def _strings(name: str, column: Any) -> list[str | None]:
    missing = column.isna().to_numpy()
    values: list[str | None] = []
    for value, gone in zip(column.tolist(), missing, strict=True):
        if not gone and not isinstance(value, (str, int, float, bool, np.generic)):
            raise TypeError(
                f"the column {name!r} holds {value!r}, a {type(value).__name__}: make it numbers "
                "or texts"
            )
        values.append(None if gone else str(value))
    return values


def _finite(name: str, values: np.ndarray) -> np.ndarray:
    values = np.ascontiguousarray(values, dtype=np.float64)
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite) > 0:
        row = infinite[0]
        raise ValueError(
            f"the column {name!r} has the value {values[row]} in row {row}: correct it, or make it "
            "a missing value"
        )
    return values


def _neither(name: str, kind: Any) -> TypeError:
    return TypeError(
        f"the column {name!r} is of type {kind}, neither numbers nor texts; write dates as numbers "
        "(days since the first, month, weekday), or drop the column"
    )
