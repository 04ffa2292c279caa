"""Cells of Python objects as numbers or as texts."""

from __future__ import annotations

import numbers
import uuid
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from . import _times

#: Whole numbers beyond this are not all floats: two of them may become one.
LARGEST_WHOLE = 2**53


def are_numbers(values: Sequence[Any]) -> bool:
    """Whether all of the values present are numbers that floats can tell apart."""
    return all(map(is_number, values)) and not any(map(is_too_long, values))


def is_number(value: Any) -> bool:
    """Whether it is a real number of Python or NumPy, truth values included."""
    return isinstance(value, (numbers.Real, Decimal, np.bool_)) and not isinstance(
        value, np.timedelta64
    )


def is_too_long(value: Any) -> bool:
    """Whether it is a whole number written out that a float may not hold."""
    if isinstance(value, Decimal):
        return abs(value) > LARGEST_WHOLE and value == value.to_integral_value()
    return isinstance(value, numbers.Integral) and abs(int(value)) > LARGEST_WHOLE


def text_of(value: Any, where: str, anything: bool = False) -> str:
    """The text of a value: whole numbers alike whatever their type, times as ISO 8601 has them.
    `anything` takes values of every type as they write themselves."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _decoded(bytes(value), where)
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if (time := _times.of_value(value)) is not None:
        return time
    if is_number(value):
        return text_of_number(value)
    if anything or isinstance(value, uuid.UUID) or type(value).__name__ == "Interval":
        return str(value)
    raise TypeError(
        f"{where} holds {_short(value)}, a {type(value).__name__}, which is neither a number, a "
        "text nor a time; give each of its parts a column, or write it as text"
    )


def text_of_number(value: Any) -> str:
    """A number as the shortest text that is read back as it; 1, 1.0 and Decimal("1.00") alike."""
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, Decimal):
        text = format(value, "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text == "-0" else text
    if not isinstance(value, (float, np.floating)):
        value = float(value)
    if value == 0:
        return "0"
    return np.format_float_positional(value, trim="-")


def _decoded(value: bytes, where: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise ValueError(
            f"{where} holds {_short(value)}, bytes that are not UTF-8; decode the column first, by "
            ".str.decode('latin-1') say"
        ) from None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
