"""Kernel ridge regression: exact, and at landmarks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._centers import choose
from ._checks import rows, rows_and_targets, seed_of
from ._units import Units, power_of_two
from ._kernels import positive, spec_of, whole


#: Rows up to which `KernelRidge` may factor its matrix.
MOST_DIRECT = 12_000


def is_slow(spec: Any) -> bool:
    """Whether Python computes the kernel."""
    parts = [part for part in spec[1:] if isinstance(part, tuple)]
    return spec[0] == "blocks" or any(map(is_slow, parts))


def ridges(alphas: Any, n: int) -> np.ndarray:
    """The ridges that are compared; "auto" takes lambda from 1e-1 to 1e-10."""
    if isinstance(alphas, str):
        if alphas != "auto":
            raise ValueError(f"alphas = {alphas!r}; take 'auto' or positive numbers")
        return n * np.geomspace(1e-1, 1e-10, 28)
    return np.atleast_1d(np.asarray(alphas, dtype=float))


def evaluate(
    spec: Any, X: np.ndarray, centers: np.ndarray, theta: np.ndarray, b: Any, n_jobs: int | None
) -> np.ndarray:
    """sum_j theta_j k(x, z_j) + b. Kernel values have the type of the centres, and results that of
    the coefficients."""
    b = np.atleast_1d(b).astype(float)
    if theta.dtype == centers.dtype:
        return _native.predict(spec, X, centers, theta, b.tolist(), n_jobs)
    sizes = np.array([power_of_two(size) for size in np.abs(theta).max(axis=0, initial=0.0)])
    narrow = np.ascontiguousarray(theta / sizes, dtype=centers.dtype)
    f = _native.predict(spec, X, centers, narrow, [0.0] * len(sizes), n_jobs)
    return f.astype(theta.dtype) * sizes + b


class _Ridge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """f(x) = sum_j theta_j k(x, z_j) + b."""

    def _spec(self, n_features: int) -> tuple[Any, ...]:
        return spec_of(
            self.kernel,
            n_features,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
        )

    def _keep(self, coefficients: np.ndarray, intercept: np.ndarray, single: bool) -> None:
        self.dual_coef_ = coefficients.ravel() if single else coefficients
        self.intercept_ = float(intercept[0]) if single else intercept

    def _predict(self, X: np.ndarray, centers: np.ndarray) -> np.ndarray:
        theta = self.dual_coef_.reshape(len(self.dual_coef_), -1)
        X = X.astype(centers.dtype, copy=False)
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
        """The state with these rows, which was one over the centres `before`."""
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
        """The constant about which targets are summed, and their units, as of the first rows."""
        means = Y.mean(axis=0, dtype=float) - units.offset if self.fit_intercept else None
        if means is not None and units.kind != np.float64:
            means = np.zeros(len(means))  # they are summed about the offset of the units
        self._units, self._offset = units, None if means is None else means.tolist()

    def _solve(
        self, spec: tuple[Any, ...], state: bytes, grid: np.ndarray, targets: int, single: bool
    ) -> None:
        """The fit to the rows of a state, with the best of the ridges."""
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
        """Keeps what a fit says of itself, and warns if it did not converge."""
        self.solver_ = told["solver"]
        self.n_iter_ = told.get("iterations", 1)
        if told.get("stop", "Converged") not in ("Converged", "Asked"):
            most = "maxiter" if hasattr(self, "maxiter") else "max_iter"
            text = (
                f"no convergence after {told['iterations']} iterations: relative residual "
                f"{told['residual']:.1e}, above tol; raise {most}, tol or the ridge"
            )
            warnings.warn(text, ConvergenceWarning, stacklevel=3)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class KernelRidge(_Ridge):
    """Kernel ridge regression as defined, on all rows: scikit-learn's `KernelRidge`, with a
    constant and without its n × n matrix.

    Parameters
    ----------
    alpha : float or one for each target, default=1
        Added to the diagonal of K; n times the lambda of the literature.
    kernel, gamma, degree, coef0, kernel_params
        As in scikit-learn; `kernel` may also be one of nystrom's, or of `gaussian_process`.
    fit_intercept : bool, default=False
        Whether to fit a constant, exactly.
    solver : {"auto", "direct", "iterative"}
        A Cholesky factorisation (half an n × n matrix), or conjugate gradients with a
        preconditioner by randomly pivoted Cholesky (no n × n matrix). "auto" is direct up to 2000
        rows and iterative beyond 12,000. Between, iterations go on to a residual of 1e-10 where
        that takes less time than a factorisation, as with ridges that are not tiny.
    tol, max_iter
        The relative residual at which the iterations stop, and most of them.
    memory : int or None
        Bytes that the iterations may take to keep kernel values rather than compute them again.
    random_state : the seed of the preconditioner; it does not change the solution.
    n_jobs : threads; None is one for each core.

    Attributes
    ----------
    dual_coef_, X_fit_ : as in scikit-learn.
    intercept_ : the constant; 0 without.
    solver_, n_iter_ : how the system was solved, and in how many iterations (1: directly).
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelRidge:
        """Fits y at the rows of X."""
        X, Y, weights, units, single = rows_and_targets(self, X, y, sample_weight)
        alphas = np.broadcast_to(np.asarray(self.alpha, dtype=float), (Y.shape[1],))
        if np.isnan(alphas).any():
            raise ValueError(f"alpha = {self.alpha} is not valid: it must be positive and finite")
        direct = {"auto": None, "direct": True, "iterative": False}
        if self.solver not in direct:
            raise ValueError(f"solver = {self.solver!r} is unknown; there are {', '.join(direct)}")
        tolerance, most = positive("tol", self.tol), whole("max_iter", self.max_iter, 1)
        spec, points = self._problem(X)
        how = direct[self.solver]
        if self.solver == "auto" and is_slow(spec):  # iterations compute more values
            how = len(X) <= MOST_DIRECT
        theta, b, Y = np.empty(Y.shape, dtype=X.dtype), np.empty(Y.shape[1]), units.inward(Y)
        # one solve for all targets of the same alpha
        for alpha in np.unique(alphas):
            some = alphas == alpha
            fitted = _native.exact(
                spec,
                points,
                Y[:, some],
                weights,
                float(alpha),
                intercept=self.fit_intercept,
                direct=how,
                tolerance=tolerance,
                max_iterations=most,
                memory=self.memory,
                seed=seed_of(self.random_state),
                n_jobs=self.n_jobs,
            )
            theta[:, some], b[some] = fitted[:2]
            self._tell(fitted[2])
        self.X_fit_ = X
        self._keep(*units.outward(theta, b), single)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """f at the rows of X; with a precomputed kernel X is that between them and X_fit_."""
        check_is_fitted(self)
        X = rows(self, X, reset=False)
        if self.kernel == "precomputed":
            kind = self.dual_coef_.dtype
            return (X.astype(kind, copy=False) @ self.dual_coef_ + self.intercept_).astype(kind)
        return self._predict(X, self.X_fit_)

    def _problem(self, X: np.ndarray) -> tuple[tuple[Any, ...], np.ndarray]:
        if self.kernel != "precomputed":
            return self._spec(X.shape[1]), X
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed kernel matrix is square, and X has shape {X.shape}")
        return ("precomputed", X), np.arange(len(X), dtype=X.dtype).reshape(-1, 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class NystroemRidge(_Ridge):
    """Kernel ridge regression at landmarks, with alpha chosen by exact leave-one-out errors.

    One decomposition gives the leave-one-out and the generalised cross-validation error at every
    alpha. Nothing n × n is held, and memory does not grow with the number of rows.

    Parameters
    ----------
    alphas : "auto" or floats
        The ridges that are compared; each is n times the lambda of the literature. "auto" takes
        28 values of lambda from 1e-1 to 1e-10. One value alone is taken without a comparison.
    kernel, gamma, degree, coef0, kernel_params
        As in `KernelRidge`, but "rbf" by default and without "precomputed".
    n_components, landmarks, random_state, n_jobs
        As in `Nystroem`.
    fit_intercept : bool, default=True
    criterion : {"loo", "gcv"}
    alpha_per_target : bool, default=False
        Whether each target has an alpha of its own.

    Attributes
    ----------
    alpha_ : what was chosen, for all targets or for each.
    best_score_ : minus the mean square of its leave-one-out residuals.
    alphas_, loo_, gcv_, effective_dimension_ : the whole path, if there is one.
    components_, component_indices_, dual_coef_, intercept_
    """

    def __init__(
        self,
        alphas: Any = "auto",
        *,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: float | None = None,
        coef0: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        landmarks: Any = "rpcholesky",
        fit_intercept: bool = True,
        criterion: str = "loo",
        alpha_per_target: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alphas = alphas
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.landmarks = landmarks
        self.fit_intercept = fit_intercept
        self.criterion = criterion
        self.alpha_per_target = alpha_per_target
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NystroemRidge:
        """Fits y at the rows of X."""
        X, Y, weights, units, single = rows_and_targets(
            self, X, y, sample_weight, ensure_min_samples=2
        )
        if self.criterion not in ("loo", "gcv"):
            raise ValueError(f"criterion = {self.criterion!r} is unknown; there are loo and gcv")
        for seen in ("_state", "_units", "n_seen_"):
            self.__dict__.pop(seen, None)
        grid = ridges(self.alphas, len(X))
        spec = self._spec(X.shape[1])
        chosen, self.components_ = choose(
            spec, X, self.landmarks, self.n_components, self.random_state, self.n_jobs
        )
        if chosen is not None:
            self.component_indices_ = chosen
        theta, b, best, errors, told = _native.nystrom_path(
            spec,
            X,
            units.inward(Y),
            weights,
            self.components_,
            grid.tolist(),
            intercept=self.fit_intercept,
            gcv=self.criterion == "gcv",
            per_target=self.alpha_per_target,
            n_jobs=self.n_jobs,
        )
        self._tell(told)
        self._keep(*units.outward(theta, b), single)
        self.alpha_ = grid[best] if self.alpha_per_target and not single else float(grid[best[0]])
        if len(grid) > 1:
            squares = units.squares(errors[:, :2])
            self.alphas_, self.loo_, self.gcv_ = grid, squares[:, 0], squares[:, 1]
            self.effective_dimension_ = errors[:, 2]
            self.best_score_ = -float(self.loo_[best[0]])
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> NystroemRidge:
        """Takes the rows of X after those of earlier calls, in memory that does not grow.

        The first call chooses the landmarks among its rows, once and for all. All calls together
        give what one pass over all rows would; alpha is chosen by generalised cross-validation.
        `fit` forgets the rows.
        """
        first = not hasattr(self, "_state")
        X, Y, weights, units, single = rows_and_targets(self, X, y, sample_weight, reset=first)
        spec = self._spec(X.shape[1])
        if first:
            chosen, self.components_ = choose(
                spec, X, self.landmarks, self.n_components, self.random_state, self.n_jobs
            )
            if chosen is not None:
                self.component_indices_ = chosen
            self._begin_rows(Y, units)
        elif Y.shape[1] != (1 if self.dual_coef_.ndim == 1 else self.dual_coef_.shape[1]):
            raise ValueError(f"y has {Y.shape[1]} targets, and the rows before had another number")
        seen = getattr(self, "n_seen_", 0) + len(X)
        grid = ridges(self.alphas, seen)
        self._state = self._accumulate(spec, X, Y, weights, getattr(self, "_state", None), None)
        self.n_seen_ = seen
        self._solve(spec, self._state, grid, Y.shape[1], single)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """f at the rows of X."""
        check_is_fitted(self)
        return self._predict(rows(self, X, reset=False), self.components_)
