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
from ._shown import Facts, kernel_text, landmarks_text, short


class Falkon(_Ridge):
    """Kernel ridge regression with landmarks, solved by preconditioned conjugate gradients. The
    parameters have the names of the package Falkon.

    Falkon's preconditioner assumes that the centres are drawn uniformly. For other centres the
    preconditioner is that of KRILL, which makes no assumption about them. `solver_` is the one
    used.

    Parameters
    ----------
    kernel : str, kernel or callable, default="rbf"
        A kernel of nystrom, one of scikit-learn's names or of its Gaussian-process kernels, or a
        function of two points (slow).
    gamma, coef0, degree, kernel_params : default=None
        Parameters of a kernel given by name, as in scikit-learn.
    penalty : float, default=1e-6
        lambda. The ridge, which is added to the diagonal, is n times lambda.
    M : int, default=1000
        Number of centres. If there are fewer rows, all rows are centres.
    center_selection : str or array, default="uniform"
        The name of a method ("uniform", "rpcholesky", "leverage", "kdpp", ...: see
        `nystrom.landmarks`), an array of row indices, or points.
    maxiter : int, default=100
        The maximum number of iterations.
    tol : float, default=1e-6
        The true relative residual at which the iterations stop.
    fit_intercept : bool, default=False
        Whether to fit an unpenalised constant.
    memory : int or None, default=None
        The limit of the memory of the fit, in bytes. Memory that the fit does not need stores
        kernel values.
    random_state : int, RandomState or None, default=None
        The seed.
    n_jobs : int or None, default=None
        Number of threads; None: one for each core.

    Attributes
    ----------
    components_ : ndarray or sparse matrix of shape (M, n_features_in_)
        The centres, sparse if X is.
    component_indices_ : ndarray of shape (M,)
        Their row indices in X; absent if points were given.
    dual_coef_ : ndarray of shape (M,) or (M, n_targets)
        The coefficients of the centres.
    intercept_ : float or ndarray of shape (n_targets,)
        The constant; 0 if none is fitted.
    solver_ : str
        The solver that was used.
    n_iter_ : int
        The number of its iterations.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from nystrom import Falkon
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> y = np.sin(X[:, 0])
    >>> model = Falkon(M=30, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 3)
    1.0
    >>> print(model)  # doctest: +ELLIPSIS
    Falkon(M=30, random_state=0)
      kernel   rbf
      centres  30 by uniform
      lambda   1e-06
      solver   Falkon, ... iterations
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
        """Fits the targets y of the rows of X, which may be a sparse matrix of SciPy."""
        X, Y, weights, units, single = rows_and_targets(self, X, y, sample_weight)
        spec = self._spec(X.shape[1])
        count = min(whole("M", self.M, 1), X.shape[0])
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
            X.shape[0] * float(self.penalty),
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

    def _facts(self) -> Facts:
        facts = [("kernel", kernel_text(self)), ("centres", self._centers())]
        return [*facts, ("lambda", short(float(self.penalty))), *self._solver()]

    def _centers(self) -> str:
        return landmarks_text(self.components_.shape[0], self.center_selection)
