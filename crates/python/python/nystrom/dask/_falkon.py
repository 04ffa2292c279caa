"""Kernel ridge regression with landmarks on partitions, solved by iterations."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

import dask

from .. import _native
from .._checks import seed_of
from .._falkon import Falkon as _Falkon
from .._kernels import Spec, aligned, positive, whole
from .._units import Units
from ._estimator import OnPartitions
from ._parts import block_of, matrix, partitions, threads, tree

#: A partition: rows, targets and weights (or None).
Block = tuple[np.ndarray, np.ndarray, Any]


class Falkon(OnPartitions, _Falkon):
    """`nystrom.Falkon` for Dask arrays and frames.

    A first pass counts the rows and draws the sample among which centres are chosen. The partitions
    then stay in the memory of the workers, and each iteration runs one task per partition. The
    client stores two matrices of M × M numbers (four with KRILL), and M numbers for each target.

    If the centres are not drawn uniformly, the preconditioner is that of KRILL instead of Falkon's.
    It needs one more pass, whose states have M × 2M numbers.

    Parameters and attributes are those of `nystrom.Falkon`. `center_selection` may be points, but
    not row indices, and `memory` is the limit of the client.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Falkon:
        """Fits the targets y of the rows of X, Dask arrays or frames with the same partitions."""
        parts = partitions(X, y, sample_weight, self.kernel)
        found, spec = self._begin(X, parts, self.M, self.center_selection)
        targets = len(found.means)
        theta, b, told = _native.falkon_passes(
            spec,
            self.components_,
            targets,
            float(self.penalty),
            Passes(parts, spec, self.components_, found.units),
            uniform=self._is_uniform(),
            intercept=self.fit_intercept,
            tolerance=positive("tol", self.tol),
            max_iterations=whole("maxiter", self.maxiter, 1),
            memory=self.memory,
            seed=seed_of(self.random_state),
            n_jobs=self.n_jobs,
        )
        self._tell(told)
        self._keep(*found.units.outward(theta, b), found.single)
        return self


class Passes:
    """The partitions in the memory of the workers. A call makes one pass over them."""

    def __init__(self, parts: list[Any], spec: Spec, Z: np.ndarray, units: Units):
        kept = [dask.delayed(block_like, pure=True)(*part, Z[:0], units) for part in parts]
        kept.append(dask.delayed((spec, Z), pure=True, traverse=False))
        *self.blocks, self.at = dask.persist(*kept)
        self.targets = len(units.offset)

    def __call__(self, asked: np.ndarray | int | None) -> bytes:
        """The sums over all rows that a pass asks for, as bytes."""
        before = self._rows_before(asked)
        asked = dask.delayed(asked, pure=True, traverse=False)
        answers = [
            dask.delayed(answer, pure=True)(block, self.at, asked, self.targets, rows)
            for block, rows in zip(self.blocks, before, strict=True)
        ]
        merged = tree(
            answers,
            lambda a, b, _: dask.delayed(both, pure=True)(a, b, self.at, asked, self.targets),
        )
        return dask.compute(merged)[0]

    def _rows_before(self, asked: np.ndarray | int | None) -> list[int]:
        """The number of rows before each partition, or zeros if the sums do not depend on it."""
        if not isinstance(asked, int):
            return [0] * len(self.blocks)
        counts = dask.compute(*[dask.delayed(rows_of)(block) for block in self.blocks])
        return list(accumulate(counts[:-1], initial=0))


def rows_of(block: Block) -> int:
    return len(block[0])


def block_like(X: Any, y: Any, weights: Any, like: np.ndarray, units: Units) -> Block:
    """A partition as rows, targets and weights of the type of the centres."""
    X, Y, w, _ = block_of(X, y, weights)
    targets = len(units.offset)
    if len(X) == 0:
        return like, np.zeros((0, targets), like.dtype), None
    if Y.shape[1] != targets:
        raise ValueError(f"a partition has {Y.shape[1]} targets, but others have {targets}")
    w = None if w is None else w.astype(like.dtype, copy=False)
    return matrix(X, like), units.inward(Y), w


def answer(
    block: Block, at: tuple[Spec, np.ndarray], asked: Any, targets: int, before: int
) -> bytes:
    """The sums over the rows of a partition. Arrays from the network may be unaligned."""
    X, Y, w = block
    if len(X) == 0:
        spec, Z = at
        return _native.merge_row_sums(
            spec, aligned(Z), [], vectors(asked), targets=targets, n_jobs=threads()
        )
    (spec, Z), w = at, None if w is None else aligned(w)
    return _native.row_sums(
        spec,
        aligned(X),
        aligned(Y),
        w,
        aligned(Z),
        vectors(asked),
        before=before,
        n_jobs=threads(),
    )


def both(a: bytes, b: bytes, at: tuple[Spec, np.ndarray], asked: Any, targets: int) -> bytes:
    """Merges the sums over two sets of rows."""
    spec, Z = at
    return _native.merge_row_sums(
        spec, aligned(Z), [a, b], vectors(asked), targets=targets, n_jobs=threads()
    )


def vectors(asked: Any) -> Any:
    return aligned(asked) if isinstance(asked, np.ndarray) else asked
