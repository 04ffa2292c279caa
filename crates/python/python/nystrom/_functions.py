"""Leverage scores, landmarks, k-DPPs, certificates."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._centers import LEVERAGE_RIDGE
from ._checks import dense, seed_of
from ._kernels import Kernel, Spec, matrix, spec_of
from ._psd import check_psd
from ._units import power_of_two


def _problem(X: Any, kernel: Any) -> tuple[Spec, np.ndarray]:
    """The kernel and the rows; with "precomputed" X is the kernel matrix."""
    X = matrix(dense(X))
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
    """Ridge leverage scores `[K (K + alpha I)^-1]_ii`: how little the other rows explain of each.

    `alpha` is n times lambda; without it lambda is 1e-4. Methods: "exact" (n × n), "fast" (from
    `columns` columns), "recursive", "bless", "bless-r", "squeak" and "sa". The last goes by the
    density of the rows, without a kernel value, for stationary kernels in few dimensions.
    """
    spec, X = _problem(X, kernel)
    alpha = len(X) * LEVERAGE_RIDGE if alpha is None else float(alpha)
    return _native.leverage_scores(spec, X, alpha, method, columns, seed_of(random_state), n_jobs)


def effective_dimension(
    X: Any, kernel: Any = "rbf", alpha: float | None = None, **how: Any
) -> float:
    """The sum of the leverage scores, with the parameters of `leverage_scores`."""
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
    """The numbers of n rows that stand for all.

    Methods: "uniform", "rpcholesky", "greedy", "sparse-greedy", "kmeans++", "adaptive",
    "diagonal", "leverage" (at the ridge that suits n), "kdpp", "kdpp-exact". In proportion to
    leverage scores at `alpha`: "leverage-exact", "leverage-fast", "bless", "bless-r", "squeak",
    "sa". There may be fewer where n rows would add nothing.
    """
    spec, X = _problem(X, kernel)
    alpha = len(X) * LEVERAGE_RIDGE if alpha is None else float(alpha)
    return _native.landmarks(spec, X, n, method, alpha, seed_of(random_state), n_jobs)


@dataclass(frozen=True)
class PartialCholesky:
    """Pivots and F with F F^T ≈ K, and the trace of what is left."""

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
    """Randomly pivoted Cholesky: up to n pivots, fewer once `tolerance` of the trace is left."""
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
    """The scores of a method beside the exact ones of some random rows.

    The exact ones come from conjugate gradients: quadratic in n in time, not in memory.
    """
    spec, X = _problem(X, kernel)
    alpha = len(X) * LEVERAGE_RIDGE if alpha is None else float(alpha)
    seed = seed_of(random_state)
    return _native.audit(spec, X, alpha, method, columns, rows, seed, n_jobs)


@dataclass(frozen=True)
class CertificateReport:
    """How far a fit is from exact regression with the same kernel and alpha, in sample.

    Lengths are root mean squares over the rows, one for each target, in units of the target.
    """

    #: With the stated confidence the distance is at most this.
    bound: np.ndarray
    #: It is at least this (0 unless `passes` were asked for).
    lower: np.ndarray
    #: The root mean square of the residuals, to compare with.
    residual: np.ndarray
    confidence: float
    #: "Close", or what would help.
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
    """How far a fitted `NystroemRidge` or `Falkon` is from `KernelRidge` on all its rows.

    An upper bound from some random `rows` of K, or by `passes` over all of it bounds from both
    sides. X and y are those of the fit.
    """
    check_is_fitted(model)
    centers = model.components_
    X = matrix(dense(X)).astype(centers.dtype, copy=False)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=X.dtype)
    alpha = len(X) * model.penalty if hasattr(model, "penalty") else model.alpha_
    if np.ndim(alpha) > 0:
        raise ValueError("a certificate is of one alpha; fit with alpha_per_target=False")
    theta, b = model.dual_coef_.reshape(len(centers), -1), np.atleast_1d(model.intercept_)
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
    """Targets, coefficients and constants for 32 bits: about 0 and in units of `size`. A constant
    that was fitted stays one that is not 0."""
    if kind == np.float64:
        return Y, theta, b, 1.0
    size = power_of_two(float(np.abs(Y - b).max(initial=0.0)))
    ones = (b != 0).astype(float)
    return ((Y - b) / size + ones).astype(kind), (theta / size).astype(kind), ones, size


class KDPP:
    """Diverse subsets of rows: Pr(C) in proportion to det K_CC.

    Parameters
    ----------
    kernel : as in `Nystroem`, "precomputed" included.
    method : {"auto", "exact", "rejection", "swap"}
        "exact" is n × n: a first subset takes all eigenvalues of K and a few eigenvectors. The next
        call takes all of them, three times as long, and draws after that are cheap. "rejection" is
        exact, too, and never n × n, for subsets of up to a hundred rows or so. "swap" runs a Markov
        chain for `steps` steps before each draw. "auto" is exact up to 2000 rows and by rejection
        up to the square root of n rows in a subset.
    steps, n_jobs
    """

    #: Rows up to which "auto" decomposes K.
    EXACT_UP_TO = 2000
    #: Rows from which on a first subset is drawn without all eigenvectors.
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

    def fit(self, X: Any, y: Any = None) -> KDPP:
        """Takes the rows. With `method="exact"` their spectrum is computed when subsets are
        drawn.

        A precomputed kernel matrix must be real, symmetric and positive semi-definite, up to
        rounding; otherwise there is a ValueError with its smallest eigenvalue. That is found by a
        factorisation up to 5000 rows. Beyond, only pairs of rows are looked at."""
        if self.method not in ("auto", "exact", "rejection", "swap"):
            raise ValueError(
                f"method = {self.method!r} is unknown; there are auto, exact, rejection, swap"
            )
        self._spec, self._rows = _problem(X, self.kernel)
        if self._spec[0] == "precomputed":
            check_psd(self._spec[1])
        self._sampler: Any = None
        self._prepared: Any = None
        self._once = len(self._rows) >= self.ONCE_FROM
        return self

    def sample(self, size: int, n_samples: int = 1, *, random_state: Any = None) -> np.ndarray:
        """`n_samples` subsets of `size` rows each, by their numbers: n_samples × size."""
        seed, method = seed_of(random_state), self._how(size)
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
        """The probability of each row to be in a subset of `size`; n × n."""
        return np.asarray(self._exact().inclusion(size))

    def log_probability(self, rows: Any) -> float:
        """ln Pr(C) of a subset among those of its size; n × n."""
        return self._exact().log_probability([int(row) for row in rows])

    def log_det(self, rows: Any) -> float:
        """ln det K_CC."""
        self._fitted()
        return _native.log_det(self._spec, self._rows, [int(row) for row in rows])

    def _how(self, size: int) -> str:
        self._fitted()
        if self.method != "auto":
            return self.method
        n = len(self._rows)
        if n <= self.EXACT_UP_TO:
            return "exact"
        return "rejection" if size**2 <= n else "swap"

    def _exact(self) -> Any:
        self._fitted()
        if self._sampler is None:
            self._sampler = _native.KDppSampler(*self._wide(), self.n_jobs)
        return self._sampler

    def _by_rejection(self, size: int) -> Any:
        # draws of the last size are prepared once
        if self._prepared is None or self._prepared[0] != size:
            sampler = _native.RejectionSampler(self._spec, self._rows, size, self.n_jobs)
            self._prepared = (size, sampler)
        return self._prepared[1]

    def _wide(self) -> tuple[Any, np.ndarray]:
        """Kernel and rows in double precision."""
        spec = self._spec
        if spec[0] == "precomputed":
            spec = ("precomputed", np.asarray(spec[1], dtype=np.float64))
        return spec, self._rows.astype(np.float64, copy=False)

    def _fitted(self) -> None:
        if not hasattr(self, "_rows"):
            raise ValueError("this KDPP has no rows yet; call fit(X) first")

    def __getstate__(self) -> dict[str, Any]:
        # the spectrum, and what draws need, are computed again where they are needed
        left_out = {"_sampler": None, "_prepared": None} if hasattr(self, "_rows") else {}
        return self.__dict__ | left_out


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
