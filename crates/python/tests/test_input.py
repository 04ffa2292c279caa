"""Input that is wrong, unusual, or changed during a fit; interrupts and forks."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import nystrom as ny

MODELS = [
    ny.Nystroem(n_components=10, random_state=0),
    ny.KernelRidge(kernel="rbf"),
    ny.NystroemRidge(n_components=10, random_state=0),
    ny.Falkon(M=10, random_state=0),
    ny.SqueakRegressor(random_state=0),
]
ALL = [*MODELS, ny.KernelRegressor(work=1e8, memory=None, random_state=0)]


def result(model, X):
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


@pytest.mark.parametrize("type_", [np.float64, np.float32])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_any_strides_give_the_same_bits(model, type_, rng):
    """Kernels read arrays in place; the memory order does not change the result."""
    X, y = rng.normal(size=(60, 3)).astype(type_), rng.normal(size=60)
    reference = result(model.fit(X, y), X)
    wide = np.zeros((180, 9), dtype=type_)
    wide[::3, ::3] = X
    layouts = {
        "Fortran": np.asfortranarray(X),
        "strided": wide[::3, ::3],
        "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
        "transposed": np.ascontiguousarray(X.T).T,
        "swapped": X.astype(X.dtype.newbyteorder()),
    }
    packed = np.zeros(60, dtype=[("byte", "u1"), ("x", type_, (3,))])
    packed["x"] = X
    layouts["unaligned"] = packed["x"]
    frozen = X.copy()
    frozen.setflags(write=False)
    layouts["frozen"] = frozen
    for name, layout in layouts.items():
        if name == "swapped":
            reference_ = result(model.fit(X.astype(np.float64), y), X.astype(np.float64))
        else:
            reference_ = reference
        found = result(model.fit(layout, y), layout)
        assert np.allclose(found, reference_, atol=1e-12), name
        if name not in ("swapped",):
            assert np.array_equal(found, reference), name


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_what_is_no_matrix_of_numbers_is_refused(model, rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    gap = X.copy()
    gap[3, 1] = np.inf
    wrong = {
        "infinite": gap,
        "one axis": X[:, 0],
        "three axes": X.reshape(30, 2, 1),
        "no rows": X[:0],
        "no columns": X[:, :0],
        "words": np.full((30, 2), "word"),
        "things": np.array([[{}, {}]] * 30, dtype=object),
        "ragged": [[1.0], [1.0, 2.0]] * 15,
        "complex": X + 1j,
    }
    for what, bad in wrong.items():
        with pytest.raises((ValueError, TypeError)):
            model.fit(bad, y)
            pytest.fail(what)
    with pytest.raises(ValueError):
        model.fit(X, y).__class__  # fitted
        result(model, X[:, :1])


@pytest.mark.parametrize("model", ALL[1:], ids=lambda model: type(model).__name__)
def test_targets_and_weights_are_checked(model, rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    for bad in (np.where(np.arange(30) == 2, np.nan, y), y[:-1], np.full(30, "word"), None):
        with pytest.raises((ValueError, TypeError)):
            model.fit(X, bad)
    for weights in (np.full(30, -1.0), np.zeros(30), np.full(30, np.nan), np.ones(29)):
        with pytest.raises(ValueError):
            model.fit(X, y, sample_weight=weights)


def test_objects_that_are_numbers_are_taken(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    for model in MODELS:
        assert np.allclose(result(model.fit(X.astype(object), y), X), result(model.fit(X, y), X))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X: ny.Nystroem(gamma=-1.0).fit(X), "gamma = -1.0 is not valid"),
        (lambda X: ny.Nystroem("sigmoid").fit(X), "not positive semi-definite"),
        (lambda X: ny.Nystroem("gauss").fit(X), "there is no kernel 'gauss'"),
        (lambda X: ny.Nystroem(ny.Gaussian(0.0)).fit(X), "length scale = 0 is not valid"),
        (lambda X: ny.Nystroem(ny.Gaussian([1.0])).fit(X), "expected 1, got 2"),
        (lambda X: ny.Nystroem(ny.Gaussian(), gamma=2.0).fit(X), "gamma has no effect"),
        (lambda X: ny.Nystroem(n_components=0).fit(X), "0 landmarks"),
        (lambda X: ny.Nystroem(landmarks="best").fit(X), "there is no method"),
        (lambda X: ny.Nystroem(landmarks=[0, 99]).fit(X), "row 99"),
        (lambda X: ny.Nystroem(landmarks=[[0.0]]).fit(X), "2 columns"),
        (lambda X: ny.Nystroem(n_jobs=0).fit(X), "n_jobs = 0"),
        (lambda X: ny.KernelRidge(-1.0).fit(X, X[:, 0]), "ridge mu"),
        (lambda X: ny.KernelRidge(solver="svd").fit(X, X[:, 0]), "solver = 'svd'"),
        (lambda X: ny.NystroemRidge("best").fit(X, X[:, 0]), "alphas = 'best'"),
        (lambda X: ny.NystroemRidge([0.0, 1.0]).fit(X, X[:, 0]), "ridge mu"),
        (lambda X: ny.NystroemRidge(criterion="aic").fit(X, X[:, 0]), "criterion"),
        (lambda X: ny.Falkon(penalty=0.0).fit(X, X[:, 0]), "ridge mu"),
        (lambda X: ny.SqueakRegressor(epsilon=1.0).fit(X, X[:, 0]), "epsilon = 1 is not valid"),
        (lambda X: ny.SqueakRegressor(resolution=-1.0).fit(X, X[:, 0]), "ridge mu"),
        (lambda X: ny.SqueakRegressor(alphas="best").fit(X, X[:, 0]), "alphas = 'best'"),
        (lambda X: ny.KernelRegressor("huge").fit(X, X[:, 0]), "effort = .huge."),
        (lambda X: ny.KernelRegressor(time="5 years").fit(X, X[:, 0]), "time = '5 years'"),
        (lambda X: ny.KernelRegressor(time=1, work=1e9).fit(X, X[:, 0]), "time and work"),
        (lambda X: ny.KernelRegressor(memory="all").fit(X, X[:, 0]), "memory = 'all'"),
        (lambda X: ny.KernelRegressor(missing="mean").fit(X, X[:, 0]), "missing = .mean."),
        (lambda X: ny.leverage_scores(X, "rbf", -1.0), "ridge mu"),
        (lambda X: ny.leverage_scores(X, "rbf", method="fastest"), "there is no method"),
        (lambda X: ny.leverage_scores(X, ny.Linear(), method="sa"), "stationary kernel"),
        (lambda X: ny.landmarks(X, "rbf", 31), "asked for 31"),
        (lambda X: ny.rp_cholesky(X, "rbf", 0), "is empty"),
        (lambda X: ny.KDPP().fit(X).sample(31), "asked for 31"),
        (lambda X: ny.KDPP().sample(2), "call fit"),
        (lambda X: ny.KDPP().fit(X, quality=np.zeros(30)), "leave out the rows"),
        (lambda X: ny.KDPP().fit(X, quality=[1.0]), "one number per row"),
        (lambda X: ny.KDPP().fit(X, groups=[1, 2]), "one label for each"),
        (lambda X: ny.KDPP(method="rejection").fit(X, groups=[1] * 30), "within quotas"),
        (lambda X: ny.KDPP().fit(X).sample(3, given=[1, 1]), "more than once"),
        (lambda X: ny.KDPP().fit(X).sample(3, given=[30]), "out of range"),
        (lambda X: ny.KDPP().fit(X).sample(3, given=[-1]), "counted from 0"),
        (lambda X: ny.KDPP().fit(X).sample(2, given=[0, 1, 2]), "at most 2"),
        (lambda X: ny.KDPP().fit(X).sample(3, quotas={1: 3}), "pass groups"),
        (lambda X: ny.KDPP().fit(X, groups=[1] * 30).sample(3, quotas={2: 3}), "no group 2"),
        (lambda X: ny.KDPP().fit(X, groups=[1] * 30).sample(3, quotas={1: 2}), "sum of the quotas"),
        (lambda X: ny.KDPP().fit(X, groups=[1] * 30).sample(31, quotas={1: 31}), "lower the quota"),
        (lambda X: ny.KDPP(method="greedy").fit(X).sample(3, 2), "one subset"),
        (lambda X: ny.KDPP(method="mcmc").fit(X), "method = 'mcmc'"),
        (lambda X: ny.Nystroem("precomputed").fit(X), "square"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_errors_say_what_is_wrong(call, words, rng):
    with pytest.raises(ValueError, match=words):
        call(rng.normal(size=(30, 2)))


def test_more_landmarks_than_rows(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    with pytest.warns(UserWarning, match="more than the 30 rows"):
        assert ny.Nystroem().fit(X).components_.shape == (30, 2)
    assert ny.Falkon(M=1000).fit(X, y).components_.shape == (30, 2)


def test_no_convergence_is_a_warning(rng):
    from sklearn.exceptions import ConvergenceWarning

    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        ny.KernelRidge(1e-6, kernel="rbf", solver="iterative", max_iter=1, tol=1e-12).fit(X, y)


def test_an_array_that_is_written_to_during_a_fit(rng):
    """The result is undefined, and may be an error of the library; the test is that nothing else
    breaks."""
    X, y = rng.normal(size=(3000, 5)), rng.normal(size=3000)
    ended = threading.Event()

    def write():
        while not ended.is_set():
            X[:] = rng.normal(size=X.shape)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(3):
            with contextlib.suppress(ValueError):
                ny.NystroemRidge(n_components=100, landmarks="uniform").fit(X, y)
            with contextlib.suppress(ValueError):
                ny.landmarks(X, "rbf", 50, method="kdpp")
    finally:
        ended.set()
        writer.join()


def fit_in_child(queue):
    X = np.random.default_rng(0).normal(size=(200, 2))
    queue.put(ny.Nystroem(n_components=20, random_state=0).fit_transform(X))


def test_a_fork_after_use(rng):
    X = np.random.default_rng(0).normal(size=(200, 2))
    here = ny.Nystroem(n_components=20, random_state=0).fit_transform(X)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=fit_in_child, args=(queue,))
    child.start()
    there = queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0 and np.array_equal(here, there)


LONG = """
import numpy as np, nystrom as ny, sys
X = np.random.default_rng(0).normal(size=(60_000, 10))
y = X[:, 0]
print("ready", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def interrupted(program):
    """The output of a program that is interrupted in a fit, and the seconds until it ends."""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    start = time.perf_counter()
    line = child.stdout.readline()
    took = time.perf_counter() - start
    rest, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    return line + rest, took


@pytest.mark.parametrize(
    "work",
    [
        "ny.KernelRidge(1e-6, kernel='rbf', solver='iterative').fit(X, y)",
        "ny.NystroemRidge(n_components=5000, landmarks='uniform').fit(X, y)",
        "ny.landmarks(X, 'rbf', 5000, method='rpcholesky')",
        "ny.SqueakRegressor(gamma=1.0, max_components=100_000).fit(X, y)",
    ],
)
def test_ctrl_c_ends_the_work(work):
    said, _ = interrupted(LONG.format(work=work))
    assert said == "interrupted\n"


@pytest.mark.parametrize("rows", [3000, 60_000])
def test_ctrl_c_ends_a_search_within_a_second(rows):
    """The work ends as well: afterwards the process uses almost no processor time."""
    work = f"ny.KernelRegressor('thorough', memory=None).fit(X[:{rows}], y[:{rows}])"
    program = LONG.format(work=work) + (
        "import time\n"
        "time.sleep(3.0); before = time.process_time(); time.sleep(1.0)\n"
        "print(time.process_time() - before < 0.5)\n"
    )
    said, took = interrupted(program)
    assert said == "interrupted\nTrue\n"
    assert took < 1.5  # half a second of waiting, and a margin for a busy machine


def test_the_interpreter_may_end_during_a_fit():
    program = LONG.format(work="pass") + (
        "import threading\n"
        "fit = ny.KernelRidge(1e-6, kernel='rbf', solver='iterative').fit\n"
        "threading.Thread(target=fit, args=(X, y), daemon=True).start()\n"
        "import time; time.sleep(0.5)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], timeout=60, env=os.environ)
    assert ended.returncode == 0


def test_import_needs_nothing_else():
    """Only NumPy, scikit-learn and what scikit-learn imports are needed."""
    program = (
        "import sys, sklearn.utils.estimator_checks; before = set(sys.modules); import nystrom; "
        "new = {name.split('.')[0] for name in set(sys.modules) - before}; "
        "assert new == {'nystrom'}, new"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
