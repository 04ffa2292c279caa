"""Reads frames and arrays as columns of numbers or of text."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._cells import LARGEST_WHOLE
from ._columns import Cells, Column, texts


@dataclass
class Frame:
    """The columns of a frame, and the names of those whose type is categorical."""

    columns: list[Column]
    categorical: list[str] = field(default_factory=list)


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def names_of(X: Any, warn: bool = False) -> list[str]:
    """The names of a frame's columns as text. Repeated names get a number: a, a.1, a.2."""
    names = [str(name) for name in X.columns]
    given, found = set(names), {}
    for j, name in enumerate(names):
        new, number = name, 0
        while new in found or (number > 0 and new in given):
            number += 1
            new = f"{name}.{number}"
        found[new] = j
        if new != name and warn:
            text = f"column {j} is another one called {name!r}; it is renamed {new!r}"
            warnings.warn(text, UserWarning, stacklevel=5)
    return list(found)


def columns_of_frame(
    X: Any, as_texts: Collection[str] = (), empty: bool = False, warn: bool = False
) -> Frame:
    """The columns of a frame. Text, times and integers beyond 2^53 become text, and so do the
    numbers of the columns in `as_texts`; other numbers stay numbers. With `empty`, an empty text is
    not a missing value. With `warn`, renamed columns are reported."""
    frame, (column_of, column_at) = Frame([]), _reader(X)
    for j, name in enumerate(names_of(X, warn)):
        cells = column_of(name, column_at(j))
        if cells.is_category:
            frame.categorical.append(name)
        frame.columns.append(cells.column(name, name in as_texts or cells.is_category, empty))
    return frame


def _reader(X: Any) -> tuple[Callable[[str, Any], Cells], Callable[[int], Any]]:
    """Two functions: one converts a column of this kind of frame, the other returns the column at a
    position."""
    if hasattr(X, "get_column"):
        from . import _polars

        return _polars.column_of, X.to_series
    from . import _pandas

    return _pandas.column_of, lambda j: X.iloc[:, j]


def columns_of_array(X: np.ndarray, names: Iterable[str]) -> list[Column]:
    """The columns of an array of numbers."""
    return [(name, np.ascontiguousarray(X[:, j])) for j, name in enumerate(names)]


def long_columns(X: Any, names: Sequence[str]) -> dict[str, Column]:
    """Those columns of an integer array that contain integers beyond 2^53, as text."""
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "iu":
        return {}
    long = np.flatnonzero(np.any((X > LARGEST_WHOLE) | (X < -LARGEST_WHOLE), axis=0))
    return {names[j]: texts(names[j], [str(value) for value in X[:, j].tolist()]) for j in long}
