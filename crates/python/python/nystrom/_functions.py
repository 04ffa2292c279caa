"""Leverage scores, landmarks, k-DPPs, certificates."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._centers import LEVERAGE_RIDGE
from ._checks import seed_of
from ._kernels import Kernel, Spec, points, spec_of
from ._psd import check_psd
from ._sparse import like
from ._units import power_of_two


def _problem(X: Any, kernel: Any) -> tuple[Spec, Any]:
    """The kernel and the rows. If `kernel` is "precomputed", X is the kernel matrix."""
    X = points(X, kernel)
    if isinstance(kernel, str) and kernel == "precomputed":
        return ("precomputed", X), np.arange(len(X), dtype=X.dtype).reshape(-1, 1)
    return spec_of(kernel, X.shape[1] or 1), X


def leverage_scores(
    X: Any,
    kernel: Any = "rbf",
    alpha: float | None = None,
    *,
    method: str = "recursive",
    columns: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Ridge leverage scores `[K (K + alpha I)^-1]_ii` of all rows. The score of a row is large if
    the other rows approximate it badly. X may be a sparse matrix.

    `alpha` is the ridge, n times lambda; if None, lambda is 1e-4. Methods: "exact" (which stores
    the n × n matrix), "fast" (from `columns` columns of K), "recursive", "bless", "bless-r",
    "squeak" and "sa". Spectral analysis ("sa") uses the density of the rows instead of kernel
    values; it needs a stationary kernel, few dimensions and dense rows.
    """
    spec, X = _problem(X, kernel)
    alpha = X.shape[0] * LEVERAGE_RIDGE if alpha is None else float(alpha)
    return _native.leverage_scores(spec, X, alpha, method, columns, seed_of(random_state), n_jobs)


def effective_dimension(
    X: Any, kernel: Any = "rbf", alpha: float | None = None, **how: Any
) -> float:
    """The effective dimension: the sum of the leverage scores. The parameters are those of
    `leverage_scores`."""
    return float(np.sum(leverage_scores(X, kernel, alpha, **how), dtype=np.float64))


def landmarks(
    X: Any,
    kernel: Any = "rbf",
    n: int = 100,
    *,
    method: str = "rpcholesky",
    alpha: float | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """The indices of n rows chosen as landmarks. X may be a sparse matrix.

    Methods: "uniform", "rpcholesky", "greedy", "sparse-greedy", "kmeans++", "adaptive",
    "diagonal", "leverage" (recursive leverage scores at a ridge derived from n), "kdpp" (a Markov
    chain) and "kdpp-exact". These draw rows in proportion to leverage scores at the ridge `alpha`:
    "leverage-exact", "leverage-fast", "bless", "bless-r", "squeak", "sa". The result is shorter
    than n if further rows would not improve the approximation.
    """
    spec, X = _problem(X, kernel)
    alpha = X.shape[0] * LEVERAGE_RIDGE if alpha is None else float(alpha)
    return _native.landmarks(spec, X, n, method, alpha, seed_of(random_state), n_jobs)


@dataclass(frozen=True)
class PartialCholesky:
    """A partial Cholesky factorisation: the pivots, F with F F^T ≈ K, and tr(K - F F^T)."""

    pivots: np.ndarray
    factor: np.ndarray
    trace_error: float


def rp_cholesky(
    X: Any,
    kernel: Any = "rbf",
    n: int = 100,
    *,
    tolerance: float = 0.0,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> PartialCholesky:
    """Randomly pivoted Cholesky with at most n pivots. It stops when tr(K - F F^T) is at most
    `tolerance` times tr K. X may be a sparse matrix."""
    spec, X = _problem(X, kernel)
    return PartialCholesky(
        *_native.rp_cholesky(spec, X, n, float(tolerance), seed_of(random_state), n_jobs)
    )


def audit(
    X: Any,
    kernel: Any = "rbf",
    alpha: float | None = None,
    *,
    method: str = "recursive",
    columns: int | None = None,
    rows: int = 100,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> dict[str, Any]:
    """Compares the scores of a method with exact scores at some random rows. X may be a sparse
    matrix.

    The exact scores are computed by conjugate gradients, in time quadratic in n and memory linear
    in n. The result has the indices of the `rows`, their exact `scores` and their `errors`, the
    `estimates` of the method, the `mean_ratio` of estimate to exact score, and an estimate of the
    `effective_dimension`.
    """
    spec, X = _problem(X, kernel)
    alpha = X.shape[0] * LEVERAGE_RIDGE if alpha is None else float(alpha)
    seed = seed_of(random_state)
    return _native.audit(spec, X, alpha, method, columns, rows, seed, n_jobs)


@dataclass(frozen=True)
class CertificateReport:
    """Bounds on the distance of a fit from exact regression with the same kernel and alpha, at the
    fitted rows.

    The distance is the root mean square of the difference over the rows, one number for each
    target, in units of the target.
    """

    #: Upper bound on the distance, which holds with probability `confidence`.
    bound: np.ndarray
    #: Lower bound on the distance; 0 unless `passes` is given.
    lower: np.ndarray
    #: The root mean square of the residuals y - f, for comparison.
    residual: np.ndarray
    #: The probability with which the bounds hold, for all targets together.
    confidence: float
    #: "Close", or what would improve the bound or the fit.
    verdict: Any


def certificate(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    rows: int = 1000,
    passes: int | None = None,
    confidence: float = 0.99,
    tolerance: float = 0.1,
    memory: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> CertificateReport:
    """Bounds the distance of a fitted `NystroemRidge` or `Falkon` from exact `KernelRidge` on all
    rows.

    The upper bound uses `rows` random rows of K. With `passes`, that many passes over all of K give
    an upper and a lower bound. X, y and `sample_weight` are those of the fit; X may be sparse.
    """
    check_is_fitted(model)
    centers = model.components_
    X = like(points(X, model.kernel), centers)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=X.dtype)
    alpha = X.shape[0] * model.penalty if hasattr(model, "penalty") else model.alpha_
    if np.ndim(alpha) > 0:
        raise ValueError("a certificate needs one alpha; fit with alpha_per_target=False")
    theta, b = model.dual_coef_.reshape(centers.shape[0], -1), np.atleast_1d(model.intercept_)
    Y, theta, b, size = _small(np.asarray(y, dtype=float).reshape(len(y), -1), theta, b, X.dtype)
    report, verdict = _native.certificate(
        model._spec(X.shape[1]),
        X,
        Y,
        weights,
        centers,
        theta,
        b.astype(float).tolist(),
        float(alpha),
        fit_intercept=model.fit_intercept,
        rows=rows,
        passes=passes,
        confidence=confidence,
        tolerance=tolerance,
        memory=memory,
        seed=seed_of(random_state),
        n_jobs=n_jobs,
    )
    told = json.loads(report)
    of_targets = {
        name: size * np.array([target[name] for target in told["targets"]])
        for name in ("bound", "lower", "residual")
    }
    return CertificateReport(
        **of_targets, confidence=told["confidence"], verdict=json.loads(verdict)
    )


def _small(
    Y: np.ndarray, theta: np.ndarray, b: np.ndarray, kind: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Targets, coefficients and constants, and the unit `size`. For 32 bits, the constants are
    subtracted from the targets, which are divided by `size`, so that they keep their digits."""
    if kind == np.float64:
        return Y, theta, b, 1.0
    size = power_of_two(float(np.abs(Y - b).max(initial=0.0)))
    return ((Y - b) / size).astype(kind), (theta / size).astype(kind), np.zeros_like(b), size


class KDPP:
    """k-DPPs: random subsets C of k rows with Pr(C) proportional to det K_CC, which favours diverse
    rows.

    Parameters
    ----------
    kernel : as in `Nystroem`, "precomputed" included.
    method : {"auto", "exact", "rejection", "swap", "greedy"}
        "exact" decomposes the n × n matrix. From 800 rows on, a first call for one subset computes
        all eigenvalues of K and only a few eigenvectors. The next call computes all eigenvectors,
        which takes three times as long; later draws are cheap. "rejection" is exact as well and
        never stores an n × n matrix; it suits subsets of up to about a hundred rows. "swap" runs a
        Markov chain for `steps` steps before each draw, so its draws are approximate. "greedy" is
        no random draw: it always adds the row that raises ln det K_CC most. "auto" is "exact" up to
        2000 rows, "rejection" for subsets of up to sqrt(n) rows, otherwise "swap". With groups,
        only "auto", "swap" and "greedy" are possible, and "auto" is "swap".
    steps : int, default=3000
        The steps of the Markov chain before each draw.
    n_jobs : int or None
        Number of threads; None: one for each core.
    """

    #: The largest number of rows for which "auto" is "exact".
    EXACT_UP_TO = 2000
    #: From this number of rows, the first subset is drawn without computing all eigenvectors.
    ONCE_FROM = 800

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        method: str = "auto",
        steps: int = 3000,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.method = method
        self.steps = steps
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, *, quality: Any = None, groups: Any = None) -> KDPP:
        """Stores the rows of X, which may be sparse. With `method="exact"` the spectrum is computed
        when subsets are drawn.

        `quality` has a positive number q for each row: K_ij becomes q_i K_ij q_j, so that good rows
        are drawn more often. `groups` has a label for each row: then subsets have a given number of
        rows of each group (`quotas` of `sample`).

        A precomputed kernel matrix must be real, symmetric and positive semi-definite up to
        rounding. If it is not positive semi-definite, the ValueError gives the smallest eigenvalue.
        With up to 5000 rows a factorisation checks this. With more, only the 2 × 2 submatrices of
        all pairs of rows are checked."""
        if self.method not in ("auto", "exact", "rejection", "swap", "greedy"):
            raise ValueError(
                f"method = {self.method!r} is unknown; use auto, exact, rejection, swap or greedy"
            )
        if groups is not None and self.method == "rejection":
            raise ValueError(
                'method = "rejection" has no draws within quotas; use auto, swap, greedy, or, for '
                "two or three groups, exact"
            )
        self._spec, self._rows = _problem(X, self.kernel)
        if self._spec[0] == "precomputed":
            check_psd(self._spec[1])
        self._quality = None if quality is None else _weights(quality, self._rows.shape[0])
        self._labels: Any = None
        self._groups: Any = None
        if groups is not None:
            labels = np.asarray(groups)
            if labels.shape != self._rows.shape[:1]:
                raise ValueError(
                    f"groups has shape {labels.shape}; it needs one label for each of the "
                    f"{self._rows.shape[0]} rows"
                )
            self._labels, codes = np.unique(labels, return_inverse=True)
            self._groups = codes.reshape(-1).tolist()
        self._sampler: Any = None
        self._prepared: Any = None
        self._once = self._rows.shape[0] >= self.ONCE_FROM
        return self

    def sample(
        self,
        size: int,
        n_samples: int = 1,
        *,
        given: Any = None,
        quotas: dict[Any, int] | None = None,
        random_state: Any = None,
    ) -> np.ndarray:
        """Draws `n_samples` subsets of `size` rows each: the row indices, n_samples × size.

        Every subset includes the rows `given`, which come first and count in `size`: the others are
        drawn from the k-DPP conditioned on them. `quotas` has the number of rows of each group of
        `fit`, for example `{"a": 3, "b": 5}`; other groups have none. Without it, the rows are
        shared in proportion to the sizes of the groups, by largest remainders. The greedy choice
        has fewer columns if further rows would add no volume."""
        seed, method = seed_of(random_state), self._how(size)
        if quotas is not None and self._groups is None:
            raise ValueError("quotas need groups; pass groups to fit")
        if method == "greedy" and n_samples != 1:
            raise ValueError('method = "greedy" gives one subset; leave out n_samples')
        constrained = given is not None or self._quality is not None or self._groups is not None
        if constrained or method == "greedy":
            draws = _native.subsets(
                self._spec,
                self._rows,
                size,
                n_samples,
                method,
                self.steps,
                seed,
                self._quality,
                [] if given is None else _rows_of(given),
                self._groups,
                self._numbers(quotas),
                self.n_jobs,
            )
            return np.array(draws, dtype=np.int64).reshape(n_samples, -1)
        if method == "exact" and self._once and n_samples == 1 and self._sampler is None:
            spec, rows = self._wide()
            draws = _native.k_dpp(spec, rows, size, 1, method, 0, seed, self.n_jobs)
            self._once = False
        elif method == "exact":
            draws = self._exact().sample(size, n_samples, seed, self.n_jobs)
        elif method == "rejection":
            of_size = self._by_rejection(size)
            draws = of_size.sample(self._spec, self._rows, n_samples, seed, self.n_jobs)
        else:
            draws = _native.k_dpp(
                self._spec, self._rows, size, n_samples, method, self.steps, seed, self.n_jobs
            )
        return np.array(draws, dtype=np.int64).reshape(n_samples, size)

    def inclusion_probabilities(self, size: int) -> np.ndarray:
        """The probability of each row to be in a subset of `size` rows. Decomposes the n × n
        matrix. Not known within quotas."""
        return np.asarray(self._exact().inclusion(size))

    def log_probability(self, rows: Any) -> float:
        """ln Pr(C) of the subset C = `rows` among the subsets of its size. Decomposes the n × n
        matrix. Not known within quotas."""
        return self._exact().log_probability([int(row) for row in rows])

    def log_det(self, rows: Any) -> float:
        """ln det K_CC of the subset C = `rows`; of diag(q) K diag(q) if the rows have a
        quality q."""
        self._fitted()
        items = [int(row) for row in rows]
        volume = _native.log_det(self._spec, self._rows, items)
        if self._quality is not None:
            volume += 2 * sum(math.log(self._quality[item]) for item in items)
        return volume

    def _numbers(self, quotas: dict[Any, int] | None) -> list[int] | None:
        """The quota of each group, in the order of the labels."""
        if quotas is None:
            return None
        labels = self._labels.tolist()
        for label in quotas:
            if label not in labels:
                known = ", ".join(repr(known) for known in labels[:10])
                raise ValueError(f"quotas: there is no group {label!r}; the groups are {known}")
        numbers = [int(quotas.get(label, 0)) for label in labels]
        if min(numbers) < 0:
            raise ValueError(f"quotas = {quotas!r}; they must not be negative")
        return numbers

    def _how(self, size: int) -> str:
        self._fitted()
        if self.method != "auto":
            return self.method
        if self._groups is not None:
            return "swap"
        n = self._rows.shape[0]
        if n <= self.EXACT_UP_TO:
            return "exact"
        return "rejection" if size**2 <= n else "swap"

    def _exact(self) -> Any:
        self._fitted()
        if self._groups is not None:
            raise ValueError("probabilities within quotas are not known; fit without groups")
        if self._sampler is None:
            self._sampler = _native.KDppSampler(*self._wide(), self._quality, self.n_jobs)
        return self._sampler

    def _by_rejection(self, size: int) -> Any:
        # the preparation is kept for further draws of the same size
        if self._prepared is None or self._prepared[0] != size:
            sampler = _native.RejectionSampler(self._spec, self._rows, size, self.n_jobs)
            self._prepared = (size, sampler)
        return self._prepared[1]

    def _wide(self) -> tuple[Any, Any]:
        """Kernel and rows in double precision."""
        spec = self._spec
        if spec[0] == "precomputed":
            spec = ("precomputed", np.asarray(spec[1], dtype=np.float64))
        return spec, self._rows.astype(np.float64, copy=False)

    def _fitted(self) -> None:
        if not hasattr(self, "_rows"):
            raise ValueError("this KDPP is not fitted; call fit(X) first")

    def __getstate__(self) -> dict[str, Any]:
        # the spectrum and the preparation of draws are not pickled but computed again
        left_out = {"_sampler": None, "_prepared": None} if hasattr(self, "_rows") else {}
        return self.__dict__ | left_out


def _weights(quality: Any, n: int) -> list[float]:
    """The quality of n rows."""
    weights = np.asarray(quality, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"quality has shape {weights.shape}; it needs one number per row, of {n}")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if len(wrong):
        raise ValueError(
            f"quality[{wrong[0]}] = {weights[wrong[0]]}; every entry must be positive and finite: "
            "leave out the rows that must not be drawn"
        )
    return weights.tolist()


def _rows_of(given: Any) -> list[int]:
    """The rows `given`."""
    rows = np.asarray(given)
    if rows.ndim != 1 or not (rows.size == 0 or np.issubdtype(rows.dtype, np.integer)):
        raise ValueError(f"given must be a list of row indices, not {given!r}")
    if np.any(rows < 0):
        raise ValueError(f"given has the row {rows.min()}; rows are counted from 0")
    return rows.tolist()


__all__ = [
    "CertificateReport",
    "KDPP",
    "Kernel",
    "PartialCholesky",
    "audit",
    "certificate",
    "effective_dimension",
    "landmarks",
    "leverage_scores",
    "rp_cholesky",
]
