"""The regression that searches for the best fit of a table, as `nystrom fit` does."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length

from ._checks import refuse_missing
from ._search import _Search, say
from ._shown import Facts, against, short
from ._table import columns_of_array, is_frame
from ._targets import target_names


class KernelRegressor(MultiOutputMixin, RegressorMixin, _Search):
    """Searches for the best kernel regression of a table, as `nystrom fit` does.

    The search compares kernel families, learned metrics, length scales, ridges and centres on
    validation rows, and fits the best candidate to all rows. Frames may contain text and missing
    values.

    Parameters
    ----------
    effort : {"quick", "default", "thorough"}, default="default"
        The limit of the work: for large tables about ten seconds, a minute or ten minutes on two
        cores.
    time : float, str or None, default=None
        An approximate time limit instead of `effort`: seconds, or "90s", "5min", "1h". It is
        converted to a number of operations, `report_["work_allowed"]`; to repeat the fit, pass
        that number as `work`.
    work : float or None, default=None
        The limit of the work in floating-point operations, instead of `effort`.
    memory : "auto", int or None, default="auto"
        The limit of the memory beside the data, in bytes; kernel values that fit are stored instead
        of evaluated again. "auto" is half of the free memory. None: no limit, and no kernel values
        are stored.
    calibrate : float, "cv:10", "loo" or None, default=None
        How the intervals of `predict_interval` are calibrated. A share such as 0.2: neither search
        nor fit use this share of the rows (split conformal prediction), and an interval of level
        1 - alpha contains the true value with probability at least 1 - alpha. "cv:10" (CV+ with 10
        parts) and "loo" (jackknife+), for tables of few rows: the search uses half of the rows, the
        fit all, and the probability is about 1 - alpha in practice. It is at least 1 - 2 alpha for
        "loo", and at least 1 - 2 alpha - sqrt(2 / n) for "cv:10".
    deviations : bool, default=False
        Whether the model stores what `predict_std` needs.
    target_scale : {"plain", "log", "root"} or None, default=None
        The scale on which y is fitted. None: validation chooses, if y is not negative. Predictions
        are means of y itself on any scale.
    loss : str, default="squares"
        What the final fit minimises, and so what it predicts: "squares" means, "absolute" medians,
        "huber" means that hardly depend on outliers, "quantile:0.9" the value that nine tenths of
        y are below, "quantile:0.1,0.9" two such values as two columns, which do not cross.
    missing : {"fill", "drop", "refuse"}, default="fill"
        The treatment of missing values: "fill" replaces a missing number by the median and adds a
        feature that marks missing values, "drop" drops the rows, "refuse" raises an error.
    standardize : bool, default=True
        Whether features are standardised to mean 0 and standard deviation 1.
    scale : dict or None, default=None
        Factors by which the features of a column are multiplied after standardisation. A factor
        above 1 makes the column more important.
    categorical, numeric : list of str, or None, default=None
        Columns whose values are categories even if they look like numbers, and columns whose
        values are numbers. For the other columns, the types and the values decide; columns of type
        `category` (polars: `Categorical`, `Enum`; Arrow: dictionaries) are categories.
    not_missing : list of str, or None, default=None
        Texts that are values, although they usually mark a missing value, such as "NA".
    features : list of str, or None, default=None
        The feature columns; if None, all columns of X but the group and time columns. A column that
        numbers or names the rows is a feature only if it is listed here.
    day_first : bool, default=False
        Whether a date such as 03/04/2019 is read as 3 April if the other dates of its column do not
        decide.
    group, time_column : str or None, default=None
        How rows are set aside: rows with the same value in the column `group` together, or the last
        rows by `time_column`. These columns are not features.
    random_state : int, RandomState or None, default=None
        The seed. The same integer gives the same model, with any number of threads and on the
        command line.
    n_jobs : int or None, default=None
        Number of threads; None: one for each core.
    verbose : bool, default=False
        Whether to report progress on standard error.

    Attributes
    ----------
    report_ : dict
        The report of the search. `report_["errors"]` has the root mean square error of each target
        on validation rows, in units of the target, and that of predicting the mean; other errors
        are in standard deviations of the target.
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
    >>> from nystrom import KernelRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    >>> model = KernelRegressor("quick", random_state=0).fit(X, y)
    >>> float(model.predict([[0.5, 0.5]])[0])  # sin(1.5) + 0.25 = 1.247...  # doctest: +ELLIPSIS
    1.2...
    >>> print(model)  # doctest: +ELLIPSIS
    KernelRegressor(effort='quick', random_state=0)
      error    RMSE ... (y), ... % below predicting the mean (...), 200 validation rows
      kernel   ...
      centres  ...
      lambda   ...
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
        loss: str = "squares",
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
        self.loss = loss
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
        if return_std:
            return self._flat(values), self._flat(self.model_.deviations(columns, self.n_jobs)[0])
        return self._flat(values)

    def predict_std(self, X: Any, noise: bool = True) -> np.ndarray:
        """Standard deviations for the rows of X, by the Gaussian process whose posterior mean is
        the model: of new values, or of the function if `noise` is False.

        They are valid only if the noise has the same variance everywhere. The fit needs
        `deviations=True`."""
        of_value, of_function = self.model_.deviations(self._known(X), self.n_jobs)
        std = of_value if noise else of_function
        return self._flat(std)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of intervals that contain the true value with probability at least
        `level`, on average over rows and fits, if new rows and fitted rows are exchangeable.

        The fit needs `calibrate`. "cv:10" and "loo" have weaker guarantees, see there."""
        columns = self._known(X)
        lower, upper, notes = self.model_.intervals(columns, float(level), self.n_jobs)
        say(notes)
        return self._flat(lower), self._flat(upper)

    def _flat(self, values: np.ndarray) -> np.ndarray:
        """One column of a single y as a vector; several quantiles stay columns."""
        return values.ravel() if self._single and values.shape[1] == 1 else values

    def _errors(self, errors: dict[str, Any]) -> Facts:
        if (loss := errors["loss"]) is not None:
            unit = "standard deviations of y on validation rows"
            text = f"mean loss {short(loss['error'])}, {short(loss['squares'])} by squares, in {unit}"
            return [("error", text)]
        return [
            (
                "error",
                f"RMSE {short(of['rmse'])} ({of['target']})"
                f"{against(of['rmse'], of['mean_rmse'], 'the mean')}, {errors['rows']} validation rows",
            )
            for of in errors["targets"]
        ]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> KernelRegressor:
        """Loads a model file of the command line or of `save`."""
        model = cls()
        told = model._load(path)
        if told["classes"] is not None:
            raise ValueError(f"{path} holds a classification; use KernelClassifier.load")
        model._single = len(told["targets"]) == 1
        return model
