"""Compares an iteration of Falkon over Dask partitions with one in memory. There are two workers
with one thread each.

Prints the seconds of a pass: with Dask the median, at full size and with almost no computation; in
memory from the difference of two fits."""

import time

import dask.array as da
import distributed
import numpy as np

import nystrom
from nystrom.dask import Falkon
from nystrom.dask._falkon import Passes

ROWS, COLUMNS, CENTRES, PARTS = 400_000, 10, 1000, 8
KERNEL = nystrom.Gaussian(3.0)


class Timed(Passes):
    """Passes that record their times."""

    seconds: list[float] = []

    def __call__(self, asked):
        start = time.perf_counter()
        answer = super().__call__(asked)
        self.seconds.append(time.perf_counter() - start)
        return answer


def over_dask(x, y, centres):
    """The median time of a pass in 20 iterations."""
    Timed.seconds.clear()
    size = len(x) // PARTS
    parts = da.from_array(x, chunks=(size, COLUMNS)), da.from_array(y, chunks=size)
    Falkon(KERNEL, M=centres, maxiter=20, tol=1e-30, random_state=0).fit(*parts)
    return np.median(Timed.seconds)


def in_memory(x, y):
    """The time of an iteration: a tenth of the time that ten more iterations take. Kernel values
    are evaluated in every iteration."""
    options = {"M": CENTRES, "tol": 1e-30, "random_state": 0, "memory": 200_000_000}
    ends = []
    for iterations in (10, 20):
        start = time.perf_counter()
        nystrom.Falkon(KERNEL, maxiter=iterations, **options).fit(x, y)
        ends.append(time.perf_counter() - start)
    return (ends[1] - ends[0]) / 10


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, COLUMNS))
    y = np.sin(x[:, 0]) + x[:, 1] * x[:, 2]
    nystrom.dask._falkon.Passes = Timed
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster as workers, distributed.Client(workers):
        for _ in range(3):
            large, small = over_dask(x, y, CENTRES), over_dask(x[:800], y[:800], 10)
            memory = in_memory(x, y)
            print(f"Dask {large:.3f}, of which {small:.3f} for nothing; memory {memory:.3f}")


if __name__ == "__main__":
    main()
