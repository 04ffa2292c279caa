"""Rows of bits, packed into the numbers that the compiled half takes as points."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from . import _native


def takes_bits(kernel: Any) -> bool:
    """Whether the points of a kernel are rows of bits."""
    if isinstance(kernel, str):
        return kernel == "tanimoto"
    return bool(getattr(kernel, "_bits", False))


def of_bits(spec: Any) -> bool:
    """Whether the points of the kernel with this description are rows of bits."""
    return spec[0] == "tanimoto" or any(of_bits(part) for part in spec[1:] if type(part) is tuple)


def packed(X: Any) -> np.ndarray:
    """Rows of bytes (`uint8`, the layout of `numpy.packbits(X, axis=1)`) or of `bool` as points."""
    if sparse.issparse(X):
        raise ValueError(
            "a kernel of bits takes dense rows; pass numpy.packbits(X.toarray() != 0, axis=1)"
        )
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"expected a matrix with a point in each row, got shape {X.shape}")
    if X.dtype == np.bool_:
        X = np.packbits(X, axis=1)
    if X.dtype != np.uint8:
        raise ValueError(
            f"a kernel of bits takes rows of bytes (uint8) or of bool, and X has type {X.dtype}; "
            "pass numpy.packbits(X != 0, axis=1)"
        )
    return _native.pack_bits(np.ascontiguousarray(X))
