"""Targets: their names, and classes as the library names them."""

from __future__ import annotations

import numbers
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from ._cells import is_number, text_of_number
from ._table import is_frame, names_of


def class_name(label: Any) -> str:
    """The name of a class in the library, in which 1.0 is "1"."""
    if is_number(label) and not isinstance(label, (bool, np.bool_)):
        return text_of_number(label)
    return str(label)


def labels_of(y: np.ndarray) -> np.ndarray:
    """Classes as an array of numbers or of text; a TypeError if both occur, or another type."""
    if y.dtype != object:
        return y
    labels = y.tolist()
    if all(map(is_number, labels)):
        return np.array(labels)
    kinds = {type(label).__name__ for label in labels if not isinstance(label, str)}
    if kinds:
        raise TypeError(
            "the classes in y must be all numbers or all text, but they include "
            f"{', '.join(sorted(kinds))}; convert all to text, [str(label) for label in y]"
        )
    return y


def value_of(label: Any) -> int | float:
    """The number that names a class. Integers are exact."""
    if isinstance(label, numbers.Integral):
        return int(label)
    try:
        return int(label) if isinstance(label, str) else float(label)
    except ValueError:
        return float(label)


def refuse_alike(classes: np.ndarray) -> None:
    """Raises a ValueError if the library would treat two text classes as one. It does so if they
    differ only in case or blanks, or if all classes are numbers and two are equal."""
    if classes.dtype.kind not in "OU":
        return
    names = [str(label) for label in classes]
    try:
        alike = [str(Decimal(name).normalize()) for name in names]
    except InvalidOperation:
        alike = [" ".join(name.split()).lower() for name in names]
    first: dict[str, str] = {}
    for name, key in zip(names, alike, strict=True):
        if key in first:
            raise ValueError(
                f"the classes {first[key]!r} and {name!r} in y would be one; pass numbers, "
                "sklearn.preprocessing.LabelEncoder().fit_transform(y), if they are different"
            )
        first[key] = name


def target_names(y: Any) -> list[str] | None:
    """The name of a series or the names of a frame's columns, if there are any."""
    if is_frame(y):
        return names_of(y)
    name = getattr(y, "name", None)
    return [name] if isinstance(name, str) and name else None
