"""The best fit that can be found: the search of `nystrom fit`."""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from . import _native
from ._checks import dense, seed_of
from ._table import Column, columns_of_array, columns_of_frame, is_frame, texts

#: What a row must have to be fitted.
FEWEST_ROWS = 3
WEIGHTS = "sample_weight"


def free_memory() -> int | None:
    """Half of the memory that the system says is free, as the command line takes it."""
    try:
        with open("/proc/meminfo") as file:
            line = next(line for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return None
    return int(float(f"{512.0 * int(line.split()[1]):.1e}"))


class _Search(BaseEstimator):
    """What regression and classification share."""

    def _options(self, classes: bool, balanced: bool, of_classes: list[Any]) -> dict[str, Any]:
        memory = free_memory() if self.memory == "auto" else self.memory
        if isinstance(memory, str):
            raise ValueError(f"memory = {memory!r}; take 'auto', a number of bytes, or None")
        calibrate = getattr(self, "calibrate", None)
        return {
            "effort": self.effort,
            "work": self.work,
            "memory": memory,
            "weights": None,
            "classes": classes,
            "balanced": balanced,
            "class_weights": of_classes,
            "calibrate": None if calibrate is None else str(calibrate),
            "deviations": getattr(self, "deviations", False),
            "group": self.group,
            "time": self.time,
            "standardize": self.standardize,
            "scale": list((self.scale or {}).items()),
            "missing": self.missing,
            "seed": seed_of(self.random_state),
        }

    def _columns(self, X: Any, reset: bool) -> list[Column]:
        """The columns of X, by the names that the fit had."""
        if is_frame(X):
            if len(X) < (FEWEST_ROWS if reset else 1):
                raise ValueError(
                    f"Found array with {len(X)} sample(s) (shape={X.shape}) while a minimum of "
                    f"{FEWEST_ROWS if reset else 1} is required."
                )
            return self._named(columns_of_frame(X), reset)
        X = validate_data(
            self,
            dense(X),
            dtype=np.float64,
            reset=reset,
            ensure_all_finite="allow-nan" if self.missing != "refuse" else True,
            ensure_min_samples=FEWEST_ROWS if reset else 1,
        )
        names = getattr(self, "feature_names_in_", None)
        return columns_of_array(X, [f"x{j}" for j in range(X.shape[1])] if names is None else names)

    def _named(self, columns: list[Column], reset: bool) -> list[Column]:
        """The columns of a frame, in the order of the fit."""
        names = [column[0] for column in columns]
        if reset:
            self.feature_names_in_ = np.array(names, dtype=object)
            self.n_features_in_ = len(names)
            return columns
        if not hasattr(self, "feature_names_in_"):
            text = f"X has feature names, but {type(self).__name__} was fitted without any"
            warnings.warn(text, UserWarning, stacklevel=4)
            if len(names) != self.n_features_in_:
                raise ValueError(
                    f"X has {len(names)} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input"
                )
            return [(f"x{j}", *column[1:]) for j, column in enumerate(columns)]  # type: ignore
        known = list(self.feature_names_in_)
        lists = {
            "Feature names unseen at fit time": [name for name in names if name not in known],
            "Feature names seen at fit time, yet now missing": [n for n in known if n not in names],
        }
        wrong = [f"{what}:\n- " + "\n- ".join(some) for what, some in lists.items() if some]
        if wrong:
            text = "The feature names should match those that were passed during fit."
            raise ValueError("\n".join([text, *wrong]))
        return sorted(columns, key=lambda column: known.index(column[0]))

    def _search(
        self,
        columns: list[Column],
        targets: list[Column],
        sample_weight: Any,
        options: dict[str, Any],
    ) -> None:
        names = [column[0] for column in columns]
        taken = [name for name, *_ in targets if name in names]
        if taken:
            raise ValueError(f"the target has the name of a column of X, {taken[0]!r}; rename one")
        if sample_weight is not None:
            name = WEIGHTS
            while name in names:
                name += "_"
            length = np.zeros((len(targets[0][-1]), 1))
            weights = _check_sample_weight(sample_weight, length, dtype=np.float64)
            targets = [*targets, (name, np.ascontiguousarray(weights))]
            options["weights"] = name
        wanted = [name for name, *_ in targets if name != options["weights"]]
        tell = self._tell if self.verbose else None
        self.model_, report = _native.fit_table(
            columns + targets, wanted, options, tell, self.n_jobs
        )
        self.report_ = json.loads(report)

    def _tell(self, what: str, done: float, best: float | None) -> None:
        so_far = "" if best is None else f"; best so far {best:.4g}"
        print(f"{100 * done:3.0f} % {what}{so_far}", file=sys.stderr)

    def _known(self, X: Any) -> list[Column]:
        check_is_fitted(self)
        return self._columns(X, reset=False)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each column in what the model reacts to, in the order of the columns: of the
        learned metric's diagonal, or of squared slopes."""
        check_is_fitted(self)
        found = dict(self.model_.describe()["importance"])
        if not found:
            raise AttributeError("the model tells of no importances; fit it again")
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return np.array([found.get(name, 0.0) for name in names])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file of the command line, which `nystrom predict` reads."""
        check_is_fitted(self)
        with open(path, "wb") as file:
            file.write(self.model_.to_bytes())

    def _load(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        with open(path, "rb") as file:
            self.model_ = _native.Model.from_bytes(file.read())
        told = self.model_.describe()
        needed = told["layout"]
        features = [name for name in needed if name not in told["targets"]]
        self.feature_names_in_ = np.array(features, dtype=object)
        self.n_features_in_ = len(features)
        return told

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "refuse"
        tags.input_tags.sparse = True
        return tags


def say(notes: list[str]) -> None:
    """What a table had that the fit had not seen."""
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=3)


class KernelRegressor(MultiOutputMixin, RegressorMixin, _Search):
    """The best kernel regression that can be found for a table, as `nystrom fit` finds it.

    Families of kernels, learned metrics, length scales, ridges and centres are compared on rows
    set aside, and the best is fitted to all rows. Frames may hold texts and missing values.

    Parameters
    ----------
    effort : {"quick", "default", "thorough"}
        How much work: some ten seconds, a minute, ten minutes on two cores, for large tables.
    work : float or None
        Floating-point operations, in the place of `effort`.
    memory : "auto", int or None
        Bytes beside the data; "auto" is half of what is free, and with None nothing is kept.
    calibrate : float, "cv:10", "loo" or None
        For `predict_interval`: a share of the rows set aside, or parts of them left out by
        cross-validation, or one by one.
    deviations : bool
        Whether what `predict(X, return_std=True)` needs is kept.
    missing : {"fill", "drop", "refuse"}
        What is done with missing values (numbers become the median, and a feature says where).
    standardize : bool
        Whether columns get mean 0 and standard deviation 1.
    scale : dict or None
        Columns that matter so many times as much as they seem.
    group, time : str or None
        A column whose rows are set aside together, or whose last rows are.
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
        work: float | None = None,
        memory: Any = "auto",
        calibrate: float | str | None = None,
        deviations: bool = False,
        missing: str = "fill",
        standardize: bool = True,
        scale: dict[str, float] | None = None,
        group: str | None = None,
        time: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.effort = effort
        self.work = work
        self.memory = memory
        self.calibrate = calibrate
        self.deviations = deviations
        self.missing = missing
        self.standardize = standardize
        self.scale = scale
        self.group = group
        self.time = time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelRegressor:
        """Finds the best fit of y, one column or several."""
        columns = self._columns(X, reset=True)
        names = target_names(y)
        if y is None:
            raise ValueError("KernelRegressor requires y to be passed, but the target y is None")
        Y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y", estimator=self)
        check_consistent_length(X, Y)
        self._single = Y.ndim == 1
        Y = Y.reshape(len(Y), -1)
        names = names or (["y"] if self._single else [f"y{j}" for j in range(Y.shape[1])])
        options = self._options(False, False, [])
        self._search(columns, columns_of_array(Y, names), sample_weight, options)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predictions for the rows of X, whose columns are found by name in a frame; with the
        standard deviations of new values, if the fit kept `deviations`."""
        columns = self._known(X)
        values, _, notes = self.model_.predict(columns, self.n_jobs)
        say(notes)
        single = (lambda a: a.ravel()) if self._single else (lambda a: a)
        if return_std:
            return single(values), single(self.model_.deviations(columns, self.n_jobs))
        return single(values)

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
    effort, work, memory, missing, standardize, scale, group, time, random_state, n_jobs, verbose
        As in `KernelRegressor`.

    Attributes
    ----------
    classes_, model_, report_
    """

    def __init__(
        self,
        effort: str = "default",
        *,
        work: float | None = None,
        memory: Any = "auto",
        class_weight: Any = None,
        missing: str = "fill",
        standardize: bool = True,
        scale: dict[str, float] | None = None,
        group: str | None = None,
        time: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.effort = effort
        self.work = work
        self.memory = memory
        self.class_weight = class_weight
        self.missing = missing
        self.standardize = standardize
        self.scale = scale
        self.group = group
        self.time = time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelClassifier:
        """Finds the best fit of the classes y."""
        columns = self._columns(X, reset=True)
        if y is None:
            raise ValueError("KernelClassifier requires y to be passed, but the target y is None")
        name = (target_names(y) or ["y"])[0]
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"there is one class only, {self.classes_[0]!r}; two are needed")
        target: Column = texts(name, [str(label) for label in y])
        if self.classes_.dtype.kind in "iuf":
            target = (name, np.asarray(y, dtype=np.float64))
        balanced = isinstance(self.class_weight, str) and self.class_weight == "balanced"
        weights = [] if balanced else self._class_weights()
        self._search(columns, [target], sample_weight, self._options(True, balanced, weights))
        self._order(self.model_.describe()["classes"])
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
        labels = [float(name) for name in told["classes"]] if told["numbers"] else told["classes"]
        if told["numbers"] and all(label.is_integer() for label in labels):
            labels = [int(label) for label in labels]
        model.classes_ = np.sort(np.array(labels))
        model._order(told["classes"])
        return model

    def _order(self, names: list[str]) -> None:
        """Where each of `classes_` stands in the model."""
        self._places = np.array([names.index(class_name(label)) for label in self.classes_])

    def _class_weights(self) -> list[tuple[str, float]]:
        if self.class_weight is None:
            return []
        if not isinstance(self.class_weight, dict):
            raise ValueError(f"class_weight = {self.class_weight!r}; take 'balanced' or a dict")
        return [(class_name(k), float(weight)) for k, weight in self.class_weight.items()]


def class_name(label: Any) -> str:
    """A class as the library names it: 1.0 is "1"."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    return str(label)


def target_names(y: Any) -> list[str] | None:
    """The name that a series, or the names that a frame has."""
    if is_frame(y):
        return [str(name) for name in y.columns]
    name = getattr(y, "name", None)
    return [name] if isinstance(name, str) and name else None
