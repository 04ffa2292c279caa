"""The choice of landmarks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from . import _native
from ._bits import of_bits, packed
from ._checks import seed_of
from ._kernels import Spec, matrix
from ._sparse import like

#: The lambda of the leverage scores by which some methods choose landmarks: the ridge divided by
#: the number of rows.
LEVERAGE_RIDGE = 1e-4


def choose(
    spec: Spec,
    X: Any,
    how: Any,
    count: int,
    random_state: Any,
    n_jobs: int | None = None,
) -> tuple[np.ndarray | None, Any]:
    """The row indices of the landmarks (None if they are points instead of rows), and the
    landmarks.

    `how` is the name of a method, an array of row indices, or the landmarks themselves.
    """
    if isinstance(how, str):
        chosen = by_method(spec, X, how, count, random_state, n_jobs)
        return chosen, X[chosen]
    given = how if sparse.issparse(how) else np.asarray(how)
    if given.ndim == 2 and of_bits(spec):
        given = packed(given)
    if given.ndim == 1 and given.dtype.kind in "iu":
        return of_rows(given, X.shape[0]), X[given]
    if given.ndim == 2 and given.shape[1] == X.shape[1]:
        return None, like(matrix(given), X).copy()
    raise ValueError(
        "landmarks must be the name of a method, indices of rows of X, or points with "
        f"{X.shape[1]} columns; got an array of shape {given.shape} and type {given.dtype}"
    )


def of_rows(rows: np.ndarray, n: int) -> np.ndarray:
    """Row indices, after a check that they are at least one and from 0 to n - 1."""
    wrong = rows[(rows < 0) | (rows >= n)]
    if len(rows) == 0 or len(wrong) > 0:
        what = "no row" if len(rows) == 0 else f"row {wrong[0]}"
        raise ValueError(f"landmarks name {what}; indices of rows of X are 0 to {n - 1}")
    return rows.astype(np.int64)


def by_method(
    spec: Spec, X: Any, method: str, count: int, random_state: Any, n_jobs: int | None
) -> np.ndarray:
    """The indices of the rows that a method chooses."""
    if not np.isfinite(count) or count < 1 or int(count) != count:
        raise ValueError(f"{count} landmarks: the number must be an integer of at least 1")
    n = X.shape[0]
    if count > n:
        text = f"{count} landmarks are more than the {n} rows; all rows are taken"
        warnings.warn(text, UserWarning, stacklevel=4)
    count = min(int(count), n)
    if method == "uniform":
        # the same rows as scikit-learn's Nystroem draws
        return check_random_state(random_state).permutation(n)[:count]
    seed = seed_of(random_state)
    return _native.landmarks(spec, X, count, method, n * LEVERAGE_RIDGE, seed, n_jobs)
