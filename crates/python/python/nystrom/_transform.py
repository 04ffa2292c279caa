"""Nyström features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._centers import choose, of_rows
from ._checks import rows
from ._kernels import spec_of


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features whose inner products approximate a kernel, from some rows: scikit-learn's
    `Nystroem`, faster, with landmarks chosen by any method.

    Parameters
    ----------
    kernel : str, kernel or callable, default="rbf"
        One of nystrom's kernels, a name of scikit-learn's, one of its Gaussian-process kernels, a
        function of two points (slow), or "precomputed". With this X is the kernel matrix.
    gamma, coef0, degree, kernel_params
        Parameters of a kernel that is named, as in scikit-learn.
    n_components : int, default=100
        How many landmarks.
    random_state : int, RandomState or None
        With "uniform" landmarks the same rows are drawn as by scikit-learn.
    n_jobs : int or None
        Threads; None is one for each core.
    landmarks : str or array, default="uniform"
        A method ("uniform", "rpcholesky", "leverage", "kdpp", ...: see `landmarks`), the numbers
        of rows, or points.

    Attributes
    ----------
    components_ : the landmarks (with a precomputed kernel their rows of it).
    component_indices_ : their rows in X; absent if points were given.
    normalization_ : lower triangular, with `k(X, components_) @ normalization_.T` the features.
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        landmarks: Any = "uniform",
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.landmarks = landmarks

    def fit(self, X: Any, y: Any = None) -> Nystroem:
        """Chooses the landmarks of the rows of X, and what makes features of them."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> np.ndarray:
        """`fit(X).transform(X)`."""
        X = self._fit(X)
        return self._features(X)

    def transform(self, X: Any) -> np.ndarray:
        """The features of the rows of X, n × n_components.

        With a precomputed kernel X holds the kernel between these rows and all rows of the fit,
        or between these rows and the landmarks.
        """
        check_is_fitted(self)
        if self.kernel == "precomputed" and np.ndim(X) == 2 and self._is_block(X):
            return self._features(np.asarray(X, dtype=self.components_.dtype), block=True)
        return self._features(rows(self, X, reset=False))

    def _fit(self, X: Any) -> np.ndarray:
        X = rows(self, X, reset=True)
        if self.kernel == "precomputed":
            self._fit_precomputed(X)
        else:
            chosen, self.components_ = choose(
                self._spec(X), X, self.landmarks, self.n_components, self.random_state, self.n_jobs
            )
            self._keep(chosen)
            block = _native.kernel_block(self._spec(X), self.components_, None, self.n_jobs)
            self._factor, self.normalization_ = _native.nystroem_factor(block, self.n_jobs)
        self._n_features_out = len(self.normalization_)
        return X

    def _fit_precomputed(self, X: np.ndarray) -> None:
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed kernel matrix is square, and X has shape {X.shape}")
        spec, numbers = ("precomputed", X), np.arange(len(X), dtype=X.dtype).reshape(-1, 1)
        how = self.landmarks
        if not isinstance(how, str):
            how = of_rows(np.asarray(how), len(X))
        chosen, _ = choose(spec, numbers, how, self.n_components, self.random_state, self.n_jobs)
        self._keep(chosen)
        self.components_ = X[chosen]
        block = np.ascontiguousarray(self.components_[:, chosen])
        self._factor, self.normalization_ = _native.nystroem_factor(block, self.n_jobs)

    def _keep(self, chosen: np.ndarray | None) -> None:
        if chosen is not None:
            self.component_indices_ = chosen
        elif hasattr(self, "component_indices_"):
            del self.component_indices_

    def _is_block(self, X: Any) -> bool:
        return np.shape(X)[1] == len(self.component_indices_) != self.n_features_in_

    def _features(self, X: np.ndarray, block: bool = False) -> np.ndarray:
        X = X.astype(self.components_.dtype, copy=False)
        if self.kernel == "precomputed":
            X = X if block else X[:, self.component_indices_]
            return _native.nystroem_features(None, X, None, self._factor, self.n_jobs)
        spec = self._spec(X)
        return _native.nystroem_features(spec, X, self.components_, self._factor, self.n_jobs)

    def _spec(self, X: np.ndarray) -> tuple[Any, ...]:
        return spec_of(
            self.kernel,
            X.shape[1],
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
