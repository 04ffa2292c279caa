"""What every estimator does with its input."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data

from ._kernels import aligned

TYPES = [np.float64, np.float32]
#: A sparse matrix is made dense up to this size.
MOST_BYTES = 1 << 30


def dense(X: Any) -> Any:
    """A sparse matrix as a dense one, with a warning, if it is not too large."""
    if not sparse.issparse(X):
        return X
    size = 8 * X.shape[0] * X.shape[1]
    if size > MOST_BYTES:
        raise ValueError(
            f"a sparse matrix of shape {X.shape} would take {size:.1e} bytes as a dense one, and "
            f"at most {MOST_BYTES:.1e} are taken unasked; pass X.toarray(), or reduce its "
            "columns first, by TruncatedSVD say"
        )
    text = f"a sparse matrix of shape {X.shape} is made dense: kernels have no use for its zeros"
    warnings.warn(text, UserWarning, stacklevel=3)
    return X.toarray()


def rows(estimator: Any, X: Any, *, reset: bool, **options: Any) -> np.ndarray:
    """X as numbers, as it lies in memory if it may stay there."""
    return aligned(validate_data(estimator, dense(X), dtype=TYPES, reset=reset, **options))


def rows_and_targets(
    estimator: Any, X: Any, y: Any, **options: Any
) -> tuple[np.ndarray, np.ndarray, bool]:
    """X, y as a matrix of the same type, and whether y was one column."""
    options = {"dtype": TYPES, "multi_output": True, "y_numeric": True, "reset": True} | options
    X, y = validate_data(estimator, dense(X), y, **options)
    single = y.ndim == 1
    y = y.reshape(-1, 1) if single else y
    return aligned(X), np.asarray(y, dtype=X.dtype), single


def weights_of(sample_weight: Any, X: np.ndarray) -> np.ndarray | None:
    """One weight for each row, of the type of X."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, X, dtype=X.dtype)


def seed_of(random_state: Any) -> int:
    """A seed for the library: a whole number is the seed itself, as on the command line."""
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(0, 2**31 - 1))
