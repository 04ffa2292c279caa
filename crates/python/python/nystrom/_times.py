"""Dates, times and durations as ISO 8601 text, the same for every unit and type."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np

#: The time units of NumPy, pandas, polars and Arrow, in nanoseconds.
NANOS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def clock(nanos: int) -> str:
    """A duration as `HH:MM:SS`, with a fraction of a second if it is not 0. Hours may exceed 24."""
    sign, nanos = ("-", -nanos) if nanos < 0 else ("", nanos)
    whole, rest = divmod(nanos, 10**9)
    minutes, seconds = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{sign}{hours:02}:{minutes:02}:{seconds:02}"
    return text if rest == 0 else f"{text}.{rest:09}".rstrip("0")


def instants(values: np.ndarray, utc: bool) -> np.ndarray:
    """An array of `datetime64` as text, with the time of day unless the unit is days or longer."""
    unit = np.datetime_data(values.dtype)[0]
    if unit in ("Y", "M", "W", "D"):
        return np.datetime_as_string(values.astype("datetime64[D]"))
    if unit in ("h", "m"):
        values = values.astype("datetime64[s]")
    written = np.datetime_as_string(values)
    if unit not in ("s", "h", "m"):
        written = np.char.rstrip(np.char.rstrip(written, "0"), ".")
    return np.char.add(written, "Z") if utc else written


def durations(values: np.ndarray) -> list[str]:
    """An array of `timedelta64` as text."""
    unit, count = np.datetime_data(values.dtype)
    if unit not in NANOS:
        values, unit, count = values.astype("timedelta64[s]"), "s", 1
    return [clock(step * count * NANOS[unit]) for step in values.astype(np.int64).tolist()]


def of_value(value: Any) -> str | None:
    """A date, time or duration of Python, NumPy or pandas as text; None for other values."""
    if isinstance(value, np.datetime64):
        return str(instants(np.array([value]), utc=False)[0])
    if isinstance(value, np.timedelta64):
        return durations(np.array([value]))[0]
    if isinstance(value, dt.datetime):  # pandas' Timestamp is a subclass
        return _of_datetime(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, dt.time):
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        return clock(seconds * 10**9 + value.microsecond * 1000)
    if isinstance(value, dt.timedelta):
        whole = (value.days * 86_400 + value.seconds) * 10**9 + value.microseconds * 1000
        return clock(whole + getattr(value, "nanoseconds", 0))
    if type(value).__name__ == "Period" and hasattr(value, "start_time"):
        return of_period(value)
    return None


def of_period(value: Any) -> str:
    """The start of a pandas period: a date, or a date and time if it is shorter than a day."""
    start = value.start_time
    return _of_datetime(start) if is_short(value.freq) else start.date().isoformat()


def is_short(freq: Any) -> bool:
    """Whether the period of a pandas frequency is shorter than a day."""
    names = {"Hour", "Minute", "Second", "Milli", "Micro", "Nano"}
    return type(freq).__name__ in names


def _of_datetime(value: dt.datetime) -> str:
    utc = value.tzinfo is not None
    if utc:
        value = value.astimezone(dt.UTC)
    nanos = value.microsecond * 1000 + getattr(value, "nanosecond", 0)
    text = f"{value.year:04}-{value.month:02}-{value.day:02}T"
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return text + clock(seconds * 10**9 + nanos) + ("Z" if utc else "")
