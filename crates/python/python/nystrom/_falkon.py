"""Kernel ridge regression at landmarks by iterations."""

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
    """Kernel ridge regression at landmarks by preconditioned conjugate gradients, with the names
    of the package Falkon.

    Falkon's preconditioner wants centres drawn uniformly. Others take that of KRILL, which asks
    nothing of them; `solver_` says which.

    Parameters
    ----------
    kernel, gamma, degree, coef0, kernel_params
        As in `KernelRidge`, but "rbf" by default and without "precomputed".
    penalty : float, default=1e-6
        lambda; n times it is added to the diagonal.
    M : int, default=1000
        How many centres (all rows if there are fewer).
    center_selection : as `landmarks` of `Nystroem`.
    maxiter, tol : most iterations, and the true relative residual at which they stop.
    fit_intercept : bool, default=False
    memory : int or None
        Bytes that the fit may take; what is left keeps kernel values.
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
        """Fits y at the rows of X."""
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
        """Whether each centre stands for as many rows as the others."""
        how = self.center_selection
        return isinstance(how, str) and how == "uniform"

    def predict(self, X: Any) -> np.ndarray:
        """f at the rows of X."""
        check_is_fitted(self)
        return self._predict(rows(self, X, reset=False), self.components_)
