"""Data, kernels, timers and versions for the peers. Needs only NumPy and SciPy."""
import json
import os
import resource
import time

import numpy as np

SEED = 20260101


def peak_mb():
    """The peak resident memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def _busy():
    """The processors' ticks so far: all, and idle ones."""
    with open("/proc/stat") as file:
        ticks = [float(x) for x in file.readline().split()[1:9]]
    return sum(ticks), ticks[3] + ticks[4]


def wait_until_quiet(most=None):
    """Waits until the machine was 85 % idle for 0.2 s, at most PB_WAIT seconds (8 if unset)."""
    most = float(os.environ.get("PB_WAIT", 8)) if most is None else most
    start = time.perf_counter()
    while most > 0 and os.path.exists("/proc/stat"):
        before = _busy()
        time.sleep(0.2)
        after = _busy()
        idle = (after[1] - before[1]) / max(after[0] - before[0], 1)
        if idle > 0.85 or time.perf_counter() - start > most:
            return


def timeit(work, repeat=3, warm=0, setup=tuple):
    """Wall and processor times over the repetitions, and the last result.

    `share` is processor time divided by wall time in the fastest repetition. A value far below the
    number of threads means that code was serial, or that another job used the cores.
    """
    for _ in range(warm):
        work(*setup())
    wall, cpu, result = [], [], None
    for _ in range(repeat):
        arguments, result = setup(), None
        wait_until_quiet()
        start, ticks = time.perf_counter(), time.process_time()
        result = work(*arguments)
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - ticks)
    times = dict(wall_min=min(wall), wall_med=float(np.median(wall)), cpu_min=min(cpu),
                 share=cpu[int(np.argmin(wall))] / min(wall), repeat=repeat)
    return times, result


def blas():
    """The architecture whose kernels OpenBLAS uses. The environment variable OPENBLAS_CORETYPE
    overrides the detected one."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return None
    libraries = [i for i in threadpool_info() if i["internal_api"] == "openblas"]
    return ",".join(sorted({i["architecture"] for i in libraries}))


def emit(**line):
    """Prints a result as a line of JSON, with numbers to five digits."""
    for key, value in line.items():
        if isinstance(value, (float, np.floating)):
            line[key] = float(f"{float(value):.5g}")
        elif isinstance(value, np.integer):
            line[key] = int(value)
    line["arch"] = blas()
    line.setdefault("peak_rss_mb", round(peak_mb()))
    line.setdefault("load1", round(os.getloadavg()[0], 2))
    print(json.dumps(line), flush=True)


def versions():
    """The versions of the packages; None for a package that is not installed."""
    import platform
    from importlib.metadata import PackageNotFoundError, version
    found = dict(python=platform.python_version())
    names = dict(numpy="numpy", scipy="scipy", sklearn="scikit-learn", dppy="dppy",
                 lightgbm="lightgbm", xrfm="xrfm")
    for key, name in names.items():
        try:
            found[key] = version(name)
        except PackageNotFoundError:
            found[key] = None
    found["blas"] = blas()
    return found


# ---------------------------------------------------------------- data
def smooth_target(x):
    """A fixed sum of 30 random cosines with frequencies N(0, I/16); its variance is about 1."""
    rng = np.random.default_rng(777)
    frequency = rng.standard_normal((30, x.shape[1])) / 4.0
    phase = rng.uniform(0, 2 * np.pi, 30)
    weight = rng.standard_normal(30) / np.sqrt(15.0)
    return np.cos(x @ frequency.T + phase) @ weight


def normal_design(n, d=10, n_test=10000, noise=0.1, seed=SEED, dtype=np.float64):
    """Standard normal points, a smooth target with noise, test points, and their target without
    noise."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    y = smooth_target(x) + noise * rng.standard_normal(n)
    test = rng.standard_normal((n_test, d))
    return tuple(a.astype(dtype) for a in (x, y, test, smooth_target(test)))


def bimodal_design(n, seed=SEED, dtype=np.float64):
    """Points in three dimensions: uniform on [0, 1]³ with probability n/(n + √n), otherwise with
    coordinates 2.5 − √U/2."""
    rng = np.random.default_rng(seed)
    large = rng.random(n) < n / (n + np.sqrt(n))
    u = rng.random((n, 3))
    return np.where(large[:, None], u, 2.5 - 0.5 * np.sqrt(u)).astype(dtype)


# ---------------------------------------------------------------- kernels
def squared_distances(x, y, out=None):
    """Squared distances between the rows of x and y, by one product and in place."""
    d = np.dot(x, y.T, out=out)
    d *= -2
    d += np.einsum("ij,ij->i", x, x)[:, None]
    d += np.einsum("ij,ij->i", y, y)[None, :]
    return np.maximum(d, 0, out=d)


def gaussian(x, y, ell):
    d = squared_distances(x, y)
    d *= -0.5 / ell ** 2
    return np.exp(d, out=d)


def matern32(x, y, ell):
    d = squared_distances(x, y)
    np.sqrt(d, out=d)
    d *= np.sqrt(3.0) / ell
    e = np.exp(-d)
    d += 1
    d *= e
    return d


KERNELS = {"gaussian": gaussian, "matern32": matern32}
