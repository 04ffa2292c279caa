"""Fits to Dask arrays and frames: the same bits wherever they run."""

import os
import signal

import numpy as np
import pytest

import nystrom as ny

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

from nystrom.dask import NystroemRidge, leverage_scores  # noqa: E402

KERNEL = ny.Gaussian(0.7)
SIZES = (700, 1300, 0, 1100, 900)


def block(part):
    """Loaded inside a task, as a file would be."""
    rng = np.random.default_rng(part)
    return rng.uniform(-1, 1, size=(SIZES[part], 2))


def targets(part):
    X = block(part)
    return np.sin(3 * X[:, 0]) + X[:, 1] ** 2


def slow_targets(part, once):
    """The first worker that takes part 3 does not live to tell of it."""
    if part == 3 and not os.path.exists(once):
        with open(once, "w"):
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    return targets(part)


def arrays(of_targets=targets, *more):
    def array(function, shape, *more):
        parts = [dask.delayed(function)(part, *more) for part in range(len(SIZES))]
        blocks = [da.from_delayed(p, (n, *shape), float) for p, n in zip(parts, SIZES, strict=True)]
        return da.concatenate(blocks)

    return array(block, (2,)), array(of_targets, (), *more)


def whole():
    parts = range(len(SIZES))
    return np.concatenate([block(p) for p in parts]), np.concatenate([targets(p) for p in parts])


def fitted(X, y):
    """Everything that a fit, its predictions and scores come to, as bytes."""
    model = NystroemRidge(kernel=KERNEL, n_components=60, random_state=0).fit(X, y)
    scores = leverage_scores(X, KERNEL, 1.0, random_state=0)
    numbers = [model.dual_coef_, model.components_, model.predict(X).compute(), scores.compute()]
    return [np.asarray(number).tobytes() for number in numbers]


@pytest.fixture(scope="module")
def reference():
    with dask.config.set(scheduler="synchronous"):
        return fitted(*arrays())


def cluster(workers):
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
    )


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_do_not_change_the_bits(workers, reference):
    with cluster(workers) as here, distributed.Client(here):
        assert fitted(*arrays()) == reference


def test_a_worker_that_dies_changes_nothing(reference, tmp_path):
    once = tmp_path / "once"
    with cluster(2) as here, distributed.Client(here):
        assert fitted(*arrays(slow_targets, str(once))) == reference
    assert once.exists()


def test_a_fit_in_parts_is_that_to_all_rows():
    X, y = arrays()
    ours = NystroemRidge(kernel=KERNEL, n_components=60, random_state=0).fit(X, y)
    x, t = whole()
    theirs = ny.NystroemRidge(kernel=KERNEL, landmarks=ours.components_, criterion="gcv").fit(x, t)
    assert ours.n_seen_ == len(x) and np.isclose(ours.alpha_, theirs.alpha_)
    assert np.allclose(ours.predict(X).compute(), theirs.predict(x), atol=1e-6)
    assert np.allclose(ours.predict(x), theirs.predict(x), atol=1e-6)
    Y = da.stack([y, 1 - y], axis=1)
    w = da.ones(len(x), chunks=X.chunks[:1])
    for landmarks in ("rpcholesky", x[:40]):
        model = NystroemRidge(kernel=KERNEL, n_components=40, landmarks=landmarks, random_state=0)
        found = model.fit(X, Y, w).predict(X)
        assert found.shape == Y.shape and np.abs(found - Y).max().compute() < 0.05


def test_scores_are_near_the_exact_ones():
    X, _ = arrays()
    x, _ = whole()
    scores = leverage_scores(X, KERNEL, 1.0, copies=20, random_state=0).compute()
    exact = ny.leverage_scores(x, KERNEL, 1.0, method="exact")
    # between (1 - e)/(1 + 3e) = 1/5 of them and them, with e = 1/2
    assert np.all(scores <= 1.01 * exact) and np.all(scores >= exact / 5)


def test_frames_are_taken():
    dd = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    x, t = whole()

    def part(number):
        """One of the parts is empty."""
        return pandas.DataFrame(block(number), columns=["a", "b"]).assign(t=targets(number))

    frame = dd.from_map(part, range(len(SIZES)), meta=part(0)[:0])
    assert frame.npartitions == len(SIZES)
    model = NystroemRidge(kernel=KERNEL, n_components=40, random_state=0)
    model.fit(frame[["a", "b"]], frame["t"])
    assert list(model.feature_names_in_) == ["a", "b"]
    found = model.predict(frame[["a", "b"]]).compute()
    assert np.sqrt(np.mean((found - t) ** 2)) < 0.02


def test_what_is_wrong_is_said():
    X, y = arrays()
    model = NystroemRidge(kernel=KERNEL, n_components=10)
    for size in (1000, 500):
        with pytest.raises(ValueError, match="rechunk"):
            model.fit(X, y.rechunk(size))
    with pytest.raises(TypeError, match="from_array"):
        model.fit(X, np.asarray(y))
    with pytest.raises(ValueError, match="no rows"):
        model.fit(X[:0], y[:0])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, y * np.nan)
    with pytest.raises(ValueError, match="all rows at once"):
        NystroemRidge(alpha_per_target=True).fit(X, y)
    with pytest.raises(NotImplementedError, match="partial_fit"):
        model.partial_fit(X, y)


def test_the_example_of_the_module_runs():
    import doctest

    import nystrom.dask

    found = doctest.testmod(nystrom.dask)
    assert found.failed == 0 and found.attempted > 0
