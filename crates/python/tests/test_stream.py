"""Tests of regression on streams."""

import pickle

import numpy as np
import pytest

import nystrom as ny

KERNEL = ny.Gaussian(0.5)


def stream(rng, n=4000):
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.05 * rng.normal(size=n)


def far(model, X):
    """The root mean square distance from the truth."""
    truth = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    return np.sqrt(np.mean((model.predict(X) - truth) ** 2))


def test_the_dictionary_stands_for_all_rows(rng):
    X, y = stream(rng, 800)
    gamma, epsilon = 2.0, 0.5
    model = ny.SqueakRegressor(KERNEL, resolution=gamma, epsilon=epsilon, copies=20, random_state=0)
    model.fit(X, y)
    places, weights = model.component_positions_, model.component_weights_
    assert np.array_equal(X[places], model.components_) and len(set(places)) < 300
    assert abs(weights.sum() / len(X) - 1) < 0.2 and model.n_seen_ == len(X)
    K = KERNEL(X)
    C = K[:, places] * np.sqrt(weights)
    W = K[np.ix_(places, places)] * np.sqrt(np.outer(weights, weights))
    L = C @ np.linalg.solve(W + gamma * np.eye(len(W)), C.T)
    left = np.linalg.eigvalsh(K - L)
    assert left[0] > -1e-8 and left[-1] <= gamma / (1 - epsilon)


def test_memory_does_not_grow_with_the_rows(rng):
    model = ny.SqueakRegressor(KERNEL, random_state=0)
    sizes = []
    for _ in range(10):
        X, y = stream(rng, 2000)
        model.partial_fit(X, y)
        sizes.append(len(pickle.dumps(model)))
    assert model.n_seen_ == 20_000 and len(model.components_) < 600
    assert max(sizes[3:]) < 1.6 * sizes[2]
    assert far(model, X) < 0.02


def test_parts_give_about_the_fit_to_all(rng):
    X, y = stream(rng)
    whole = ny.SqueakRegressor(KERNEL, random_state=0).fit(X, y)
    parts = ny.SqueakRegressor(KERNEL, random_state=0)
    for some in np.array_split(np.arange(len(X)), 13):
        parts = pickle.loads(pickle.dumps(parts)).partial_fit(X[some], y[some])
    assert parts.n_seen_ == whole.n_seen_ == len(X)
    assert far(whole, X) < 0.02 and far(parts, X) < 0.02
    # rows in the sums: a thousandth of the difference that the noise makes
    assert np.sqrt(np.mean((whole.predict(X) - parts.predict(X)) ** 2)) < 0.01
    again = ny.SqueakRegressor(KERNEL, random_state=0)
    for some in np.array_split(np.arange(len(X)), 13):
        again.partial_fit(X[some], y[some])
    assert np.array_equal(again.predict(X), parts.predict(X))


def test_rows_one_by_one_and_several_targets(rng):
    X, y = stream(rng, 60)
    Y = np.column_stack([y, 1 - 2 * y])
    model = ny.SqueakRegressor(KERNEL, random_state=0)
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], Y[i : i + 1], [1.0 + i % 2])
    assert model.predict(X).shape == (60, 2) and far_of(model, X, Y) < 0.2
    with pytest.raises(ValueError, match="another number"):
        model.partial_fit(X, y)
    single = ny.SqueakRegressor(KERNEL, random_state=0).partial_fit(X.astype(np.float32), y)
    assert single.components_.dtype == np.float32
    assert single.partial_fit(X, y).predict(X).dtype == np.float64  # the type of the target


def far_of(model, X, Y):
    return np.sqrt(np.mean((model.predict(X) - Y) ** 2))


def test_a_dictionary_that_would_be_too_large_is_refused(rng):
    X, y = stream(rng)
    model = ny.SqueakRegressor(ny.Gaussian(0.01), max_components=100, random_state=0)
    with pytest.raises(ValueError, match="dictionary"):
        model.fit(X, y)
