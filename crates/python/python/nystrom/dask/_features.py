"""Numeric features from the columns of a Dask frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import dask
import dask.array as da
from dask.delayed import delayed

from .._checks import seed_of
from .._features import TableFeatures as _TableFeatures
from ._parts import delayed_parts


class TableFeatures(_TableFeatures):
    """`nystrom.TableFeatures` for Dask frames: columns of any kind become the numbers that the
    estimators of this package take.

    `fit` decides how columns become features from a random sample of about `sample_rows` rows,
    drawn from each partition in proportion to its rows. Means, standard deviations and levels are
    those of the sample. If a row has a level that the sample lacks, the worker warns, and the
    features take their means. The sample depends only on the partitions and the seed. `transform`
    returns a Dask array with one block per partition.

    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> price = [f"${i * i},000" for i in range(100)]
    >>> frame = pd.DataFrame({"size": ["S", "M"] * 50, "price": price})
    >>> frame = dd.from_pandas(frame, npartitions=4)
    >>> TableFeatures().fit(frame).transform(frame).compute().shape
    (100, 3)
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
        sample_rows: int = 20_000,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            standardize=standardize,
            scale=scale,
            missing=missing,
            categorical=categorical,
            numeric=numeric,
            features=features,
            not_missing=not_missing,
            day_first=day_first,
        )
        self.sample_rows = sample_rows
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> TableFeatures:
        """Decides from a sample how each column of X becomes features."""
        parts, seed = delayed_parts(X, "X"), seed_of(self.random_state)
        sizes = dask.compute(*[delayed(len)(part) for part in parts])
        share = min(1.0, self.sample_rows / max(sum(sizes), 1))
        some = [
            delayed(some_rows)(part, int(np.ceil(share * size)), seed, i)
            for i, (part, size) in enumerate(zip(parts, sizes, strict=True))
            if size > 0
        ]
        super().fit(pd.concat(dask.compute(*some)) if some else X._meta)
        return self

    def transform(self, X: Any) -> Any:
        """The features of the rows of X: a Dask array if X is a Dask frame, otherwise a NumPy
        array."""
        if not dask.is_dask_collection(X):
            return super().transform(X)
        d = len(self.get_feature_names_out())
        parts = delayed_parts(X, "X")
        sizes = dask.compute(*[delayed(len)(part) for part in parts])
        blocks = [
            da.from_delayed(delayed(self._block)(part), (size, d), np.float64)
            for part, size in zip(parts, sizes, strict=True)
        ]
        return da.concatenate(blocks)

    def _block(self, part: Any) -> np.ndarray:
        if len(part) == 0:
            return np.empty((0, len(self.get_feature_names_out())))
        return super().transform(part)


def some_rows(part: Any, count: int, seed: int, place: int) -> Any:
    """`count` random rows of a partition, in their order. `place` is the number of the
    partition."""
    chosen = np.random.default_rng([seed, place]).permutation(len(part))[:count]
    return part.iloc[np.sort(chosen)]
