"""What fitted estimators show of themselves, and the versions."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nystrom as ny

MODELS = [
    (ny.KernelRegressor(work=1e8, memory=None, random_state=0), ["error", "kernel", "centres"]),
    (ny.KernelClassifier(work=1e8, memory=None, random_state=0), ["error", "log-loss", "kernel"]),
    (ny.KernelRidge(1e-3, kernel=ny.Matern(1.5)), ["kernel", "centres", "ridge", "solver"]),
    (ny.NystroemRidge(n_components=20, random_state=0), ["error", "kernel", "centres", "ridge"]),
    (ny.Falkon(M=20, random_state=0), ["kernel", "centres", "lambda", "solver"]),
    (ny.SqueakRegressor(resolution=0.1, random_state=0), ["kernel", "centres", "ridge"]),
    (ny.Nystroem(n_components=20, random_state=0), ["kernel", "centres"]),
    (ny.TableFeatures(), ["features"]),
    (ny.KernelPCA(n_landmarks=20, random_state=0), ["variance", "kernel", "landmarks"]),
    (ny.SpectralEmbedding(n_landmarks=50, random_state=0), ["eigenvalues", "kernel", "landmarks"]),
    (ny.KernelKMeans(3, n_landmarks=20, random_state=0), ["clusters", "cost", "kernel"]),
]
NAMES = [type(model).__name__ for model, _ in MODELS]


@pytest.fixture
def fitted(request, waves):
    model, labels = request.param
    X, y = waves
    y = np.where(y > 0.3, "high", "low") if isinstance(model, ny.KernelClassifier) else y
    return clone(model).fit(X, y), labels


@pytest.mark.parametrize("fitted", MODELS, ids=NAMES, indirect=True)
def test_a_fitted_model_shows_its_facts(fitted):
    model, labels = fitted
    first, *lines = str(model).splitlines()
    assert first == repr(model) == repr(clone(model))
    facts = [line.split(maxsplit=1) for line in lines]
    assert [label for label, _ in facts[: len(labels)]] == labels
    assert "\n".join(map(str, lines)) == str(model)[len(first) + 1 :]
    page = model._repr_html_()
    for label, _ in facts:
        assert f">{label}</th>" in page
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == str(model) and bundle["text/html"].startswith("<table>")
    assert "sk-estimator" in page
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")


@pytest.mark.parametrize("model", [model for model, _ in MODELS], ids=NAMES)
def test_an_unfitted_model_shows_what_scikit_learn_shows(model):
    model = clone(model)
    assert str(model) == repr(model) == BaseEstimator.__repr__(model)
    assert "<table><tr><th style" not in model._repr_html_()
    assert model._repr_mimebundle_()["text/plain"] == repr(model)


def test_a_pipeline_shows_its_steps(waves):
    X, y = waves
    model = make_pipeline(StandardScaler(), ny.KernelRidge(1e-3, kernel="rbf")).fit(X, y)
    assert "KernelRidge" in repr(model) and "KernelRidge" in model._repr_html_()


def test_the_error_is_that_of_the_report(waves):
    X, y = waves
    model = ny.KernelRegressor(work=1e8, memory=None, random_state=0).fit(X, y)
    (of,) = model.report_["errors"]
    assert abs(of["mean_rmse"] - np.std(y)) < 0.05 * np.std(y)
    validation = model.report_["validation"]["targets"][0]
    residuals = np.subtract(validation["actual"], validation["predicted"])
    assert np.isclose(of["rmse"], np.sqrt(np.mean(residuals**2)))
    below = 100 * (1 - of["rmse"] / of["mean_rmse"])
    assert f"RMSE {of['rmse']:.4g} (y), {below:.0f} % below predicting the mean" in str(model)


def test_weights_count_in_the_error(waves):
    X, y = waves
    weights = np.where(X[:, 0] > 0, 3.0, 1.0)
    model = ny.KernelRegressor(work=1e8, memory=None, random_state=0).fit(X, y, weights)
    spread = np.sqrt(np.cov(y, aweights=weights, ddof=0))
    assert abs(model.report_["errors"][0]["mean_rmse"] / spread - 1) < 0.05


def test_a_loaded_model_shows_its_facts(waves, tmp_path):
    X, y = waves
    classes = np.where(y > np.median(y), "high", "low")
    for kind, target in [(ny.KernelRegressor, y), (ny.KernelClassifier, classes)]:
        model = kind(work=1e8, memory=None).fit(X, target)
        model.save(tmp_path / "m.bin")
        shown = str(kind.load(tmp_path / "m.bin")).splitlines()
        assert shown[1:] == str(model).splitlines()[1:] and len(shown) >= 5


def test_a_second_fit_shows_no_error_of_the_first(waves):
    X, y = waves
    model = ny.NystroemRidge(n_components=20, random_state=0).fit(X, y)
    assert "leave-one-out" in str(model)
    assert "error" not in str(model.set_params(alphas=1e-3).fit(X, y))
    assert "generalised" in str(model.set_params(alphas="auto").partial_fit(X, y))
    assert "leave-one-out" in str(model.fit(X, y))


def test_show_versions(capsys):
    ny.show_versions()
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    for label in ("nystrom", "Python", "NumPy", "scikit-learn", "instruction", "threads", "memory"):
        assert shown[label]
    assert shown["nystrom"] == ny.__version__ and shown["NumPy"] == np.__version__
