"""The classification that searches for the best fit of a table, as `nystrom fit` does."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ._cells import LARGEST_WHOLE
from ._checks import refuse_missing
from ._columns import Column, texts
from ._search import _Search, say
from ._shown import Facts, against, short
from ._targets import class_name, labels_of, refuse_alike, target_names, value_of


class KernelClassifier(ClassifierMixin, _Search):
    """Searches for the best kernel classification of a table, as `nystrom fit` does. Its
    probabilities are calibrated.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        The weight of each class: a dict from classes to weights, or "balanced" for the same total
        weight of every class. None: all rows have the same weight.
    calibrate : float or None, default=None
        The share of the rows that is set aside to calibrate probabilities. If None, they are
        calibrated on the validation rows.
    effort : {"quick", "default", "thorough"}, default="default"
        The limit of the work.
    time : float, str or None, default=None
        An approximate time limit instead of `effort`: seconds, or "90s", "5min", "1h".
    work : float or None, default=None
        The limit of the work in floating-point operations, instead of `effort`.
    memory : "auto", int or None, default="auto"
        The limit of the memory beside the data, in bytes. "auto" is half of the free memory.
    missing : {"fill", "drop", "refuse"}, default="fill"
        The treatment of missing values.
    random_state : int, RandomState or None, default=None
        The seed. The same integer gives the same model, with any number of threads and on the
        command line.
    n_jobs : int or None, default=None
        Number of threads; None: one for each core.
    verbose : bool, default=False
        Whether to report progress on standard error.
    standardize, scale, categorical, numeric, not_missing, features, day_first, group, time_column
        As in `KernelRegressor`, with the same defaults.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    report_ : dict
        The report of the search. `report_["classes"]` has the errors on validation rows: error rate
        and log-loss, and those of constant predictions.
    model_ : object
        The fitted pipeline. `save` writes it to a file.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The importance of each column of X.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from nystrom import KernelClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 0.6, "inside", "outside")
    >>> model = KernelClassifier("quick", random_state=0).fit(X, y)
    >>> model.predict([[0.1, 0.1], [0.9, 0.9]]).tolist()
    ['inside', 'outside']
    >>> model.predict_proba([[0.1, 0.1]]).shape
    (1, 2)
    >>> print(model)  # doctest: +ELLIPSIS
    KernelClassifier(effort='quick', random_state=0)
      error     ... % wrong, ... % below predicting the majority class (...), 200 validation rows
      log-loss  ..., ... % below predicting the class shares (...)
      kernel    ...
      centres   ...
      lambda    ...
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

    def _errors(self, errors: dict[str, Any]) -> Facts:
        of = errors["classes"]
        if of is None:
            return []
        rate, constant = 100.0 * of["error_rate"], 100.0 * of["constant_error_rate"]
        loss = against(of["log_loss"], of["constant_log_loss"], "the class shares")
        rate_than = against(rate, constant, "the majority class", " %")
        return [
            ("error", f"{short(rate)} % wrong{rate_than}, {of['rows']} validation rows"),
            ("log-loss", f"{short(of['log_loss'])}{loss}"),
        ]

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
