"""The best fit that can be found for a table: the search of `nystrom fit`."""

from __future__ import annotations

import numbers
import os
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from ._cells import LARGEST_WHOLE, is_number, text_of_number
from ._checks import refuse_missing
from ._columns import Column, texts
from ._search import _Search, say
from ._table import columns_of_array, is_frame, names_of


class KernelRegressor(MultiOutputMixin, RegressorMixin, _Search):
    """The best kernel regression that can be found for a table, as `nystrom fit` finds it.

    Families of kernels, learned metrics, length scales, ridges and centres are compared on rows
    set aside, and the best is fitted to all rows. Frames may hold texts and missing values.

    Parameters
    ----------
    effort : {"quick", "default", "thorough"}
        How much work: some ten seconds, a minute, ten minutes on two cores, for large tables.
    time : float, str or None
        About so many seconds instead, or "90s", "5min", "1h". The work that this machine does in it
        is in `report_["work_allowed"]`; given as `work` it repeats the fit.
    work : float or None
        Floating-point operations, in the place of `effort`.
    memory : "auto", int or None
        Bytes beside the data; "auto" is half of what is free, and with None nothing is kept.
    calibrate : float, "cv:10", "loo" or None
        For `predict_interval`. A share of the rows is set aside (split conformal: the level holds).
        Or parts of them are left out by cross-validation (CV+), or one by one (jackknife+). Then
        all rows are fitted, and 1 - alpha holds mostly, 1 - 2 alpha always.
    deviations : bool
        Whether what `predict_std` needs is kept.
    missing : {"fill", "drop", "refuse"}
        What is done with missing values (numbers become the median, and a feature says where).
    standardize : bool
        Whether columns get mean 0 and standard deviation 1.
    scale : dict or None
        Columns that matter so many times as much as they seem.
    categorical, numeric : list of str, or None
        Columns that are categories, whatever they look like, or numbers. Without, types decide: the
        type `category` (polars: `Categorical`, `Enum`; Arrow: dictionaries) is believed.
    not_missing : list of str, or None
        Texts such as "NA" that are values here, where they usually mean that there is none.
    features : list of str, or None
        The only columns that are features. A column that numbers or names the rows is one if it is
        named here.
    day_first : bool
        Whether the day comes before the month where all dates of a column leave that open.
    group, time_column : str or None
        A column whose rows are set aside together, or whose last rows are; neither is a feature.
    random_state : int, RandomState or None
        The same number gives the same model, on any number of threads and on the command line.
    n_jobs : threads; None is one for each core.
    verbose : whether to tell what is tried, on standard error.

    Attributes
    ----------
    model_ : the fitted pipeline.
    report_ : what was tried, with errors in standard deviations of the target.
    """

    def __init__(
        self,
        effort: str = "default",
        *,
        time: float | str | None = None,
        work: float | None = None,
        memory: Any = "auto",
        calibrate: float | str | None = None,
        deviations: bool = False,
        missing: str = "fill",
        standardize: bool = True,
        scale: dict[str, float] | None = None,
        categorical: Any = None,
        numeric: Any = None,
        not_missing: Any = None,
        features: Any = None,
        day_first: bool = False,
        group: str | None = None,
        time_column: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.effort = effort
        self.time = time
        self.work = work
        self.memory = memory
        self.calibrate = calibrate
        self.deviations = deviations
        self.missing = missing
        self.standardize = standardize
        self.scale = scale
        self.categorical = categorical
        self.numeric = numeric
        self.not_missing = not_missing
        self.features = features
        self.day_first = day_first
        self.group = group
        self.time_column = time_column
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> KernelRegressor:
        """Finds the best fit of y, one column or several. Rows of the same of `groups` are set
        aside together."""
        columns = self._columns(X, reset=True)
        names = target_names(y)
        if y is None:
            raise ValueError("KernelRegressor requires y to be passed, but the target y is None")
        refuse_missing(y)
        if getattr(np.asarray(y).dtype, "kind", "") in "mM":
            raise TypeError(
                "y holds times; predict numbers, (y - y.min()) / np.timedelta64(1, 'D') say"
            )
        values = np.asarray(y) if is_frame(y) else y  # names may repeat
        Y = check_array(values, dtype=np.float64, ensure_2d=False, input_name="y", estimator=self)
        check_consistent_length(X, Y)
        self._single = Y.ndim == 1
        Y = Y.reshape(len(Y), -1)
        names = names or (["y"] if self._single else [f"y{j}" for j in range(Y.shape[1])])
        options = self._options(False, False, [])
        self._search(columns, columns_of_array(Y, names), sample_weight, groups, options)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predictions for the rows of X, whose columns are found by name in a frame. With
        `return_std` also the standard deviations of new values, if the fit kept `deviations`."""
        columns = self._known(X)
        values, _, notes = self.model_.predict(columns, self.n_jobs)
        say(notes)
        single = (lambda a: a.ravel()) if self._single else (lambda a: a)
        if return_std:
            return single(values), single(self.model_.deviations(columns, self.n_jobs)[0])
        return single(values)

    def predict_std(self, X: Any, noise: bool = True) -> np.ndarray:
        """The standard deviations of new values, or without `noise` those of the function, of the
        Gaussian process behind the fit, which has to keep `deviations`."""
        of_value, of_function = self.model_.deviations(self._known(X), self.n_jobs)
        std = of_value if noise else of_function
        return std.ravel() if self._single else std

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Ends between which the truth is with probability `level` or more, on average over rows
        like those of the fit, which has to `calibrate`."""
        columns = self._known(X)
        lower, upper, notes = self.model_.intervals(columns, float(level), self.n_jobs)
        say(notes)
        return (lower.ravel(), upper.ravel()) if self._single else (lower, upper)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> KernelRegressor:
        """The model in a file of the command line."""
        model = cls()
        told = model._load(path)
        if told["classes"] is not None:
            raise ValueError(f"{path} holds a classification; load it as KernelClassifier")
        model._single = len(told["targets"]) == 1
        return model


class KernelClassifier(ClassifierMixin, _Search):
    """The best kernel classification that can be found for a table, as `nystrom fit` finds it,
    with calibrated probabilities.

    Parameters
    ----------
    class_weight : None, "balanced" or dict
        How much each class counts.
    calibrate : float or None
        A share of the rows set aside to calibrate probabilities on; without it they are calibrated
        on the rows on which fits are compared.
    effort, time, work, memory, missing, standardize, scale, categorical, numeric, not_missing,
    features, day_first, group, time_column, random_state, n_jobs, verbose
        As in `KernelRegressor`.

    Attributes
    ----------
    classes_, model_, report_
    """

    def __init__(
        self,
        effort: str = "default",
        *,
        time: float | str | None = None,
        work: float | None = None,
        memory: Any = "auto",
        calibrate: float | None = None,
        class_weight: Any = None,
        missing: str = "fill",
        standardize: bool = True,
        scale: dict[str, float] | None = None,
        categorical: Any = None,
        numeric: Any = None,
        not_missing: Any = None,
        features: Any = None,
        day_first: bool = False,
        group: str | None = None,
        time_column: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.effort = effort
        self.time = time
        self.work = work
        self.memory = memory
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.missing = missing
        self.standardize = standardize
        self.scale = scale
        self.categorical = categorical
        self.numeric = numeric
        self.not_missing = not_missing
        self.features = features
        self.day_first = day_first
        self.group = group
        self.time_column = time_column
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> KernelClassifier:
        """Finds the best fit of the classes y. Rows of the same of `groups` are set aside
        together."""
        columns = self._columns(X, reset=True)
        if y is None:
            raise ValueError("KernelClassifier requires y to be passed, but the target y is None")
        name = (target_names(y) or ["y"])[0]
        refuse_missing(y)
        y = labels_of(column_or_1d(y, warn=True))
        check_consistent_length(X, y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        refuse_alike(self.classes_)
        if len(self.classes_) < 2:
            raise ValueError(f"there is one class only, {self.classes_[0]!r}; two are needed")
        target: Column = texts(name, [class_name(label) for label in y])
        whole = self.classes_.dtype.kind in "iu"
        long = whole and max(map(abs, self.classes_.tolist())) > LARGEST_WHOLE
        if self.classes_.dtype.kind in "iuf" and not long:
            target = (name, np.asarray(y, dtype=np.float64))
        balanced = isinstance(self.class_weight, str) and self.class_weight == "balanced"
        weights = [] if balanced else self._class_weights()
        options = self._options(True, balanced, weights)
        self._search(columns, [target], sample_weight, groups, options)
        self._order(self.model_.describe())
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes, in the order of `classes_`."""
        columns = self._known(X)
        _, probabilities, notes = self.model_.predict(columns, self.n_jobs)
        say(notes)
        assert probabilities is not None  # the model is of classes
        return probabilities[:, self._places]

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of each row."""
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> KernelClassifier:
        """The model in a file of the command line."""
        model = cls()
        told = model._load(path)
        if told["classes"] is None:
            raise ValueError(f"{path} holds a regression; load it as KernelRegressor")
        labels = told["classes"]
        # texts such as 00501 stay texts
        if told["numbers"] and all(class_name(value_of(name)) == name for name in labels):
            labels = [value_of(name) for name in labels]
            if all(float(label).is_integer() for label in labels):
                labels = [int(label) for label in labels]
        model.classes_ = np.sort(np.array(labels))
        model._order(told)
        return model

    def _order(self, told: dict[str, Any]) -> None:
        """Where each of `classes_` stands in the model."""
        read = value_of if told["numbers"] else class_name
        place = {read(name): code for code, name in enumerate(told["classes"])}
        self._places = np.array([place[read(label)] for label in self.classes_])

    def _class_weights(self) -> list[tuple[str, float]]:
        if self.class_weight is None:
            return []
        if not isinstance(self.class_weight, dict):
            raise ValueError(f"class_weight = {self.class_weight!r}; take 'balanced' or a dict")
        return [(class_name(k), float(weight)) for k, weight in self.class_weight.items()]


def class_name(label: Any) -> str:
    """A class as the library names it: 1.0 is "1"."""
    if is_number(label) and not isinstance(label, (bool, np.bool_)):
        return text_of_number(label)
    return str(label)


def labels_of(y: np.ndarray) -> np.ndarray:
    """Classes as an array of one type."""
    if y.dtype != object:
        return y
    labels = y.tolist()
    if all(map(is_number, labels)):
        return np.array(labels)
    kinds = {type(label).__name__ for label in labels if not isinstance(label, str)}
    if kinds:
        raise TypeError(
            f"the classes in y are of several types, {', '.join(sorted(kinds))} beside texts or "
            "alone; make all of them texts, [str(label) for label in y]"
        )
    return y


def value_of(label: Any) -> int | float:
    """The number that a class is: whole ones exactly."""
    if isinstance(label, numbers.Integral):
        return int(label)
    try:
        return int(label) if isinstance(label, str) else float(label)
    except ValueError:
        return float(label)


def refuse_alike(classes: np.ndarray) -> None:
    """Refuses texts that the library takes for one class: they differ in case or blanks alone, or
    all are numbers and these are equal."""
    if classes.dtype.kind not in "OU":
        return
    names = [str(label) for label in classes]
    try:
        alike = [str(Decimal(name).normalize()) for name in names]
    except InvalidOperation:
        alike = [" ".join(name.split()).lower() for name in names]
    first: dict[str, str] = {}
    for name, key in zip(names, alike, strict=True):
        if key in first:
            raise ValueError(
                f"the classes {first[key]!r} and {name!r} in y would be one; pass numbers, "
                "sklearn.preprocessing.LabelEncoder().fit_transform(y), if they are two"
            )
        first[key] = name


def target_names(y: Any) -> list[str] | None:
    """The name that a series, or the names that a frame has."""
    if is_frame(y):
        return names_of(y)
    name = getattr(y, "name", None)
    return [name] if isinstance(name, str) and name else None
