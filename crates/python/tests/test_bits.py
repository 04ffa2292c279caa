"""Kernels of bits and of counts."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from nystrom import (
    KDPP,
    Gaussian,
    KernelPCA,
    KernelRidge,
    MinMax,
    Nystroem,
    NystroemRidge,
    Tanimoto,
    certificate,
    landmarks,
    leverage_scores,
    two_sample_test,
)


def bits(n: int, b: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((n, b)) < 0.2


def tanimoto(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    common = X.astype(int) @ Y.astype(int).T
    every = X.sum(axis=1)[:, None] + Y.sum(axis=1)[None, :] - common
    return np.where(every > 0, common / np.maximum(every, 1), 1.0)


def bytes_of(X: np.ndarray) -> np.ndarray:
    return np.packbits(X, axis=1)


def test_values_are_those_of_the_bits():
    X, Y = bits(30, 77), bits(20, 77, seed=1)
    X[0] = False
    k = Tanimoto()
    assert np.array_equal(k(bytes_of(X), bytes_of(Y)), tanimoto(X, Y))
    assert np.array_equal(k(X), tanimoto(X, X))  # bool
    assert np.array_equal(k(np.asfortranarray(bytes_of(X))[::2]), tanimoto(X[::2], X[::2]))
    assert np.array_equal(k.diag(X), np.ones(30))
    assert np.allclose((2.0 * k * k)(X, Y), 2.0 * tanimoto(X, Y) ** 2)


def test_estimators_and_functions_agree_with_the_matrix():
    X, new = bits(120, 256), bits(15, 256, seed=1)
    y = X[:, :9].sum(axis=1) + 0.1 * X[:, 9]
    K, rows = tanimoto(X, X), bytes_of(X)
    exact = KernelRidge(0.3, kernel="precomputed", fit_intercept=True).fit(K, y)
    expected = exact.predict(tanimoto(new, X))
    for kernel in ("tanimoto", Tanimoto()):
        model = NystroemRidge(0.3, kernel=kernel, landmarks=np.arange(120)).fit(rows, y)
        assert model.n_features_in_ == 32
        assert np.allclose(model.predict(bytes_of(new)), expected, atol=1e-6)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.predict(bytes_of(new)), model.predict(bytes_of(new)))
        full = clone(KernelRidge(0.3, kernel=kernel, fit_intercept=True)).fit(rows, y)
        assert np.allclose(full.predict(bytes_of(new)), expected, atol=1e-6)
    features = Nystroem("tanimoto", n_components=120, random_state=0).fit_transform(rows)
    assert np.allclose(features @ features.T, K, atol=1e-8)
    chosen = landmarks(rows, "tanimoto", 20, random_state=3)
    assert np.array_equal(chosen, landmarks(K, "precomputed", 20, random_state=3))
    scores = leverage_scores(rows, "tanimoto", 0.1, method="exact")
    assert np.allclose(scores, np.diag(K @ np.linalg.inv(K + 0.1 * np.eye(120))))
    draws = [
        KDPP(kernel, method="exact").fit(X).sample(10, random_state=5)
        for kernel, X in (("tanimoto", rows), ("precomputed", K))
    ]
    assert np.array_equal(*draws)
    assert KernelPCA(2, kernel="tanimoto").fit_transform(rows).shape == (120, 2)
    few = NystroemRidge(0.3, kernel="tanimoto", n_components=30, random_state=0).fit(rows, y)
    assert np.all(certificate(few, rows, y, rows=60, random_state=0).bound > 0)
    assert two_sample_test(rows[:60], rows[60:], "tanimoto", random_state=0).pvalue > 0.001


def test_parts_in_turn_are_one_fit():
    X = bits(90, 100)
    y = X[:, :9].sum(axis=1).astype(float)
    rows, given = bytes_of(X), np.arange(20)
    whole = NystroemRidge(0.3, kernel="tanimoto", landmarks=given).fit(rows, y)
    parts = NystroemRidge(0.3, kernel="tanimoto", landmarks=given)
    for start in range(0, 90, 30):
        parts.partial_fit(rows[start : start + 30], y[start : start + 30])
    assert np.allclose(parts.predict(rows), whole.predict(rows), atol=1e-8)


def test_other_input_is_refused():
    X, y = bits(10, 16), np.arange(10.0)
    for wrong in (X.astype(float), X.astype(int)):
        with pytest.raises(ValueError, match="packbits"):
            NystroemRidge(kernel="tanimoto").fit(wrong, y)
        with pytest.raises(ValueError, match="packbits"):
            landmarks(wrong, "tanimoto", 2)
    model = NystroemRidge(kernel="tanimoto", n_components=5).fit(bytes_of(X), y)
    with pytest.raises(ValueError, match="2 features"):
        model.predict(bytes_of(bits(3, 24)))
    with pytest.raises(ValueError, match="different points"):
        NystroemRidge(kernel=Tanimoto() + Gaussian()).fit(bytes_of(X), y)
    with pytest.raises(ValueError, match="shape"):
        Tanimoto()(bytes_of(X)[0])


def test_counts():
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 5, (20, 30)), rng.integers(0, 5, (10, 30))
    least = np.minimum(X[:, None], Y[None]).sum(axis=2)
    most = np.maximum(X[:, None], Y[None]).sum(axis=2)
    assert np.allclose(MinMax()(X, Y), least / most)
    y = X[:, 0].astype(float)
    models = [
        NystroemRidge(kernel=kernel, n_components=10, random_state=0).fit(X, y)
        for kernel in ("minmax", MinMax())
    ]
    assert np.array_equal(*(model.predict(Y) for model in models))
    with pytest.raises(ValueError, match="at least 0"):
        NystroemRidge(kernel="minmax", n_components=10).fit(X - 1, y)


def test_landmarks_may_be_rows_of_bits():
    X = bits(60, 72)
    y, rows = X[:, :9].sum(axis=1).astype(float), bytes_of(X)
    by_number = NystroemRidge(0.3, kernel="tanimoto", landmarks=np.arange(20)).fit(rows, y)
    for given in (rows[:20], X[:20]):
        model = NystroemRidge(0.3, kernel="tanimoto", landmarks=given).fit(rows, y)
        assert np.array_equal(model.predict(rows), by_number.predict(rows))
    with pytest.raises(ValueError, match="packbits"):
        NystroemRidge(kernel="tanimoto", landmarks=rows[:20].astype(float)).fit(rows, y)
    with pytest.raises(ValueError, match="columns"):
        NystroemRidge(kernel="tanimoto", landmarks=rows[:20, :3]).fit(rows, y)
