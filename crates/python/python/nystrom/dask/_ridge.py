"""Kernel ridge regression with landmarks on partitions, by sums of normal equations."""

from __future__ import annotations

from typing import Any

import numpy as np

import dask

from .. import _native
from .._kernels import Spec, aligned
from .._nystroem_ridge import NystroemRidge as _NystroemRidge
from .._ridge import ridges
from .._units import Units
from ._estimator import OnPartitions
from ._parts import block_of, matrix, partitions, threads, tree


class NystroemRidge(OnPartitions, _NystroemRidge):
    """`nystrom.NystroemRidge` for Dask arrays and frames.

    The fit makes two passes over the partitions. The first counts the rows and draws a uniform
    sample, among which landmarks are chosen. The second adds up the normal equations. Alpha is
    chosen by generalised cross-validation. Persist X and y if loading them takes longer than the
    fit.

    Parameters and attributes are those of `nystrom.NystroemRidge`, except that `criterion` and
    `alpha_per_target` must have their defaults, which have no effect. `landmarks` may be points,
    but not row indices.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NystroemRidge:
        """Fits the targets y of the rows of X, Dask arrays or frames with the same partitions."""
        for name, usual in (("criterion", "loo"), ("alpha_per_target", False)):
            if getattr(self, name) != usual:
                raise ValueError(f"{name} needs all rows at once; leave it out, or fit in memory")
        self.__dict__.pop("_state", None)
        parts = partitions(X, y, sample_weight, self.kernel)
        found, spec = self._begin(X, parts, self.n_components, self.landmarks)
        self._units, self._offset = found.units, found.offset
        kind = (spec, self.components_, self._offset, len(found.means))
        states = [dask.delayed(state_of, pure=True)(*part, *kind, found.units) for part in parts]
        merged = tree(states, lambda a, b, _: dask.delayed(merge, pure=True)(a, b, *kind))
        grid = ridges(self.alphas, found.rows)
        state = dask.compute(merged)[0]
        self._solve(spec, state, grid, len(found.means), found.single)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Not implemented: `fit` uses all partitions."""
        raise NotImplementedError(
            "there is no partial_fit for Dask; fit uses all partitions, and "
            "nystrom.NystroemRidge has partial_fit"
        )


def state_of(
    X: Any, y: Any, weights: Any, spec: Spec, Z: np.ndarray, offset: Any, targets: int, units: Units
) -> bytes:
    """The state of a partition, as bytes. Arrays from the network may be unaligned."""
    Z = aligned(Z)
    X, Y, w, _ = block_of(X, y, weights)
    if len(X) == 0:
        return _native.merge(spec, Z, [], offset=offset, targets=targets, n_jobs=threads())
    if Y.shape[1] != targets:
        raise ValueError(f"a partition has {Y.shape[1]} targets, but others have {targets}")
    X, Y = matrix(X, Z), aligned(units.inward(Y))
    w = None if w is None else aligned(w.astype(Z.dtype, copy=False))
    return _native.accumulate(spec, X, Y, w, Z, None, offset=offset, n_jobs=threads())


def merge(a: bytes, b: bytes, spec: Spec, Z: np.ndarray, offset: Any, targets: int) -> bytes:
    """Merges two states."""
    return _native.merge(spec, aligned(Z), [a, b], offset=offset, targets=targets, n_jobs=threads())
