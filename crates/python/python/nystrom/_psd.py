"""Checks that a kernel matrix is positive semi-definite."""

from __future__ import annotations

import numpy as np

#: The tolerance for rounding errors, relative to the largest entry or eigenvalue: the matrix may
#: have been computed in 32 bits.
ROUNDING = 1e-6
#: Up to this many rows, the check is a factorisation; above, it is one of all pairs of rows.
MOST_FACTORED = 5000
#: The number of rows that are checked at a time.
BLOCK = 1024


def check_psd(K: np.ndarray) -> None:
    """Raises a ValueError if a kernel matrix is not square, finite, symmetric and positive
    semi-definite, up to rounding."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"a precomputed kernel matrix must be square, and X has shape {K.shape}")
    wrong = np.argwhere(~np.isfinite(K))
    if len(wrong):
        i, j = wrong[0].tolist()
        raise ValueError(
            f"the kernel matrix holds {K[i, j]} in row {i}, column {j}; its entries must be finite"
        )
    diagonal = np.diag(K).astype(np.float64)
    largest = float(np.abs(K).max(initial=0.0))
    starts = range(0, len(K), BLOCK)
    for start in starts:
        _check_symmetry(K, start, ROUNDING * largest)
    if largest > 0 and len(K) <= MOST_FACTORED:
        _check_eigenvalues(K.astype(np.float64) / largest, largest)
    elif largest > 0:
        for start in starts:
            _check_pairs(K, start, diagonal)


def _check_symmetry(K: np.ndarray, start: int, rounding: float) -> None:
    rows = slice(start, start + BLOCK)
    block, mirrored = K[rows].astype(np.float64), K[:, rows].T.astype(np.float64)
    i, j = _largest(np.abs(block - mirrored))
    if abs(block[i, j] - mirrored[i, j]) > rounding:
        raise ValueError(
            f"the kernel matrix is not symmetric: entry ({start + i}, {j}) is {block[i, j]}, entry "
            f"({j}, {start + i}) is {mirrored[i, j]}; pass (K + K.T) / 2 to symmetrise it"
        )


def _check_pairs(K: np.ndarray, start: int, diagonal: np.ndarray) -> None:
    """Checks the 2 × 2 submatrices of all pairs of rows: |K_ij| <= sqrt(K_ii K_jj)."""
    rows = slice(start, start + BLOCK)
    block = K[rows].astype(np.float64)
    roots = np.sqrt(np.maximum(diagonal, 0.0))
    above = np.abs(block) - roots[rows, None] * roots[None, :]
    i, j = _largest(above)
    if above[i, j] > np.sqrt(ROUNDING) * np.abs(block).max():
        pair = np.array([[diagonal[start + i], block[i, j]], [block[i, j], diagonal[j]]])
        smallest = float(np.linalg.eigvalsh(pair)[0])
        raise ValueError(_indefinite(f"of the rows {start + i} and {j} alone", smallest))


def _check_eigenvalues(K: np.ndarray, scale: float) -> None:
    try:
        np.linalg.cholesky(K + ROUNDING * np.eye(len(K)))
        return
    except np.linalg.LinAlgError:
        values = np.linalg.eigvalsh(K)
    if values[0] < -ROUNDING * max(values[-1], 0.0):
        raise ValueError(_indefinite("that it has", scale * float(values[0])))


def _largest(block: np.ndarray) -> tuple[int, int]:
    i, j = np.unravel_index(np.argmax(block), block.shape)
    return int(i), int(j)


def _indefinite(where: str, smallest: float) -> str:
    return (
        f"the kernel matrix is not positive semi-definite: the smallest eigenvalue {where} is "
        f"{smallest:.3g}; add {1.01 * abs(smallest):.3g} to its diagonal, or use another kernel"
    )
