"""Base classes of the estimators that search for the best fit, as `nystrom fit` does."""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from . import _native
from ._checks import missing_rows, seed_of
from ._cells import text_of_number
from ._columns import Column, of_objects, texts
from ._kernels import positive
from ._shown import Facts, _Shown, short
from ._sparse import dense
from ._table import columns_of_array, columns_of_frame, is_frame, long_columns

#: The least number of rows of a fit.
FEWEST_ROWS = 3
#: The units of the parameter `time`, in seconds.
UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
#: How a target on a scale is fitted.
SCALES = {"log": "fitted as its logarithm", "root": "fitted as its square root"}


def seconds(time: Any) -> float:
    """Seconds from `90`, `"90s"`, `"5min"` or `"1h"`, as on the command line."""
    parts = re.fullmatch(r"\s*([0-9.eE+-]+?)\s*([a-z]*)\s*", str(time))
    try:
        amount = float(parts[1]) * UNITS[parts[2]] if parts else 0.0
    except (KeyError, ValueError):
        amount = 0.0
    if not 0.0 < amount < float("inf"):
        raise ValueError(f"time = {time!r} is no time; use 90, '90s', '5min' or '1h'")
    return amount


class _Tables(_Shown, BaseEstimator):
    """Estimators that read frames and arrays as columns, with parameters about columns."""

    #: The columns by which rows are set aside; they are not features.
    group: str | None = None
    time_column: str | None = None

    def _of_columns(self) -> dict[str, Any]:
        return {
            "standardize": self.standardize,
            "scale": list((self.scale or {}).items()),
            "missing": self.missing,
            "categorical": self._categories,
            "numeric": names_in("numeric", self.numeric),
            "not_missing": names_in("not_missing", self.not_missing),
            "features": names_in("features", self.features),
            "day_first": bool(self.day_first),
        }

    def _described(self) -> dict[str, Any]:
        """The description of the fitted model."""
        return self.model_.describe()

    def _columns(self, X: Any, reset: bool) -> list[Column]:
        """The columns of X, with the names and in the order of the fit. `reset` is true in `fit`,
        which then stores the names."""
        as_texts = set(names_in("categorical", self.categorical))
        if not reset:
            as_texts |= set(self._described()["texts"])
        if is_frame(X):
            if len(X) < (FEWEST_ROWS if reset else 1):
                raise ValueError(
                    f"Found array with {len(X)} sample(s) (shape={X.shape}) while a minimum of "
                    f"{FEWEST_ROWS if reset else 1} is required."
                )
            empty = "" in names_in("not_missing", self.not_missing)
            frame = columns_of_frame(X, as_texts, empty, warn=reset)
            columns = self._named(frame.columns, reset)
            if reset:
                self._choose_categories(columns, frame.categorical)
            return columns
        given = refuse_times(dense(X))
        X = validate_data(
            self,
            given,
            dtype=np.float64,
            reset=reset,
            ensure_all_finite="allow-nan" if self.missing != "refuse" else True,
            ensure_min_samples=FEWEST_ROWS if reset else 1,
        )
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])])
        long = long_columns(given, names)
        columns = [
            long.get(column[0]) or (column_as_texts(column) if column[0] in as_texts else column)
            for column in columns_of_array(X, names)
        ]
        if reset:
            self._choose_categories(columns, [])
        return columns

    def _choose_categories(self, columns: list[Column], found: list[str]) -> None:
        """Stores the names of categorical columns: those that `categorical` names, and those in
        `found`, whose types are categorical."""
        known = {column[0] for column in columns}
        wanted = {
            option: names_in(option, getattr(self, option)) for option in ("categorical", "numeric")
        }
        for option, names in wanted.items():
            for name in names:
                if name not in known:
                    raise ValueError(
                        f"{option} names {name!r}, and X has no such column; its columns are "
                        f"{some_of(list(known))}"
                    )
        for name in wanted["categorical"]:
            if name in wanted["numeric"]:
                raise ValueError(f"{name!r} is in both categorical and numeric; drop it from one")
        no_features = {*wanted["numeric"], self.group, self.time_column}
        given = wanted["categorical"]
        self._categories = given + [n for n in found if n not in no_features and n not in given]

    def _named(self, columns: list[Column], reset: bool) -> list[Column]:
        """The columns of a frame, in the order of the fit; a ValueError if names differ."""
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
        if hasattr(self, "_loaded"):  # as on the command line, extra columns are ignored
            columns = [column for column in columns if column[0] in known]
        lists = {
            "Feature names unseen at fit time": [
                column[0] for column in columns if column[0] not in known
            ],
            "Feature names seen at fit time, yet now missing": [n for n in known if n not in names],
        }
        wrong = [f"{what}:\n- " + "\n- ".join(some) for what, some in lists.items() if some]
        if wrong:
            text = "The feature names should match those that were passed during fit."
            raise ValueError("\n".join([text, *wrong]))
        return sorted(columns, key=lambda column: known.index(column[0]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "refuse"
        tags.input_tags.sparse = True
        return tags


class _Search(_Tables):
    """The base class of `KernelRegressor` and `KernelClassifier`."""

    def _options(self, classes: bool, balanced: bool, of_classes: list[Any]) -> dict[str, Any]:
        memory = _native.half_of_free_memory() if self.memory == "auto" else self.memory
        if isinstance(memory, str):
            raise ValueError(f"memory = {memory!r}; use 'auto', a number of bytes, or None")
        work = self.work
        if self.time is not None:
            if work is not None:
                raise ValueError("time and work both limit the search; give one of them")
            work = _native.work_in(seconds(self.time), self.n_jobs)
        return {
            "effort": self.effort,
            "work": work,
            "memory": None if memory is None else int(positive("memory", memory)),
            "weights": None,
            "classes": classes,
            "balanced": balanced,
            "class_weights": of_classes,
            "calibrate": None if self.calibrate is None else str(self.calibrate),
            "deviations": getattr(self, "deviations", False),
            "target_scale": getattr(self, "target_scale", None),
            "loss": getattr(self, "loss", "squares"),
            "group": self.group,
            "time": self.time_column,
            "seed": seed_of(self.random_state),
        } | self._of_columns()

    def _search(
        self,
        columns: list[Column],
        targets: list[Column],
        sample_weight: Any,
        groups: Any,
        options: dict[str, Any],
    ) -> None:
        table, wanted = list(columns), []
        for target in targets:  # a target may have the name of a column of X
            wanted.append(free_name(target[0], table))
            table.append((wanted[-1], *target[1:]))  # type: ignore
        rows = len(targets[0][-1])
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, np.zeros((rows, 1)), dtype=np.float64)
            options["weights"] = free_name("sample_weight", table)
            table.append((options["weights"], np.ascontiguousarray(weights)))
        if groups is not None:
            if self.group is not None:
                raise ValueError("both groups and the parameter group are given; give one of them")
            options["group"] = free_name("groups", table)
            table.append(column_of_groups(options["group"], groups, rows))
        tell = self._tell if self.verbose else None
        self.model_, self._report = _native.fit_table(table, wanted, options, tell, self.n_jobs)
        self.report_ = json.loads(self._report.json())
        if left_out := self._report.left_out():
            text = f"columns left out: {some_of(left_out, '; ')}"
            warnings.warn(_native.in_python(text), UserWarning, stacklevel=3)
        for note in self.report_["notes"]:
            warnings.warn(_native.in_python(note), UserWarning, stacklevel=3)
        end = self.report_["iterations"]
        if end is not None and not end["converged"]:
            text = (
                f"the final fit stopped after {end['iterations']} iterations at a relative "
                f"residual of {end['residual']:.1e}, above the tolerance of {end['tolerance']:.1e} "
                "that the search found necessary"
            )
            warnings.warn(text, ConvergenceWarning, stacklevel=3)
        self._made = {key: options[key] for key in ("work", "memory", "seed")}

    def _tell(self, what: str, done: float, best: float | None) -> None:
        so_far = "" if best is None else f"; best so far {best:.4g}"
        print(f"{100 * done:3.0f} % {what}{so_far}", file=sys.stderr)

    def _known(self, X: Any) -> list[Column]:
        check_is_fitted(self)
        return self._columns(X, reset=False)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The importance of each column, in the order of the columns. It is the column's share of
        the diagonal of the learned metric, or of the mean squared slopes if there is no metric."""
        check_is_fitted(self)
        found = dict(self.model_.describe()["importance"])
        if not found:
            raise AttributeError("the model has no importances; fit it again")
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return np.array([found.get(name, 0.0) for name in names])

    def _facts(self) -> Facts:
        told = self.model_.describe()
        made = json.loads(told["made"])
        scale = "" if told["length_scale"] is None else f", bandwidth {short(told['length_scale'])}"
        metric = "" if told["metric"] is None else ", learned metric"
        how, count = made["centers"], told["centers"]
        if made["holds_all_rows"]:
            how = f"all {count} rows"
        elif not how.startswith(f"{count} "):
            how = f"{count} ({how})"
        return [
            *self._error(made),
            ("kernel", f"{told['kernel']}{scale}{metric}"),
            ("centres", how),
            *([] if made["loss"] == "squares" else [("loss", loss_name(made["loss"]))]),
            *([] if told["target_scale"] == "plain" else [("target", SCALES[told["target_scale"]])]),
            ("lambda", short(made["lambda"])),
        ]

    def _error(self, made: dict[str, Any]) -> Facts:
        """The errors of the search's choice. A model of `nystrom fit` with a given kernel has its
        error in standard deviations."""
        if (errors := made["errors"]) is not None:
            return self._errors(errors)
        error = made["validation_error"]
        if error is None:
            return []
        return [("error", f"RMSE {short(error)} standard deviations of the target")]

    def _errors(self, errors: dict[str, Any]) -> Facts:
        """The errors of the search's choice as facts."""
        raise NotImplementedError

    def report_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The page of `nystrom fit --report`: one HTML file that needs no network and no script. It
        shows errors on rows that were kept out of the fit, the importance of the columns, partial
        dependence, and the candidates of the search. If `path` is given, the page is written
        there."""
        check_is_fitted(self)
        page = self.model_.html(getattr(self, "_report", None), self._repeat())
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def _repeat(self) -> str:
        """The call that repeats the fit; for a loaded model the command."""
        if not hasattr(self, "_report"):
            settings = json.loads(self.model_.describe()["made"])["settings"]
            target = self.model_.describe()["targets"][0]
            return f"nystrom fit TABLE --target {target} {settings}"
        made = {"time": None, "work": self._made["work"], "memory": self._made["memory"]}
        made |= {"random_state": self._made["seed"], "n_jobs": None, "verbose": False}
        given = self.get_params(deep=False) | made
        usual = inspect.signature(type(self)).parameters.items()
        differ = [f"{k}={given[k]!r}" for k, p in usual if repr(given[k]) != repr(p.default)]
        return f"{type(self).__name__}({', '.join(differ)}).fit(X, y)"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file of the command line, which `nystrom predict` and `load` read."""
        check_is_fitted(self)
        with open(path, "wb") as file:
            file.write(self.model_.to_bytes())

    def _load(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        with open(path, "rb") as file:
            self.model_ = _native.Model.from_bytes(file.read())
        told = self.model_.describe()
        needed = {*told["columns"], *told["dropped"]}
        features = [name for name in told["layout"] if name in needed]
        self._loaded = True
        self.feature_names_in_ = np.array(features, dtype=object)
        self.n_features_in_ = len(features)
        return told


def loss_name(loss: Any) -> str:
    """The name of a loss as the parameter `loss` has it."""
    if isinstance(loss, str):
        return loss
    return "quantile:" + ",".join(f"{share:g}" for share in loss["quantiles"])


def say(notes: list[str]) -> None:
    """Raises warnings with the notes about the columns of new rows."""
    for note in notes:
        warnings.warn(_native.in_python(note), UserWarning, stacklevel=3)


def names_in(option: str, given: Any) -> list[str]:
    """A list of names from None, one name, or several."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable) or isinstance(given, (dict, bytes)):
        raise ValueError(f"{option} = {given!r}; take a list of names")
    return [str(name) for name in given]


def some_of(names: list[str], between: str = ", ") -> str:
    """The first five names, and the number of the others."""
    first = between.join(names[:5])
    return first if len(names) <= 5 else f"{first}{between}and {len(names) - 5} more"


def column_as_texts(column: Column) -> Column:
    """A column of numbers as a column of text."""
    name, values = column[0], column[-1]
    return texts(name, [None if np.isnan(v) else text_of_number(v) for v in values])


def refuse_times(X: Any) -> Any:
    """X; a TypeError if it is an array of times, which would become numbers of unknown unit."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise TypeError(
            f"X is an array of {X.dtype}; pass a frame, pandas.DataFrame(X): times in a frame "
            "become features"
        )
    return X


def free_name(name: str, table: list[Column]) -> str:
    """The name, with underscores appended until no column of the table has it."""
    while any(name == column[0] for column in table):
        name += "_"
    return name


def column_of_groups(name: str, groups: Any, rows: int) -> Column:
    """Groups as a column of numbers or of text."""
    groups = column_or_1d(groups)
    check_consistent_length(groups, np.zeros(rows))
    cells = of_objects(name, list(groups), missing_rows(groups))
    return cells.column(name, False, True)
