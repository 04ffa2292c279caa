"""Sparse matrices of SciPy as rows of points."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

#: Sparse matrices are converted to dense ones of at most this size.
MOST_BYTES = 1 << 30


def dense(X: Any) -> Any:
    """Converts a sparse matrix to a dense one, with a warning; a ValueError if it would be larger
    than `MOST_BYTES`. Other input is returned as it is."""
    if not sparse.issparse(X):
        return X
    size = 8 * int(np.prod(X.shape, dtype=object))
    if size > MOST_BYTES:
        raise ValueError(
            f"a sparse matrix of shape {X.shape} would take {size:.1e} bytes if it is made dense, "
            f"more than the {MOST_BYTES:.1e} that are allowed; pass X.toarray() to allow it, or "
            "reduce the columns first, for example by TruncatedSVD"
        )
    text = f"a sparse matrix of shape {X.shape} is made dense, because dense rows are needed here"
    warnings.warn(text, UserWarning, stacklevel=3)
    return X.toarray()


def csr(X: Any) -> Any:
    """X in the format CSR, in which every row has ascending columns, each once. X itself is not
    changed, and copied only if necessary."""
    X = sparse.csr_matrix(X) if not sparse.issparse(X) else X.tocsr()
    arrays = (X.data, X.indices, X.indptr)
    if not X.has_canonical_format or not all(array.flags.aligned for array in arrays):
        X = X.copy()
        X.sum_duplicates()
    return X


def like(X: Any, Z: Any) -> Any:
    """The rows X in the form and the type of the rows Z: sparse if these are, dense if not."""
    X = csr(X) if sparse.issparse(Z) else dense(X)
    return X.astype(Z.dtype, copy=False)


def stacked(X: Any, Y: Any) -> Any:
    """The rows of X and those of Y below; sparse if X or Y is."""
    if sparse.issparse(X) or sparse.issparse(Y):
        return sparse.vstack([csr(X), csr(Y)], format="csr")
    return np.concatenate([X, Y])
