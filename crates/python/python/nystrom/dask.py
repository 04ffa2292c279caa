"""Fits to Dask arrays and frames, in memory that does not grow with the rows.

Partitions are loaded inside tasks, and each becomes a state there. States merge along a tree that
depends on the number of partitions alone, and the client solves. So the bits depend neither on the
number of workers nor on their order, and a partition that a lost worker held is loaded again.

>>> import dask.array as da
>>> import numpy as np
>>> from nystrom.dask import NystroemRidge
>>> x = np.linspace(0, 6, 3000).reshape(-1, 1)
>>> X, y = da.from_array(x, chunks=500), da.from_array(np.sin(x[:, 0]), chunks=500)
>>> model = NystroemRidge(n_components=30, random_state=0).fit(X, y)
>>> bool(abs(model.predict(X).compute() - np.sin(x[:, 0])).max() < 1e-3)
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

import dask
import dask.array as da

from . import _native
from ._centers import LEVERAGE_RIDGE, choose
from ._checks import TYPES, seed_of
from ._kernels import Spec, aligned, spec_of
from ._ridge import NystroemRidge as _NystroemRidge
from ._ridge import ridges
from ._stream import law

#: Rows among which landmarks are chosen, for each landmark.
SAMPLE = 10
#: Numbers between the first rows of partitions, so that no two rows have the same.
APART = 1 << 40

__all__ = ["NystroemRidge", "leverage_scores"]


class NystroemRidge(_NystroemRidge):
    """`nystrom.NystroemRidge` for Dask arrays and frames.

    Two passes over the partitions: one counts rows and draws a uniform sample, among which
    landmarks are chosen; the other adds up the normal equations. Alpha is chosen by generalised
    cross-validation. Persist X and y where loading them takes longer than the fit.

    Parameters and attributes are those of `nystrom.NystroemRidge`, without `criterion` and
    `alpha_per_target`; `landmarks` may be points, but not numbers of rows.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NystroemRidge:
        """Fits y at the rows of X: Dask arrays or frames with the same partitions."""
        for name, usual in (("criterion", "loo"), ("alpha_per_target", False)):
            if getattr(self, name) != usual:
                raise ValueError(f"{name} needs all rows at once; leave it out, or fit in memory")
        self.__dict__.pop("_state", None)
        parts = partitions(X, y, sample_weight)
        count, seed = max(int(self.n_components), 1), seed_of(self.random_state)
        by_name = isinstance(self.landmarks, str)
        wanted = count if by_name and self.landmarks == "uniform" else SAMPLE * count
        drawn = [
            dask.delayed(survey, pure=True)(*part, wanted, seed, i) for i, part in enumerate(parts)
        ]
        found = Survey.of(dask.compute(*drawn), wanted)
        self.n_features_in_, self.n_seen_ = found.sample.shape[1], found.rows
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        how = "uniform" if found.rows <= count and by_name else self.landmarks
        spec = self._spec(self.n_features_in_)
        seed = np.random.RandomState(seed % (1 << 32))
        few = min(count, len(found.sample))
        _, self.components_ = choose(spec, found.sample, how, few, seed, self.n_jobs)
        self._offset = found.means.tolist() if self.fit_intercept else None
        kind = (spec, self.components_, self._offset, len(found.means))
        states = [dask.delayed(state_of, pure=True)(*part, *kind) for part in parts]
        merged = tree(states, lambda a, b, _: dask.delayed(merge, pure=True)(a, b, *kind))
        grid = ridges(self.alphas, found.rows)
        state = dask.compute(merged)[0]
        self._solve(spec, state, grid, len(found.means), found.single)
        return self

    def predict(self, X: Any) -> Any:
        """f at the rows of X: of Dask arrays and frames a Dask array, of others an array."""
        check_is_fitted(self)
        if not dask.is_dask_collection(X):
            return super().predict(X)
        theta = self.dual_coef_.reshape(len(self.components_), -1)
        b = np.atleast_1d(self.intercept_).astype(float).tolist()
        spec, Z, single = (
            self._spec(self.n_features_in_),
            self.components_,
            self.dual_coef_.ndim == 1,
        )

        def predict(block: np.ndarray) -> np.ndarray:
            x = matrix(block, Z)
            f = _native.predict(spec, x, aligned(Z), aligned(theta), b, threads())
            return f.ravel() if single else f

        return by_rows(predict, X, Z.dtype, None if single else theta.shape[1])

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Not there: `fit` goes over all partitions."""
        raise NotImplementedError(
            "partial_fit is nystrom.NystroemRidge's; fit takes all partitions"
        )


def leverage_scores(
    X: Any,
    kernel: Any = "rbf",
    alpha: float | None = None,
    *,
    copies: int = 8,
    epsilon: float = 0.5,
    max_components: int = 2000,
    random_state: Any = None,
) -> da.Array:
    """Ridge leverage scores of the rows of X, from below, as a Dask array.

    Each partition keeps a dictionary of its rows, dictionaries merge along a tree (DISQUEAK), and
    the one of all rows gives the score of each. With high probability, for enough `copies`, these
    are at least (1 - epsilon)/(1 + 3 epsilon) of the exact scores, and at most these.
    """
    parts = [part[0] for part in partitions(X, None, None)]
    rows, columns, kind = zip(
        *dask.compute(*[dask.delayed(shape, pure=True)(x) for x in parts]), strict=True
    )
    n, d = sum(rows), max(columns)
    alpha = n * LEVERAGE_RIDGE if alpha is None else float(alpha)
    how, seed = law(alpha, copies, epsilon, max_components), seed_of(random_state)
    spec, like = spec_of(kernel, d), np.zeros((0, d), dtype=np.result_type(*kind))
    states = [
        dask.delayed(dictionary_of, pure=True)(x, spec, like, how, seed, i)
        for i, x in enumerate(parts)
    ]
    merged = tree(
        states,
        lambda a, b, node: dask.delayed(merge_dictionaries, pure=True)(
            a, b, spec, like, how, seed, node
        ),
    )
    state = dask.compute(merged)[0]

    def scores(block: np.ndarray) -> np.ndarray:
        return _native.squeak_scores(spec, matrix(block, like), state, how, threads())

    return by_rows(scores, X, np.float64, None)


def partitions(X: Any, y: Any, sample_weight: Any) -> list[tuple[Any, Any, Any]]:
    """The partitions of X, y and weights, row by row, as tasks."""
    columns = [
        delayed_parts(what, name)
        for what, name in ((X, "X"), (y, "y"), (sample_weight, "sample_weight"))
    ]
    for name, parts in (("y", columns[1]), ("sample_weight", columns[2])):
        if parts is not None and len(parts) != len(columns[0]):
            raise ValueError(
                f"X has {len(columns[0])} partitions and {name} has {len(parts)}; rechunk one of "
                "them like the other"
            )
    missing = [None] * len(columns[0])
    return list(zip(columns[0], columns[1] or missing, columns[2] or missing, strict=True))


def delayed_parts(what: Any, name: str) -> list[Any] | None:
    if what is None:
        return None
    if not dask.is_dask_collection(what):
        raise TypeError(
            f"{name} is no Dask array or frame; take dask.array.from_array, or the estimators of "
            "nystrom itself"
        )
    if isinstance(what, da.Array) and what.ndim > 1:
        what = what.rechunk({1: -1})
    parts = what.to_delayed()
    return list(np.ravel(parts)) if isinstance(parts, np.ndarray) else list(parts)


def by_rows(function: Callable[[Any], Any], X: Any, dtype: Any, columns: int | None) -> da.Array:
    """`function` of every partition of X, a vector or a matrix of so many columns."""
    if not isinstance(X, da.Array):
        X = X.to_dask_array()
    X = X.rechunk({1: -1})
    none = np.empty((0,) if columns is None else (0, columns), dtype=dtype)

    def rows(block: Any) -> np.ndarray:
        return function(block) if len(block) > 0 else none

    if columns is None:
        return X.map_blocks(rows, dtype=dtype, drop_axis=1, meta=none)
    return X.map_blocks(rows, dtype=dtype, chunks=(X.chunks[0], (columns,)), meta=none)


def tree(leaves: list[Any], join: Callable[[Any, Any, int], Any]) -> Any:
    """Neighbours joined level by level; nodes are numbered from the leaves up."""
    node = len(leaves)
    while len(leaves) > 1:
        pairs = [leaves[i : i + 2] for i in range(0, len(leaves), 2)]
        joined = []
        for pair in pairs:
            joined.append(join(*pair, node) if len(pair) == 2 else pair[0])
            node += 1
        leaves = joined
    return leaves[0]


def matrix(block: Any, like: np.ndarray) -> np.ndarray:
    """Rows of a partition as numbers of the type of `like`."""
    block = check_array(block, dtype=TYPES, ensure_min_samples=0)
    if block.shape[1] != like.shape[1]:
        raise ValueError(f"a partition has {block.shape[1]} columns, and others {like.shape[1]}")
    return aligned(block.astype(like.dtype, copy=False))


def shape(block: Any) -> tuple[int, int, Any]:
    block = check_array(block, dtype=TYPES, ensure_min_samples=0)
    return (*block.shape, block.dtype)


def threads() -> int | None:
    """Those of the worker that this is; all of the machine where there is none. No bit depends on
    them."""
    try:
        from distributed import get_worker

        return int(get_worker().state.nthreads)
    except (ImportError, ValueError):
        return None


class Survey:
    """What a pass over the rows tells: how many, the means of targets, and a uniform sample."""

    def __init__(
        self,
        rows: int,
        weight: float,
        sums: np.ndarray,
        keys: np.ndarray,
        sample: np.ndarray,
        single: bool,
    ):
        self.rows, self.weight, self.sums = rows, weight, sums
        self.keys, self.sample, self.single = keys, sample, single

    @property
    def means(self) -> np.ndarray:
        return self.sums / self.weight

    @staticmethod
    def of(parts: tuple[Survey | None, ...], wanted: int) -> Survey:
        """The survey of all partitions, in their order."""
        found = [part for part in parts if part is not None]
        if not found:
            raise ValueError("there are no rows: all partitions are empty")
        shapes = {part.sample.shape[1] for part in found}
        if len(shapes) > 1:
            raise ValueError(f"partitions have {sorted(shapes)} columns; they must have the same")
        keys = np.concatenate([part.keys for part in found])
        least = np.argsort(keys, kind="stable")[:wanted]
        sample = np.concatenate([part.sample for part in found])[least]
        sums = np.sum([part.sums for part in found], axis=0)
        weight = sum(part.weight for part in found)
        if not weight > 0:
            raise ValueError("all weights are 0")
        return Survey(
            sum(p.rows for p in found), weight, sums, keys[least], sample, found[0].single
        )


def survey(X: Any, y: Any, weights: Any, wanted: int, seed: int, part: int) -> Survey | None:
    """Of one partition; the sample are the rows with the smallest random keys."""
    X, Y, w, single = block_of(X, y, weights)
    if len(X) == 0:
        return None
    keys = np.random.default_rng([seed, part]).random(len(X))
    least = np.argsort(keys, kind="stable")[:wanted]
    w = np.ones(len(X)) if w is None else w.astype(float)
    return Survey(len(X), float(w.sum()), w @ Y.astype(float), keys[least], X[least], single)


def block_of(
    X: Any, y: Any, weights: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, bool]:
    """A partition as matrices of one type."""
    X = aligned(check_array(X, dtype=TYPES, ensure_min_samples=0))
    Y = check_array(y, dtype=TYPES, ensure_2d=False, ensure_min_samples=0, input_name="y")
    single = Y.ndim == 1
    if len(Y) != len(X):
        raise ValueError(f"a partition of X has {len(X)} rows, and that of y {len(Y)}; rechunk")
    w = None if weights is None else np.asarray(weights).ravel().astype(X.dtype)
    if w is not None and (len(w) != len(X) or not np.all(np.isfinite(w) & (w >= 0))):
        raise ValueError("sample_weight must be numbers that are not negative, one for each row")
    Y = Y[:, None] if single else Y
    return X, Y.astype(X.dtype, copy=False), w, single


def state_of(
    X: Any, y: Any, weights: Any, spec: Spec, Z: np.ndarray, offset: Any, targets: int
) -> bytes:
    """A partition as a state; what came over the network may lie anywhere."""
    Z = aligned(Z)
    X, Y, w, _ = block_of(X, y, weights)
    if len(X) == 0:
        return _native.merge(spec, Z, [], offset=offset, targets=targets, n_jobs=threads())
    if Y.shape[1] != targets:
        raise ValueError(f"a partition has {Y.shape[1]} targets, and others {targets}")
    X, Y = matrix(X, Z), aligned(Y.astype(Z.dtype, copy=False))
    w = None if w is None else aligned(w.astype(Z.dtype, copy=False))
    return _native.accumulate(spec, X, Y, w, Z, None, offset=offset, n_jobs=threads())


def merge(a: bytes, b: bytes, spec: Spec, Z: np.ndarray, offset: Any, targets: int) -> bytes:
    """Two states as one."""
    return _native.merge(spec, aligned(Z), [a, b], offset=offset, targets=targets, n_jobs=threads())


def dictionary_of(
    X: Any, spec: Spec, like: np.ndarray, how: dict[str, Any], seed: int, part: int
) -> bytes:
    """The dictionary of a partition, its rows in random order."""
    X = matrix(X, like)
    X = X[np.random.default_rng([seed, part]).permutation(len(X))]
    seed, first = seed + part, part * APART
    return _native.squeak(
        spec, X, None, how, settle=True, seed=seed, first=first, n_jobs=threads()
    )[0]


def merge_dictionaries(
    a: bytes, b: bytes, spec: Spec, like: np.ndarray, how: dict[str, Any], seed: int, node: int
) -> bytes:
    """Two dictionaries as one."""
    return _native.squeak_merge(spec, like, a, b, how, seed=seed + node, n_jobs=threads())
