"""Kernel ridge regression on a stream, at the dictionary that SQUEAK keeps of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._checks import rows, rows_and_targets, seed_of
from ._kernels import whole
from ._ridge import _Ridge, ridges


def law(resolution: float, copies: int, epsilon: float, most: int) -> dict[str, Any]:
    """What all streams that merge have in common."""
    given = {"gamma": float(resolution), "copies": whole("copies", copies, 1), "epsilon": float(epsilon)}
    return given | {"most": whole("max_components", most, 1)}


#: Rows that are copied at a time to take them in random order.
BLOCK = 8192


class SqueakRegressor(_Ridge):
    """Kernel ridge regression at a dictionary of rows that SQUEAK draws from a stream. It takes one
    pass, and memory that does not grow with the rows.

    The dictionary stands for all rows seen so far at the ridge `resolution`. Let K be their kernel
    matrix and L its approximation from the dictionary. For enough `copies`, 0 <= K - L <=
    resolution / (1 - epsilon) as matrices, with high probability. It has about `copies` times the
    effective dimension of rows, however many there are.

    `fit` takes the rows in random order, and then goes over them once more for the regression, with
    alpha by leave-one-out errors. `partial_fit` sees rows once: whenever the dictionary changes,
    what is known of earlier rows is projected onto the new one. Rows that leave the dictionary lose
    nothing by that; along new ones, earlier rows count as far as the dictionary of their time saw
    it. Shuffle rows that come sorted.

    Parameters
    ----------
    kernel, gamma, degree, coef0, kernel_params
        As in `NystroemRidge`.
    resolution : float, default=1
        The ridge at which the dictionary stands for all rows, n times a lambda: smaller keeps more.
    copies : int, default=8
        Up to so many rows of the dictionary for each effective dimension.
    epsilon : float, default=0.5
        The accuracy in the bound above.
    max_components : int, default=2000
        A larger dictionary is an error, which says what helps.
    alphas : "auto" or floats
        As in `NystroemRidge`; by leave-one-out in `fit`, by generalised cross-validation in
        `partial_fit`.
    fit_intercept : bool, default=True
    random_state, n_jobs : as in `Nystroem`.

    Attributes
    ----------
    components_ : the dictionary.
    component_positions_ : where its rows stood in the stream; in X after `fit`.
    component_weights_ : how many rows each stands for.
    n_seen_ : rows seen so far.
    alpha_, alphas_, gcv_, dual_coef_, intercept_ : as in `NystroemRidge`.
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
        """Fits y at the rows of X, taken in random order. Forgets rows seen before."""
        X, Y, weights, units, single = rows_and_targets(
            self, X, y, sample_weight, ensure_min_samples=2
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
        for seen in ("_state", "_seed"):  # partial_fit begins anew
            del self.__dict__[seen]
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> SqueakRegressor:
        """Takes the rows of X after those of earlier calls; if it fails, all is as it was."""
        kept = self.__dict__.copy()
        try:
            return self._partial_fit(X, y, sample_weight)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(kept)
            raise

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any) -> SqueakRegressor:
        first = not hasattr(self, "_sums")
        X, Y, weights, units, single = rows_and_targets(self, X, y, sample_weight, reset=first)
        if first:
            self.__dict__.pop("_state", None)
            self._begin_rows(Y, units)
            self._type = X.dtype
        elif Y.shape[1] != (1 if self.dual_coef_.ndim == 1 else self.dual_coef_.shape[1]):
            raise ValueError(f"y has {Y.shape[1]} targets, and the rows before had another number")
        X = X.astype(self._type, copy=False)
        before, sums = (None, None) if first else (self.components_, self._sums)
        self._push(X, settle=False)
        spec, grid = self._spec(X.shape[1]), ridges(self.alphas, self.n_seen_)
        self._sums = self._accumulate(spec, X, Y, weights, sums, before)
        self._solve(spec, self._sums, grid, Y.shape[1], single)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """f at the rows of X."""
        check_is_fitted(self)
        return self._predict(rows(self, X, reset=False), self.components_)

    def _push(self, X: np.ndarray, settle: bool) -> None:
        """Shows rows to SQUEAK."""
        if not hasattr(self, "_seed"):
            self._seed = seed_of(self.random_state)
        state = getattr(self, "_state", None)
        # draws that no other call makes
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
