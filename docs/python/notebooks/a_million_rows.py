# %% [markdown]
# # A million rows
#
# Exact kernel regression on n rows stores n² numbers: 8 terabytes for a million rows. With m
# landmarks it stores m² numbers and takes 2nm² operations in one pass, and the rows may come in
# parts.

# %%
import os
import time

import matplotlib.pyplot as plt
import numpy as np

import nystrom as ny

plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "nystrom"})

ROWS = int(os.environ.get("ROWS", "1000000"))
PARTS = 20
kernel = ny.Matern(1.5, length_scale=3.0)


def rows(part):
    """One part of the rows, with ten columns. The parts could as well be files."""
    rng = np.random.default_rng(part)
    X = rng.normal(size=(ROWS // PARTS, 10)).astype(np.float32)
    truth = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * np.abs(X[:, 3])
    return X, (truth + 0.3 * rng.normal(size=len(X))).astype(np.float32), truth


X_test, _, truth = rows(PARTS)

# %% [markdown]
# `NystroemRidge.partial_fit` chooses the landmarks among the rows of the first part. It stores sums
# over the rows, whose size does not grow, and from which the regression is solved at any ridge.
# After each part there is a model of all rows so far; its ridge is chosen by generalised
# cross-validation.

# %%
model = ny.NystroemRidge(kernel=kernel, n_components=500, random_state=0)
seen, errors, seconds = [], [], 0.0
for part in range(PARTS):
    X, y, _ = rows(part)
    start = time.perf_counter()
    model.partial_fit(X, y)
    seconds += time.perf_counter() - start
    seen.append(model.n_seen_)
    errors.append(np.sqrt(np.mean((model.predict(X_test) - truth) ** 2)))
print(f"{model.n_seen_} rows in {seconds:.1f} s, RMSE {errors[-1]:.4f} from the truth")

# %%
figure, axis = plt.subplots(figsize=(5, 3.6))
axis.loglog(seen, errors, marker="o", markersize=3)
axis.set_xlabel("rows seen")
axis.set_ylabel("distance from the truth (RMSE)")
figure.tight_layout()
figure.savefig("pictures/million.svg")

# %% [markdown]
# ![Error against rows seen](../pictures/million.svg)
#
# ## If later rows lie elsewhere
#
# Landmarks from the first part are a bad choice if later rows lie elsewhere. `SqueakRegressor`
# keeps a dictionary of rows that represents all rows so far. It grows only in regions that it does
# not represent yet. Here each part lies a little further to the right.

# %%
wandering = ny.Gaussian(0.5)


def season(part, count):
    rng = np.random.default_rng(100 + part)
    X = np.column_stack([rng.uniform(part / 4, part / 4 + 1, count), rng.uniform(-1, 1, count)])
    truth = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    return X, truth + 0.1 * rng.normal(size=count), truth


def far(model, part):
    """The root mean square distance from the truth, in all parts up to this one."""
    old = [season(p, 500) for p in range(part + 1)]
    errors = [np.mean((model.predict(X) - truth) ** 2) for X, _, truth in old]
    return np.sqrt(np.mean(errors))


fixed = ny.NystroemRidge(kernel=wandering, n_components=300, random_state=0)
stream = ny.SqueakRegressor(kernel=wandering, random_state=0)
of_fixed, of_stream, sizes = [], [], []
for part in range(PARTS):
    X, y, _ = season(part, max(400, ROWS // 500))
    of_fixed.append(far(fixed.partial_fit(X, y), part))
    of_stream.append(far(stream.partial_fit(X, y), part))
    sizes.append(len(stream.components_))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
left.semilogy(of_fixed, marker="o", markersize=3, label="300 landmarks of the first part")
left.semilogy(of_stream, marker="o", markersize=3, label="SQUEAK's dictionary")
left.set_xlabel("part")
left.set_ylabel("distance from the truth in all parts so far")
left.legend()
right.plot(sizes, marker="o", markersize=3)
right.set_ylim(bottom=0)
right.set_xlabel("part")
right.set_ylabel("rows in the dictionary")
figure.tight_layout()
figure.savefig("pictures/wandering.svg")
assert of_stream[-1] < 0.1 * of_fixed[-1]

# %% [markdown]
# ![Error and size of the dictionary, part by part](../pictures/wandering.svg)
#
# ## More rows or more landmarks?
#
# More rows reduce the error until the number of landmarks limits it; from then on, more landmarks
# do. The certificate tells the two cases apart: it bounds the distance to regression with all rows
# as landmarks.

# %%
X, y, _ = rows(0)
for count in (100, 400):
    some = ny.NystroemRidge(kernel=kernel, n_components=count, random_state=0).fit(
        X[:5000], y[:5000]
    )
    found = ny.certificate(some, X[:5000], y[:5000], random_state=0)
    print(f"{count} landmarks: at most {found.bound[0]:.4f} from exact regression; {found.verdict}")

# %% [markdown]
# ## In short
#
# * `float32` halves memory and time, and is accurate enough here. The sums are computed in
#   `float64`.
# * An estimator can be pickled between two parts and continued later.
# * If all rows fit in memory, `Falkon` can use thousands of landmarks, and `KernelRidge` all rows.
