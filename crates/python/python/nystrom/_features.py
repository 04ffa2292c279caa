"""Numeric features from the columns of a table."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._search import _Tables, say, some_of
from ._shown import Facts


class TableFeatures(TransformerMixin, _Tables):
    """Converts the columns of a table to numeric features, as `KernelRegressor` and `nystrom fit`
    do: dates, amounts of money, text, missing values. The features suit any estimator that takes
    numbers, in this package or in scikit-learn. `nystrom.dask.TableFeatures` is for Dask frames.

    Columns that name or number the rows, or hold a single value, are left out with a warning. The
    target is not used: text with many levels becomes one feature for each frequent level and one
    for all others. `docs/columns.md` describes the treatment of each kind of column.

    Parameters
    ----------
    standardize : bool, default=True
        Whether features are standardised to mean 0 and standard deviation 1.
    scale : dict or None, default=None
        Factors by which the features of a column are multiplied after standardisation.
    missing : {"fill", "refuse"}, default="fill"
        The treatment of missing values: "fill" replaces a missing number by the median and adds a
        feature that marks missing values, "refuse" raises an error.
    categorical, numeric, features, not_missing : list of str, or None, default=None
        Names of columns, and texts that are values, as in `KernelRegressor`.
    day_first : bool, default=False
        Whether a date such as 03/04/2019 is read as 3 April if the other dates of its column do not
        decide.

    Attributes
    ----------
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has names.

    Examples
    --------
    >>> import pandas as pd
    >>> from nystrom import TableFeatures
    >>> frame = pd.DataFrame({"size": ["S", "M", "S"], "price": ["$1,200", "$950", "$2,000"]})
    >>> features = TableFeatures().fit(frame)
    >>> list(features.get_feature_names_out())
    ['size=M', 'size=S', 'price']
    >>> features.transform(frame).shape
    (3, 3)
    """

    def __init__(
        self,
        *,
        standardize: bool = True,
        scale: dict[str, float] | None = None,
        missing: str = "fill",
        categorical: Any = None,
        numeric: Any = None,
        features: Any = None,
        not_missing: Any = None,
        day_first: bool = False,
    ) -> None:
        self.standardize = standardize
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.numeric = numeric
        self.features = features
        self.not_missing = not_missing
        self.day_first = day_first

    def fit(self, X: Any, y: Any = None) -> TableFeatures:
        """Decides how each column of X becomes features."""
        if self.missing == "drop":
            raise ValueError("missing = 'drop' would drop rows; use 'fill' or 'refuse'")
        columns = self._columns(X, reset=True)
        self._features = _native.fit_features(columns, self._of_columns())
        if left_out := self._described()["dropped"]:
            text = f"columns left out: {some_of(left_out, '; ')}"
            warnings.warn(_native.in_python(text), UserWarning, stacklevel=2)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The features of the rows of X, a matrix of `float64`."""
        check_is_fitted(self)
        found, notes = self._features.apply(self._columns(X, reset=False))
        say(notes)
        return found

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the features."""
        check_is_fitted(self)
        return np.array(self._described()["features"], dtype=object)

    def _facts(self) -> Facts:
        told = self._described()
        return [("features", f"{len(told['features'])} of {self.n_features_in_} columns")]

    def _described(self) -> dict[str, Any]:
        return self._features.describe()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_features")
