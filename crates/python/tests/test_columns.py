"""Columns of frames are read according to their types and cells: numbers, text, times,
categories."""

import datetime as dt
import uuid
from decimal import Decimal

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import nystrom as ny
from nystrom._columns import Column
from nystrom._table import columns_of_frame, names_of

SMALL = {"work": 1e9, "memory": None, "random_state": 0}


def read(values, **how):
    """A column as a list of numbers or of text, None where a value is missing."""
    if not hasattr(values, "dtype"):
        values = pandas.Series(values, dtype=object)
    frame = polars.DataFrame if isinstance(values, polars.Series) else pandas.DataFrame
    return plain(columns_of_frame(frame({"c": values}), **how).columns[0])


def plain(column: Column):
    if len(column) == 2:
        return [None if np.isnan(value) else value for value in column[1].tolist()]
    return [column[1][code] if code >= 0 else None for code in column[2]]


def arrow(values, kind):
    return pandas.Series(pandas.arrays.ArrowExtensionArray(pyarrow.array(values, kind)))


@pytest.mark.parametrize(
    "values",
    [
        [1, 2.5, None],
        [1, 2.5, float("nan")],
        [np.float32(1), np.float64(2.5), pandas.NA],
        [Decimal("1.00"), Decimal("2.5"), Decimal("NaN")],
        [True, 2.5, None],
        [np.int8(1), 2.5, pandas.NaT],
    ],
)
def test_objects_that_are_numbers_are_numbers(values):
    assert read(values) == [1.0, 2.5, None]
    assert read(polars.Series(values[:2], dtype=polars.Object)) == [1.0, 2.5]


def test_truth_values_are_one_feature_with_and_without_gaps():
    assert read(pandas.Series([True, False])) == read([True, False]) == [1.0, 0.0]
    gaps = [True, None, False]
    for series in (
        pandas.Series(gaps, dtype=object),
        pandas.array(gaps, dtype="boolean"),
        arrow(gaps, pyarrow.bool_()),
        polars.Series(gaps),
    ):
        assert read(series) == [1.0, None, 0.0]


INSTANTS = [dt.datetime(2021, 3, 1), None, dt.datetime(2021, 3, 1, 0, 25, 0, 500_000)]
WRITTEN = ["2021-03-01T00:00:00", None, "2021-03-01T00:25:00.5"]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_instants_are_the_same_texts_in_every_unit(unit):
    naive = pandas.Series(INSTANTS, dtype=f"datetime64[{unit}]")
    assert read(naive) == WRITTEN
    assert read(naive.astype(object)) == WRITTEN
    assert read(arrow(INSTANTS, pyarrow.timestamp(unit))) == WRITTEN
    assert read(polars.Series(INSTANTS, dtype=polars.Datetime(unit))) == WRITTEN
    utc = [None if text is None else text + "Z" for text in WRITTEN]
    there = naive.dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata")
    assert read(there) == read(there.astype(object)) == utc
    assert read(arrow(INSTANTS, pyarrow.timestamp(unit, "UTC"))) == utc
    there = polars.Series(INSTANTS, dtype=polars.Datetime(unit, "UTC"))
    assert read(there.dt.convert_time_zone("Asia/Kolkata")) == utc


def test_whole_seconds_have_no_fraction():
    seconds = pandas.Series(INSTANTS[:1], dtype="datetime64[s]")
    assert read(seconds) == ["2021-03-01T00:00:00"]
    late = pandas.Series(["2021-03-01T00:00:10", "4021-03-01T00:00:10"], dtype="datetime64[us]")
    assert read(late) == ["2021-03-01T00:00:10", "4021-03-01T00:00:10"]


def test_dates_are_texts():
    days = [dt.date(2021, 3, 1), None, dt.date(1903, 12, 31)]
    written = ["2021-03-01", None, "1903-12-31"]
    assert read(days) == written
    assert read([None if day is None else np.datetime64(day) for day in days]) == written
    assert read(arrow(days, pyarrow.date32())) == read(arrow(days, pyarrow.date64())) == written
    assert read(polars.Series(days)) == written


@pytest.mark.parametrize(
    ("freq", "written"),
    [
        ("M", "2021-03-01"),
        ("D", "2021-03-02"),
        ("Y", "2021-01-01"),
        ("Q", "2021-01-01"),
        ("h", "2021-03-02T10:00:00"),
        ("min", "2021-03-02T10:15:00"),
    ],
)
def test_periods_are_where_they_start(freq, written):
    periods = pandas.Series(pandas.PeriodIndex(["2021-03-02 10:15", None], freq=freq))
    assert read(periods) == read(periods.astype(object)) == [written, None]


def test_durations_and_times_of_day_are_clocks():
    lengths = [dt.timedelta(hours=26, minutes=5), None, -dt.timedelta(seconds=1.5)]
    written = ["26:05:00", None, "-00:00:01.5"]
    assert read(lengths) == written
    assert read(pandas.Series(lengths, dtype="timedelta64[ns]")) == written
    assert read(arrow(lengths, pyarrow.duration("ms"))) == written
    assert read(polars.Series(lengths)) == written
    hours = [dt.time(4, 5), None, dt.time(23, 59, 59, 250_000)]
    written = ["04:05:00", None, "23:59:59.25"]
    assert read(hours) == read(polars.Series(hours)) == written
    assert read(arrow(hours, pyarrow.time64("us"))) == written


def test_one_category_is_one_text_whatever_its_type():
    assert read([1, 1.0, "1", Decimal("1.0"), np.float32(1)], as_texts=["c"]) == ["1"] * 5
    assert read([1, 1.0, "1", b"1"]) == ["1"] * 4
    assert read([1, 1.5, "x"]) == ["1", "1.5", "x"]
    for kind in ("i8", "f4", "f8", "Int64", "Float64", "category", object):
        assert read(pandas.Series([1, 2]).astype(kind), as_texts=["c"]) == ["1", "2"]
    gap = pandas.Categorical([np.nan, 1.0, 2.0])
    assert read(gap) == [None, "1", "2"]
    tenth = [np.float32(0.1), 0.1]
    assert read(tenth, as_texts=["c"]) == ["0.1"] * 2
    for values in (pandas.Series([0.1], dtype="f4"), polars.Series([0.1], dtype=polars.Float32)):
        assert read(values, as_texts=["c"]) == ["0.1"]


@pytest.mark.parametrize(
    "values",
    [
        pandas.Series([2**53 + 1, 7]),
        pandas.Series(np.array([2**53 + 1, 7], dtype="u8")),
        pandas.array([2**53 + 1, 7], dtype="Int64"),
        pandas.Series([2**53 + 1, 7], dtype=object),
        pandas.Series([Decimal(2**53 + 1), 7], dtype=object),
        arrow([2**53 + 1, 7], pyarrow.int64()),
        polars.Series([2**53 + 1, 7]),
    ],
)
def test_whole_numbers_that_floats_cannot_hold_are_texts(values):
    assert read(values) == ["9007199254740993", "7"]


def test_whole_numbers_beyond_64_bits_are_texts():
    assert read([2**70, -(2**70)]) == [str(2**70), str(-(2**70))]
    assert read(polars.Series([2**70], dtype=polars.Int128)) == [str(2**70)]
    assert read(pandas.Series([np.iinfo("i8").min, 0])) == ["-9223372036854775808", "0"]
    assert read(pandas.Series([2**53, -(2**53)])) == [2.0**53, -(2.0**53)]
    assert read([1e300, 1]) == [1e300, 1.0]  # floats beyond 2^53 stay numbers


def test_types_that_are_categories_are_believed():
    cases = {
        "pandas": pandas.Series([1, 2, 1], dtype="category"),
        "intervals": pandas.Series(pandas.cut([1, 2, 3], [0, 1, 3])),
        "dictionaries": pandas.Series(
            pandas.arrays.ArrowExtensionArray(pyarrow.array([5, None, 7]).dictionary_encode())
        ),
    }
    for name, series in cases.items():
        frame = columns_of_frame(pandas.DataFrame({"c": series, "x": [1.0, 2.0, 3.0]}))
        assert frame.categorical == ["c"], name
    assert plain(frame.columns[0]) == ["5", None, "7"]
    for kind in (polars.Categorical, polars.Enum(["a", "1"])):
        frame = columns_of_frame(polars.DataFrame({"c": polars.Series(["1", "a"], dtype=kind)}))
        assert frame.categorical == ["c"] and plain(frame.columns[0]) == ["1", "a"]


def test_sparse_columns_bytes_markers_and_identifiers():
    assert read(pandas.Series(pandas.arrays.SparseArray([0, 0, 3]))) == [0.0, 0.0, 3.0]
    gaps = pandas.arrays.SparseArray([np.nan, 0.5])
    assert read(pandas.Series(gaps)) == [None, 0.5]
    assert read([b"a", "é".encode(), None]) == ["a", "é", None]
    assert read(arrow([b"a", None], pyarrow.binary())) == ["a", None]
    assert read(["NA", "?", "", None, "x"]) == ["NA", "?", None, None, "x"]
    assert read(["NA", ""], empty=True) == ["NA", ""]
    assert read([None, None]) == read(polars.Series([None, None])) == [None, None]
    assert read([uuid.UUID(int=1)]) == ["00000000-0000-0000-0000-000000000001"]


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        (["a", [1, 2]], TypeError, r"'c' in row 1 holds \[1, 2\], a list"),
        ([1, {"k": 2}], TypeError, "'c' in row 1 holds .* a dict"),
        ([np.zeros(2), 1], TypeError, "'c' in row 0 holds .* a ndarray"),
        (["a", 1j], TypeError, "'c' in row 1 holds 1j, a complex"),
        (["a", b"\xff"], ValueError, "'c' in row 1 .* not UTF-8"),
        ([1.0, float("-inf")], ValueError, "'c' has the value -inf in row 1"),
        (polars.Series([[1], [2]]), TypeError, "'c' is of type List"),
        (arrow([[1]], pyarrow.list_(pyarrow.int64())), TypeError, "'c' is of type list"),
    ],
)
def test_cells_that_are_no_values_are_refused(values, error, words):
    with pytest.raises(error, match=words):
        read(values)


def test_names_are_texts_and_differ():
    frame = pandas.DataFrame(np.zeros((1, 6)), columns=["a", "a", "a.1", 1, "1", None])
    with pytest.warns(UserWarning, match="column 1 is another one called 'a'.*'a.2'"):
        names = names_of(frame, warn=True)
    assert names[:5] == ["a", "a.2", "a.1", "1", "1.1"] and len(set(names)) == 6
    assert len(names_of(pandas.DataFrame(columns=["a"] * 2000))) == 2000


def table(rng, n=120):
    X = rng.normal(size=(n, 2))
    return pandas.DataFrame(X, columns=["a", "b"]), np.sin(X[:, 0]) + 0.5 * X[:, 1]


def test_objects_fit_as_the_numbers_that_they_are(rng):
    X, y = table(rng)
    plain_fit = ny.KernelRegressor(**SMALL).fit(X, y)
    objects = X.astype(object)
    fitted = ny.KernelRegressor(**SMALL).fit(objects, y)
    assert fitted.model_.to_bytes() == plain_fit.model_.to_bytes()
    assert np.array_equal(plain_fit.predict(objects), fitted.predict(X))


def test_a_category_of_whole_numbers_with_a_gap_finds_its_levels(rng):
    X, y = table(rng)
    k = np.arange(len(X)) % 4
    y = y + 3 * (k == 2)
    model = ny.KernelRegressor(**SMALL).fit(X.assign(k=pandas.Categorical(k)), y)
    gap = k.astype(float)
    gap[0] = np.nan
    reference = model.predict(X.assign(k=k.astype(str)))
    for column in (pandas.Categorical(gap), gap, pandas.array(k, dtype="Int64"), k.astype(object)):
        assert np.array_equal(model.predict(X.assign(k=column))[1:], reference[1:])
    named = ny.KernelRegressor(categorical=["k"], **SMALL).fit(X.assign(k=k), y)
    assert named.model_.to_bytes() == model.model_.to_bytes()
    by_position = ny.KernelRegressor(categorical="x2", **SMALL).fit(np.column_stack([X, k]), y)
    assert np.allclose(by_position.predict(np.column_stack([X, k])), reference)


def test_columns_of_one_name_are_numbered(rng):
    X, y = table(rng)
    twice = X.set_axis(["a", "a"], axis=1)
    with pytest.warns(UserWarning, match="'a.1'"):
        model = ny.KernelRegressor(**SMALL).fit(twice, y)
    assert list(model.feature_names_in_) == ["a", "a.1"]
    assert np.array_equal(model.predict(twice), ny.KernelRegressor(**SMALL).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="now missing:\n- a.1"):
        model.predict(twice.iloc[:, :1])


@pytest.mark.parametrize(
    "names", [[3, 4], [("u", "x"), ("u", "y")], [None, "b"], ["", "b"], ["x y=1", 'q"']]
)
def test_names_of_any_type_are_found_again(names, rng, tmp_path):
    X, y = table(rng)
    columns = pandas.MultiIndex.from_tuples(names) if isinstance(names[0], tuple) else names
    odd = pandas.DataFrame(X.to_numpy(), columns=columns)
    model = ny.KernelRegressor(**SMALL).fit(odd, y)
    assert model.score(odd.iloc[:, ::-1], y) > 0.9
    model.save(tmp_path / "model.bin")
    loaded = ny.KernelRegressor.load(tmp_path / "model.bin")
    assert np.array_equal(loaded.predict(odd), model.predict(odd))


def test_rows_are_matched_by_position_and_an_index_is_no_feature(rng):
    X, y = table(rng)
    groups, w = np.arange(len(y)) // 3, rng.uniform(0.5, 1.5, len(y))
    plain_fit = ny.KernelRegressor(**SMALL).fit(X, y, sample_weight=w, groups=groups)
    other = rng.permutation(len(y))
    odd = X.set_axis(np.arange(len(y)) + 7)
    series = [pandas.Series(values, index=other) for values in (y, w, groups)]
    more = {"sample_weight": series[1], "groups": series[2]}
    fitted = ny.KernelRegressor(**SMALL).fit(odd, series[0], **more)
    assert fitted.n_features_in_ == 2
    assert np.array_equal(fitted.predict(odd), plain_fit.predict(X))


def test_a_target_may_have_the_name_of_a_column(rng):
    s = pandas.DataFrame({"a": np.sin(np.arange(60) / 5)})
    model = ny.KernelRegressor(**SMALL).fit(s[:-1], s["a"].shift(-1)[:-1])
    assert model.score(s[:-1], s["a"].shift(-1)[:-1]) > 0.5
    assert list(model.feature_names_in_) == ["a"]
    Y = pandas.DataFrame(rng.normal(size=(60, 3)), columns=["a", "a", "b"])
    assert ny.KernelRegressor(**SMALL).fit(s, Y).predict(s).shape == (60, 3)
    words = pandas.Series(np.where(s["a"] > 0, "up", "down"), name="a")
    assert ny.KernelClassifier(**SMALL).fit(s, words).score(s, words) > 0.9


def test_arrays_keep_whole_numbers_that_floats_would_merge(rng):
    shops = np.array([2**53, 2**53 + 1, 2**53 + 2])[np.arange(90) % 3]
    X = np.column_stack([shops, rng.integers(0, 50, 90)])
    y = 3.0 * (shops == 2**53 + 1) + 0.01 * X[:, 1]
    model = ny.KernelRegressor(**SMALL).fit(X, y)
    assert model.score(X, y) > 0.9
    with pytest.raises(TypeError, match="pass a frame"):
        model.fit(X.astype("datetime64[s]"), y)


def test_columns_left_out_are_told(rng):
    X, y = table(rng)
    words = [f"name {row}" for row in range(len(X))]
    with pytest.warns(UserWarning, match="left out: .name. "):
        model = ny.KernelRegressor(**SMALL).fit(X.assign(name=words), y)
    assert "notes" in model.report_


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"categorical": ["town"]}, "categorical names 'town', and X has no such column; its"),
        ({"numeric": "town"}, "numeric names 'town'"),
        ({"categorical": ["a"], "numeric": ["a"]}, "both categorical and numeric"),
        ({"categorical": 3}, "categorical = 3; take a list"),
        ({"not_missing": {"NA": 1}}, "not_missing = .* take a list"),
    ],
)
@pytest.mark.parametrize("kind", [ny.KernelRegressor, ny.KernelClassifier])
def test_options_about_columns_name_columns(kind, options, words, rng):
    X, y = table(rng)
    with pytest.raises(ValueError, match=words):
        kind(**options, **SMALL).fit(X, y > 0)
