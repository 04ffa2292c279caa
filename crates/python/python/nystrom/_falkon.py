"""Kernel ridge regression with landmarks, solved by iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._centers import choose
from ._checks import rows, rows_and_targets, seed_of
from ._kernels import positive, whole
from ._ridge import _Ridge


class Falkon(_Ridge):
    """Kernel ridge regression with landmarks, solved by preconditioned conjugate gradients. The
    parameters have the names of the package Falkon.

    Falkon's preconditioner assumes that the centres are drawn uniformly. For other centres the
    preconditioner is that of KRILL, which makes no assumption about them. `solver_` is the one
    used.

    Parameters
    ----------
    kernel, gamma, degree, coef0, kernel_params
        As in `KernelRidge`, but "rbf" by default and without "precomputed".
    penalty : float, default=1e-6
        lambda. The ridge, which is added to the diagonal, is n times lambda.
    M : int, default=1000
        Number of centres. If there are fewer rows, all rows are centres.
    center_selection : as `landmarks` in `Nystroem`.
    maxiter : int, default=100
        The maximum number of iterations.
    tol : float, default=1e-6
        The true relative residual at which the iterations stop.
    fit_intercept : bool, default=False
        Whether to fit an unpenalised constant.
    memory : int or None
        The limit of the memory of the fit, in bytes. Memory that the fit does not need stores
        kernel values.
    random_state, n_jobs : as in `Nystroem`.
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | None = None,
        degree: float | None = None,
        coef0: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        penalty: float = 1e-6,
        M: int = 1000,
        center_selection: Any = "uniform",
        maxiter: int = 100,
        tol: float = 1e-6,
        fit_intercept: bool = False,
        memory: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.penalty = penalty
        self.M = M
        self.center_selection = center_selection
        self.maxiter = maxiter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Falkon:
        """Fits the targets y of the rows of X."""
        X, Y, weights, units, single = rows_and_targets(self, X, y, sample_weight)
        spec = self._spec(X.shape[1])
        count = min(whole("M", self.M, 1), len(X))
        chosen, self.components_ = choose(
            spec, X, self.center_selection, count, self.random_state, self.n_jobs
        )
        if chosen is not None:
            self.component_indices_ = chosen
        theta, b, told = _native.falkon(
            spec,
            X,
            units.inward(Y),
            weights,
            self.components_,
            len(X) * float(self.penalty),
            uniform=self._is_uniform(),
            intercept=self.fit_intercept,
            tolerance=positive("tol", self.tol),
            max_iterations=whole("maxiter", self.maxiter, 1),
            memory=self.memory,
            seed=seed_of(self.random_state),
            n_jobs=self.n_jobs,
        )
        self._tell(told)
        self._keep(*units.outward(theta, b), single)
        return self

    def _is_uniform(self) -> bool:
        """Whether the centres are drawn uniformly."""
        how = self.center_selection
        return isinstance(how, str) and how == "uniform"

    def predict(self, X: Any) -> np.ndarray:
        """Predictions for the rows of X."""
        check_is_fitted(self)
        return self._predict(rows(self, X, reset=False), self.components_)
