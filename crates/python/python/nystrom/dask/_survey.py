"""A pass over the rows before a fit: how many there are, and a sample of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._parts import block_of



class Survey:
    """What a pass over the rows tells: how many, the means of targets, and a uniform sample."""

    def __init__(
        self,
        rows: int,
        weight: float,
        sums: np.ndarray,
        keys: np.ndarray,
        sample: np.ndarray,
        single: bool,
    ):
        self.rows, self.weight, self.sums = rows, weight, sums
        self.keys, self.sample, self.single = keys, sample, single

    @property
    def means(self) -> np.ndarray:
        return self.sums / self.weight

    @staticmethod
    def of(parts: tuple[Survey | None, ...], wanted: int) -> Survey:
        """The survey of all partitions, in their order."""
        found = [part for part in parts if part is not None]
        if not found:
            raise ValueError("there are no rows: all partitions are empty")
        shapes = {part.sample.shape[1] for part in found}
        if len(shapes) > 1:
            raise ValueError(f"partitions have {sorted(shapes)} columns; they must have the same")
        keys = np.concatenate([part.keys for part in found])
        least = np.argsort(keys, kind="stable")[:wanted]
        sample = np.concatenate([part.sample for part in found])[least]
        sums = np.sum([part.sums for part in found], axis=0)
        weight = sum(part.weight for part in found)
        if not weight > 0:
            raise ValueError("all weights are 0")
        return Survey(
            sum(p.rows for p in found), weight, sums, keys[least], sample, found[0].single
        )


def survey(X: Any, y: Any, weights: Any, wanted: int, seed: int, part: int) -> Survey | None:
    """Of one partition; the sample are the rows with the smallest random keys."""
    X, Y, w, single = block_of(X, y, weights)
    if len(X) == 0:
        return None
    keys = np.random.default_rng([seed, part]).random(len(X))
    least = np.argsort(keys, kind="stable")[:wanted]
    w = np.ones(len(X)) if w is None else w.astype(float)
    return Survey(len(X), float(w.sum()), w @ Y.astype(float), keys[least], X[least], single)
