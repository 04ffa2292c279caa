"""Partitions as tasks, and trees of tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

import dask
import dask.array as da

from .._bits import packed, takes_bits
from .._checks import TYPES
from .._kernels import aligned


def partitions(X: Any, y: Any, sample_weight: Any, kernel: Any) -> list[tuple[Any, Any, Any]]:
    """The partitions of X, y and weights, row by row, as tasks. Rows of bits, for a kernel of bits,
    are packed."""
    columns = [
        delayed_parts(what, name)
        for what, name in ((X, "X"), (y, "y"), (sample_weight, "sample_weight"))
    ]
    for name, parts in (("y", columns[1]), ("sample_weight", columns[2])):
        if parts is not None and len(parts) != len(columns[0]):
            raise ValueError(
                f"X has {len(columns[0])} partitions and {name} has {len(parts)}; rechunk one of "
                "them to match the other"
            )
    if takes_bits(kernel):
        columns[0] = [dask.delayed(points, pure=True)(part, width(X)) for part in columns[0]]
    missing = [None] * len(columns[0])
    return list(zip(columns[0], columns[1] or missing, columns[2] or missing, strict=True))


def delayed_parts(what: Any, name: str) -> list[Any] | None:
    if what is None:
        return None
    if not dask.is_dask_collection(what):
        raise TypeError(
            f"{name} is not a Dask array or frame; convert it by dask.array.from_array, or use the "
            "estimators of the package nystrom"
        )
    if isinstance(what, da.Array) and what.ndim > 1:
        what = what.rechunk({1: -1})
    parts = what.to_delayed()
    return list(np.ravel(parts)) if isinstance(parts, np.ndarray) else list(parts)


def width(X: Any) -> int:
    """The number of columns of a Dask array or frame."""
    if X.ndim != 2:
        raise ValueError(f"expected a matrix with a point in each row, got shape {X.shape}")
    return X.shape[1]


def points(block: Any, columns: int) -> np.ndarray:
    """The rows of bits of a partition, bytes or `bool`, as the points of a kernel of bits."""
    block = np.asarray(block)
    if block.ndim != 2 or block.shape[1] != columns:
        raise ValueError(f"a partition has the shape {block.shape}, but X has {columns} columns")
    if len(block) > 0:
        return packed(block)
    # the type of an empty partition is not known
    return packed(np.zeros((1, columns), block.dtype if block.dtype == bool else np.uint8))[:0]


def block_of(
    X: Any, y: Any, weights: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, bool]:
    """A partition: rows, targets and weights as matrices of `float64` or `float32`."""
    X = aligned(numbers(X))
    Y = check_array(y, dtype=TYPES, ensure_2d=False, ensure_min_samples=0, input_name="y")
    single = Y.ndim == 1
    if len(Y) != len(X):
        raise ValueError(
            f"a partition of X has {len(X)} rows, but that of y has {len(Y)}; rechunk y like X"
        )
    w = None if weights is None else np.asarray(weights).ravel().astype(X.dtype)
    if w is not None and (len(w) != len(X) or not np.all(np.isfinite(w) & (w >= 0))):
        raise ValueError("sample_weight must hold one finite, non-negative number for each row")
    Y = Y[:, None] if single else Y
    return X, Y, w, single


def numbers(X: Any) -> np.ndarray:
    """The rows of a partition as a matrix of `float64` or `float32`."""
    try:
        return check_array(X, dtype=TYPES, ensure_min_samples=0)
    except (TypeError, ValueError) as error:
        if not hasattr(X, "columns"):
            raise
        text = f"{error}; nystrom.dask.TableFeatures makes numbers of texts, dates and gaps"
        raise ValueError(text) from error


def matrix(block: Any, like: np.ndarray) -> np.ndarray:
    """The rows of a partition as a matrix of the type of `like`."""
    block = numbers(block)
    if block.shape[1] != like.shape[1]:
        raise ValueError(
            f"a partition has {block.shape[1]} columns, but others have {like.shape[1]}"
        )
    return aligned(block.astype(like.dtype, copy=False))


def by_rows(function: Callable[[Any], Any], X: Any, dtype: Any, columns: int | None) -> da.Array:
    """Applies `function` to every partition of X. Its results are vectors, or matrices with
    `columns` columns."""
    if not isinstance(X, da.Array):
        X = X.to_dask_array()
    X = X.rechunk({1: -1})
    none = np.empty((0,) if columns is None else (0, columns), dtype=dtype)

    def rows(block: Any) -> np.ndarray:
        return function(block) if len(block) > 0 else none

    if columns is None:
        return X.map_blocks(rows, dtype=dtype, drop_axis=1, meta=none)
    return X.map_blocks(rows, dtype=dtype, chunks=(X.chunks[0], (columns,)), meta=none)


def tree(leaves: list[Any], join: Callable[[Any, Any, int], Any]) -> Any:
    """Joins neighbouring leaves pairwise, level by level. `join` receives two nodes and the number
    of the new one; leaves have the first numbers."""
    node = len(leaves)
    while len(leaves) > 1:
        pairs = [leaves[i : i + 2] for i in range(0, len(leaves), 2)]
        joined = []
        for pair in pairs:
            joined.append(join(*pair, node) if len(pair) == 2 else pair[0])
            node += 1
        leaves = joined
    return leaves[0]


def threads() -> int | None:
    """The number of threads of the current worker; None (all cores) outside a worker. Results do
    not depend on it, bit for bit."""
    try:
        from distributed import get_worker

        return int(get_worker().state.nthreads)
    except (ImportError, ValueError):
        return None
