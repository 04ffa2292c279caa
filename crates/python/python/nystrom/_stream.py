"""Kernel ridge regression on a stream, with SQUEAK's dictionary as landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._checks import refuse_sparse_parts, rows, rows_and_targets, seed_of
from ._kernels import whole
from ._ridge import _Ridge, ridges
from ._shown import Facts, short


def law(resolution: float, copies: int, epsilon: float, most: int) -> dict[str, Any]:
    """The parameters of SQUEAK, which must be equal in streams that are merged."""
    given = {"gamma": float(resolution), "copies": whole("copies", copies, 1), "epsilon": float(epsilon)}
    return given | {"most": whole("max_components", most, 1)}


#: The number of rows that `fit` copies at a time, in random order.
BLOCK = 8192


class SqueakRegressor(_Ridge):
    """Kernel ridge regression whose landmarks are a dictionary of rows that SQUEAK draws from a
    stream, in one pass and with memory that does not grow with the number of rows.

    The dictionary represents all rows of the stream at the ridge `resolution`. Let K be the kernel
    matrix of all rows and L its Nyström approximation from the dictionary. If `copies` is large
    enough, 0 <= K - L <= resolution / (1 - epsilon) I with high probability. The dictionary has
    about `copies` times d_eff rows, where d_eff is the effective dimension at the ridge
    `resolution`.

    `fit` shows the rows to SQUEAK in random order. A second pass over them computes the regression,
    with alpha chosen by leave-one-out errors. `partial_fit` uses each row once. When the dictionary
    changes, the sums over earlier rows are projected onto the new dictionary. A row that leaves the
    dictionary causes no error by that. In the directions of new dictionary rows, an earlier row
    contributes only its projection onto the earlier dictionary. Shuffle sorted rows before
    `partial_fit`.

    Parameters
    ----------
    kernel : str, kernel or callable, default="rbf"
        A kernel of nystrom, one of scikit-learn's names or of its Gaussian-process kernels, or a
        function of two points (slow).
    gamma, coef0, degree, kernel_params : default=None
        Parameters of a kernel given by name, as in scikit-learn.
    resolution : float, default=1
        The ridge at which the dictionary represents all rows; for n rows, n times a lambda. A
        smaller value keeps more rows.
    copies : int, default=8
        The dictionary has at most about `copies` rows per unit of effective dimension.
    epsilon : float, default=0.5
        The accuracy in the bound above, between 0 and 1.
    max_components : int, default=2000
        The maximum size of the dictionary. A larger dictionary is an error.
    alphas : "auto", float or list of float, default="auto"
        The ridges to compare, as in `NystroemRidge`. `fit` chooses by leave-one-out, `partial_fit`
        by generalised cross-validation.
    fit_intercept : bool, default=True
        Whether to fit an unpenalised constant.
    random_state : int, RandomState or None, default=None
        The seed.
    n_jobs : int or None, default=None
        Number of threads; None: one for each core.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        The rows of the dictionary.
    component_positions_ : ndarray of shape (n_components,)
        Their positions in the stream; after `fit`, their indices in X.
    component_weights_ : ndarray of shape (n_components,)
        The weight of each; the sum of the weights estimates the number of rows.
    n_seen_ : int
        The number of rows seen.
    alpha_ : float
        The chosen ridge.
    alphas_, gcv_ : ndarray of shape (n_alphas,)
        The ridges compared and, after `partial_fit`, their generalised cross-validation errors.
    dual_coef_ : ndarray of shape (n_components,) or (n_components, n_targets)
        The coefficients of the rows of the dictionary.
    intercept_ : float or ndarray of shape (n_targets,)
        The constant; 0 if none is fitted.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from nystrom import SqueakRegressor
    >>> X = np.linspace(0, 6, 400).reshape(-1, 1)
    >>> y = np.sin(X[:, 0])
    >>> model = SqueakRegressor(resolution=0.1, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 3)
    1.0
    >>> print(model)  # doctest: +ELLIPSIS
    SqueakRegressor(random_state=0, resolution=0.1)
      kernel   rbf
      centres  ... by SQUEAK, of 400 rows
      ridge    ...
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | None = None,
        degree: float | None = None,
        coef0: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        resolution: float = 1.0,
        copies: int = 8,
        epsilon: float = 0.5,
        max_components: int = 2000,
        alphas: Any = "auto",
        fit_intercept: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.resolution = resolution
        self.copies = copies
        self.epsilon = epsilon
        self.max_components = max_components
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SqueakRegressor:
        """Fits the targets y of the rows of X, which are visited in random order. Discards rows of
        earlier calls."""
        X, Y, weights, units, single = rows_and_targets(
            self, X, y, sample_weight, takes_sparse_rows=False, ensure_min_samples=2
        )
        for seen in ("_state", "_sums", "_seed", "_units"):
            self.__dict__.pop(seen, None)
        order = check_random_state(self.random_state).permutation(len(X))
        blocks = np.array_split(order, -(-len(X) // BLOCK))
        for block in blocks:
            self._push(X[block], settle=block is blocks[-1])
        self.component_positions_ = order[self.component_positions_]
        grid = ridges(self.alphas, len(X))
        theta, b, best, errors, told = _native.nystrom_path(
            self._spec(X.shape[1]),
            X,
            units.inward(Y),
            weights,
            self.components_,
            grid.tolist(),
            intercept=self.fit_intercept,
            gcv=False,
            per_target=False,
            n_jobs=self.n_jobs,
        )
        self._tell(told)
        self._keep(*units.outward(theta, b), single)
        self.alphas_, self.alpha_ = grid, float(grid[best[0]])
        for seen in ("_state", "_seed"):  # partial_fit starts without these rows
            del self.__dict__[seen]
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> SqueakRegressor:
        """Adds the rows of X to those of earlier calls. If it raises, the model is unchanged."""
        kept = self.__dict__.copy()
        try:
            return self._partial_fit(X, y, sample_weight)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(kept)
            raise

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any) -> SqueakRegressor:
        refuse_sparse_parts(X)
        first = not hasattr(self, "_sums")
        X, Y, weights, units, single = rows_and_targets(self, X, y, sample_weight, reset=first)
        if first:
            self.__dict__.pop("_state", None)
            self._begin_rows(Y, units)
            self._type = X.dtype
        elif Y.shape[1] != (1 if self.dual_coef_.ndim == 1 else self.dual_coef_.shape[1]):
            raise ValueError(f"y has {Y.shape[1]} targets, but earlier rows had another number")
        X = X.astype(self._type, copy=False)
        before, sums = (None, None) if first else (self.components_, self._sums)
        self._push(X, settle=False)
        spec, grid = self._spec(X.shape[1]), ridges(self.alphas, self.n_seen_)
        self._sums = self._accumulate(spec, X, Y, weights, sums, before)
        self._solve(spec, self._sums, grid, Y.shape[1], single)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions for the rows of X."""
        check_is_fitted(self)
        return self._predict(rows(self, X, reset=False), self.components_)

    def _error(self) -> Facts:
        if not hasattr(self, "_sums"):
            return []
        text = f"RMSE {short(np.sqrt(np.min(self.gcv_)))}, generalised cross-validation"
        return [("error", text)]

    def _centers(self) -> str:
        return f"{len(self.components_)} by SQUEAK, of {self.n_seen_} rows"

    def _push(self, X: np.ndarray, settle: bool) -> None:
        """Adds rows to SQUEAK's dictionary. `settle` shrinks it at the end."""
        if not hasattr(self, "_seed"):
            self._seed = seed_of(self.random_state)
        state = getattr(self, "_state", None)
        # a different seed for each call
        seed = self._seed + (0 if state is None else self.n_seen_)
        self._state, self.components_, positions, weights, self.n_seen_ = _native.squeak(
            self._spec(X.shape[1]),
            X,
            state,
            law(self.resolution, self.copies, self.epsilon, self.max_components),
            settle=settle,
            seed=seed,
            n_jobs=self.n_jobs,
        )
        self.component_positions_ = np.array(positions, dtype=np.int64)
        self.component_weights_ = np.array(weights)
