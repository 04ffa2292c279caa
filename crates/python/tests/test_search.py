"""The search for the best fit, on arrays and frames, and its model files."""

import os
import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas
import polars
import pytest

import nystrom as ny

SMALL = {"work": 1e9, "memory": None, "random_state": 0}


def houses(rng, n=300):
    """Columns of numbers and of text with missing values, and a price."""
    size, age = rng.uniform(50, 200, n), rng.integers(0, 100, n).astype(float)
    town = rng.choice(["Lille", "Paris", "Brest"], n)
    price = 2.0 * size - 0.5 * age + 100 * (town == "Paris")
    age[::17] = np.nan
    return {"size": size, "age": age, "town": town.tolist()}, price


@pytest.fixture(params=[pandas, polars])
def frames(request):
    return request.param


def test_frames_hold_texts_and_gaps(frames, rng):
    columns, price = houses(rng)
    columns["town"][3] = None
    X, y = frames.DataFrame(columns), frames.Series("price", price) if frames.__name__ == "polars" \
        else frames.Series(price, name="price")
    model = ny.KernelRegressor(**SMALL).fit(X, y)
    assert model.score(X, np.asarray(price)) > 0.9
    assert list(model.feature_names_in_) == ["size", "age", "town"]
    assert model.model_.describe()["targets"] == ["price"]
    # columns are found by name
    assert np.array_equal(model.predict(X[["size", "age", "town"]]), model.predict(X))
    with pytest.warns(UserWarning, match="levels that the model does not know"):
        model.predict(frames.DataFrame(columns | {"town": ["Rome"] * len(price)}))


def test_both_frames_give_the_same_model(rng):
    columns, price = houses(rng)
    models = [
        ny.KernelRegressor(**SMALL).fit(m.DataFrame(columns), price) for m in (pandas, polars)
    ]
    assert models[0].model_.to_bytes() == models[1].model_.to_bytes()


def test_intervals_hold_the_truth(rng):
    X = rng.uniform(-1, 1, size=(1500, 1))
    y = X[:, 0] + rng.normal(size=1500) * (0.1 + 0.3 * (X[:, 0] > 0))
    model = ny.KernelRegressor(calibrate=0.3, **SMALL).fit(X[:1000], y[:1000])
    lower, upper = model.predict_interval(X[1000:], 0.9)
    # three standard deviations below 0.9, for 300 calibration rows and 500 test rows
    assert np.mean((lower <= y[1000:]) & (y[1000:] <= upper)) > 0.9 - 3 * 0.017 - 3 * 0.014
    plain = ny.KernelRegressor(**SMALL).fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="no rows set aside"):
        plain.predict_interval(X)
    with pytest.raises(ValueError, match="deviations=True"):
        plain.predict(X, return_std=True)


def test_parts_left_out_and_standard_deviations(rng):
    X = rng.uniform(-1, 1, size=(300, 1))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=300)
    model = ny.KernelRegressor(calibrate="cv:5", deviations=True, **SMALL).fit(X, y)
    lower, upper = model.predict_interval(X, 0.9)
    assert np.all(lower < upper)
    values, std = model.predict(X, return_std=True)
    assert values.shape == std.shape == (300,) and np.all((0.05 < std) & (std < 0.3))
    assert np.array_equal(model.predict_std(X), std)
    function = model.predict_std(X, noise=False)
    assert np.all((0 < function) & (function < std))
    with pytest.raises(ValueError, match="neither a share"):
        ny.KernelRegressor(calibrate="half", **SMALL).fit(X, y)


def test_a_target_is_fitted_on_a_scale(rng):
    X = rng.uniform(-1, 1, size=(400, 1))
    y = np.exp(3 * X[:, 0] + 0.3 * rng.normal(size=400))
    model = ny.KernelRegressor(target_scale="log", **SMALL).fit(X, y)
    assert ["target", "fitted as its logarithm"] in [
        line.split(maxsplit=1) for line in str(model).splitlines()
    ]
    assert model.report_["chosen"]["target"] == "log"
    assert 0.9 < model.predict(X).sum() / y.sum() < 1.1
    plain = ny.KernelRegressor(target_scale="plain", **SMALL).fit(X, y)
    assert plain.report_["chosen"]["target"] == "plain"
    for wrong, y, message in [("cube", y, "target_scale"), ("log", -y, "no log scale")]:
        with pytest.raises(ValueError, match=message):
            ny.KernelRegressor(target_scale=wrong, **SMALL).fit(X, y)


def test_losses_predict_medians_and_quantiles():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, size=(300, 2))
    y = np.sin(2 * X[:, 0]) + rng.uniform(-1, 1, size=300)
    y[::10] += 50
    median = ny.KernelRegressor(loss="absolute", **SMALL).fit(X, y)
    assert np.abs(median.predict(X) - np.sin(2 * X[:, 0])).mean() < 0.4
    assert median.report_["loss"]["error"] < median.report_["loss"]["squares"]
    assert "absolute" in str(median)
    both = ny.KernelRegressor(loss="quantile:0.1,0.8", **SMALL).fit(X, y).predict(X)
    assert both.shape == (300, 2) and (both[:, 0] <= both[:, 1]).all()
    assert abs((y <= both[:, 1]).mean() - 0.8) < 0.1
    with pytest.raises(ValueError, match="none of squares"):
        ny.KernelRegressor(loss="cubes", **SMALL).fit(X, y)


@pytest.mark.parametrize("labels", [["a", "b", "c"], [3, 1, 2], [1.0, 2.0, 7.0], [True, False]])
def test_classes_keep_their_labels(labels, rng):
    X = rng.normal(size=(240, 2))
    y = np.array(labels)[np.arange(240) % len(labels)]
    X[:, 0] += 4.0 * (np.arange(240) % len(labels))
    model = ny.KernelClassifier(class_weight="balanced", **SMALL).fit(X, y)
    assert np.array_equal(model.classes_, np.unique(y))
    assert model.score(X, y) > 0.9
    p = model.predict_proba(X)
    assert np.allclose(p.sum(axis=1), 1)
    assert np.array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))


def test_weights_of_classes_count(rng):
    X, y = rng.normal(size=(200, 1)), np.repeat(["no", "yes"], [180, 20])
    plain = ny.KernelClassifier(**SMALL).fit(X, y).predict_proba(X)[:, 1].mean()
    heavy = ny.KernelClassifier(class_weight={"yes": 9.0}, **SMALL).fit(X, y)
    assert heavy.predict_proba(X)[:, 1].mean() > 2 * plain


def test_importances_are_shares_of_the_columns(rng):
    X = rng.normal(size=(400, 3))
    X[:, 1] = 1.0  # a constant column is not a feature
    model = ny.KernelRegressor(**SMALL).fit(X, 3 * X[:, 0] + 0.1 * X[:, 2])
    shares = model.feature_importances_
    assert np.isclose(shares.sum(), 1) and shares[0] > 0.9 and shares[1] == 0


def test_models_are_saved_and_loaded(tmp_path, waves, rng):
    X, y = waves
    model = ny.KernelRegressor(**SMALL).fit(X, y)
    model.save(tmp_path / "model.bin")
    loaded = ny.KernelRegressor.load(tmp_path / "model.bin")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="regression"):
        ny.KernelClassifier.load(tmp_path / "model.bin")
    classes = ny.KernelClassifier(**SMALL).fit(X, np.where(y > 0.5, "high", "low"))
    classes.save(tmp_path / "classes.bin")
    loaded = ny.KernelClassifier.load(tmp_path / "classes.bin")
    assert np.array_equal(loaded.predict_proba(X), classes.predict_proba(X))
    assert np.array_equal(loaded.predict(X), classes.predict(X))
    damaged = (tmp_path / "model.bin").read_bytes()[:-1]
    (tmp_path / "damaged.bin").write_bytes(damaged)
    with pytest.raises(ValueError, match="damaged"):
        ny.KernelRegressor.load(tmp_path / "damaged.bin")


def test_a_page_shows_the_fit(tmp_path, rng):
    columns, price = houses(rng)
    X, y = pandas.DataFrame(columns), pandas.Series(price, name="price")
    model = ny.KernelRegressor(**SMALL).fit(X, y)
    page = model.report_html(tmp_path / "fit.html")
    assert page == (tmp_path / "fit.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and "Predicting price" in page
    assert "What was tried" in page and "Predicted against actual" in page
    call = "KernelRegressor(work=1000000000.0, memory=None, random_state=0).fit(X, y)"
    assert call in page
    assert pickle.loads(pickle.dumps(model)).report_html() == page
    model.save(tmp_path / "model.bin")
    loaded = ny.KernelRegressor.load(tmp_path / "model.bin").report_html()
    assert "nystrom fit TABLE --target price --seed 0 --work 1e9" in loaded
    classes = ny.KernelClassifier(**SMALL).fit(X, np.where(y > y.median(), "dear", "cheap"))
    assert "Rows in the wrong class" in classes.report_html()


def test_scikit_learn_shows_the_estimators(waves):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), ny.KernelRegressor(**SMALL))
    for _ in range(2):
        shown = model._repr_html_()
        assert "KernelRegressor" in shown and "StandardScaler" in shown
        assert "KernelRegressor" in repr(model)
        model.fit(*waves)


def test_time_becomes_work_that_repeats_the_fit(waves):
    X, y = waves
    model = ny.KernelRegressor(time="20ms", memory=None, random_state=0)
    with pytest.raises(ValueError, match="is no time"):
        model.fit(X, y)
    model.set_params(time="0.02s").fit(X, y)
    work = model.report_["work_allowed"]
    assert work > 0 and f"{work:.1e}" == f"{work:e}".replace("00000e", "e")
    again = ny.KernelRegressor(work=work, memory=None, random_state=0).fit(X, y)
    assert again.model_.to_bytes() == model.model_.to_bytes()


def test_groups_are_set_aside_together(rng):
    """Each row occurs about ten times with small differences, so that a fit to some copies predicts
    the others."""
    few = rng.normal(size=(40, 3))
    X, groups = np.repeat(few, 10, axis=0), np.repeat(np.arange(40), 10)
    X += 1e-6 * rng.normal(size=X.shape)  # equal rows would be treated as copies without groups
    y = np.repeat(rng.normal(size=40), 10)
    apart = ny.KernelRegressor(**SMALL).fit(X, y)
    assert apart.report_["chosen"]["error"] < 0.1
    for labels in ([f"group {group}" for group in groups], groups):
        together = ny.KernelRegressor(**SMALL).fit(X, y, groups=labels)
        assert together.report_["chosen"]["error"] > 0.7
        assert together.predict(few).shape == (40,)
    column = ny.KernelRegressor(group="x3", **SMALL).fit(np.column_stack([X, groups]), y)
    assert column.report_["chosen"]["error"] == together.report_["chosen"]["error"]
    with pytest.raises(ValueError, match="one of them"):
        column.fit(X, y, groups=groups)
    last = ny.KernelRegressor(time_column="x3", **SMALL).fit(np.column_stack([X, groups]), y)
    assert last.report_["validation"]["split"] == "time x3"


def test_models_with_weights_and_groups_are_loaded_without_them(tmp_path, rng):
    columns, price = houses(rng)
    X, w = pandas.DataFrame(columns), rng.uniform(0.5, 1.5, len(price))
    model = ny.KernelRegressor(**SMALL).fit(X, price, sample_weight=w, groups=np.arange(300) // 3)
    model.save(tmp_path / "model.bin")
    loaded = ny.KernelRegressor.load(tmp_path / "model.bin")
    assert list(loaded.feature_names_in_) == ["size", "age", "town"]
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert np.array_equal(loaded.predict(X.assign(more=1.0)), model.predict(X))


def test_probabilities_are_calibrated_on_rows_set_aside(rng):
    X = rng.normal(size=(600, 2))
    y = rng.random(600) < 1 / (1 + np.exp(-2 * X[:, 0]))
    model = ny.KernelClassifier(calibrate=0.3, **SMALL).fit(X, y)
    assert model.report_["calibration_rows"] == 180
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    with pytest.raises(ValueError, match="calibrated by a share"):
        ny.KernelClassifier(calibrate="cv:5", **SMALL).fit(X, y)


def program():
    """The path of the command line: that in NYSTROM, or built beside the tests."""
    root = Path(__file__).parents[3]
    built = [root / "target/debug/nystrom", root / "target/release/nystrom"]
    places = [os.environ.get("NYSTROM"), *built]
    found = next((place for place in places if place and Path(place).exists()), None)
    return found or shutil.which("nystrom")


@pytest.mark.skipif(program() is None, reason="the command line is not built")
def test_the_command_line_writes_the_same_bytes(tmp_path, rng):
    columns, price = houses(rng)
    table = pandas.DataFrame(columns | {"price": price})
    table.to_csv(tmp_path / "houses.csv", index=False)
    told = ["--target", "price", "--work", "1e9", "--memory", "50000000", "--seed", "7", "--quiet"]
    arguments = [program(), "fit", tmp_path / "houses.csv", "-o", tmp_path / "cli.bin", *told]
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    X, y = pandas.DataFrame(columns), pandas.Series(price, name="price")
    model = ny.KernelRegressor(work=1e9, memory=50_000_000, random_state=7).fit(X, y)
    assert model.model_.to_bytes() == (tmp_path / "cli.bin").read_bytes()
    loaded = ny.KernelRegressor.load(tmp_path / "cli.bin")
    assert np.array_equal(loaded.predict(X), model.predict(X))


def test_progress_is_told(waves, capsys):
    X, y = waves
    ny.KernelRegressor(verbose=True, **SMALL).fit(X, y)
    told = capsys.readouterr().err.splitlines()
    assert len(told) > 3 and "best so far" in told[-1]


def test_what_is_wrong_with_a_frame_is_said(frames, rng):
    columns, price = houses(rng)
    X, model = frames.DataFrame(columns), ny.KernelRegressor(**SMALL)
    infinite = columns | {"size": np.where(np.arange(300) == 4, np.inf, columns["size"])}
    with pytest.raises(ValueError, match="'size' has the value inf in row 4"):
        model.fit(frames.DataFrame(infinite), price)
    model.fit(X, price)
    with pytest.raises(ValueError, match="town"):
        model.predict(X[["size", "age"]])
    refusing = ny.KernelRegressor(missing="refuse", **SMALL)
    with pytest.raises(ValueError, match="age"):
        refusing.fit(X, price)


def test_decisions_about_columns_are_told_and_can_be_changed(rng):
    rows = 60
    when = [f"{i % 12 + 1:02}/{i % 11 + 1:02}/2019" for i in range(rows)]
    X = pandas.DataFrame({"id": range(1, rows + 1), "x": rng.normal(size=rows), "when": when})
    y = rng.normal(size=rows)
    with pytest.warns(UserWarning) as told:
        model = ny.KernelRegressor(**SMALL).fit(X, y)
    said = " ".join(str(warning.message) for warning in told)
    assert "month, day, year" in said and "day_first=" in said and "--" not in said
    with pytest.warns(UserWarning, match="day, month, year"):
        model = ny.KernelRegressor(day_first=True, features=["id", "when"], **SMALL).fit(X, y)
    assert sorted(model.model_.describe()["columns"]) == ["id", "when"]
    assert model.predict(X).shape == (rows,)
