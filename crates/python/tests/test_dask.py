"""Fits to Dask arrays and frames give the same bits wherever they run."""

import os
import signal

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas
import pytest

import nystrom as ny
from nystrom.dask import Falkon, NystroemRidge, leverage_scores
from nystrom.dask._falkon import Passes

KERNEL = ny.Gaussian(0.7)
SIZES = (700, 1300, 0, 1100, 900)


def block(part):
    """Loads a part inside a task, as from a file."""
    rng = np.random.default_rng(part)
    return rng.uniform(-1, 1, size=(SIZES[part], 2))


def targets(part):
    X = block(part)
    return np.sin(3 * X[:, 0]) + X[:, 1] ** 2


def slow_targets(part, once):
    """Loads a part, but kills the first worker that loads part 3."""
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
    """The results of a fit, its predictions and the scores, as bytes."""
    model = NystroemRidge(kernel=KERNEL, n_components=60, random_state=0).fit(X, y)
    scores = leverage_scores(X, KERNEL, 1.0, random_state=0)
    numbers = [model.dual_coef_, model.components_, model.predict(X).compute(), scores.compute()]
    numbers += [falkon(X, y, how).dual_coef_ for how in ("uniform", "rpcholesky")]
    return [np.asarray(number).tobytes() for number in numbers]


def falkon(X, y, how, **options):
    """A Falkon estimator: Falkon's preconditioner for uniform centres, KRILL's for others."""
    options = {"penalty": 1e-5, "fit_intercept": True, "random_state": 0} | options
    return Falkon(KERNEL, M=40, center_selection=how, **options).fit(X, y)


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


def test_a_worker_that_dies_between_iterations_changes_nothing(monkeypatch):
    X, y = arrays()
    with dask.config.set(scheduler="synchronous"):
        whole = falkon(X, y, "rpcholesky")
    passes, killed = [], []

    def counted(self, asked, call=Passes.__call__):
        passes.append(asked)
        if len(passes) == 5:
            pids = client.run(os.getpid)
            killed.append(min(pids))
            os.kill(pids[killed[0]], signal.SIGKILL)
        return call(self, asked)

    monkeypatch.setattr(Passes, "__call__", counted)
    with cluster(2) as here, distributed.Client(here) as client:
        assert falkon(X, y, "rpcholesky").dual_coef_.tobytes() == whole.dual_coef_.tobytes()
    assert killed and len(passes) > whole.n_iter_ > 5


@pytest.mark.parametrize("how", ["uniform", "rpcholesky"])
def test_iterations_are_those_in_memory(how):
    X, y = arrays()
    # at the default of 1e-6, two solutions differ by up to 1e-5
    exactly = {"tol": 1e-8, "random_state": 0}
    ours = falkon(X, y, how, n_jobs=1, **exactly)
    assert ours.solver_ == {"uniform": "Falkon", "rpcholesky": "Krill"}[how]
    x, t = whole()
    options = {"penalty": 1e-5, "fit_intercept": True, "center_selection": ours.components_}
    theirs = ny.Falkon(KERNEL, M=40, **options, **exactly).fit(x, t)
    assert theirs.solver_ == "Krill" and theirs.n_iter_ < 100
    assert np.allclose(ours.predict(X).compute(), theirs.predict(x), atol=1e-5)
    # two targets of another type, with weights that are 0 in some rows
    w = (x[:, 0] > 0).astype("f4")
    Y = da.stack([y, 1 - y], axis=1).astype("f4")
    weights = da.from_array(w, chunks=X.chunks[:1])
    ours = Falkon(KERNEL, M=40, tol=1e-5, random_state=0).fit(X.astype("f4"), Y, weights)
    there = {"penalty": 1e-6 * len(x) / w.sum(), "center_selection": ours.components_}
    there["random_state"] = 0
    some = x[w > 0].astype("f4")
    theirs = ny.Falkon(KERNEL, M=40, **there).fit(some, np.stack([t, 1 - t], axis=1)[w > 0])
    assert ours.dual_coef_.dtype == np.float32 and ours.dual_coef_.shape == (40, 2)
    assert np.allclose(ours.predict(some), theirs.predict(some), atol=1e-2)


def test_an_exception_in_a_pass_ends_the_fit(monkeypatch):
    X, y = arrays()

    def broken(self, asked, call=Passes.__call__):
        if isinstance(asked, np.ndarray):
            raise KeyboardInterrupt
        return call(self, asked)

    monkeypatch.setattr(Passes, "__call__", broken)
    with pytest.raises(KeyboardInterrupt):
        falkon(X, y, "uniform")
    monkeypatch.setattr(Passes, "__call__", lambda self, asked: b"no sums")
    with pytest.raises(ValueError, match="do not begin as a state does"):
        falkon(X, y, "uniform")


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
    # between (1 - e)/(1 + 3e) = 1/5 of the exact scores and the exact scores, with e = 1/2
    assert np.all(scores <= 1.01 * exact) and np.all(scores >= exact / 5)


def test_frames_are_taken():
    x, t = whole()

    def part(number):
        """Loads a part; one of the parts is empty."""
        return pandas.DataFrame(block(number), columns=["a", "b"]).assign(t=targets(number))

    frame = dd.from_map(part, range(len(SIZES)), meta=part(0)[:0])
    assert frame.npartitions == len(SIZES)
    model = NystroemRidge(kernel=KERNEL, n_components=40, random_state=0)
    model.fit(frame[["a", "b"]], frame["t"])
    assert list(model.feature_names_in_) == ["a", "b"]
    found = model.predict(frame[["a", "b"]]).compute()
    assert np.sqrt(np.mean((found - t) ** 2)) < 0.02


def packed_parts(b=256):
    """Rows of b bits as bytes and as `bool`, and a target by some of the bits, in uneven chunks."""
    bits = np.random.default_rng(0).random((900, b)) < 0.2
    chunks = (300, 0, 450, 150)
    rows = da.from_array(np.packbits(bits, axis=1), chunks=(chunks, -1))
    y = da.from_array(bits[:, :30].sum(axis=1).astype(float), chunks=(chunks,))
    return rows, da.from_array(bits, chunks=(chunks, -1)), y


def test_rows_of_bits_give_what_they_give_in_memory():
    rows, bits, y = packed_parts()
    x, t = rows.compute(), y.compute()
    for kernel in ("tanimoto", ny.Tanimoto()):
        ours = NystroemRidge(kernel=kernel, n_components=60, random_state=0).fit(rows, y)
        assert ours.n_features_in_ == 32 and ours.components_.dtype == np.float64
        found = ours.predict(rows).compute()
        assert np.array_equal(found, ours.predict(x))
        of_bool = NystroemRidge(kernel=kernel, n_components=60, random_state=0).fit(bits, y)
        assert np.array_equal(of_bool.predict(bits).compute(), found)
    given = {"kernel": "tanimoto", "landmarks": x[:80]}
    ours = NystroemRidge(**given).fit(rows, y)
    theirs = ny.NystroemRidge(criterion="gcv", **given).fit(x, t)
    assert np.isclose(ours.alpha_, theirs.alpha_)
    assert np.allclose(ours.predict(rows).compute(), theirs.predict(x), atol=1e-6)
    options = {"M": 80, "tol": 1e-8, "penalty": 1e-4, "center_selection": x[:80]}
    ours = Falkon("tanimoto", random_state=0, **options).fit(rows, y)
    theirs = ny.Falkon("tanimoto", random_state=0, **options).fit(x, t)
    assert np.allclose(ours.predict(rows).compute(), theirs.predict(x), atol=1e-5)
    uniform = Falkon("tanimoto", M=80, penalty=1e-4, random_state=0).fit(rows, y)
    assert uniform.solver_ == "Falkon" and uniform.score(x, t) > 0.2
    scores = leverage_scores(rows, "tanimoto", 3.0, copies=20, random_state=0).compute()
    exact = ny.leverage_scores(x, "tanimoto", 3.0, method="exact")
    assert np.all(scores <= 1.01 * exact) and np.all(scores >= exact / 5)


def test_frames_of_bits_are_taken():
    rows, _, y = packed_parts(24)
    frame = dd.from_dask_array(rows, columns=["b0", "b1", "b2"])
    model = NystroemRidge(kernel="tanimoto", n_components=60, random_state=0)
    model.fit(frame, y)
    assert list(model.feature_names_in_) == ["b0", "b1", "b2"] and model.n_features_in_ == 3
    assert np.array_equal(model.predict(frame).compute(), model.predict(rows).compute())


def test_other_rows_than_bits_are_told_what_helps():
    rows, bits, y = packed_parts()
    with dask.config.set(scheduler="synchronous"):
        for wrong in (bits.astype(float), bits.astype(int)):
            for call in (
                lambda X: NystroemRidge(kernel="tanimoto", n_components=9).fit(X, y),
                lambda X: Falkon("tanimoto", M=9).fit(X, y),
                lambda X: leverage_scores(X, "tanimoto"),
            ):
                with pytest.raises(ValueError, match="packbits"):
                    call(wrong)
        # as many numbers of 52 bits, but other bytes
        other = rows.map_blocks(lambda block: block[:, :-1], dtype=np.uint8)
        model = NystroemRidge(kernel="tanimoto", n_components=9, random_state=0)
        with pytest.raises(ValueError, match="X has 32 columns"):
            model.fit(other, y)
        model.fit(rows, y)
        with pytest.raises(ValueError, match="X has 32 columns"):
            model.predict(rows[:, :31]).compute()


def test_counts_are_taken():
    counts = np.random.default_rng(1).poisson(0.6, size=(600, 20))
    X, y = da.from_array(counts, chunks=(200, -1)), da.from_array(counts[:, 0] * 1.0, chunks=200)
    model = NystroemRidge(kernel="minmax", n_components=100, random_state=0).fit(X, y)
    assert model.score(counts, counts[:, 0]) > 0.3
    with pytest.raises(ValueError, match="at least 0"):
        NystroemRidge(kernel="minmax", n_components=10).fit(X - 1, y)


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
    with pytest.raises(ValueError, match="no rows"):
        falkon(X[:0], y[:0], "uniform")
    with pytest.raises(ValueError, match="1000 allowed"):
        falkon(X, y, "uniform", memory=1000)
    with pytest.raises(NotImplementedError, match="partial_fit"):
        model.partial_fit(X, y)


def test_the_example_of_the_module_runs():
    import doctest

    import nystrom.dask

    found = doctest.testmod(nystrom.dask)
    assert found.failed == 0 and found.attempted > 0


def test_frames_of_any_columns_become_features():
    """Text, money and dates: the features of partitions are those of the frame, and a fit works."""
    rng = np.random.default_rng(3)
    n = 1200
    size, price = rng.integers(0, 3, n), rng.uniform(1000, 9000, n)
    day = np.datetime64("2020-01-01") + rng.integers(0, 700, n)
    frame = pandas.DataFrame(
        {
            "row": np.arange(n) + 1,
            "size": np.array(["S", "M", "5 more"])[size],
            "price": [f"${p:,.2f}" for p in price],
            "day": day,
        }
    )
    y = size + np.sin(price / 1500)
    for parts in (1, 5):
        X = dd.from_pandas(frame, npartitions=parts)
        t = dd.from_pandas(pandas.Series(y), npartitions=parts)
        with pytest.warns(UserWarning, match="left out"):
            features = ny.dask.TableFeatures().fit(X)
        x = features.transform(X)
        assert np.array_equal(x.compute(), features.transform(frame))
        model = NystroemRidge(kernel=ny.Gaussian(2.0), n_components=200, random_state=0)
        model.fit(x, t.to_dask_array(lengths=True))
        error = model.predict(x).compute() - y
        assert np.sqrt(np.mean(error**2)) < 0.3 * np.std(y)
    with pytest.warns(UserWarning, match="left out"):
        whole = ny.TableFeatures().fit(frame)
    assert np.array_equal(whole.transform(frame), features.transform(frame))
    few = ny.dask.TableFeatures(sample_rows=100, random_state=1, features=["size", "price"]).fit(X)
    assert list(few.get_feature_names_out()) == ["size=5 more", "size=M", "size=S", "price"]


def test_frames_with_texts_are_told_what_helps():
    X = dd.from_pandas(pandas.DataFrame({"a": ["x", "y"] * 50, "b": range(100)}), npartitions=2)
    y = dd.from_pandas(pandas.Series(np.arange(100.0)), npartitions=2)
    with pytest.raises(ValueError, match="TableFeatures"):
        NystroemRidge(n_components=5).fit(X, y)
