"""Results equal those of scikit-learn."""

import numpy as np
import pytest
from sklearn import kernel_approximation, kernel_ridge
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import pairwise_kernels

import nystrom as ny

NAMED = [
    ("rbf", {"gamma": 0.7}),
    ("rbf", {}),
    ("laplacian", {"gamma": 0.7}),
    ("linear", {}),
    ("poly", {"gamma": 0.5, "degree": 2, "coef0": 1.5}),
    ("polynomial", {}),
    ("cosine", {}),
]


@pytest.mark.parametrize(("kernel", "params"), NAMED)
@pytest.mark.filterwarnings("ignore::nystrom.SlowKernelWarning")
def test_nystroem_has_the_inner_products_of_scikit_learns(kernel, params, waves):
    X, _ = waves
    mine = ny.Nystroem(kernel, n_components=12, random_state=3, **params).fit(X)
    theirs = kernel_approximation.Nystroem(kernel, n_components=12, random_state=3, **params).fit(X)
    assert np.array_equal(mine.component_indices_, theirs.component_indices_)
    F, G = mine.transform(X), theirs.transform(X)
    if kernel in ("rbf", "laplacian"):  # the others have fewer than 12 dimensions
        assert np.abs(F @ F.T - G @ G.T).max() < 1e-6
    K = pairwise_kernels(X, X[mine.component_indices_], metric=kernel, filter_params=True, **params)
    scale = np.abs(K).max()
    assert np.abs(K @ mine.normalization_.T - F).max() < 1e-6 * scale
    assert np.abs(F @ F[mine.component_indices_].T - K).max() < 1e-6 * scale


@pytest.mark.parametrize(("kernel", "params"), NAMED)
@pytest.mark.filterwarnings("ignore::nystrom.SlowKernelWarning")
def test_kernel_ridge_is_scikit_learns(kernel, params, waves, rng):
    X, y = waves
    Y, w = np.column_stack([y, -y]), rng.uniform(0.5, 2, len(y))
    for alpha in (0.1, [0.1, 1.0]):
        mine = ny.KernelRidge(alpha, kernel=kernel, **params).fit(X, Y, w)
        theirs = kernel_ridge.KernelRidge(alpha=alpha, kernel=kernel, **params).fit(X, Y, w)
        assert np.abs(mine.predict(X) - theirs.predict(X)).max() < 1e-8
        assert mine.dual_coef_.shape == theirs.dual_coef_.shape


def test_a_precomputed_kernel(waves):
    X, y = waves
    K = ny.Gaussian(0.5)(X)
    direct = ny.KernelRidge(0.1, kernel=ny.Gaussian(0.5)).fit(X, y)
    given = ny.KernelRidge(0.1, kernel="precomputed").fit(K, y)
    assert np.abs(direct.predict(X) - given.predict(K)).max() < 1e-10
    direct = ny.Nystroem(ny.Gaussian(0.5), n_components=20, random_state=1).fit(X)
    given = ny.Nystroem("precomputed", n_components=20, random_state=1).fit(K)
    assert np.array_equal(direct.component_indices_, given.component_indices_)
    assert np.abs(direct.transform(X) - given.transform(K)).max() < 1e-8
    against = K[:5, given.component_indices_]
    assert np.array_equal(given.transform(K[:5]), given.transform(against))


def test_a_constant_and_conjugate_gradients(waves):
    X, y = waves
    direct = ny.KernelRidge(0.1, kernel=ny.Matern(1.5), fit_intercept=True).fit(X, y + 100)
    iterative = ny.KernelRidge(
        0.1,
        kernel=ny.Matern(1.5),
        fit_intercept=True,
        solver="iterative",
        tol=1e-10,
        random_state=0,
    ).fit(X, y + 100)
    assert (direct.solver_, iterative.n_iter_ > 0) == ("ExactCholesky", True)
    assert np.abs(direct.predict(X) - iterative.predict(X)).max() < 1e-6
    assert abs(direct.dual_coef_.sum()) < 1e-8  # the normal equation of the constant


def test_the_faster_solver_is_taken_and_agrees(rng):
    X = rng.normal(size=(2500, 5))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    for alpha, direct in ((1.0, False), (1e-8, True)):
        found = ny.KernelRidge(alpha, kernel="rbf", gamma=0.1).fit(X, y)
        assert (found.solver_ == "ExactCholesky") == direct
        exact = ny.KernelRidge(alpha, kernel="rbf", gamma=0.1, solver="direct").fit(X, y)
        assert np.abs(found.predict(X) - exact.predict(X)).max() < 1e-8
        assert np.linalg.norm(found.dual_coef_ - exact.dual_coef_) < 1e-8 * np.linalg.norm(y)
        again = ny.KernelRidge(alpha, kernel="rbf", gamma=0.1, n_jobs=1).fit(X, y)
        assert np.array_equal(found.dual_coef_, again.dual_coef_)
    wide = ny.KernelRidge(1.0, kernel="rbf", gamma=0.1).fit(X, y)
    narrow = ny.KernelRidge(1.0, kernel="rbf", gamma=0.1).fit(X.astype(np.float32), y)
    assert np.abs(wide.predict(X) - narrow.predict(X.astype(np.float32))).max() < 1e-3


GAUSSIAN_PROCESSES = [
    gp.RBF(0.5),
    gp.RBF([0.5, 2.0]),
    gp.Matern(0.7, nu=2.5),
    gp.Matern([0.5, 2.0], nu=0.5),
    gp.Matern(0.7, nu=np.inf),
    gp.RationalQuadratic(0.8, alpha=1.7),
    gp.DotProduct(1.3),
    gp.ConstantKernel(2.0) * gp.RBF(0.5) + gp.DotProduct() * gp.Matern(nu=1.5),
    gp.ExpSineSquared(0.9, 2.0),
]


@pytest.mark.parametrize("kernel", GAUSSIAN_PROCESSES, ids=str)
@pytest.mark.filterwarnings("ignore::nystrom.SlowKernelWarning")
def test_kernels_of_gaussian_processes(kernel, rng):
    d = 1 if isinstance(kernel, gp.ExpSineSquared) else 2
    X, Z = rng.normal(size=(30, d)), rng.normal(size=(20, d))
    model = ny.Nystroem(kernel, landmarks=Z).fit(X)
    K = kernel(X, Z)
    back = np.linalg.solve(model.normalization_, model.transform(X).T).T
    assert np.abs(back - K).max() < 1e-6 * K.max()


def test_kernels_combine(rng):
    X = rng.normal(size=(40, 2))
    a, b = ny.Gaussian(0.7), ny.Linear(1.0)
    assert np.allclose((a + 2.0 * b * a)(X), a(X) + 2.0 * b(X) * a(X), rtol=1e-13)
    assert np.allclose((a + b).diag(X), np.diag((a + b)(X)))
    assert a == ny.Gaussian(0.7) and a != ny.Gaussian(0.8)
    assert repr(a) == "Gaussian(length_scale=0.7)"


def test_a_python_function_is_a_kernel_with_a_warning(waves):
    X, y = waves

    def kernel(x, z):
        return np.exp(-np.sum((x - z) ** 2))

    with pytest.warns(ny.SlowKernelWarning, match="Python"):
        slow = ny.Nystroem(kernel, n_components=10, random_state=0).fit(X[:60])
    fast = ny.Nystroem("rbf", gamma=1.0, n_components=10, random_state=0).fit(X[:60])
    with pytest.warns(ny.SlowKernelWarning):
        assert np.allclose(slow.transform(X[:60]), fast.transform(X[:60]), atol=1e-7)


def test_errors_of_a_python_kernel_come_through(waves):
    X, _ = waves
    broken = ny.FromBlocks(lambda X, Y: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ny.landmarks(X, broken, 5)
    with pytest.raises(ValueError, match="shape"):
        ny.landmarks(X, ny.FromBlocks(lambda X, Y: np.zeros((1, 1))), 5)
