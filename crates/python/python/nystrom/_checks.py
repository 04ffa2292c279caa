"""Checks and conversions of input that estimators share."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data

from ._bits import packed, takes_bits
from ._kernels import aligned, takes_sparse
from ._sparse import dense
from ._units import Units

TYPES = [np.float64, np.float32]

def rows(estimator: Any, X: Any, *, reset: bool, **options: Any) -> Any:
    """X as an array or a CSR matrix of `float64` or `float32`, copied only if necessary. Rows of
    bits, for a kernel of bits, are packed."""
    kernel = estimator.kernel
    if takes_bits(kernel):
        return packed(validate_data(estimator, X, dtype=None, reset=reset, **options))
    X, form = _of_kernel(X, takes_sparse(kernel))
    return aligned(validate_data(estimator, X, dtype=TYPES, reset=reset, **form, **options))


def _of_kernel(X: Any, accepted: bool) -> tuple[Any, dict[str, Any]]:
    """X, made dense unless sparse rows are `accepted`, and its options of `validate_data`."""
    return (X, {"accept_sparse": "csr"}) if accepted else (dense(X), {})


def rows_and_targets(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    takes_sparse_rows: bool = True,
    **options: Any,
) -> tuple[Any, np.ndarray, np.ndarray | None, Units, bool]:
    """X; y as a matrix of `float64` or `float32`; weights of the type of X, or None; the units in
    which y is fitted; and whether y has one dimension. X stays sparse if `takes_sparse_rows`, and
    if the kernel takes sparse points."""
    options = {"dtype": TYPES, "multi_output": True, "y_numeric": True, "reset": True} | options
    kernel = estimator.kernel
    if takes_bits(kernel):
        X, y = validate_data(estimator, X, y, **options | {"dtype": None})
        X = packed(X)
    else:
        X, form = _of_kernel(X, takes_sparse_rows and takes_sparse(kernel))
        X, y = validate_data(estimator, X, y, **options, **form)
    single = y.ndim == 1
    y = y.reshape(-1, 1) if single else y
    Y = y if y.dtype == np.float32 and y.dtype.isnative else y.astype(np.float64, copy=False)
    weights = weights_of(sample_weight, X)
    units = Units.of_targets(Y, X.dtype, estimator.fit_intercept, weights)
    if weights is not None:
        weights = weights.astype(units.kind, copy=False)
    return aligned(X.astype(units.kind, copy=False)), Y, weights, units, single


def missing_rows(y: Any) -> np.ndarray:
    """Marks the rows in which a target, or one of several, is missing."""
    if hasattr(y, "isna"):  # pandas
        missing = np.asarray(y.isna(), dtype=bool)
    else:
        values = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
        if values.dtype.kind in "fc":
            missing = np.isnan(values)
        elif values.dtype.kind in "mM":
            missing = np.isnat(values)
        elif values.dtype == object:
            missing = np.array([_is_missing(value) for value in values.ravel()], dtype=bool)
            missing = missing.reshape(values.shape)
        else:
            missing = np.zeros(values.shape, dtype=bool)
    return missing.any(axis=1) if missing.ndim == 2 else missing


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, Decimal)) and value != value


def refuse_missing(y: Any) -> None:
    """Raises a ValueError if a value of the target is missing."""
    rows = np.flatnonzero(missing_rows(y))
    if len(rows) == 0:
        return
    some = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
    keep = "keep = ~pandas.isna(y); fit(X[keep], y[keep])"
    if hasattr(y, "notna") and getattr(y, "ndim", 2) == 1:
        keep = "keep = y.notna(); fit(X[keep], y[keep])"
    elif hasattr(y, "is_not_null"):
        keep = "keep = y.is_not_null(); fit(X.filter(keep), y.filter(keep))"
    elif np.ndim(y) == 2:
        keep = "keep = ~pandas.isna(y).any(axis=1); fit(X[keep], y[keep])"
    raise ValueError(
        f"Input y contains NaN or another missing value in {len(rows)} of {len(y)} rows "
        f"(positions {some}); leave these rows out: {keep}"
    )


def refuse_sparse_parts(X: Any) -> None:
    """Raises a ValueError if the rows X of a call of `partial_fit` are sparse."""
    if sparse.issparse(X):
        raise ValueError(
            "partial_fit needs dense rows; fit sparse rows at once, or pass X.toarray()"
        )


def weights_of(sample_weight: Any, X: Any) -> np.ndarray | None:
    """The weights as an array of the type of X, one for each row."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, X, dtype=X.dtype)


def seed_of(random_state: Any) -> int:
    """The seed for the library. An integer that is not negative is the seed itself, as on the
    command line."""
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(0, 2**31 - 1))
