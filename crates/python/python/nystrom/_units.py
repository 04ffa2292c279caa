"""Targets of 64 bits in a fit that computes with 32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: Without a constant to fit, targets whose mean is this many times their range are fitted in 64
#: bits: 32 would leave too few digits to what varies.
FAR_FROM_ZERO = 10.0
#: So are targets of which one is this much smaller than another.
TOO_SMALL = 1e-20


@dataclass(frozen=True)
class Units:
    """y = offset + size·z, of which z is fitted. In 64 bits z is y."""

    kind: Any
    result: Any
    offset: np.ndarray
    size: float = 1.0

    @staticmethod
    def of(
        low: np.ndarray, high: np.ndarray, means: np.ndarray, kinds: tuple[Any, Any], constant: bool
    ) -> Units:
        """For rows and targets of these two types, with targets from `low` to `high` around their
        means."""
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
        """For rows of this type, and all targets at once."""
        if kind == np.float64:
            return Units(kind, kind, np.zeros(Y.shape[1]))
        weighted = weights is not None and np.sum(weights, dtype=np.float64) > 0
        means = np.average(Y.astype(np.float64), axis=0, weights=weights if weighted else None)
        low, high = (f(axis=0).astype(np.float64) for f in (Y.min, Y.max))
        return Units.of(low, high, means, (np.dtype(kind), Y.dtype), constant)

    def inward(self, Y: np.ndarray) -> np.ndarray:
        """z of y."""
        if self.kind == np.float64:
            return Y.astype(np.float64, copy=False)
        return ((Y.astype(np.float64) - self.offset) / self.size).astype(self.kind)

    def outward(self, theta: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and constants of y, from those of z."""
        if self.kind == np.float64:
            return theta, b
        wide = theta.astype(np.float64) * self.size
        return wide.astype(self.result), b.astype(np.float64) * self.size + self.offset

    def squares(self, errors: np.ndarray) -> np.ndarray:
        """Squares of y, from those of z; ∞ beyond 64 bits."""
        with np.errstate(over="ignore"):
            return errors.astype(np.float64) * self.size * self.size


def power_of_two(value: float) -> float:
    """A power of two near the value; 1 for 0. Numbers divided by it keep their digits."""
    return float(2.0 ** np.clip(np.floor(np.log2(value)), -1000, 1000)) if value > 0 else 1.0
