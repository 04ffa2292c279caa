"""Regression on all rows by a graphics card, or by an adapter in software; where there is none, the
error says so."""

import os

import numpy as np
import pytest

import nystrom

CARD = os.environ.get("NYSTROM_GPU", "llvmpipe")


def problem(rng):
    X = rng.normal(size=(700, 3))
    return X, np.sin(X[:, 0]) + X[:, 1]


def ridge(**options):
    return nystrom.KernelRidge(0.1, kernel=nystrom.Gaussian(1.5), fit_intercept=True, **options)


def fitted(model, X, y):
    """The fit; the test is skipped where the build or the computer has no card."""
    try:
        return model.fit(X, y)
    except RuntimeError as error:
        assert "--features gpu" in str(error) and "gpu=False" in str(error)
        pytest.skip("this build has no feature gpu")
    except ValueError as error:
        if "no adapter" not in str(error):
            raise
        assert CARD in str(error)
        pytest.skip("there is no card")


def test_a_fit_is_that_of_the_cpu(rng):
    X, y = problem(rng)
    model, by_cpu = fitted(ridge(gpu=CARD), X, y), ridge(solver="iterative").fit(X, y)
    assert model.solver_ == "FullConjugateGradients" and model.n_iter_ > 1
    np.testing.assert_allclose(model.predict(X), by_cpu.predict(X), atol=1e-4)
    assert not np.array_equal(model.dual_coef_, by_cpu.dual_coef_)
    narrow = fitted(ridge(gpu=CARD), X.astype(np.float32), y)
    assert narrow.X_fit_.dtype == np.float64
    np.testing.assert_allclose(narrow.predict(X), by_cpu.predict(X), atol=1e-3)


def test_a_ridge_below_the_rounding_warns(rng):
    X, y = problem(rng)
    fitted(ridge(gpu=CARD), X, y)
    model = ridge(gpu=CARD, max_iter=300).set_params(alpha=1e-6, tol=1e-3)
    with pytest.warns(RuntimeWarning, match="CPU computed the rest"):
        model.fit(X, y)


def test_what_a_card_cannot_do_is_refused(rng):
    X, y = problem(rng)
    with pytest.raises(ValueError, match="iterative"):
        ridge(gpu=True, solver="direct").fit(X, y)
    fitted(ridge(gpu=CARD), X, y)
    with pytest.raises(ValueError, match="does not evaluate"):
        nystrom.KernelRidge(gpu=CARD).fit(X, y)  # the linear kernel
    with pytest.raises(ValueError, match="abacus"):
        ridge(gpu="abacus").fit(X, y)
