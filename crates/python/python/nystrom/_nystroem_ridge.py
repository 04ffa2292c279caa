"""Kernel ridge regression with landmarks, solved for many ridges at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._centers import choose
from ._checks import refuse_sparse_parts, rows, rows_and_targets
from ._ridge import _Ridge, ridges
from ._shown import Facts, landmarks_text, short


#: The attributes of a fit that compares ridges by leave-one-out errors.
COMPARED = ("alphas_", "loo_", "gcv_", "effective_dimension_", "best_score_")


class NystroemRidge(_Ridge):
    """Kernel ridge regression with landmarks, with alpha chosen by exact leave-one-out errors.

    One decomposition gives the leave-one-out error and the generalised cross-validation error at
    every alpha. No n × n matrix is stored, and the memory of the fit does not grow with the number
    of rows.

    Parameters
    ----------
    alphas : "auto", float or list of float, default="auto"
        The ridges to compare; each is n times the lambda of the literature. "auto": 28 values of
        lambda from 1e-1 to 1e-10. A single value is used without a comparison.
    kernel : str, kernel or callable, default="rbf"
        A kernel of nystrom, one of scikit-learn's names or of its Gaussian-process kernels, or a
        function of two points (slow).
    gamma, coef0, degree, kernel_params : default=None
        Parameters of a kernel given by name, as in scikit-learn.
    n_components : int, default=100
        Number of landmarks.
    landmarks : str or array, default="rpcholesky"
        The name of a method ("uniform", "rpcholesky", "leverage", "kdpp", ...: see
        `nystrom.landmarks`), an array of row indices, or points.
    fit_intercept : bool, default=True
        Whether to fit an unpenalised constant.
    criterion : {"loo", "gcv"}, default="loo"
        The error that chooses alpha: leave-one-out or generalised cross-validation.
    alpha_per_target : bool, default=False
        Whether alpha is chosen for each target separately, by leave-one-out.
    random_state : int, RandomState or None, default=None
        The seed.
    n_jobs : int or None, default=None
        Number of threads; None: one for each core.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
        The chosen ridge, one for all targets or one for each.
    best_score_ : float
        Minus the mean squared leave-one-out residual at the chosen alpha.
    alphas_, loo_, gcv_, effective_dimension_ : ndarray of shape (n_alphas,)
        The ridges compared, and at each of them the mean squared leave-one-out error, the
        generalised cross-validation error and the effective dimension; absent if `alphas` is a
        single value.
    components_ : ndarray or sparse matrix of shape (n_components, n_features_in_)
        The landmarks, sparse if X is.
    component_indices_ : ndarray of shape (n_components,)
        Their row indices in X; absent if points were given.
    dual_coef_ : ndarray of shape (n_components,) or (n_components, n_targets)
        The coefficients of the landmarks.
    intercept_ : float or ndarray of shape (n_targets,)
        The constant; 0 if none is fitted.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from nystrom import NystroemRidge
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> y = np.sin(X[:, 0])
    >>> model = NystroemRidge(n_components=30, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 3)
    1.0
    >>> print(model)  # doctest: +ELLIPSIS
    NystroemRidge(n_components=30, random_state=0)
      error    RMSE ..., leave-one-out
      kernel   rbf
      centres  30 by rpcholesky
      ridge    ...
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
        """Fits the targets y of the rows of X, which may be a sparse matrix of SciPy."""
        X, Y, weights, units, single = rows_and_targets(
            self, X, y, sample_weight, ensure_min_samples=2
        )
        if self.criterion not in ("loo", "gcv"):
            raise ValueError(f"criterion = {self.criterion!r} is unknown; use 'loo' or 'gcv'")
        for earlier in ("_state", "_units", "n_seen_", *COMPARED):
            self.__dict__.pop(earlier, None)
        grid = ridges(self.alphas, X.shape[0])
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
        """Adds the rows of X to those of earlier calls, in memory that does not grow with the
        number of calls.

        The first call chooses the landmarks among its rows; later calls keep them. The model after
        several calls is that of one pass over all their rows. Alpha is chosen by generalised
        cross-validation. `fit` discards the rows of earlier calls. X must be dense.
        """
        refuse_sparse_parts(X)
        first = not hasattr(self, "_state")
        X, Y, weights, units, single = rows_and_targets(self, X, y, sample_weight, reset=first)
        spec = self._spec(X.shape[1])
        if first:
            for earlier in COMPARED:
                self.__dict__.pop(earlier, None)
            chosen, self.components_ = choose(
                spec, X, self.landmarks, self.n_components, self.random_state, self.n_jobs
            )
            if chosen is not None:
                self.component_indices_ = chosen
            self._begin_rows(Y, units)
        elif Y.shape[1] != (1 if self.dual_coef_.ndim == 1 else self.dual_coef_.shape[1]):
            raise ValueError(f"y has {Y.shape[1]} targets, but earlier rows had another number")
        seen = getattr(self, "n_seen_", 0) + len(X)
        grid = ridges(self.alphas, seen)
        self._state = self._accumulate(spec, X, Y, weights, getattr(self, "_state", None), None)
        self.n_seen_ = seen
        self._solve(spec, self._state, grid, Y.shape[1], single)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions for the rows of X."""
        check_is_fitted(self)
        return self._predict(rows(self, X, reset=False), self.components_)

    def _error(self) -> Facts:
        if hasattr(self, "best_score_"):
            return [("error", f"RMSE {short(np.sqrt(-self.best_score_))}, leave-one-out")]
        if hasattr(self, "gcv_"):
            text = f"RMSE {short(np.sqrt(np.min(self.gcv_)))}, generalised cross-validation"
            return [("error", text)]
        return []

    def _centers(self) -> str:
        return landmarks_text(self.components_.shape[0], self.landmarks)
