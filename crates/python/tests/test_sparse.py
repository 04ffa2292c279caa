"""Sparse matrices of SciPy are points without being made dense."""

import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.pipeline import make_pipeline

import nystrom as ny


@pytest.fixture(autouse=True)
def _never_made_dense():
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="a sparse matrix")
        yield


@pytest.fixture
def counts(rng):
    """Rows of word counts, of which the first is empty, and a smooth target."""
    X = np.zeros((150, 60))
    for i in range(1, len(X)):
        words = (60 * rng.uniform(size=1 + i % 9) ** 2).astype(int)
        np.add.at(X[i], words, 1.0)
    return X, np.sin(X @ rng.normal(size=60) / 3)


def agree(found, reference, tolerance=1e-8):
    found, reference = np.asarray(found), np.asarray(reference)
    assert found.shape == reference.shape
    size = np.abs(reference).max(initial=0.0)
    assert np.abs(found - reference).max(initial=0.0) <= tolerance * size


KERNELS = [
    ny.Gaussian(3.0),
    ny.Gaussian(np.linspace(2.0, 4.0, 60)),
    ny.Matern(2.5, 3.0),
    ny.RationalQuadratic(1.0, 3.0),
    ny.PowerExponential(1.5, 3.0),
    ny.PowerExponentialL1(0.5, 9.0),
    ny.Laplacian(9.0),
    ny.Linear(0.1),
    ny.Polynomial(2, 0.1, 1.0),
    ny.MinMax(),
    ny.Gaussian(3.0) + 0.5 * ny.Linear() * ny.Matern(1.5, 2.0),
]
FORMATS = [
    sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.lil_matrix, sparse.csr_array,
    sparse.csc_array, sparse.coo_array,
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_take_sparse_rows(kernel, counts):
    X, _ = counts
    S = sparse.csr_matrix(X)
    agree(kernel(S), kernel(X))
    agree(kernel(S, S[:40]), kernel(X, X[:40]))
    agree(kernel(S, X[:40]), kernel(X, X[:40]))
    agree(kernel(X[:40], S), kernel(X[:40], X))
    agree(kernel.diag(S), kernel.diag(X))


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.__name__)
def test_every_format_gives_the_same(form, counts):
    X, y = counts
    model = ny.NystroemRidge(n_components=40, gamma=0.1, random_state=0)
    reference = clone(model).fit(X, y)
    found = clone(model).fit(form(X), y)
    assert sparse.issparse(found.components_) and found.components_.format == "csr"
    assert found.n_features_in_ == 60
    agree(found.components_.toarray(), reference.components_)
    agree(found.predict(form(X)), reference.predict(X))
    agree(ny.Gaussian(3.0)(form(X)), ny.Gaussian(3.0)(X))


MODELS = [
    ny.KernelRidge(kernel="rbf", gamma=0.1),
    ny.KernelRidge(kernel="laplacian", solver="iterative", tol=1e-12),
    ny.KernelRidge(fit_intercept=True),
    ny.NystroemRidge(n_components=40, gamma=0.1, random_state=0),
    ny.NystroemRidge(n_components=40, kernel="poly", landmarks="kmeans++", random_state=0),
    ny.Falkon(M=40, gamma=0.1, penalty=1e-4, tol=1e-12, random_state=0),
    ny.Falkon(M=40, kernel="minmax", center_selection="kdpp", tol=1e-12, random_state=0),
    ny.Falkon(ConstantKernel(2.0) * RBF(3.0), M=40, tol=1e-12, random_state=0),
    ny.Nystroem(gamma=0.1, n_components=40, random_state=0),
    ny.Nystroem(ny.Matern(1.5, 3.0), landmarks="leverage", n_components=40, random_state=0),
    ny.KernelPCA(3, gamma=0.1, n_landmarks=50, random_state=0),
    ny.SpectralEmbedding(3, gamma=0.1, n_landmarks=50, random_state=0),
    ny.KernelKMeans(4, gamma=0.1, n_landmarks=50, random_state=0),
]
NAMES = [f"{type(model).__name__}-{i}" for i, model in enumerate(MODELS)]


def result(model, X):
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_estimators_give_the_same_as_with_dense_rows(model, counts):
    X, y = counts
    S = sparse.csr_matrix(X)
    dense, found = clone(model).fit(X, y), clone(model).fit(S, y)
    agree(result(found, S), result(dense, X), 1e-7)
    # new rows of the other form
    agree(result(found, X[:20]), result(dense, X[:20]), 1e-7)
    with pytest.warns(UserWarning, match="is made dense"):
        agree(result(dense, S[:20]), result(dense, X[:20]))
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(result(again, S), result(found, S))
    # the preconditioner, and with it the number of iterations, depends on the cost of a value
    said = [re.sub(r"\d+ iterations", "iterations", str(model)) for model in (found, dense)]
    assert said[0] == said[1]
    one = result(found, S[:1])
    agree(one, result(found, S)[:1])
    if hasattr(model, "fit_transform"):
        agree(clone(model).fit_transform(S), result(dense, X), 1e-7)


@pytest.mark.parametrize("model", MODELS[:8], ids=NAMES[:8])
def test_weights_targets_and_types(model, counts):
    X, y = counts
    S, Y, weights = sparse.csr_matrix(X), np.column_stack([y, 2 * y - 1]), 1.0 + np.arange(150) % 3
    dense, found = (clone(model).fit(rows, Y, weights).predict(X) for rows in (X, S))
    agree(found, dense, 1e-6)
    narrow = clone(model).fit(S.astype(np.float32), y.astype(np.float32))
    f = narrow.predict(S.astype(np.float32))
    assert f.dtype == np.float32
    assert np.abs(f - clone(model).fit(X, y).predict(X)).max() < 0.05
    f = clone(model).fit(S.astype(np.int64), y).predict(S.astype(np.int32))
    assert f.dtype == np.float64
    agree(f, clone(model).fit(X, y).predict(X), 1e-6)


def test_landmarks_are_names_rows_or_points(counts):
    X, y = counts
    S, rows = sparse.csr_matrix(X), np.arange(0, 150, 5)
    reference = ny.NystroemRidge(gamma=0.1, landmarks=X[rows]).fit(X, y).predict(X)
    for how in (rows, list(rows), X[rows], S[rows], S[rows].tocoo()):
        model = ny.NystroemRidge(gamma=0.1, landmarks=how).fit(S, y)
        assert model.components_.format == "csr"
        agree(model.predict(S), reference)
    with pytest.warns(UserWarning, match="is made dense"):
        agree(ny.NystroemRidge(gamma=0.1, landmarks=S[rows]).fit(X, y).predict(X), reference)
    for how, words in ((S[:3, :4], "60 columns"), ([999], "row 999")):
        with pytest.raises(ValueError, match=words):
            ny.NystroemRidge(landmarks=how).fit(S, y)


def test_functions_give_the_same_as_with_dense_rows(counts):
    X, y = counts
    S, kernel, seed = sparse.csr_matrix(X), ny.Gaussian(3.0), {"random_state": 0}
    for method in ("exact", "fast", "recursive", "bless", "bless-r", "squeak"):
        how = {"method": method, "alpha": 0.1, "columns": 80} | seed
        agree(ny.leverage_scores(S, kernel, **how), ny.leverage_scores(X, kernel, **how), 1e-6)
    agree(ny.effective_dimension(S, kernel, **seed), ny.effective_dimension(X, kernel, **seed))
    for method in (
        "uniform", "rpcholesky", "greedy", "sparse-greedy", "kmeans++", "adaptive", "diagonal",
        "leverage", "leverage-exact", "leverage-fast", "bless", "bless-r", "squeak", "kdpp",
        "kdpp-exact",
    ):
        how = {"method": method} | seed
        found, reference = (ny.landmarks(rows, kernel, 12, **how) for rows in (S, X))
        assert np.array_equal(found, reference), method
    found, reference = (ny.rp_cholesky(rows, kernel, 20, **seed) for rows in (S, X))
    assert np.array_equal(found.pivots, reference.pivots)
    agree(found.factor, reference.factor)
    found, reference = (ny.audit(rows, kernel, 0.1, rows=20, **seed) for rows in (S, X))
    agree(found["scores"], reference["scores"], 1e-6)
    models = [ny.NystroemRidge(1e-2, kernel=kernel, n_components=40, **seed).fit(rows, y)
              for rows in (X, S)]
    for passes in (None, 5):
        reference = ny.certificate(models[0], X, y, passes=passes, **seed)
        for rows in (S, X):
            found = ny.certificate(models[1], rows, y, passes=passes, **seed)
            agree(found.bound, reference.bound, 1e-5)
    for given in (None, kernel):
        reference = ny.two_sample_test(X[:70], X[70:], given, n_permutations=99, **seed)
        for first, second in ((S[:70], S[70:]), (X[:70], S[70:])):
            found = ny.two_sample_test(first, second, given, n_permutations=99, **seed)
            agree(found.statistic, reference.statistic)
            assert found.pvalue == reference.pvalue


@pytest.mark.parametrize("method", ["exact", "rejection", "swap", "greedy"])
def test_subsets_are_those_of_dense_rows(method, counts):
    X, _ = counts
    X = X[10:]
    S = sparse.csr_matrix(X)
    found, reference = (
        ny.KDPP(ny.Gaussian(3.0), method=method).fit(rows) for rows in (S, X)
    )
    draw = {"random_state": 0}
    assert np.array_equal(found.sample(6, **draw), reference.sample(6, **draw))
    given = {"given": [3, 8]} | draw
    assert np.array_equal(found.sample(6, **given), reference.sample(6, **given))
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.sample(6, **draw), reference.sample(6, **draw))
    agree(found.log_det([1, 5, 9]), reference.log_det([1, 5, 9]))
    agree(found.inclusion_probabilities(6), reference.inclusion_probabilities(6), 1e-6)


def test_the_matrix_of_the_user_is_not_changed(counts):
    """Repeated columns are added up, unsorted ones sorted, in a copy."""
    X, y = counts
    S = sparse.csr_matrix(X)
    indices, data = (np.concatenate([part[::-1], part[:3]]) for part in (S.indices, S.data))
    starts = [0, *np.cumsum(np.diff(S.indptr)[::-1])]
    starts[-1] += 3
    untidy = sparse.csr_matrix((data, indices, starts), shape=X.shape)
    before = [part.copy() for part in (untidy.data, untidy.indices, untidy.indptr)]
    model = ny.NystroemRidge(n_components=40, gamma=0.1, random_state=0)
    found = clone(model).fit(untidy, y).predict(untidy)
    agree(ny.Gaussian(3.0)(untidy), ny.Gaussian(3.0)(untidy.toarray()))
    after = untidy.data, untidy.indices, untidy.indptr
    assert all(map(np.array_equal, before, after))
    agree(found, clone(model).fit(untidy.toarray(), y).predict(untidy.toarray()))
    # 64-bit indices, and zeros that are stored
    wide = sparse.csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    wide.data[5:9] = 0.0
    agree(ny.Gaussian(3.0)(wide), ny.Gaussian(3.0)(wide.toarray()))


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_wrong_rows_are_refused(model, counts):
    X, y = counts
    S = sparse.csr_matrix(X)
    gap, infinite = S.copy(), S.copy()
    gap.data[7], infinite.data[7] = np.nan, np.inf
    wrong = [
        (gap, "NaN"),
        (infinite, "infinity"),
        (S[:0], "0 sample"),
        (S[:, :0], "0 feature"),
        ((S + 1j * S).tocsr(), "Complex"),
    ]
    for bad, words in wrong:
        with pytest.raises(ValueError, match=words):
            clone(model).fit(bad, y[: bad.shape[0]])
    fitted = clone(model).fit(S, y)
    for bad in (S[:, :5], X[:, :5]):
        with pytest.raises(ValueError, match="5 features"):
            result(fitted, bad)
    with pytest.raises(ValueError, match="NaN"):
        result(fitted, gap)


def test_functions_refuse_wrong_rows(counts):
    X, _ = counts
    gap = sparse.csr_matrix(X)
    gap.data[7] = np.nan
    for call in (ny.Gaussian(), ny.landmarks, ny.leverage_scores, ny.rp_cholesky):
        with pytest.raises(ValueError, match="NaN"):
            call(gap)
    S = sparse.csr_matrix(X)
    with pytest.raises(ValueError, match="expected 60, got 5|expected 5, got 60"):
        ny.Gaussian()(S, S[:, :5])
    with pytest.raises(ValueError, match="Complex"):
        ny.Gaussian()(S.astype(complex))
    with pytest.raises(ValueError, match="needs dense rows; pass X.toarray"):
        ny.leverage_scores(S, ny.Gaussian(), method="sa")
    with pytest.raises(ValueError, match="negative"):
        ny.MinMax()(-S)


def test_a_damaged_matrix_is_an_error(counts):
    X, _ = counts
    for change in (
        lambda S: S.indices.__setitem__(0, 60),
        lambda S: S.indices.__setitem__(0, -1),
        lambda S: S.indptr.__setitem__(1, 10_000),
        lambda S: S.indptr.__setitem__(-1, 10_000),
    ):
        S = sparse.csr_matrix(X)
        assert S.has_canonical_format  # and it is not checked again
        change(S)
        with pytest.raises(ValueError):
            ny.Gaussian()(S)


@pytest.mark.filterwarnings("ignore:.*evaluated by Python")
def test_other_kernels_need_dense_rows(counts):
    X, y = counts
    S = sparse.csr_matrix(X)
    for kernel in (
        ny.Periodic(2.0, 3.0),
        ny.Gaussian() * ny.Periodic(),
        ny.FromBlocks(lambda X, Y: X @ Y.T),
        ConstantKernel(2.0) + RBF(),
        "cosine",
    ):
        with pytest.warns(UserWarning, match="is made dense"):
            model = ny.Nystroem(kernel, n_components=5, random_state=0).fit(S)
        assert model.components_.shape == (5, 60) and not sparse.issparse(model.components_)
    K = ny.Gaussian()(X)
    with pytest.warns(UserWarning, match="is made dense"):
        found = ny.KernelRidge(kernel="precomputed").fit(sparse.csr_matrix(K), y)
    agree(found.predict(K), ny.KernelRidge(kernel="precomputed").fit(K, y).predict(K))
    with pytest.raises(TypeError, match="Sparse data"):
        ny.Nystroem("tanimoto").fit(S)
    with pytest.raises(ValueError, match="packbits"):
        ny.Tanimoto()(S)
    huge = sparse.csr_matrix(([1.0], ([0], [0])), shape=(100_000, 100_000))
    with pytest.raises(ValueError, match="toarray"):
        ny.Nystroem(ny.Periodic()).fit(huge)


def test_rows_in_parts_must_be_dense(counts):
    X, y = counts
    S = sparse.csr_matrix(X)
    for model in (ny.NystroemRidge(), ny.SqueakRegressor()):
        with pytest.raises(ValueError, match="partial_fit needs dense rows"):
            model.partial_fit(S, y)
    with pytest.warns(UserWarning, match="is made dense"):
        found = ny.SqueakRegressor(random_state=0).fit(S, y)
    agree(found.predict(X), ny.SqueakRegressor(random_state=0).fit(X, y).predict(X))
    model = ny.NystroemRidge(n_components=20, gamma=0.1, random_state=0).fit(S, y)
    model.partial_fit(X, y)  # starts again, with dense landmarks
    assert not sparse.issparse(model.components_)


def test_sentences_in_a_pipeline():
    texts = [
        "the cat sleeps on the warm roof", "a cat hunts a mouse in the barn",
        "the dog sleeps in the barn", "my dog chases the cat over the roof",
        "shares of the bank fell on monday", "the bank raises the rate again",
        "the rate of the loan rises on monday", "shares rise as the rate falls",
    ]
    y = np.array([0.0] * 4 + [1.0] * 4)
    for model in (ny.NystroemRidge(1e-3, n_components=8, random_state=0), ny.KernelRidge(1e-3)):
        fitted = make_pipeline(TfidfVectorizer(), model).fit(texts, y)
        animals, money = fitted.predict(["the cat and the dog", "the bank and the rate"])
        assert animals < 0.5 < money
    for features in (ny.Nystroem(n_components=8), ny.KernelPCA(n_landmarks=8)):
        assert len(make_pipeline(TfidfVectorizer(), features).fit_transform(texts)) == 8


MANY = """
import numpy as np, nystrom as ny, re
from scipy import sparse
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) / 1e6
n, d, words = 20_000, 1_000_000, 20
rng = np.random.default_rng(0)
columns = (d * rng.uniform(size=n * words) ** 3).astype(np.int64)
X = sparse.csr_matrix((np.ones(n * words), columns, np.arange(0, n * words + 1, words)), (n, d))
y = np.asarray(X[:, :10].sum(axis=1)).ravel()
before = peak()
model = ny.NystroemRidge(n_components=50, gamma=0.05, random_state=0).fit(X, y)
assert model.predict(X).shape == (n,)
assert ny.KernelPCA(n_landmarks=50, gamma=0.05, random_state=0).fit_transform(X).shape == (n, 2)
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_million_columns_take_little_memory():
    """Dense rows would be 160 GB."""
    command = [sys.executable, "-c", MANY]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert float(ended.stdout) < 0.25  # gigabytes
