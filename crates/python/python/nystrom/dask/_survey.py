"""The first pass of a fit, which counts the rows and draws a sample of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._units import Units
from ._parts import block_of


class Survey:
    """The result of the first pass: the number of rows, their total weight, sums and range of the
    targets, and a uniform sample of the rows."""

    #: The units in which targets are fitted, and the offset that is subtracted from targets in
    #: sums; None if no constant is fitted. Set by `of`.
    units: Units
    offset: list[float] | None

    def __init__(
        self,
        rows: int,
        weight: float,
        targets: tuple[np.ndarray, np.ndarray, np.ndarray, Any],
        keys: np.ndarray,
        sample: np.ndarray,
        single: bool,
    ):
        self.rows, self.weight = rows, weight
        self.sums, self.low, self.high, self.kind = targets
        self.keys, self.sample, self.single = keys, sample, single

    @property
    def means(self) -> np.ndarray:
        return self.sums / self.weight

    @staticmethod
    def of(parts: tuple[Survey | None, ...], wanted: int, constant: bool) -> Survey:
        """The survey of all partitions, from those of the partitions in their order. The sample
        has `wanted` rows; `constant`: whether the fit has a constant."""
        found = [part for part in parts if part is not None]
        if not found:
            raise ValueError("there are no rows: all partitions are empty")
        shapes = {part.sample.shape[1] for part in found}
        if len(shapes) > 1:
            raise ValueError(
                f"partitions have {sorted(shapes)} columns; all must have the same number"
            )
        keys = np.concatenate([part.keys for part in found])
        least = np.argsort(keys, kind="stable")[:wanted]
        sample = np.concatenate([part.sample for part in found])[least]
        sums = np.sum([part.sums for part in found], axis=0)
        weight = sum(part.weight for part in found)
        if not weight > 0:
            raise ValueError("all weights are 0; at least one must be positive")
        low, high = np.min([p.low for p in found], axis=0), np.max([p.high for p in found], axis=0)
        targets = (sums, low, high, np.result_type(*[p.kind for p in found]))
        rows = sum(p.rows for p in found)
        whole = Survey(rows, weight, targets, keys[least], sample, found[0].single)
        whole._choose_units(constant)
        return whole

    def _choose_units(self, constant: bool) -> None:
        kinds = (self.sample.dtype, self.kind)
        self.units = Units.of(self.low, self.high, self.means, kinds, constant)
        self.sample = self.sample.astype(self.units.kind, copy=False)
        wide = self.units.kind == np.float64
        means = self.means if wide else np.zeros(len(self.means))
        self.offset = means.tolist() if constant else None


def survey(X: Any, y: Any, weights: Any, wanted: int, seed: int, part: int) -> Survey | None:
    """The survey of one partition, None if it is empty. The sample consists of the rows with the
    smallest random keys."""
    X, Y, w, single = block_of(X, y, weights)
    if len(X) == 0:
        return None
    keys = np.random.default_rng([seed, part]).random(len(X))
    least = np.argsort(keys, kind="stable")[:wanted]
    w = np.ones(len(X)) if w is None else w.astype(float)
    targets = (w @ Y.astype(float), Y.min(axis=0), Y.max(axis=0), Y.dtype)
    return Survey(len(X), float(w.sum()), targets, keys[least], X[least], single)
