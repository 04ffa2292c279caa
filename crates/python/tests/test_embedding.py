"""Kernel PCA, spectral embedding and kernel k-means: against scikit-learn and their bounds."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.metrics import adjusted_rand_score

import nystrom as ny

EMBEDDINGS = [
    ny.KernelPCA(n_landmarks=60, gamma=1.0, random_state=0),
    ny.SpectralEmbedding(n_landmarks=60, gamma=1.0, random_state=0),
]


def groups(rng, n=1200):
    """Four groups in the plane."""
    truth = np.arange(n) % 4
    return 8.0 * np.column_stack([truth % 2, truth // 2]) + rng.normal(size=(n, 2)), truth


def test_with_all_rows_it_is_the_kernel_pca_of_scikit_learn(waves):
    X, _ = waves
    ours = ny.KernelPCA(3, gamma=0.7).fit(X)
    theirs = KernelPCA(3, kernel="rbf", gamma=0.7).fit(X)
    assert np.allclose(ours.eigenvalues_, theirs.eigenvalues_)
    a, b = ours.transform(X), theirs.transform(X)
    assert np.allclose(np.abs(a), np.abs(b), atol=1e-6)
    new = X[:5] + 0.1
    signs = np.sign(np.sum(a * b, axis=0))
    assert np.allclose(ours.transform(new), signs * theirs.transform(new), atol=1e-6)
    assert ours.left_over_ < 1e-9 and ours.subspace_bound_ < 1e-6


def test_the_bounds_hold(waves):
    X, _ = waves
    ours = ny.KernelPCA(2, gamma=0.7, n_landmarks=25, random_state=0).fit(X)
    exact = KernelPCA(kernel="rbf", gamma=0.7).fit(X).eigenvalues_ / len(X)
    share = exact[:2].sum() / exact.sum()
    least, most = ours.exact_share_
    assert least - 1e-9 <= share <= most + 1e-9
    off = exact[:2] - ours.explained_variance_
    assert np.all((-1e-9 <= off) & (off <= ours.left_over_ + 1e-9))


def test_the_embedding_has_the_eigenvectors_of_the_graph(waves):
    X, _ = waves
    ours = ny.SpectralEmbedding(2, gamma=2.0).fit(X)
    K = ny.Gaussian(0.5)(X)
    d = K.sum(axis=1)
    values, vectors = np.linalg.eigh(K / np.sqrt(np.outer(d, d)))
    assert np.allclose(ours.eigenvalues_, 1 - values[[-2, -3]], atol=1e-7)
    exact = vectors[:, [-2, -3]] / np.sqrt(d)[:, None]
    assert np.allclose(np.abs(ours.embedding_), np.abs(exact), atol=1e-6)
    assert np.array_equal(ours.transform(X), ours.embedding_)


def test_clusters_and_their_cost(rng):
    X, truth = groups(rng)
    found = ny.KernelKMeans(4, gamma=0.05, n_landmarks=80, random_state=0).fit(X)
    assert adjusted_rand_score(truth, found.labels_) > 0.99
    assert np.array_equal(found.predict(X), found.labels_)
    K = ny.Gaussian(1 / np.sqrt(0.1))(X)
    same = found.labels_[:, None] == found.labels_
    cost = np.trace(K) - np.sum(K * same / same.sum(axis=1))
    least, most = found.cost_bounds_
    assert found.inertia_ == least and least - 1e-6 <= cost <= most + 1e-6


def test_fewer_distinct_rows_warn():
    X = np.repeat(np.eye(3), 10, axis=0)
    with pytest.warns(UserWarning, match="3 clusters instead of 5"):
        found = ny.KernelKMeans(5, random_state=0).fit(X)
    assert len(np.unique(found.labels_)) == 3


@pytest.mark.parametrize("model", EMBEDDINGS, ids=["pca", "spectral"])
def test_copies_types_and_threads(model, waves):
    X, _ = waves
    reference = clone(model).fit(X)
    again = pickle.loads(pickle.dumps(reference))
    assert np.array_equal(again.transform(X), reference.transform(X))
    one = clone(model).set_params(n_jobs=1).fit_transform(X)
    assert np.array_equal(one, reference.transform(X))
    narrow = clone(model).fit_transform(X.astype(np.float32))
    assert narrow.dtype == np.float32
    assert np.allclose(np.abs(narrow), np.abs(one), atol=0.05 * np.abs(one).max())


def test_what_cannot_be_is_refused(waves):
    X, _ = waves
    with pytest.raises(ValueError, match="indices of rows of X"):
        ny.KernelPCA(landmarks=X[:20] + 0.1).fit(X)
    with pytest.raises(ValueError, match="without negative values"):
        ny.SpectralEmbedding(kernel="linear").fit(X)
    with pytest.raises(ValueError, match="all rows are alike"):
        ny.KernelPCA().fit(np.ones((20, 2)))
    with pytest.raises(ValueError, match="at most 300"):
        ny.KernelKMeans(301).fit(X)
    far = ny.SpectralEmbedding(gamma=50.0).fit(X)
    with pytest.raises(ValueError, match="more landmarks"):
        far.transform(X + 1e3)
