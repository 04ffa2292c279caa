"""Fits to Dask arrays and frames, with memory per process that does not grow with the rows.

Each partition is loaded inside a task, which reduces it to a state. The states are merged along a
tree that depends only on the number of partitions, and the client solves. The result is therefore
the same bit for bit for any number of workers and any order of tasks, and if a worker is lost its
partitions are loaded again.

>>> import dask.array as da
>>> import numpy as np
>>> from nystrom.dask import NystroemRidge
>>> x = np.linspace(0, 6, 3000).reshape(-1, 1)
>>> X, y = da.from_array(x, chunks=500), da.from_array(np.sin(x[:, 0]), chunks=500)
>>> model = NystroemRidge(n_components=30, random_state=0).fit(X, y)
>>> bool(abs(model.predict(X).compute() - np.sin(x[:, 0])).max() < 1e-3)
True
"""

from ._falkon import Falkon
from ._features import TableFeatures
from ._ridge import NystroemRidge
from ._scores import leverage_scores

__all__ = ["Falkon", "NystroemRidge", "TableFeatures", "leverage_scores"]
