"""The search for the best fit, on arrays and frames, and its model files."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import nystrom as ny

SMALL = {"work": 1e9, "memory": None, "random_state": 0}


def houses(rng, n=300):
    """Columns of numbers and texts with gaps, and a price."""
    size, age = rng.uniform(50, 200, n), rng.integers(0, 100, n).astype(float)
    town = rng.choice(["Lille", "Paris", "Brest"], n)
    price = 2.0 * size - 0.5 * age + 100 * (town == "Paris")
    age[::17] = np.nan
    return {"size": size, "age": age, "town": town.tolist()}, price


@pytest.fixture(params=["pandas", "polars"])
def frames(request):
    return pytest.importorskip(request.param)


def test_frames_hold_texts_and_gaps(frames, rng):
    columns, price = houses(rng)
    columns["town"][3] = None
    X, y = frames.DataFrame(columns), frames.Series("price", price) if frames.__name__ == "polars" \
        else frames.Series(price, name="price")
    model = ny.KernelRegressor(**SMALL).fit(X, y)
    assert model.score(X, np.asarray(price)) > 0.9
    assert list(model.feature_names_in_) == ["size", "age", "town"]
    assert model.model_.describe()["targets"] == ["price"]
    # found by name
    assert np.array_equal(model.predict(X[["size", "age", "town"]]), model.predict(X))
    with pytest.warns(UserWarning, match="levels that the model does not know"):
        model.predict(frames.DataFrame(columns | {"town": ["Rome"] * len(price)}))


def test_both_frames_give_the_same_model(rng):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns, price = houses(rng)
    models = [ny.KernelRegressor(**SMALL).fit(m.DataFrame(columns), price) for m in (pandas, polars)]
    assert models[0].model_.to_bytes() == models[1].model_.to_bytes()


def test_intervals_hold_the_truth(rng):
    X = rng.uniform(-1, 1, size=(1500, 1))
    y = X[:, 0] + rng.normal(size=1500) * (0.1 + 0.3 * (X[:, 0] > 0))
    model = ny.KernelRegressor(calibrate=0.3, **SMALL).fit(X[:1000], y[:1000])
    lower, upper = model.predict_interval(X[1000:], 0.9)
    # 300 calibration rows and 500 test rows: three standard deviations of each below 0.9
    assert np.mean((lower <= y[1000:]) & (y[1000:] <= upper)) > 0.9 - 3 * 0.017 - 3 * 0.014
    plain = ny.KernelRegressor(**SMALL).fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="no rows set aside"):
        plain.predict_interval(X)
    with pytest.raises(ValueError, match="--std"):
        plain.predict(X, return_std=True)


def test_parts_left_out_and_standard_deviations(rng):
    X = rng.uniform(-1, 1, size=(300, 1))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=300)
    model = ny.KernelRegressor(calibrate="cv:5", deviations=True, **SMALL).fit(X, y)
    lower, upper = model.predict_interval(X, 0.9)
    assert np.all(lower < upper)
    values, std = model.predict(X, return_std=True)
    assert values.shape == std.shape == (300,) and np.all((0.05 < std) & (std < 0.3))
    with pytest.raises(ValueError, match="neither a share"):
        ny.KernelRegressor(calibrate="half", **SMALL).fit(X, y)


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
    X[:, 1] = 1.0  # constant: no feature
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


def program():
    """The command line, built beside the tests or named by NYSTROM."""
    root = Path(__file__).parents[3]
    places = [os.environ.get("NYSTROM"), root / "target/debug/nystrom", root / "target/release/nystrom"]
    found = next((place for place in places if place and Path(place).exists()), None)
    return found or shutil.which("nystrom")


@pytest.mark.skipif(program() is None, reason="the command line is not built")
def test_the_command_line_writes_the_same_bytes(tmp_path, rng):
    pandas = pytest.importorskip("pandas")
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
    named = frames.Series("age", price) if frames.__name__ == "polars" else frames.Series(price, name="age")
    with pytest.raises(ValueError, match="rename one"):
        model.fit(X, named)
    dates = np.arange(300).astype("datetime64[D]").astype("datetime64[ms]")
    with pytest.raises(TypeError, match="write dates as numbers"):
        model.fit(frames.DataFrame(columns | {"sold": dates}), price)
    model.fit(X, price)
    with pytest.raises(ValueError, match="town"):
        model.predict(X[["size", "age"]])
    refusing = ny.KernelRegressor(missing="refuse", **SMALL)
    with pytest.raises(ValueError, match="age"):
        refusing.fit(X, price)
