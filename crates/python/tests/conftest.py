"""Fixtures for all tests."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def waves(rng):
    """Points in the plane, and a smooth target."""
    X = rng.uniform(-1, 1, size=(300, 2))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2
