"""Ridge leverage scores of Dask arrays and frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

import dask
import dask.array as da

from .. import _native
from .._bits import takes_bits
from .._centers import LEVERAGE_RIDGE
from .._checks import TYPES, seed_of
from .._kernels import Spec, spec_of
from .._stream import law
from ._parts import by_rows, matrix, partitions, points, threads, tree, width

#: The difference of the positions of the first rows of two consecutive partitions. It exceeds the
#: rows of a partition, so that all rows have different positions.
APART = 1 << 40


def leverage_scores(
    X: Any,
    kernel: Any = "rbf",
    alpha: float | None = None,
    *,
    copies: int = 8,
    epsilon: float = 0.5,
    max_components: int = 2000,
    random_state: Any = None,
) -> da.Array:
    """Lower estimates of the ridge leverage scores of the rows of X, as a Dask array.

    A task per partition draws a dictionary of its rows. The dictionaries are merged along a tree
    (DISQUEAK), and the scores of all rows are computed from the final dictionary. If `copies` is
    large enough, with high probability each estimate lies between
    (1 - epsilon)/(1 + 3 epsilon) times the exact score and the exact score.

    `alpha` is the ridge, n times lambda; if None, lambda is 1e-4. `max_components` is the maximum
    size of a dictionary; a larger one is an error.
    """
    parts = [part[0] for part in partitions(X, None, None, kernel)]
    rows, columns, kind = zip(
        *dask.compute(*[dask.delayed(shape, pure=True)(x) for x in parts]), strict=True
    )
    n, d = sum(rows), max(columns)
    alpha = n * LEVERAGE_RIDGE if alpha is None else float(alpha)
    how, seed = law(alpha, copies, epsilon, max_components), seed_of(random_state)
    spec, like = spec_of(kernel, d), np.zeros((0, d), dtype=np.result_type(*kind))
    states = [
        dask.delayed(dictionary_of, pure=True)(x, spec, like, how, seed, i)
        for i, x in enumerate(parts)
    ]
    merged = tree(
        states,
        lambda a, b, node: dask.delayed(merge_dictionaries, pure=True)(
            a, b, spec, like, how, seed, node
        ),
    )
    state = dask.compute(merged)[0]

    columns, bits = width(X), takes_bits(kernel)

    def scores(block: np.ndarray) -> np.ndarray:
        block = points(block, columns) if bits else block
        return _native.squeak_scores(spec, matrix(block, like), state, how, threads())

    return by_rows(scores, X, np.float64, None)


def shape(block: Any) -> tuple[int, int, Any]:
    block = check_array(block, dtype=TYPES, ensure_min_samples=0)
    return (*block.shape, block.dtype)


def dictionary_of(
    X: Any, spec: Spec, like: np.ndarray, how: dict[str, Any], seed: int, part: int
) -> bytes:
    """The dictionary of a partition, drawn in random order of its rows."""
    X = matrix(X, like)
    X = X[np.random.default_rng([seed, part]).permutation(len(X))]
    seed, first = seed + part, part * APART
    return _native.squeak(
        spec, X, None, how, settle=True, seed=seed, first=first, n_jobs=threads()
    )[0]


def merge_dictionaries(
    a: bytes, b: bytes, spec: Spec, like: np.ndarray, how: dict[str, Any], seed: int, node: int
) -> bytes:
    """Merges two dictionaries."""
    return _native.squeak_merge(spec, like, a, b, how, seed=seed + node, n_jobs=threads())
