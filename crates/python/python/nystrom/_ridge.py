"""Kernel ridge regression: what all its estimators share, and the exact one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._bits import takes_bits
from ._checks import rows, rows_and_targets, seed_of
from ._kernels import is_slow, positive, spec_of, whole
from ._shown import Facts, _Shown, kernel_text, short
from ._sparse import like
from ._units import Units, power_of_two


#: The largest number of rows for which `KernelRidge` with "auto" may factor its matrix.
MOST_DIRECT = 12_000


def ridges(alphas: Any, n: int) -> np.ndarray:
    """The ridges to compare. "auto": n lambda for 28 values of lambda from 1e-1 to 1e-10."""
    if isinstance(alphas, str):
        if alphas != "auto":
            raise ValueError(f"alphas = {alphas!r}; use 'auto' or positive numbers")
        return n * np.geomspace(1e-1, 1e-10, 28)
    return np.atleast_1d(np.asarray(alphas, dtype=float))


def evaluate(
    spec: Any, X: Any, centers: Any, theta: np.ndarray, b: Any, n_jobs: int | None
) -> np.ndarray:
    """f(x) = sum_j theta_j k(x, z_j) + b at the rows of X. Kernel values have the type of the
    centres, results the type of the coefficients."""
    b = np.atleast_1d(b).astype(float)
    if theta.dtype == centers.dtype:
        return _native.predict(spec, X, centers, theta, b.tolist(), n_jobs)
    sizes = np.array([power_of_two(size) for size in np.abs(theta).max(axis=0, initial=0.0)])
    narrow = np.ascontiguousarray(theta / sizes, dtype=centers.dtype)
    f = _native.predict(spec, X, centers, narrow, [0.0] * len(sizes), n_jobs)
    return f.astype(theta.dtype) * sizes + b


class _Ridge(MultiOutputMixin, RegressorMixin, _Shown, BaseEstimator):
    """The base class of estimators of the form f(x) = sum_j theta_j k(x, z_j) + b."""

    def _spec(self, n_features: int) -> tuple[Any, ...]:
        return spec_of(
            self.kernel,
            n_features,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
        )

    def _facts(self) -> Facts:
        facts = [*self._error(), ("kernel", kernel_text(self)), ("centres", self._centers())]
        ridge = np.unique(self._ridge())
        text = short(ridge[0]) if len(ridge) == 1 else f"{short(ridge[0])} to {short(ridge[-1])}"
        return [*facts, ("ridge", text)]

    def _error(self) -> Facts:
        """The error that the fit knows."""
        return []

    def _centers(self) -> str:
        """The number of centres, and how they were chosen."""
        raise NotImplementedError

    def _ridge(self) -> Any:
        """The ridge, or one for each target."""
        return self.alpha_

    def _solver(self) -> Facts:
        iterations = "" if self.n_iter_ == 1 else f", {self.n_iter_} iterations"
        return [("solver", f"{self.solver_}{iterations}")]

    def _keep(self, coefficients: np.ndarray, intercept: np.ndarray, single: bool) -> None:
        self.dual_coef_ = coefficients.ravel() if single else coefficients
        self.intercept_ = float(intercept[0]) if single else intercept

    def _predict(self, X: Any, centers: Any) -> np.ndarray:
        theta = self.dual_coef_.reshape(len(self.dual_coef_), -1)
        X = like(X, centers)
        f = evaluate(self._spec(X.shape[1]), X, centers, theta, self.intercept_, self.n_jobs)
        return f.ravel() if self.dual_coef_.ndim == 1 else f

    def _accumulate(
        self,
        spec: tuple[Any, ...],
        X: np.ndarray,
        Y: np.ndarray,
        weights: np.ndarray | None,
        state: bytes | None,
        before: np.ndarray | None,
    ) -> bytes:
        """Adds these rows to a state, as bytes. `before` holds the centres of the state; None: they
        are the current ones."""
        kind = self.components_.dtype
        return _native.accumulate(
            spec,
            X.astype(kind, copy=False),
            self._units.inward(Y),
            None if weights is None else weights.astype(kind, copy=False),
            self.components_,
            state,
            offset=self._offset,
            before=before,
            n_jobs=self.n_jobs,
        )

    def _begin_rows(self, Y: np.ndarray, units: Units) -> None:
        """Sets the units of the targets and the offset that is subtracted from them in sums, from
        the first rows."""
        means = Y.mean(axis=0, dtype=float) - units.offset if self.fit_intercept else None
        if means is not None and units.kind != np.float64:
            means = np.zeros(len(means))  # the units already subtract their offset
        self._units, self._offset = units, None if means is None else means.tolist()

    def _solve(
        self, spec: tuple[Any, ...], state: bytes, grid: np.ndarray, targets: int, single: bool
    ) -> None:
        """Fits the rows of a state at the ridge with the smallest GCV error."""
        theta, b, best, errors = _native.solve(
            spec,
            self.components_,
            state,
            grid.tolist(),
            offset=self._offset,
            targets=targets,
            n_jobs=self.n_jobs,
        )
        self._keep(*self._units.outward(theta, b), single)
        self.solver_, self.n_iter_ = "NormalEquations", 1
        self.gcv_ = self._units.squares(np.array(errors))
        self.alphas_, self.alpha_ = grid, float(grid[best])

    def _tell(self, told: dict[str, Any]) -> None:
        """Stores the solver and the number of iterations, and warns if the fit did not converge."""
        self.solver_ = told["solver"]
        self.n_iter_ = told.get("iterations", 1)
        if told.get("stop", "Converged") not in ("Converged", "Asked"):
            most = "maxiter" if hasattr(self, "maxiter") else "max_iter"
            text = (
                f"no convergence after {told['iterations']} iterations: relative residual "
                f"{told['residual']:.1e} is above tol; raise {most}, tol or the ridge"
            )
            warnings.warn(text, ConvergenceWarning, stacklevel=3)
        if told.get("notice"):
            warnings.warn(told["notice"], RuntimeWarning, stacklevel=3)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not takes_bits(self.kernel)
        return tags


class KernelRidge(_Ridge):
    """Exact kernel ridge regression on all rows: scikit-learn's `KernelRidge`, with an optional
    constant, and for many rows without an n × n matrix.

    Parameters
    ----------
    alpha : float, or one float per target, default=1
        The ridge, added to the diagonal of K. It is n times the lambda of the literature.
    kernel : str, kernel or callable, default="linear"
        As in scikit-learn. It may also be a kernel of nystrom or of `sklearn.gaussian_process`.
    gamma : float or None, default=None
    degree : float, default=3
    coef0 : float, default=1
    kernel_params : dict or None, default=None
        Parameters of a kernel given by name, as in scikit-learn.
    fit_intercept : bool, default=False
        Whether to fit an unpenalised constant.
    solver : {"auto", "direct", "iterative"}, default="auto"
        "direct": Cholesky factorisation, which stores half an n × n matrix. "iterative": conjugate
        gradients, preconditioned by randomly pivoted Cholesky, without an n × n matrix. "auto":
        direct below 2000 rows, iterative above 12,000. In between it runs at most 40 iterations
        towards a relative residual of 1e-10 (1e-6 in 32 bits), which is faster than a factorisation
        unless the ridge is tiny. If they do not converge it is direct. If Python evaluates the
        kernel, "auto" is direct up to 12,000 rows.
    tol : float, default=1e-6
        The relative residual at which the iterations stop.
    max_iter : int, default=100
        The maximum number of iterations.
    memory : int or None, default=None
        The limit of the memory of the iterations, in bytes. Kernel values that fit are stored
        instead of evaluated again.
    random_state : int, RandomState or None, default=None
        The seed of the preconditioner. The solution depends on it only within `tol`.
    n_jobs : int or None, default=None
        Number of threads; None: one for each core.
    gpu : bool or str, default=False
        True: the iterations multiply by K on the best graphics card of this computer. A text: on
        the card whose name contains it. Rows are converted to 64 bits, sparse ones to dense ones.
        If the card is lost, the CPU continues from the last iterate, and a warning says so.
        `predict` computes on the CPU.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The coefficients of the rows.
    intercept_ : float or ndarray of shape (n_targets,)
        The constant; 0 if none is fitted.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features_in_)
        The rows, sparse if X is; if the kernel is precomputed, its matrix.
    solver_ : str
        The solver that was used.
    n_iter_ : int
        The number of its iterations; 1 if it is direct.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from nystrom import KernelRidge, Matern
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> y = np.sin(X[:, 0])
    >>> model = KernelRidge(1e-4, kernel=Matern(2.5)).fit(X, y)
    >>> round(model.score(X, y), 3)
    1.0
    >>> print(model)
    KernelRidge(alpha=0.0001, kernel=Matern(nu=2.5))
      kernel   Matern(nu=2.5)
      centres  all 200 rows
      ridge    0.0001
      solver   ExactCholesky
    """

    def __init__(
        self,
        alpha: Any = 1,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        fit_intercept: bool = False,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 100,
        memory: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        gpu: bool | str = False,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.gpu = gpu

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelRidge:
        """Fits the targets y of the rows of X, which may be a sparse matrix of SciPy."""
        if self.gpu and self.solver == "direct":
            raise ValueError('gpu needs iterations; use solver="iterative" or gpu=False')
        kind: dict[str, Any] = {}
        if self.gpu:
            kind = {"dtype": np.float64, "takes_sparse_rows": False}
        X, Y, weights, units, single = rows_and_targets(self, X, y, sample_weight, **kind)
        alphas = np.broadcast_to(np.asarray(self.alpha, dtype=float), (Y.shape[1],))
        if np.isnan(alphas).any():
            raise ValueError(f"alpha = {self.alpha} is not valid: it must be positive and finite")
        direct = {"auto": None, "direct": True, "iterative": False}
        if self.solver not in direct:
            raise ValueError(f"solver = {self.solver!r} is unknown; use one of {', '.join(direct)}")
        tolerance, most = positive("tol", self.tol), whole("max_iter", self.max_iter, 1)
        spec, points = self._problem(X)
        how = direct[self.solver]
        if self.solver == "auto" and is_slow(spec):  # iterations evaluate more kernel values
            how = X.shape[0] <= MOST_DIRECT
        theta, b, Y = np.empty(Y.shape, dtype=X.dtype), np.empty(Y.shape[1]), units.inward(Y)
        # one solve for all targets with the same alpha
        for alpha in np.unique(alphas):
            some = alphas == alpha
            solve, where = _native.exact, {"direct": how}
            if self.gpu:
                card = self.gpu if isinstance(self.gpu, str) else None
                solve, where = _native.exact_on_gpu, {"card": card}
            fitted = solve(
                spec,
                points,
                Y[:, some],
                weights,
                float(alpha),
                intercept=self.fit_intercept,
                tolerance=tolerance,
                max_iterations=most,
                memory=self.memory,
                seed=seed_of(self.random_state),
                n_jobs=self.n_jobs,
                **where,
            )
            theta[:, some], b[some] = fitted[:2]
            self._tell(fitted[2])
        self.X_fit_ = X
        self._keep(*units.outward(theta, b), single)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions for the rows of X. If the kernel is precomputed, X is the kernel matrix
        between the new rows and the fitted rows."""
        check_is_fitted(self)
        X = rows(self, X, reset=False)
        if self.kernel == "precomputed":
            kind = self.dual_coef_.dtype
            return (X.astype(kind, copy=False) @ self.dual_coef_ + self.intercept_).astype(kind)
        return self._predict(X, self.X_fit_)

    def _facts(self) -> Facts:
        return [*super()._facts(), *self._solver()]

    def _centers(self) -> str:
        return f"all {self.X_fit_.shape[0]} rows"

    def _ridge(self) -> Any:
        return np.asarray(self.alpha, dtype=float)

    def _problem(self, X: Any) -> tuple[tuple[Any, ...], Any]:
        if self.kernel != "precomputed":
            return self._spec(X.shape[1]), X
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"a precomputed kernel matrix must be square, and X has shape {X.shape}"
            )
        return ("precomputed", X), np.arange(len(X), dtype=X.dtype).reshape(-1, 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
