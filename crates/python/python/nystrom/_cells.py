"""Python objects in cells, as numbers or as text."""

from __future__ import annotations

import numbers
import uuid
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from . import _times

#: Integers beyond this in magnitude may have no exact float, so that two of them may become one.
LARGEST_WHOLE = 2**53


def are_numbers(values: Sequence[Any]) -> bool:
    """Whether all values are numbers that floats distinguish."""
    return all(map(is_number, values)) and not any(map(is_too_long, values))


def is_number(value: Any) -> bool:
    """Whether the value is a real number of Python or NumPy, booleans included."""
    return isinstance(value, (numbers.Real, Decimal, np.bool_)) and not isinstance(
        value, np.timedelta64
    )


def is_too_long(value: Any) -> bool:
    """Whether the value is an integer, or an integer-valued Decimal, beyond 2^53."""
    if isinstance(value, Decimal):
        return abs(value) > LARGEST_WHOLE and value == value.to_integral_value()
    return isinstance(value, numbers.Integral) and abs(int(value)) > LARGEST_WHOLE


def text_of(value: Any, where: str, anything: bool = False) -> str:
    """The text of a value. Equal numbers have the same text whatever their type; times are in ISO
    8601. `where` names the cell in errors. With `anything`, a value of another type is converted by
    `str`; otherwise it is a TypeError."""
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
        f"{where} holds {_short(value)}, a {type(value).__name__}, which is neither a number, text "
        "nor a time; give each of its parts a column, or convert it to text"
    )


def text_of_number(value: Any) -> str:
    """The shortest text that reads back as the number; the same for 1, 1.0 and Decimal("1.00")."""
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
            f"{where} holds {_short(value)}, bytes that are not UTF-8; decode the column first, "
            "for example by .str.decode('latin-1')"
        ) from None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
