"""The base class of estimators on partitions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import dask

from .._centers import choose
from .._bits import takes_bits
from .._checks import seed_of
from .._kernels import Spec, aligned
from .._ridge import evaluate
from .._table import names_of
from ._parts import by_rows, matrix, points, threads, width
from ._survey import Survey, survey

#: The size of the sample among which landmarks are chosen, per landmark.
SAMPLE = 10


class OnPartitions:
    """Chooses landmarks among a sample of the rows, and predicts partition by partition."""

    def _begin(self, X: Any, parts: list[Any], count: int, how: Any) -> tuple[Survey, Spec]:
        """Counts the rows, and chooses `count` landmarks among a sample of them by the method
        `how`."""
        count, seed = max(int(count), 1), seed_of(self.random_state)
        by_name = isinstance(how, str)
        wanted = count if by_name and how == "uniform" else SAMPLE * count
        drawn = [
            dask.delayed(survey, pure=True)(*part, wanted, seed, i) for i, part in enumerate(parts)
        ]
        found = Survey.of(dask.compute(*drawn), wanted, self.fit_intercept)
        bits = takes_bits(self.kernel)
        self.n_features_in_ = width(X) if bits else found.sample.shape[1]
        self.n_seen_ = found.rows
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.array(names_of(X, warn=True), dtype=object)
        how = "uniform" if found.rows <= count and by_name else how
        spec = self._spec(self.n_features_in_)
        seed = np.random.RandomState(seed % (1 << 32))
        few = min(count, len(found.sample))
        _, self.components_ = choose(spec, found.sample, how, few, seed, self.n_jobs)
        return found, spec

    def predict(self, X: Any) -> Any:
        """Predictions for the rows of X: a Dask array if X is a Dask array or frame, otherwise a
        NumPy array."""
        check_is_fitted(self)
        if not dask.is_dask_collection(X):
            return super().predict(X)
        theta = self.dual_coef_.reshape(len(self.components_), -1)
        spec, Z, b = self._spec(self.n_features_in_), self.components_, self.intercept_
        single, columns = self.dual_coef_.ndim == 1, self.n_features_in_
        bits = takes_bits(self.kernel)

        def predict(block: np.ndarray) -> np.ndarray:
            x = matrix(points(block, columns) if bits else block, Z)
            f = evaluate(spec, x, aligned(Z), aligned(theta), b, threads())
            return f.ravel() if single else f

        return by_rows(predict, X, theta.dtype, None if single else theta.shape[1])
