"""Coordinates for a picture, and clusters, by Nyström features."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._bits import takes_bits
from ._centers import choose
from ._checks import rows, seed_of
from ._kernels import spec_of
from ._shown import Facts, _Shown, kernel_text, landmarks_text, short
from ._sparse import like


class _Embedding(_Shown, BaseEstimator):
    """The base class of estimators that are linear in kernel values with the landmarks."""

    def _begin(self, X: Any) -> tuple[Any, tuple[Any, ...], list[int]]:
        """The rows, the kernel, and the row indices of the landmarks, which are kept."""
        X = rows(self, X, reset=True, ensure_min_samples=2)
        spec = self._spec(X.shape[1])
        count = min(self.n_landmarks, X.shape[0])
        chosen, landmarks = choose(spec, X, self.landmarks, count, self.random_state, self.n_jobs)
        if chosen is None:
            raise ValueError(
                "landmarks must be the name of a method or indices of rows of X; points that are "
                "not rows have no part in the sums over rows"
            )
        self.landmark_indices_, self.landmarks_ = chosen, landmarks
        return X, spec, chosen.tolist()

    def _values(self, X: Any) -> np.ndarray:
        """The linear functions of the kernel values of new rows."""
        check_is_fitted(self)
        return self._values_of(rows(self, X, reset=False))

    def _values_of(self, X: Any) -> np.ndarray:
        X = like(X, self.landmarks_)
        spec, (theta, b) = self._spec(X.shape[1]), (self.dual_coef_, self.intercept_.tolist())
        return _native.predict(spec, X, self.landmarks_, theta, b, self.n_jobs)

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
        centers = landmarks_text(self.landmarks_.shape[0], self.landmarks)
        return [*self._found(), ("kernel", kernel_text(self)), ("landmarks", centers)]

    def _found(self) -> Facts:
        """What the fit found."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not takes_bits(self.kernel)
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Embedding):
    """Kernel principal components of many rows: scikit-learn's `KernelPCA` by landmarks, without an
    n × n matrix and without the features of the rows in memory.

    Parameters
    ----------
    n_components : int, default=2
        Number of principal components.
    kernel : str, kernel or callable, default="rbf"
        A kernel of nystrom, one of scikit-learn's names or of its Gaussian-process kernels, or a
        function of two points (slow).
    gamma, coef0, degree, kernel_params : default=None
        Parameters of a kernel given by name, as in scikit-learn.
    n_landmarks : int, default=500
        Number of landmarks; all rows if there are fewer.
    landmarks : str or array, default="uniform"
        The name of a method ("uniform", "rpcholesky", "leverage", "kdpp", ...: see
        `nystrom.landmarks`), or an array of row indices.
    random_state : int, RandomState or None, default=None
        The seed.
    n_jobs : int or None, default=None
        Number of threads; None: one for each core.

    Attributes
    ----------
    explained_variance_ : ndarray of shape (n_components,)
        The variances of the components over the rows. Those of exact kernel PCA are at least as
        large, by at most `left_over_`.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Their shares in the total variance of the approximation.
    eigenvalues_ : ndarray of shape (n_components,)
        The variances times the number of rows: eigenvalues of the centred kernel matrix.
    left_over_ : float
        tr(K - L) / n, the part of the mean of k(x, x) that the landmarks leave.
    exact_share_ : tuple of two floats
        Bounds on the share of these components in the total variance of exact kernel PCA.
    subspace_bound_ : float or None
        A bound on the sine of the largest angle to the components of exact kernel PCA; None if it
        is 1 or more: then take more landmarks or another number of components.
    dual_coef_, intercept_ : ndarray of shape (n_landmarks, n_components) and (n_components,)
        The components of a row are `k(row, landmarks_) @ dual_coef_ + intercept_`.
    landmarks_, landmark_indices_ : ndarray of shape (n_landmarks, n_features_in_), (n_landmarks,)
        The landmarks, in a sparse matrix if X is one, and their row indices in X.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from nystrom import KernelPCA
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> pca = KernelPCA(n_components=2, random_state=0).fit(X)
    >>> pca.transform(X).shape
    (1000, 2)
    >>> least, most = pca.exact_share_
    >>> bool(0 < least <= most < 1)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: float | None = None,
        coef0: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_landmarks: int = 500,
        landmarks: Any = "uniform",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> KernelPCA:
        """Computes the components of the rows of X, which may be a sparse matrix of SciPy."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> np.ndarray:
        """`fit(X).transform(X)`."""
        return self._values_of(self._fit(X))

    def transform(self, X: Any) -> np.ndarray:
        """The components of the rows of X, n × n_components."""
        return self._values(X)

    def _fit(self, X: Any) -> Any:
        X, spec, chosen = self._begin(X)
        self.dual_coef_, offsets, told = _native.kernel_pca(
            spec, X, chosen, self.n_components, self.n_jobs
        )
        self.intercept_ = np.array(offsets, dtype=X.dtype)
        self.explained_variance_ = told["variances"]
        self.explained_variance_ratio_ = told["shares"]
        self.eigenvalues_ = X.shape[0] * told["variances"]
        self.left_over_ = told["left_over"]
        self.exact_share_ = tuple(told["exact_share"])
        self.subspace_bound_ = told["subspace_bound"]
        self._n_features_out = self.dual_coef_.shape[1]
        return X

    def _found(self) -> Facts:
        least, most = (short(100 * share) for share in self.exact_share_)
        return [("variance", f"{least} to {most} % of that of exact kernel PCA")]


class SpectralEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Embedding):
    """Spectral embedding of many rows: scikit-learn's `SpectralEmbedding` by landmarks, for new
    rows as well.

    The graph has the kernel matrix of the approximation as its weights; that of a row with itself
    counts in its degree. The kernel must not be negative.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    kernel : str, kernel or callable, default="rbf"
        A kernel without negative values, of nystrom, by one of scikit-learn's names or of its
        Gaussian-process kernels, or a function of two points (slow).
    gamma, coef0, degree, kernel_params : default=None
        Parameters of a kernel given by name, as in scikit-learn.
    n_landmarks : int, default=500
        Number of landmarks; all rows if there are fewer.
    landmarks : str or array, default="uniform"
        The name of a method ("uniform", "rpcholesky", "leverage", "kdpp", ...: see
        `nystrom.landmarks`), or an array of row indices.
    random_state : int, RandomState or None, default=None
        The seed.
    n_jobs : int or None, default=None
        Number of threads; None: one for each core.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_rows, n_components)
        The coordinates of the rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the normalised Laplacian, without the trivial 0.
    left_over_ : float
        tr(K - L) / tr K, the share that the landmarks leave.
    dual_coef_, intercept_ : ndarray
        `k(row, landmarks_) @ dual_coef_` is the degree of a row, then its coordinates times the
        degree; the intercept is 0.
    landmarks_, landmark_indices_ : ndarray of shape (n_landmarks, n_features_in_), (n_landmarks,)
        The landmarks, in a sparse matrix if X is one, and their row indices in X.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from nystrom import SpectralEmbedding
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> X[::2] += 4
    >>> z = SpectralEmbedding(n_components=1, gamma=1, random_state=0).fit_transform(X)
    >>> bool(abs(np.mean(z[::2] > 0) - np.mean(z[1::2] > 0)) > 0.9)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: float | None = None,
        coef0: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_landmarks: int = 500,
        landmarks: Any = "uniform",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> SpectralEmbedding:
        """Computes the coordinates of the rows of X, which may be a sparse matrix of SciPy."""
        X, spec, chosen = self._begin(X)
        self.dual_coef_, self.eigenvalues_, self.left_over_ = _native.spectral_embedding(
            spec, X, chosen, self.n_components, self.n_jobs
        )
        self.intercept_ = np.zeros(self.dual_coef_.shape[1], dtype=X.dtype)
        self._n_features_out = self.dual_coef_.shape[1] - 1
        self.embedding_ = _divided(self._values_of(X))
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> np.ndarray:
        """The coordinates of the rows of X, n × n_components."""
        return self.fit(X).embedding_

    def transform(self, X: Any) -> np.ndarray:
        """The coordinates of new rows, n × n_components."""
        return _divided(self._values(X))

    def _found(self) -> Facts:
        values = ", ".join(short(value) for value in self.eigenvalues_[:6])
        return [("eigenvalues", values)]


def _divided(values: np.ndarray) -> np.ndarray:
    """The columns of `values` but the first, divided by the first."""
    degrees = values[:, :1]
    wrong = np.flatnonzero(~(degrees[:, 0] > 0))
    if len(wrong) > 0:
        raise ValueError(
            f"row {wrong[0]} has the degree {degrees[wrong[0], 0]} in the approximated graph; take "
            "more landmarks, or a larger length scale, so that every row is near a landmark"
        )
    return values[:, 1:] / degrees


class KernelKMeans(ClusterMixin, _Embedding):
    """Kernel k-means of many rows by landmarks, without an n × n matrix and without the features of
    the rows in memory.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernel : str, kernel or callable, default="rbf"
        A kernel of nystrom, one of scikit-learn's names or of its Gaussian-process kernels, or a
        function of two points (slow).
    gamma, coef0, degree, kernel_params : default=None
        Parameters of a kernel given by name, as in scikit-learn.
    n_init : int, default=4
        Number of starts from random seeds (k-means++), of which the best is taken. They share the
        kernel values of every pass.
    max_iter : int, default=300
        Most iterations of a start.
    n_landmarks : int, default=500
        Number of landmarks; all rows if there are fewer.
    landmarks : str or array, default="uniform"
        The name of a method ("uniform", "rpcholesky", "leverage", "kdpp", ...: see
        `nystrom.landmarks`), or an array of row indices.
    random_state : int, RandomState or None, default=None
        The seed.
    n_jobs : int or None, default=None
        Number of threads; None: one for each core.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        The cluster of each row, from 0.
    inertia_ : float
        The sum of squared distances to the centres, in the feature space of the approximation.
    cost_bounds_ : tuple of two floats
        Bounds on that sum in the feature space of the exact kernel, for the same clusters.
    n_iter_ : int
        Iterations of the best start.
    dual_coef_, intercept_ : ndarray of shape (n_landmarks, n_clusters) and (n_clusters,)
        The nearest centre of a row has the smallest `k(row, landmarks_) @ dual_coef_ + intercept_`.
    landmarks_, landmark_indices_ : ndarray of shape (n_landmarks, n_features_in_), (n_landmarks,)
        The landmarks, in a sparse matrix if X is one, and their row indices in X.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from nystrom import KernelKMeans
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> X[::2] += 8
    >>> labels = KernelKMeans(n_clusters=2, random_state=0).fit_predict(X)
    >>> bool(len(set(labels[::2])) == len(set(labels[1::2])) == 1)
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: float | None = None,
        coef0: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_init: int = 4,
        max_iter: int = 300,
        n_landmarks: int = 500,
        landmarks: Any = "uniform",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> KernelKMeans:
        """Finds clusters of the rows of X, which may be a sparse matrix of SciPy."""
        X, spec, chosen = self._begin(X)
        self.dual_coef_, offsets, self.labels_, told = _native.kernel_k_means(
            spec,
            X,
            chosen,
            self.n_clusters,
            self.n_init,
            self.max_iter,
            seed_of(self.random_state),
            self.n_jobs,
        )
        self.intercept_ = np.array(offsets, dtype=X.dtype)
        self.inertia_, self.n_iter_ = told["inertia"], told["iterations"]
        self.cost_bounds_ = tuple(told["cost_bounds"])
        found = self.dual_coef_.shape[1]
        if found < self.n_clusters:
            text = f"{found} clusters instead of {self.n_clusters}: no more rows are distinct"
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        elif not told["converged"]:
            text = f"rows still change clusters after {self.n_iter_} iterations; raise max_iter"
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The cluster whose centre is nearest to each row of X."""
        return self._values(X).argmin(axis=1)

    def _found(self) -> Facts:
        least, most = map(short, self.cost_bounds_)
        return [("clusters", f"{self.dual_coef_.shape[1]}"), ("cost", f"{least} to {most}")]
