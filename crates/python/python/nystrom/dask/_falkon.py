"""Kernel ridge regression at landmarks by iterations."""

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

#: A partition as the solver takes it: rows, targets and weights.
Block = tuple[np.ndarray, np.ndarray, Any]


class Falkon(OnPartitions, _Falkon):
    """`nystrom.Falkon` for Dask arrays and frames.

    One pass counts rows and draws the sample among which centres are chosen. Partitions then stay
    in the memory of the workers, and each iteration is a task for each of them. The client holds
    two matrices of M × M numbers (four by KRILL), and sums of M numbers for each target.

    Centres that are not drawn uniformly take the preconditioner of KRILL, which asks nothing of
    them, in place of Falkon's. It takes one pass more, whose states are M × 2M numbers.

    Parameters and attributes are those of `nystrom.Falkon`; `center_selection` may be points, but
    not numbers of rows, and `memory` is that of the client.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Falkon:
        """Fits y at the rows of X: Dask arrays or frames with the same partitions."""
        parts = partitions(X, y, sample_weight)
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
    """Partitions that the workers keep; a call is a pass over them."""

    def __init__(self, parts: list[Any], spec: Spec, Z: np.ndarray, units: Units):
        kept = [dask.delayed(block_like, pure=True)(*part, Z[:0], units) for part in parts]
        kept.append(dask.delayed((spec, Z), pure=True, traverse=False))
        *self.blocks, self.at = dask.persist(*kept)
        self.targets = len(units.offset)

    def __call__(self, asked: np.ndarray | int | None) -> bytes:
        """The answer of all rows to what a pass asks."""
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
        """How many rows come before each partition, if the answer depends on their numbers."""
        if not isinstance(asked, int):
            return [0] * len(self.blocks)
        counts = dask.compute(*[dask.delayed(rows_of)(block) for block in self.blocks])
        return list(accumulate(counts[:-1], initial=0))


def rows_of(block: Block) -> int:
    return len(block[0])


def block_like(X: Any, y: Any, weights: Any, like: np.ndarray, units: Units) -> Block:
    """A partition in the type of the centres."""
    X, Y, w, _ = block_of(X, y, weights)
    targets = len(units.offset)
    if len(X) == 0:
        return like, np.zeros((0, targets), like.dtype), None
    if Y.shape[1] != targets:
        raise ValueError(f"a partition has {Y.shape[1]} targets, and others {targets}")
    w = None if w is None else w.astype(like.dtype, copy=False)
    return matrix(X, like), units.inward(Y), w


def answer(
    block: Block, at: tuple[Spec, np.ndarray], asked: Any, targets: int, before: int
) -> bytes:
    """That of a partition; what came over the network may lie anywhere."""
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
    """Two answers as one."""
    spec, Z = at
    return _native.merge_row_sums(
        spec, aligned(Z), [a, b], vectors(asked), targets=targets, n_jobs=threads()
    )


def vectors(asked: Any) -> Any:
    return aligned(asked) if isinstance(asked, np.ndarray) else asked
