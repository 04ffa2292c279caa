"""Units of targets, which let a fit with 32-bit rows keep the digits of the targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: If no constant is fitted and the mean of a target exceeds this multiple of its range, the fit is
#: in 64 bits: 32 bits would leave too few digits for the variation.
FAR_FROM_ZERO = 10.0
#: If the size of one target is below this multiple of another's, the fit is in 64 bits.
TOO_SMALL = 1e-20


@dataclass(frozen=True)
class Units:
    """The units in which targets are fitted: y = offset + size·z, where z is fitted. With 64-bit
    rows z is y.

    `kind` is the type of the fit, `result` the type of predictions. `offset` has one entry per
    target, `size` is a power of two.
    """

    kind: Any
    result: Any
    offset: np.ndarray
    size: float = 1.0

    @staticmethod
    def of(
        low: np.ndarray, high: np.ndarray, means: np.ndarray, kinds: tuple[Any, Any], constant: bool
    ) -> Units:
        """The units for targets with these minima, maxima and means. `kinds` are the types of rows
        and targets; `constant`: whether a constant is fitted."""
        rows, targets = kinds
        none = np.zeros(len(means))
        if rows == np.float64:
            return Units(rows, rows, none)
        offset = means if constant else none
        sizes = np.maximum(np.abs(high - offset), np.abs(low - offset))
        if targets == np.float64:
            far = np.abs(means) > FAR_FROM_ZERO * (high - low)
            largest = sizes.max(initial=0.0)
            small = (sizes > 0) & (sizes < TOO_SMALL * largest)
            if (not constant and np.any(far & (means != 0))) or np.any(small):
                return Units(np.dtype(np.float64), targets, none)
        return Units(rows, targets, offset, power_of_two(sizes.max(initial=0.0)))

    @staticmethod
    def of_targets(Y: np.ndarray, kind: Any, constant: bool, weights: Any) -> Units:
        """The units for the targets Y of rows of type `kind`, when all rows are in memory."""
        if kind == np.float64:
            return Units(kind, kind, np.zeros(Y.shape[1]))
        weighted = weights is not None and np.sum(weights, dtype=np.float64) > 0
        means = np.average(Y.astype(np.float64), axis=0, weights=weights if weighted else None)
        low, high = (f(axis=0).astype(np.float64) for f in (Y.min, Y.max))
        return Units.of(low, high, means, (np.dtype(kind), Y.dtype), constant)

    def inward(self, Y: np.ndarray) -> np.ndarray:
        """Converts y to z."""
        if self.kind == np.float64:
            return Y.astype(np.float64, copy=False)
        return ((Y.astype(np.float64) - self.offset) / self.size).astype(self.kind)

    def outward(self, theta: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Converts coefficients and constants for z to those for y."""
        if self.kind == np.float64:
            return theta, b
        wide = theta.astype(np.float64) * self.size
        return wide.astype(self.result), b.astype(np.float64) * self.size + self.offset

    def squares(self, errors: np.ndarray) -> np.ndarray:
        """Converts mean squares in units of z to units of y; infinite if they overflow 64 bits."""
        with np.errstate(over="ignore"):
            return errors.astype(np.float64) * self.size * self.size


def power_of_two(value: float) -> float:
    """The largest power of two up to the value, from 2^-1000 to 2^1000; 1 if the value is 0.
    Division by a power of two is exact."""
    return float(2.0 ** np.clip(np.floor(np.log2(value)), -1000, 1000)) if value > 0 else 1.0
