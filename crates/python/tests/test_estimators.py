"""Every estimator passes scikit-learn's checks."""

import pickle

import numpy as np
import pandas
import polars
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import nystrom as ny

SAMPLED = (
    "landmarks are drawn among rows: other rows are drawn where weights are replaced by repeated "
    "or removed rows"
)
HALVES = (
    "validation rows are drawn among rows: others are where weights are replaced by repeated or "
    "removed rows"
)
WEIGHTS = [
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
]

#: Each estimator with the checks that it fails, and the reasons.
ESTIMATORS = [
    (ny.Nystroem(), {}),
    (ny.KernelRidge(), {}),
    (ny.NystroemRidge(), dict.fromkeys(WEIGHTS, SAMPLED)),
    (ny.Falkon(penalty=1e-3), dict.fromkeys(WEIGHTS, SAMPLED)),
    (ny.SqueakRegressor(), dict.fromkeys(WEIGHTS, SAMPLED)),
    (ny.TableFeatures(), {}),
    (ny.KernelPCA(), {}),
    (ny.SpectralEmbedding(), {}),
    (ny.KernelKMeans(), {}),
    (ny.KernelRegressor(work=2e7, memory=None), dict.fromkeys(WEIGHTS, HALVES)),
    (ny.KernelClassifier(work=2e7, memory=None), dict.fromkeys(WEIGHTS, HALVES)),
]


def checks():
    for estimator, expected in ESTIMATORS:
        generated = estimator_checks_generator(
            estimator, expected_failed_checks=expected, mark="xfail"
        )
        for case in generated:
            name = type(estimator).__name__
            if hasattr(case, "values"):  # a check that is marked as expected to fail
                check = case.values[1]
                yield pytest.param(*case.values, marks=case.marks, id=f"{name}-{of(check)}")
            else:
                yield pytest.param(*case, id=f"{name}-{of(case[1])}")


def of(check):
    return getattr(check, "func", check).__name__


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
@pytest.mark.filterwarnings("ignore")
def test_check_estimator(estimator, check):
    check(estimator)


REGRESSORS = [
    ny.KernelRidge(kernel="rbf", alpha=1e-3),
    ny.NystroemRidge(n_components=40, random_state=0),
    ny.Falkon(M=40, random_state=0),
    ny.SqueakRegressor(resolution=0.1, random_state=0),
    ny.KernelRegressor(work=1e9, memory=None, random_state=0),
]
NAMES = [type(regressor).__name__ for regressor in REGRESSORS]


@pytest.mark.parametrize("model", REGRESSORS, ids=NAMES)
def test_pickles_and_clones_predict_the_same(model, waves):
    X, y = waves
    model = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert model.score(X, y) > 0.99
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("model", REGRESSORS[:4], ids=NAMES[:4])
def test_both_types_of_numbers(model, waves):
    X, y = waves
    wide = clone(model).fit(X, y).predict(X)
    for target in (np.float32, np.float64):
        rows = X.astype(np.float32)
        narrow = clone(model).fit(rows, y.astype(target)).predict(rows)
        assert narrow.dtype == target
        assert np.abs(narrow - wide).max() < 1e-2


@pytest.mark.parametrize("model", REGRESSORS, ids=NAMES)
def test_several_targets_are_fitted_together(model, waves):
    X, y = waves
    Y = np.column_stack([y, 1 + 2 * y])
    f = clone(model).fit(X, Y).predict(X)
    assert f.shape == Y.shape
    assert np.sqrt(np.mean((f - Y) ** 2)) < 0.1


@pytest.mark.parametrize("jobs", [1, 2, -1])
@pytest.mark.parametrize("model", REGRESSORS, ids=NAMES)
def test_threads_do_not_change_the_bits(model, jobs, waves):
    X, y = waves
    reference = clone(model).set_params(n_jobs=1).fit(X, y).predict(X)
    assert np.array_equal(clone(model).set_params(n_jobs=jobs).fit(X, y).predict(X), reference)


def test_pipelines_grids_and_frames(waves):
    X, y = waves
    nystroem = ny.Nystroem(n_components=50, random_state=0)
    model = make_pipeline(StandardScaler(), nystroem, ny.KernelRidge(1e-2))
    assert cross_val_score(model, X, y, cv=3).min() > 0.95
    grid = {
        "nystroem__kernel": [ny.Gaussian(0.5), ny.Matern(1.5)],
        "nystroem__n_components": [20, 60],
    }
    assert GridSearchCV(model, grid, cv=3).fit(X, y).best_score_ > 0.95
    nested = {"kernel__length_scale": [0.01, 0.7], "alpha": [1e-3]}
    search = GridSearchCV(ny.KernelRidge(kernel=ny.Gaussian()), nested, cv=3).fit(X, y)
    assert search.best_params_["kernel__length_scale"] == 0.7


def test_outputs_are_frames_if_asked(waves):
    X, _ = waves
    model = ny.Nystroem(n_components=3, random_state=0).set_output(transform="pandas")
    features = model.fit_transform(pandas.DataFrame(X, columns=["a", "b"]))
    assert list(features.columns) == ["nystroem0", "nystroem1", "nystroem2"]
    features = model.set_output(transform="polars").fit_transform(polars.DataFrame(X))
    assert isinstance(features, polars.DataFrame)
