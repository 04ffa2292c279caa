"""Columns of numbers or of text, from values of any type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._cells import LARGEST_WHOLE, are_numbers, text_of

#: A name and numbers; or a name, levels and the index of each row's level, -1 if missing.
Column = tuple[str, np.ndarray] | tuple[str, list[str], np.ndarray]


def texts(name: str, values: Sequence[str | None], empty: bool = True) -> Column:
    """A column of text. None is a missing value; so is an empty text unless `empty` is true."""
    present = [value is not None and (empty or value != "") for value in values]
    known = sorted({value for value, here in zip(values, present, strict=True) if here})
    place = {value: code for code, value in enumerate(known)}
    codes = [place[v] if here else -1 for v, here in zip(values, present, strict=True)]
    return name, known, np.array(codes, dtype=np.int32)


class Cells:
    """A column of a frame, before it is decided whether its numbers become text."""

    is_category = False

    def column(self, name: str, as_text: bool, empty: bool) -> Column:
        """The column: text if it holds text or if `as_text` is true, otherwise numbers."""
        raise NotImplementedError


class Numbers(Cells):
    """A column of numbers, NaN where one is missing. `exact` returns the values as exact text."""

    def __init__(self, values: np.ndarray, exact: Callable[[], list[str | None]]) -> None:
        self.values, self.exact = values, exact

    def column(self, name: str, as_text: bool, empty: bool) -> Column:
        return texts(name, self.exact()) if as_text else (name, finite(name, self.values))


class Texts(Cells):
    """A column of text: levels, and the index of each row's level, -1 if missing."""

    def __init__(self, levels: list[str], codes: np.ndarray, is_category: bool = False) -> None:
        self.levels, self.codes, self.is_category = levels, codes, is_category

    def column(self, name: str, as_text: bool, empty: bool) -> Column:
        present = np.unique(self.codes[self.codes >= 0])
        here = [code for code in present.tolist() if empty or self.levels[code] != ""]
        known = sorted({self.levels[code] for code in here})
        place = {level: code for code, level in enumerate(known)}
        # the last entry is that of index -1
        new = np.full(len(self.levels) + 1, -1, dtype=np.int32)
        for code in here:
            new[code] = place[self.levels[code]]
        return name, known, new[self.codes]


def of_objects(
    name: str, values: list[Any], missing: np.ndarray, is_category: bool = False
) -> Cells:
    """A column of Python objects: numbers if all of them are numbers, otherwise text."""
    present = [value for value, gone in zip(values, missing, strict=True) if not gone]

    def exact() -> list[str | None]:
        known: dict[Any, str] = {}
        return [
            None if gone else written(known, name, row, value, is_category)
            for row, (value, gone) in enumerate(zip(values, missing, strict=True))
        ]

    if not is_category and are_numbers(present):
        given = [np.nan if g else float(v) for v, g in zip(values, missing, strict=True)]
        return Numbers(np.array(given, dtype=np.float64), exact)
    _, levels, codes = texts(name, exact())
    return Texts(levels, codes, is_category)


def written(known: dict[Any, str], name: str, row: int, value: Any, anything: bool) -> str:
    """The text of a value. `known` caches the texts of values seen before."""
    try:
        key = (type(value), value)
        if key not in known:
            known[key] = text_of(value, f"the column {name!r} in row {row}", anything)
        return known[key]
    except TypeError:  # the value is not hashable, or `text_of` refused it
        return text_of(value, f"the column {name!r} in row {row}", anything)


def of_integers(name: str, values: np.ndarray, missing: np.ndarray) -> Cells:
    """A column of NumPy integers: numbers, or text if one of them is beyond 2^53."""

    def exact() -> list[str | None]:
        given = zip(values.tolist(), missing, strict=True)
        return [None if gone else str(value) for value, gone in given]

    here = values[~missing]
    if len(here) and (here.max() > LARGEST_WHOLE or here.min() < -LARGEST_WHOLE):
        _, levels, codes = texts(name, exact())
        return Texts(levels, codes)
    floats = values.astype(np.float64)
    floats[missing] = np.nan
    return Numbers(floats, exact)


def of_distinct(values: np.ndarray, missing: np.ndarray, write: Callable[..., Any]) -> Cells:
    """A column of the texts that `write` returns for the distinct values of an array."""
    distinct, codes = np.unique(values, return_inverse=True)
    codes = np.where(missing, -1, codes)
    levels = [str(text) for text in write(distinct)] if len(distinct) else []
    return Texts(levels, codes)


def finite(name: str, values: np.ndarray) -> np.ndarray:
    """Numbers as contiguous `float64`; a ValueError if one is infinite."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite) > 0:
        row = infinite[0]
        raise ValueError(
            f"the column {name!r} has the value {values[row]} in row {row}; correct it, or replace "
            "it by NaN"
        )
    return values


def neither(name: str, kind: Any) -> TypeError:
    """The error for a column type that is not supported."""
    return TypeError(
        f"the column {name!r} is of type {kind}, neither numbers, text nor times; give each of its "
        "parts a column, or drop it"
    )
