#!/usr/bin/env python3
"""Times the peers, and prints one line of JSON per result. `cargo xtask bench --peers` runs it.

  python peerbench.py versions                              versions of the packages
  python peerbench.py T1                                    kernel block 20000 x 2000
  python peerbench.py T2 --tool sklearn|numpy_blocked --n 50000 --m 1000     Nyström regression
  python peerbench.py T3 --tool sklearn|scipy --n 10000                      exact regression
  python peerbench.py T4 --tool exact|rls_numpy|dppy_bless --n 10000         leverage scores
  python peerbench.py T5 --tool exact|mcmc --n 4000 --k 100                  k-DPP
  python peerbench.py T8 --tool spectrum|alpha --n 10000 --k 20              k-DPP, a line per draw
  python peerbench.py T7 --tool gemm|potrf                                   the machine

Each run is a separate process, so that `peak_rss_mb` is its own. The environment variables
OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE slow NumPy and SciPy down: unset them to get the speed that a
user gets.
"""
import argparse
import json
import os
import signal
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("task")
parser.add_argument("--tool", default="all")
parser.add_argument("--n", type=int, default=0, help="rows")
parser.add_argument("--m", type=int, default=0, help="landmarks")
parser.add_argument("--k", type=int, default=50, help="items of a k-DPP")
parser.add_argument("--d", type=int, default=10, help="features")
parser.add_argument("--dtype", default="f64", choices=["f64", "f32"])
parser.add_argument("--kernel", default="gaussian", choices=["gaussian", "matern32"])
parser.add_argument("--ell", type=float, default=0.0, help="length scale")
parser.add_argument("--lam", type=float, default=0.0, help="ridge of K + n lam I")
parser.add_argument("--repeat", type=int, default=3)
parser.add_argument("--iterations", type=int, default=3000, help="steps of a chain")
parser.add_argument("--seed", type=int, default=20260101)
parser.add_argument("--threads", type=int, default=os.cpu_count())
parser.add_argument("--size", type=int, default=4000, help="order of the matrices of T7")
parser.add_argument("--limit", type=int, default=0, help="seconds until the run is ended")
parser.add_argument("--qbar", type=float, default=2.0, help="oversampling of BLESS")
A = parser.parse_args()
signal.alarm(A.limit)
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(A.threads)

# These libraries read the number of threads when they are imported.
import numpy as np
import scipy.linalg as sla

from common import (KERNELS, bimodal_design, emit, gaussian, matern32, normal_design, peak_mb,
                    squared_distances, timeit, versions)

DTYPE = np.float64 if A.dtype == "f64" else np.float32
BASE = dict(task=A.task, dtype=A.dtype, threads=A.threads)


def wanted(*tools):
    return A.tool == "all" or A.tool in tools


def rmse(predicted, truth):
    return float(np.sqrt(np.mean((np.asarray(predicted).ravel() - truth) ** 2)))


def kernel_block():
    """T1: n × m values of a kernel."""
    n, m, ell = A.n or 20000, A.m or 2000, A.ell or 3.0
    x = normal_design(n, A.d, 10, dtype=DTYPE)[0]
    y = x[np.random.default_rng(1).choice(n, m, replace=False)].copy()
    gamma, buffer = 0.5 / ell ** 2, np.empty((n, m), DTYPE)
    from scipy.spatial.distance import cdist
    from sklearn.gaussian_process.kernels import Matern
    from sklearn.metrics.pairwise import rbf_kernel

    def row_blocks(rows=256):
        for i in range(0, n, rows):
            d = squared_distances(x[i:i + rows], y, out=buffer[i:i + rows])
            d *= -gamma
            np.exp(d, out=d)
        return buffer

    tools = dict(sklearn_rbf_kernel=lambda: rbf_kernel(x, y, gamma=gamma),
                 sklearn_gp_Matern15=lambda: Matern(ell, nu=1.5)(x, y),
                 scipy_cdist_exp=lambda: np.exp(-gamma * cdist(x, y, "sqeuclidean")),
                 numpy_gemm_rbf=lambda: gaussian(x, y, ell),
                 numpy_gemm_matern32=lambda: matern32(x, y, ell),
                 numpy_gemm_rbf_rowblocks_prealloc=row_blocks)
    for name, work in tools.items():
        if wanted(name):
            times, k = timeit(work, A.repeat, warm=1)
            truth = matern32 if "atern" in name else gaussian
            error = np.abs(k[:50, :50] - truth(x[:50], y[:50], ell)).max()
            emit(**BASE, tool=name, n=n, m=m, d=A.d, **times, maxerr=error,
                 gentries_s=n * m / times["wall_min"] / 1e9)


def nystrom_regression():
    """T2: Nyström regression by scikit-learn's pipeline, and by thirty lines of NumPy."""
    n, m, ell, lam = A.n or 50000, A.m or 1000, A.ell or 3.0, A.lam or 1e-6
    kernel = KERNELS[A.kernel]
    x, y, test, truth = normal_design(n, A.d, 10000, dtype=DTYPE, seed=A.seed)
    landmarks = x[np.random.default_rng(5).choice(n, m, replace=False)].copy()
    base = round(peak_mb())

    def done(tool, fit, predict, predicted):
        emit(**BASE, tool=tool, n=n, m=m, d=A.d, kernel=A.kernel, ell=ell, lam=lam,
             fit_s=fit["wall_min"], fit_med=fit["wall_med"], fit_cpu=fit["cpu_min"],
             pred_s=predict["wall_min"], n_test=len(truth), repeat=A.repeat,
             rmse=rmse(predicted, truth), base_rss_mb=base)

    if wanted("sklearn"):
        from sklearn.gaussian_process.kernels import Matern
        from sklearn.kernel_approximation import Nystroem
        from sklearn.linear_model import Ridge
        from sklearn.pipeline import make_pipeline
        chosen = dict(kernel="rbf", gamma=0.5 / ell ** 2)
        if A.kernel == "matern32":
            chosen = dict(kernel=Matern(ell, nu=1.5))
        features = Nystroem(n_components=m, random_state=5, **chosen)
        pipeline = make_pipeline(features, Ridge(alpha=n * lam))
        fit, _ = timeit(lambda: pipeline.fit(x, y), A.repeat)
        predict, predicted = timeit(lambda: pipeline.predict(test), A.repeat)
        done("sklearn_Nystroem+Ridge", fit, predict, predicted)

    def blocked(rows=2000):
        """Fits by blocks of rows, whitened by chol(K_mm), with O(rows·m) memory beside the m × m
        matrices."""
        h, b = np.zeros((m, m), DTYPE), np.zeros(m, DTYPE)
        for i in range(0, n, rows):
            block = kernel(x[i:i + rows], landmarks, ell)
            h += block.T @ block
            b += block.T @ y[i:i + rows]
        k = kernel(landmarks, landmarks, ell)
        k.flat[::m + 1] += (1e-12 if A.dtype == "f64" else 1e-5) * m
        lower = sla.cholesky(k, lower=True, overwrite_a=True, check_finite=False)

        def solve(a, **more):
            return sla.solve_triangular(lower, a, lower=True, check_finite=False, **more)
        t = solve(solve(h).T)
        t.flat[::m + 1] += n * lam
        factor = sla.cho_factor(t, lower=True, overwrite_a=True, check_finite=False)
        return solve(sla.cho_solve(factor, solve(b), check_finite=False), trans="T")

    if wanted("numpy_blocked"):
        fit, weights = timeit(blocked, A.repeat)
        predict, predicted = timeit(lambda: kernel(test, landmarks, ell) @ weights, A.repeat)
        done("numpy_blocked_whitened", fit, predict, predicted)


def exact_regression():
    """T3: exact regression."""
    n, ell, lam = A.n or 5000, A.ell or 3.0, A.lam or 1e-6
    x, y, test, truth = normal_design(n, A.d, 10000, dtype=DTYPE)

    def done(tool, fit, predict, predicted):
        emit(**BASE, tool=tool, n=n, d=A.d, lam=lam, ell=ell, fit_s=fit["wall_min"],
             fit_med=fit["wall_med"], fit_cpu=fit["cpu_min"], pred_s=predict["wall_min"],
             n_test=len(truth), rmse=rmse(predicted, truth), repeat=A.repeat)

    def solve():
        k = gaussian(x, x, ell)
        k.flat[::n + 1] += n * lam
        factor = sla.cho_factor(k.T, overwrite_a=True, check_finite=False)
        return sla.cho_solve(factor, y, check_finite=False)

    if wanted("sklearn"):
        from sklearn.kernel_ridge import KernelRidge
        model = KernelRidge(alpha=n * lam, kernel="rbf", gamma=0.5 / ell ** 2)
        fit, _ = timeit(lambda: model.fit(x, y), A.repeat)
        done("sklearn_KernelRidge", fit, *timeit(lambda: model.predict(test), A.repeat))
    if wanted("scipy"):
        fit, weights = timeit(solve, A.repeat)
        done("scipy_cho_factor", fit, *timeit(lambda: gaussian(test, x, ell) @ weights, A.repeat))


def exact_scores(x, ridge, ell):
    """Exact scores 1 − n λ diag((K + n λ I)⁻¹), by potrf and potri."""
    k = matern32(x, x, ell)
    k.flat[::len(x) + 1] += ridge
    factor, info = sla.lapack.dpotrf(k.T, lower=1, overwrite_a=1)
    assert info == 0
    inverse, info = sla.lapack.dpotri(factor, lower=1, overwrite_c=1)
    assert info == 0
    return 1.0 - ridge * np.diagonal(inverse)


def recursive_scores(x, ridge, ell, size, seed=0, oversample=1.5):
    """Recursive ridge leverage scores (Musco & Musco, Algorithm 2) at a fixed λ; our own NumPy."""
    rng, n = np.random.default_rng(seed), len(x)
    order, sizes = rng.permutation(n), [n]
    while sizes[-1] > max(size, 2):
        sizes.append((sizes[-1] + 1) // 2)
    chosen = order[:sizes[-1]]
    weights = np.ones(len(chosen))  # 1/√probability
    for level in range(len(sizes) - 2, -1, -1):
        current = order[:sizes[level]]
        s = matern32(x[chosen], x[chosen], ell)
        s.flat[::len(chosen) + 1] += ridge / weights ** 2
        lower = sla.cholesky(s, lower=True, check_finite=False, overwrite_a=True)
        scores = np.empty(len(current))
        for i in range(0, len(current), 4096):
            block = matern32(x[chosen], x[current[i:i + 4096]], ell)
            block = sla.solve_triangular(lower, block, lower=True, check_finite=False)
            scores[i:i + 4096] = (1.0 - np.einsum("ij,ij->j", block, block)) / ridge
        scores = np.clip(scores, 1e-12, 1.0)
        if level == 0:
            out = np.empty(n)
            out[current] = scores
            return out, chosen
        p = np.minimum(1.0, oversample * scores)
        drawn = rng.random(len(current)) < p
        chosen, weights = current[drawn], 1.0 / np.sqrt(p[drawn])


def leverage_scores():
    """T4: leverage scores."""
    n, ell = A.n or 5000, A.ell or 1.0
    lam = A.lam or 0.075 * n ** (-2.0 / 3.0)
    x, base = bimodal_design(n, A.seed), dict(BASE, n=n, kernel="matern32", ell=ell, lam=lam)
    if wanted("exact"):
        times, scores = timeit(lambda: exact_scores(x, n * lam, ell), A.repeat)
        emit(**base, tool="scipy_potrf_potri", deff=scores.sum(), **times)
    if wanted("rls_numpy"):
        work = lambda: recursive_scores(x, n * lam, ell, A.m or 1000)
        times, (scores, chosen) = timeit(work, A.repeat)
        emit(**base, tool="rls_numpy_fixed_lambda", s=len(chosen), deff=scores.sum(), **times)
    if wanted("dppy_bless"):
        from dppy.bless import bless, estimate_rls_bless
        from sklearn.gaussian_process.kernels import Matern
        matern = Matern(ell, nu=1.5)
        kernel = lambda a, b=None: matern(a, b)

        def work():
            chosen = bless(x, kernel, lam_final=n * lam, rls_oversample_param=A.qbar,
                           random_state=0, verbose=False)
            blocks = (x[i:i + 20000] for i in range(0, n, 20000))
            scores = [estimate_rls_bless(chosen, block, kernel, n * lam) for block in blocks]
            return chosen, np.concatenate(scores)
        times, (chosen, scores) = timeit(work, A.repeat)
        emit(**base, tool="dppy_bless", qbar=A.qbar, s=len(chosen.idx), deff=scores.sum(), **times)


def k_dpp():
    """T5: exact draws of a k-DPP, and its Markov chain."""
    import warnings
    warnings.filterwarnings("ignore")
    from dppy.finite_dpps import FiniteDPP
    n, k = A.n or 2000, A.k
    likelihood = matern32(*[bimodal_design(n, A.seed)] * 2, A.ell or 0.5)
    dpp, rng = FiniteDPP("likelihood", L=likelihood), np.random.RandomState(0)
    if wanted("exact"):
        draw = lambda: dpp.sample_exact_k_dpp(size=k, random_state=rng)
        first, _ = timeit(draw, 1)  # with the eigendecomposition
        times, _ = timeit(draw, A.repeat)
        emit(**BASE, tool="dppy_exact_kdpp", N=n, k=k, first_s=first["wall_min"],
             first_cpu=first["cpu_min"], next_s=times["wall_min"])
    if wanted("mcmc"):
        steps = A.iterations
        draw = lambda: dpp.sample_mcmc_k_dpp(size=k, nb_iter=steps, random_state=rng)
        times, _ = timeit(draw, A.repeat)
        emit(**BASE, tool="dppy_mcmc_kdpp", N=n, k=k, iters=steps,
             s_per_iter=times["wall_min"] / steps, cpu_per_iter=times["cpu_min"] / steps, **times)


def k_dpp_at_scale():
    """T8: exact draws of a k-DPP from normal points. The length scale of the Gaussian kernel is
    their median distance. The first draw includes the preparation from X."""
    import warnings
    warnings.filterwarnings("ignore")
    from dppy.finite_dpps import FiniteDPP
    from sklearn.gaussian_process.kernels import RBF
    n, k, rng = A.n or 10000, A.k, np.random.RandomState(0)
    X = np.random.default_rng(A.seed).standard_normal((n, A.d))
    kernel = RBF(A.ell or 18.68 ** 0.5)
    if A.tool == "alpha":
        make = lambda: FiniteDPP("likelihood", L_eval_X_data=(kernel, X))
        options = dict(mode="alpha", verbose=False)
    else:
        make, options = lambda: FiniteDPP("likelihood", L=kernel(X)), {}
    for i in range(1 + A.repeat):
        start = time.perf_counter()
        dpp = make() if i == 0 else dpp
        dpp.sample_exact_k_dpp(size=k, random_state=rng, **options)
        emit(**BASE, tool=f"dppy_{A.tool}", n=n, k=k, draw=i, s=time.perf_counter() - start)


def machine():
    """T7: the speed of OpenBLAS."""
    rng = np.random.default_rng(0)
    for name, dtype in (("f64", np.float64), ("f32", np.float32)):
        base, x = dict(BASE, dtype=name), rng.standard_normal((A.size, A.size)).astype(dtype)
        if wanted("gemm"):
            y, out = rng.standard_normal((A.size, A.size)).astype(dtype), np.empty_like(x)
            times, _ = timeit(lambda: np.dot(x, y, out=out), A.repeat, warm=1)
            rate = 2 * A.size ** 3 / times["wall_min"] / 1e9
            emit(**base, size=A.size, tool="numpy_gemm", gflops=rate, **times)
        if wanted("potrf"):
            for order in (A.size // 2, A.size):
                s = x[:order] @ x[:order].T
                s.flat[::order + 1] += order
                potrf = sla.get_lapack_funcs("potrf", (s,))
                copy = lambda: (np.asfortranarray(s.copy()),)
                work = lambda a: potrf(a, lower=1, overwrite_a=1, clean=0)
                times, _ = timeit(work, A.repeat, warm=1, setup=copy)
                rate = order ** 3 / 3 / times["wall_min"] / 1e9
                emit(**base, size=order, tool="scipy_potrf", gflops=rate, **times)


TASKS = dict(T1=kernel_block, T2=nystrom_regression, T3=exact_regression, T4=leverage_scores,
             T5=k_dpp, T7=machine, T8=k_dpp_at_scale)

if __name__ == "__main__":
    if A.task == "versions":
        print(json.dumps(versions()))
    elif A.task in TASKS:
        TASKS[A.task]()
    else:
        parser.error(f"no task {A.task}: there are versions, {', '.join(TASKS)}")
