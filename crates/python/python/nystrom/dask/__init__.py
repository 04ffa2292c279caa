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

from ._falkon import Falkon
from ._features import TableFeatures
from ._ridge import NystroemRidge
from ._scores import leverage_scores

__all__ = ["Falkon", "NystroemRidge", "TableFeatures", "leverage_scores"]
