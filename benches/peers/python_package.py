#!/usr/bin/env python3
"""Compares the package `nystrom` with scikit-learn, by time and memory of tasks that both have, and
with DPPy, by time of k-DPPs.

    pip install ./crates/python        # in its release profile
    python benches/peers/python_package.py [TASK ...]

Prints one line of JSON per task and package. Every run is a separate process. Its memory is the
peak less the memory before the task, input and output not counted. The OPENBLAS variables are unset
for both, because they slow NumPy down if they are set for an older processor.
"""
import json
import os
import subprocess
import sys
import time

for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)

import numpy as np  # noqa: E402

from common import SEED, peak_mb, timeit  # noqa: E402


def data(n, d=10):
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def nystroem(package):
    X, _ = data(50_000)
    model = package.Nystroem(gamma=0.05, n_components=1000, random_state=0)
    return lambda: model.fit_transform(X)


def kernel_ridge(package):
    X, y = data(10_000)
    model = package.KernelRidge(alpha=0.1, kernel="rbf", gamma=0.05)
    return lambda: model.fit(X, y).dual_coef_


def regression(package):
    """Regression with 2000 landmarks: features and a ridge regression in scikit-learn,
    `NystroemRidge` with the same landmarks here."""
    X, y = data(50_000)
    if hasattr(package, "NystroemRidge"):
        model = package.NystroemRidge(
            [0.1], gamma=0.05, n_components=2000, landmarks="uniform", fit_intercept=False,
            random_state=0,
        )
        return lambda: model.fit(X, y).dual_coef_
    from sklearn.linear_model import Ridge

    features = package.Nystroem(gamma=0.05, n_components=2000, random_state=0)
    ridge = Ridge(0.1, fit_intercept=False)
    return lambda: ridge.fit(features.fit_transform(X), y).coef_


TASKS = {"nystroem": nystroem, "kernel_ridge": kernel_ridge, "regression": regression}


def k_dpp(who, n=4000, k=100, draws=20):
    """Exact draws of 100 from 4000 points, by a decomposition. The length scale of the RBF kernel
    is the median distance."""
    X = data(n)[0]
    pairs = np.random.default_rng(SEED).integers(n, size=(2, 1000))
    gamma = 0.5 / np.median(np.linalg.norm(X[pairs[0]] - X[pairs[1]], axis=1)) ** 2
    if who == "nystrom":
        from nystrom import KDPP, Gaussian

        dpp = KDPP(Gaussian(length_scale=(0.5 / gamma) ** 0.5), method="exact").fit(X)
        draw = lambda seed: dpp.sample(k, random_state=seed)  # noqa: E731
    else:
        from dppy.finite_dpps import FiniteDPP
        from sklearn.metrics.pairwise import rbf_kernel

        dpp = FiniteDPP("likelihood", L=rbf_kernel(X, gamma=gamma))
        draw = lambda seed: dpp.sample_exact_k_dpp(size=k, random_state=seed)  # noqa: E731
    first_and_next("k_dpp", who, draw, draws)


def alpha_dpp(who, n=10_000, k=20, draws=3):
    """Exact draws of 20 from 10,000 points without an n × n matrix: by rejection here, by α-DPP in
    DPPy."""
    X = data(n)[0]
    pairs = np.random.default_rng(SEED).integers(n, size=(2, 1000))
    length = float(np.median(np.linalg.norm(X[pairs[0]] - X[pairs[1]], axis=1)))
    if who == "nystrom":
        from nystrom import KDPP, Gaussian

        dpp = KDPP(Gaussian(length_scale=length), method="rejection").fit(X)
        draw = lambda seed: dpp.sample(k, random_state=seed)  # noqa: E731
    else:
        from dppy.finite_dpps import FiniteDPP
        from sklearn.gaussian_process.kernels import RBF

        dpp = FiniteDPP("likelihood", L_eval_X_data=(RBF(length), X))
        draw = lambda seed: dpp.sample_exact_k_dpp(  # noqa: E731
            size=k, mode="alpha", random_state=seed, verbose=False
        )
    first_and_next("alpha_dpp", who, draw, draws)


def first_and_next(task, who, draw, draws):
    """Prints the seconds of the first draw, and the median of the seconds of later draws."""
    seconds = []
    for seed in range(1 + draws):
        start = time.perf_counter()
        draw(seed)
        seconds.append(time.perf_counter() - start)
    line = dict(task=task, who=who, first=seconds[0], next=float(np.median(seconds[1:])))
    print(json.dumps(line))


DRAWS = {"k_dpp": k_dpp, "alpha_dpp": alpha_dpp}


class ScikitLearn:
    """The estimators of scikit-learn with the same names."""

    def __init__(self):
        from sklearn.kernel_approximation import Nystroem
        from sklearn.kernel_ridge import KernelRidge

        self.Nystroem, self.KernelRidge = Nystroem, KernelRidge


def run(task, who):
    """Times one task of one package in this process."""
    if task in DRAWS:
        return DRAWS[task](who)
    if who == "nystrom":
        import nystrom as package
    else:
        package = ScikitLearn()
    work = TASKS[task](package)
    before = peak_mb()
    times, result = timeit(work, repeat=int(os.environ.get("PB_REPEAT", 3)))
    held = result.nbytes / 2**20
    print(json.dumps(dict(task=task, who=who, beyond_mb=peak_mb() - before - held, **times)))


def main(arguments):
    if arguments[:1] == ["--run"]:
        return run(*arguments[1:])
    for task in arguments or [*TASKS, *DRAWS]:
        for who in ("nystrom", "dppy" if task in DRAWS else "scikit-learn"):
            subprocess.run([sys.executable, __file__, "--run", task, who], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
