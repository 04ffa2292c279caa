"""Targets of every type: classes named as they are written, missing values, and 64-bit targets
with 32-bit rows."""

import warnings

import dask.array as da
import numpy as np
import pandas
import polars
import pytest

import nystrom as ny
import nystrom.dask as far

SMALL = {"work": 1e9, "memory": None, "random_state": 0}
KERNEL = ny.Gaussian(1.0)
WITH_CONSTANT = {
    "KernelRidge": lambda: ny.KernelRidge(1e-3, kernel=KERNEL, fit_intercept=True),
    "iterative": lambda: ny.KernelRidge(
        1e-3, kernel=KERNEL, fit_intercept=True, solver="iterative", tol=1e-5
    ),
    "NystroemRidge": lambda: ny.NystroemRidge(kernel=KERNEL, n_components=60, random_state=0),
    "Falkon": lambda: ny.Falkon(KERNEL, M=60, fit_intercept=True, random_state=0, tol=1e-5),
    "Krill": lambda: ny.Falkon(
        KERNEL, M=60, fit_intercept=True, center_selection="rpcholesky", random_state=0, tol=1e-5
    ),
    "SqueakRegressor": lambda: ny.SqueakRegressor(KERNEL, random_state=0),
}


class InParts:
    """A model that is fitted by `partial_fit` to three parts of the rows."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        for some in np.array_split(np.arange(len(X)), 3):
            self.model.partial_fit(X[some], y[some])
        return self.model


class FarAway:
    """A model that is fitted to Dask arrays with three partitions."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        size = -(-len(X) // 3)
        parts = da.from_array(X, chunks=(size, X.shape[1])), da.from_array(y, chunks=size)
        fitted = self.model.fit(*parts)
        assert np.array_equal(fitted.predict(parts[0]).compute(), fitted.predict(X))
        return fitted


MODELS = WITH_CONSTANT | {
    "NystroemRidge in parts": lambda: InParts(WITH_CONSTANT["NystroemRidge"]()),
    "SqueakRegressor in parts": lambda: InParts(WITH_CONSTANT["SqueakRegressor"]()),
    "NystroemRidge of Dask": lambda: FarAway(
        far.NystroemRidge(kernel=KERNEL, n_components=60, random_state=0)
    ),
    "Falkon of Dask": lambda: FarAway(
        far.Falkon(KERNEL, M=60, fit_intercept=True, random_state=0, tol=1e-5)
    ),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("offset", "size"), [(1e9, 1.0), (-3e12, 100.0), (0, 1e-60), (1e200, 1e190)]
)
def test_targets_keep_64_bits_beside_rows_of_32(name, offset, size, waves):
    X, y = waves
    X, target = X.astype(np.float32), offset + size * y
    found = MODELS[name]().fit(X, target).predict(X)
    reference = MODELS[name]().fit(X.astype(float), y).predict(X.astype(float))
    assert found.dtype == np.float64
    wrong = np.sqrt(np.mean(((found - offset) / size - y) ** 2)) / y.std()
    allowed = np.sqrt(np.mean((reference - y) ** 2)) / y.std() + 0.01
    # the precision of 64 bits at the offset of y
    assert wrong < 1.5 * allowed + 1e-15 * abs(offset) / size


def test_without_a_constant_far_targets_are_fitted_in_64_bits(waves):
    X, y = waves
    narrow = X.astype(np.float32)
    for make in (
        lambda: ny.KernelRidge(1e-9, kernel=KERNEL),
        lambda: ny.NystroemRidge(
            [1e-9], kernel=KERNEL, n_components=60, fit_intercept=False, random_state=0
        ),
    ):
        wide = make().fit(narrow.astype(float), 1e6 + y).predict(narrow.astype(float))
        found = make().fit(narrow, 1e6 + y).predict(narrow)
        assert np.allclose(found, wide, rtol=0, atol=1e-3)
    near = ny.KernelRidge(1e-3, kernel=KERNEL).fit(narrow, y)
    assert near.X_fit_.dtype == np.float32 and near.dual_coef_.dtype == np.float64


@pytest.mark.parametrize("name", WITH_CONSTANT)
@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "i8"])
def test_predictions_have_the_type_of_the_target(name, kind, waves):
    """Results have 32 bits if rows and target have 32 bits, as in scikit-learn."""
    X, y = waves
    target = (1000 * y).astype(kind)
    found = WITH_CONSTANT[name]().fit(X.astype(np.float32), target).predict(X.astype(np.float32))
    assert found.dtype == (np.float32 if kind == "f4" else np.float64)
    assert np.sqrt(np.mean((found - target) ** 2)) < 60
    both = np.column_stack([target, 1 - target])
    found = WITH_CONSTANT[name]().fit(X.astype(np.float32), both).predict(X.astype(np.float32))
    assert found.shape == both.shape and np.sqrt(np.mean((found - both) ** 2)) < 60


def test_errors_and_certificates_are_in_units_of_the_target(waves):
    X, y = waves
    options = {"kernel": KERNEL, "n_components": 60, "random_state": 0, "alphas": [1e-2, 1.0]}
    wide = ny.NystroemRidge(**options).fit(X, y)
    narrow = ny.NystroemRidge(**options).fit(X.astype("f4"), 1e9 + 1e3 * y)
    for ours, theirs in ((narrow.loo_, wide.loo_), (narrow.gcv_, wide.gcv_)):
        assert np.allclose(ours, 1e6 * theirs, rtol=1e-2)
    assert np.isclose(narrow.best_score_, 1e6 * wide.best_score_, rtol=1e-2)
    there = ny.certificate(wide, X, y, random_state=0)
    here = ny.certificate(narrow, X.astype("f4"), 1e9 + 1e3 * y, random_state=0)
    assert np.allclose(here.residual, 1e3 * there.residual, rtol=1e-2)
    # rounding to 32 bits is less than a hundredth of the spread of the target
    assert np.all(here.bound < 1e3 * there.bound + 10)


@pytest.mark.parametrize(
    "labels",
    [
        ["", "x", "z"],
        ["NA", "no", "None"],
        ["00501", "0502", "1e5"],
        [2**53, 2**53 + 1, 7],
        [-(2**63), 2**53 + 1, 2**53],
        [-1.0, 2.0],
        [True, False],
        [-1, 1],
    ],
)
def test_every_class_is_one(labels, tmp_path, rng):
    codes = np.arange(240) % len(labels)
    X = rng.normal(size=(240, 2)) + 6.0 * codes[:, None]
    known = np.array(labels)
    model = ny.KernelClassifier(**SMALL).fit(X, known[codes])
    assert len(model.classes_) == len(labels) and np.array_equal(model.classes_, np.unique(known))
    assert model.score(X, known[codes]) > 0.95
    model.save(tmp_path / "classes.bin")
    loaded = ny.KernelClassifier.load(tmp_path / "classes.bin")
    written = [str(label) for label in model.predict(X)]
    if known.dtype.kind in "bUiu":
        assert [str(label) for label in loaded.predict(X)] == written
    weights = dict.fromkeys(known.tolist(), 1.0)
    weighted = ny.KernelClassifier(class_weight=weights, **SMALL).fit(X, known[codes])
    assert weighted.score(X, known[codes]) > 0.95


@pytest.mark.parametrize("labels", [["00501", "501"], ["yes", "Yes"], ["a b", "a  b"]])
def test_classes_that_would_be_merged_are_refused(labels, rng):
    X, y = rng.normal(size=(30, 2)), np.array(labels)[np.arange(30) % 2]
    with pytest.raises(ValueError, match="would be one; pass numbers"):
        ny.KernelClassifier(**SMALL).fit(X, y)


@pytest.mark.parametrize(
    "y",
    [
        pandas.array(["a", "b", None] * 30, dtype="string"),
        pandas.Series(["a", "b", None] * 30),
        np.array(["a", "b", None] * 30, dtype=object),
        np.array([1.0, 2.0, np.nan] * 30),
        pandas.Series([1, 2, None] * 30, dtype="Int64"),
        pandas.Series(pandas.Categorical(["a", "b", None] * 30)),
        polars.Series(["a", "b", None] * 30),
        polars.Series([1, 2, None] * 30),
    ],
)
@pytest.mark.parametrize("kind", [ny.KernelRegressor, ny.KernelClassifier])
def test_targets_with_gaps_are_refused_with_a_remedy(kind, y, rng):
    X = rng.normal(size=(90, 2))
    match = "in 30 of 90 rows .positions 2, 5, 8, 11, 14, ....; leave"
    with pytest.raises(ValueError, match=match) as e:
        kind(**SMALL).fit(X, y)
    remedy = str(e.value).split("rows out: ")[1]
    keep = {"y": y, "pandas": pandas, "np": np}
    exec(remedy.split(";")[0], keep)
    assert np.asarray(keep["keep"]).sum() == 60


def test_classes_of_several_types_are_refused(rng):
    X, y = rng.normal(size=(30, 2)), np.array([1, "a", "b"] * 10, dtype=object)
    with pytest.raises(TypeError, match=r"str\(label\)"):
        ny.KernelClassifier(**SMALL).fit(X, y)
    with pytest.raises(TypeError, match="y holds times"):
        ny.KernelRegressor(**SMALL).fit(X, np.arange(30).astype("datetime64[D]"))


def bad_numbers():
    """Estimators with one parameter that is NaN, infinite or negative."""
    makers = {
        ny.KernelRidge: ["alpha", "gamma", "tol", "max_iter", "coef0", "degree"],
        ny.NystroemRidge: ["alphas", "gamma", "n_components"],
        ny.Falkon: ["penalty", "gamma", "tol", "maxiter", "M"],
        ny.SqueakRegressor: ["resolution", "copies", "epsilon", "alphas", "gamma"]
        + ["max_components"],
        ny.Nystroem: ["gamma", "n_components"],
        ny.KernelRegressor: ["work", "time", "memory", "calibrate"],
        ny.KernelClassifier: ["work", "time", "memory", "calibrate"],
    }
    for kind, names in makers.items():
        for name in names:
            kernel = {"coef0": "poly", "degree": "poly"}.get(name, "rbf")
            options = {"kernel": kernel} if "kernel" in kind().get_params() else {}
            for value in (np.nan, np.inf, -1.0):
                if name in ("coef0",) and value == -1.0:
                    continue
                yield pytest.param(
                    kind, options | {name: value}, id=f"{kind.__name__}-{name}-{value}"
                )


@pytest.mark.parametrize(("kind", "options"), bad_numbers())
def test_numbers_that_are_none_are_refused(kind, options, rng):
    X = rng.normal(size=(30, 2))
    name, value = list(options.items())[-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="."):
            kind(**options).fit(X, X[:, 0] if "Classifier" not in kind.__name__ else X[:, 0] > 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda X, v: ny.Gaussian(v)(X),
        lambda X, v: ny.Matern(v)(X),
        lambda X, v: ny.Matern(1.5, v)(X),
        lambda X, v: ny.Gaussian([1.0, v])(X),
        lambda X, v: ny.Laplacian(v)(X),
        lambda X, v: ny.RationalQuadratic(v)(X),
        lambda X, v: ny.PowerExponential(v)(X),
        lambda X, v: ny.PowerExponentialL1(v)(X),
        lambda X, v: ny.Periodic(v)(X),
        lambda X, v: (v * ny.Gaussian())(X),
        lambda X, v: ny.Linear(v)(X),
        lambda X, v: ny.Polynomial(3, v)(X),
        lambda X, v: ny.leverage_scores(X, "rbf", v),
        lambda X, v: ny.landmarks(X, "rbf", 5, method="bless", alpha=v),
        lambda X, v: ny.rp_cholesky(X, "rbf", 5, tolerance=v),
        lambda X, v: ny.audit(X, "rbf", v, rows=5),
        lambda X, v: ny.certificate(ny.NystroemRidge().fit(X, X[:, 0]), X, X[:, 0], confidence=v),
        lambda X, v: ny.certificate(ny.NystroemRidge().fit(X, X[:, 0]), X, X[:, 0], tolerance=v),
    ],
)
@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_parameters_of_functions_that_are_none_are_refused(call, value, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError):
            call(rng.normal(size=(30, 2)), value)
