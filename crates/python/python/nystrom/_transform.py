"""Nyström features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._bits import takes_bits
from ._centers import choose, of_rows
from ._checks import rows
from ._kernels import spec_of
from ._shown import Facts, _Shown, kernel_text, landmarks_text
from ._sparse import dense, like


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Shown, BaseEstimator):
    """Nyström features, whose inner products approximate a kernel: scikit-learn's `Nystroem`, with
    landmarks chosen by any method.

    Parameters
    ----------
    kernel : str, kernel or callable, default="rbf"
        A kernel of nystrom, one of scikit-learn's names, one of its Gaussian-process kernels, a
        function of two points (slow), or "precomputed": X is then the kernel matrix.
    gamma, coef0, degree, kernel_params : default=None
        Parameters of a kernel given by name, as in scikit-learn.
    n_components : int, default=100
        Number of landmarks.
    random_state : int, RandomState or None, default=None
        The seed. "uniform" landmarks are the same rows as in scikit-learn.
    n_jobs : int or None, default=None
        Number of threads; None: one for each core.
    landmarks : str or array, default="uniform"
        The name of a method ("uniform", "rpcholesky", "leverage", "kdpp", ...: see
        `nystrom.landmarks`), an array of row indices, or points.

    Attributes
    ----------
    components_ : ndarray or sparse matrix of shape (n_components, n_features_in_)
        The landmarks, sparse if X is. If the kernel is precomputed: their rows of its matrix.
    component_indices_ : ndarray of shape (n_components,)
        The row indices of the landmarks in X; absent if points were given.
    normalization_ : ndarray of shape (n_components, n_components)
        A lower triangular matrix; the features are `k(X, components_) @ normalization_.T`.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from nystrom import Nystroem
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> y = np.sin(X[:, 0])
    >>> features = Nystroem(landmarks="rpcholesky", n_components=20, random_state=0)
    >>> features.fit_transform(X).shape
    (200, 20)
    >>> round(make_pipeline(features, Ridge(1e-6)).fit(X, y).score(X, y), 3)
    1.0
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
        """Chooses the landmarks among the rows of X, which may be a sparse matrix of SciPy, and
        factors their kernel matrix."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> np.ndarray:
        """`fit(X).transform(X)`."""
        X = self._fit(X)
        return self._features(X)

    def transform(self, X: Any) -> np.ndarray:
        """The features of the rows of X, n × n_components.

        If the kernel is precomputed, X is the kernel matrix between the new rows and either all
        fitted rows or the landmarks.
        """
        check_is_fitted(self)
        if self.kernel == "precomputed" and np.ndim(X) == 2 and self._is_block(X):
            return self._features(np.asarray(dense(X), dtype=self.components_.dtype), block=True)
        return self._features(rows(self, X, reset=False))

    def _fit(self, X: Any) -> Any:
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
            raise ValueError(
                f"a precomputed kernel matrix must be square, and X has shape {X.shape}"
            )
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

    def _features(self, X: Any, block: bool = False) -> np.ndarray:
        X = like(X, self.components_)
        if self.kernel == "precomputed":
            X = X if block else X[:, self.component_indices_]
            return _native.nystroem_features(None, X, None, self._factor, self.n_jobs)
        spec = self._spec(X)
        return _native.nystroem_features(spec, X, self.components_, self._factor, self.n_jobs)

    def _facts(self) -> Facts:
        centers = landmarks_text(self.components_.shape[0], self.landmarks)
        return [("kernel", kernel_text(self)), ("centres", centers)]

    def _spec(self, X: Any) -> tuple[Any, ...]:
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
        tags.input_tags.sparse = not takes_bits(self.kernel)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
