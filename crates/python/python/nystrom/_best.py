"""Estimators that search for the best fit of a table, as `nystrom fit` does."""

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
    """Searches for the best kernel regression of a table, as `nystrom fit` does.

    The search compares kernel families, learned metrics, length scales, ridges and centres on
    validation rows, and fits the best candidate to all rows. Frames may contain text and missing
    values.

    Parameters
    ----------
    effort : {"quick", "default", "thorough"}
        The limit of the work: for large tables about ten seconds, a minute or ten minutes on two
        cores.
    time : float, str or None
        An approximate time limit instead of `effort`: seconds, or "90s", "5min", "1h". It is
        converted to a number of operations, `report_["work_allowed"]`; to repeat the fit, pass
        that number as `work`.
    work : float or None
        The limit of the work in floating-point operations, instead of `effort`.
    memory : "auto", int or None
        The limit of the memory beside the data, in bytes; kernel values that fit are stored instead
        of evaluated again. "auto" is half of the free memory. None: no limit, and no kernel values
        are stored.
    calibrate : float, "cv:10", "loo" or None
        How the intervals of `predict_interval` are calibrated. A share such as 0.2: neither search
        nor fit use this share of the rows (split conformal prediction), and an interval of level
        1 - alpha contains the true value with probability at least 1 - alpha. "cv:10" (CV+ with 10
        parts) and "loo" (jackknife+): all rows are fitted, and the probability is about 1 - alpha
        in practice. It is at least 1 - 2 alpha for "loo", and at least
        1 - 2 alpha - sqrt(2 / n) for "cv:10".
    deviations : bool
        Whether the model stores what `predict_std` needs.
    target_scale : {"plain", "log", "root"} or None
        The scale on which y is fitted. None: validation chooses, if y is not negative. Predictions
        are means of y itself on any scale.
    missing : {"fill", "drop", "refuse"}
        The treatment of missing values: "fill" replaces a missing number by the median and adds a
        feature that marks missing values, "drop" drops the rows, "refuse" raises an error.
    standardize : bool
        Whether features are standardised to mean 0 and standard deviation 1.
    scale : dict or None
        Factors by which the features of a column are multiplied after standardisation. A factor
        above 1 makes the column more important.
    categorical, numeric : list of str, or None
        Columns whose values are categories even if they look like numbers, and columns whose
        values are numbers. For the other columns, the types and the values decide; columns of type
        `category` (polars: `Categorical`, `Enum`; Arrow: dictionaries) are categories.
    not_missing : list of str, or None
        Texts that are values, although they usually mark a missing value, such as "NA".
    features : list of str, or None
        The feature columns; if None, all columns of X but the group and time columns. A column that
        numbers or names the rows is a feature only if it is listed here.
    day_first : bool
        Whether a date such as 03/04/2019 is read as 3 April if the other dates of its column do not
        decide.
    group, time_column : str or None
        How rows are set aside: rows with the same value in the column `group` together, or the last
        rows by `time_column`. These columns are not features.
    random_state : int, RandomState or None
        The seed. The same integer gives the same model, with any number of threads and on the
        command line.
    n_jobs : int or None
        Number of threads; None: one for each core.
    verbose : bool
        Whether to report progress on standard error.

    Attributes
    ----------
    model_ : the fitted pipeline.
    report_ : dict
        The report of the search. Errors are in standard deviations of the target.
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
        target_scale: str | None = None,
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
        self.target_scale = target_scale
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
        """Searches for the best fit of y, which has one column or several. Rows with the same value
        in `groups` are set aside together."""
        columns = self._columns(X, reset=True)
        names = target_names(y)
        if y is None:
            raise ValueError("KernelRegressor requires y to be passed, but the target y is None")
        refuse_missing(y)
        if getattr(np.asarray(y).dtype, "kind", "") in "mM":
            raise TypeError(
                "y holds times; convert them to numbers, for example by "
                "(y - y.min()) / np.timedelta64(1, 'D')"
            )
        values = np.asarray(y) if is_frame(y) else y  # column names may repeat
        Y = check_array(values, dtype=np.float64, ensure_2d=False, input_name="y", estimator=self)
        check_consistent_length(X, Y)
        self._single = Y.ndim == 1
        Y = Y.reshape(len(Y), -1)
        names = names or (["y"] if self._single else [f"y{j}" for j in range(Y.shape[1])])
        options = self._options(False, False, [])
        self._search(columns, columns_of_array(Y, names), sample_weight, groups, options)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predictions for the rows of X. In a frame, columns are found by name. With `return_std`
        also the standard deviations of new values, which need a fit with `deviations=True`."""
        columns = self._known(X)
        values, _, notes = self.model_.predict(columns, self.n_jobs)
        say(notes)
        single = (lambda a: a.ravel()) if self._single else (lambda a: a)
        if return_std:
            return single(values), single(self.model_.deviations(columns, self.n_jobs)[0])
        return single(values)

    def predict_std(self, X: Any, noise: bool = True) -> np.ndarray:
        """Standard deviations for the rows of X, by the Gaussian process whose posterior mean is
        the model: of new values, or of the function if `noise` is False.

        They are valid only if the noise has the same variance everywhere. The fit needs
        `deviations=True`."""
        of_value, of_function = self.model_.deviations(self._known(X), self.n_jobs)
        std = of_value if noise else of_function
        return std.ravel() if self._single else std

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of intervals that contain the true value with probability at least
        `level`, on average over rows and fits, if new rows and fitted rows are exchangeable.

        The fit needs `calibrate`. "cv:10" and "loo" have weaker guarantees, see there."""
        columns = self._known(X)
        lower, upper, notes = self.model_.intervals(columns, float(level), self.n_jobs)
        say(notes)
        return (lower.ravel(), upper.ravel()) if self._single else (lower, upper)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> KernelRegressor:
        """Loads a model file of the command line or of `save`."""
        model = cls()
        told = model._load(path)
        if told["classes"] is not None:
            raise ValueError(f"{path} holds a classification; use KernelClassifier.load")
        model._single = len(told["targets"]) == 1
        return model


class KernelClassifier(ClassifierMixin, _Search):
    """Searches for the best kernel classification of a table, as `nystrom fit` does. Its
    probabilities are calibrated.

    Parameters
    ----------
    class_weight : None, "balanced" or dict
        The weight of each class.
    calibrate : float or None
        The share of the rows that is set aside to calibrate probabilities. If None, they are
        calibrated on the validation rows.
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
        """Searches for the best fit of the classes y. Rows with the same value in `groups` are set
        aside together."""
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
        assert probabilities is not None  # the model is a classification
        return probabilities[:, self._places]

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> KernelClassifier:
        """Loads a model file of the command line or of `save`."""
        model = cls()
        told = model._load(path)
        if told["classes"] is None:
            raise ValueError(f"{path} holds a regression; use KernelRegressor.load")
        labels = told["classes"]
        # names such as 00501 stay text
        if told["numbers"] and all(class_name(value_of(name)) == name for name in labels):
            labels = [value_of(name) for name in labels]
            if all(float(label).is_integer() for label in labels):
                labels = [int(label) for label in labels]
        model.classes_ = np.sort(np.array(labels))
        model._order(told)
        return model

    def _order(self, told: dict[str, Any]) -> None:
        """Finds the position of each of `classes_` among the classes of the model."""
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
    """The name of a class in the library, in which 1.0 is "1"."""
    if is_number(label) and not isinstance(label, (bool, np.bool_)):
        return text_of_number(label)
    return str(label)


def labels_of(y: np.ndarray) -> np.ndarray:
    """Classes as an array of numbers or of text; a TypeError if both occur, or another type."""
    if y.dtype != object:
        return y
    labels = y.tolist()
    if all(map(is_number, labels)):
        return np.array(labels)
    kinds = {type(label).__name__ for label in labels if not isinstance(label, str)}
    if kinds:
        raise TypeError(
            "the classes in y must be all numbers or all text, but they include "
            f"{', '.join(sorted(kinds))}; convert all to text, [str(label) for label in y]"
        )
    return y


def value_of(label: Any) -> int | float:
    """The number that names a class. Integers are exact."""
    if isinstance(label, numbers.Integral):
        return int(label)
    try:
        return int(label) if isinstance(label, str) else float(label)
    except ValueError:
        return float(label)


def refuse_alike(classes: np.ndarray) -> None:
    """Raises a ValueError if the library would treat two text classes as one. It does so if they
    differ only in case or blanks, or if all classes are numbers and two are equal."""
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
                "sklearn.preprocessing.LabelEncoder().fit_transform(y), if they are different"
            )
        first[key] = name


def target_names(y: Any) -> list[str] | None:
    """The name of a series or the names of a frame's columns, if there are any."""
    if is_frame(y):
        return names_of(y)
    name = getattr(y, "name", None)
    return [name] if isinstance(name, str) and name else None
