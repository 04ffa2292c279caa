# %% [markdown]
# # Choosing landmarks
#
# A kernel matrix of n rows has n² entries. Nyström's method evaluates m of its columns, those of
# the *landmarks*, and approximates the other columns from them. The accuracy depends on which rows
# are landmarks. This page compares methods to choose them, on rows that lie on a spiral, most of
# them near its end.

# %%
import matplotlib.pyplot as plt
import numpy as np

import nystrom as ny

plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "nystrom"})

rng = np.random.default_rng(0)
n = 3000
turn = 3 * np.pi * rng.beta(5, 1, n)
X = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)]) + 0.2 * rng.normal(size=(n, 2))
kernel = ny.Gaussian(0.6)

# %% [markdown]
# `landmarks` returns row indices. "uniform" draws all rows with the same probability, so that most
# landmarks lie in dense regions. "rpcholesky" draws each landmark with a probability proportional
# to the current error of the approximation at the row. "kdpp" draws sets of rows that are unlike
# each other.

# %%
methods = ["uniform", "rpcholesky", "kdpp"]
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), sharex=True, sharey=True)
for axis, method in zip(axes, methods, strict=True):
    rows = ny.landmarks(X, kernel, 60, method=method, random_state=0)
    axis.scatter(*X[::10].T, s=3, color="0.8", rasterized=True)
    axis.scatter(*X[rows].T, s=14, color="C0")
    axis.set_title(method)
figure.tight_layout()
figure.savefig("pictures/landmarks.svg")

# %% [markdown]
# ![60 landmarks of three methods on the spiral](../pictures/landmarks.svg)
#
# How good are they? With the Nyström features Φ, K is approximated by ΦΦᵀ, and K − ΦΦᵀ is positive
# semi-definite. Its trace is n minus the sum of the squared entries of Φ, since k(x, x) = 1.


# %%
def left(method, count, seed):
    features = ny.Nystroem(kernel, n_components=count, landmarks=method, random_state=seed)
    return 1 - np.sum(features.fit_transform(X) ** 2) / n


counts = [15, 30, 60, 120, 240]
methods = ["uniform", "leverage", "kmeans++", "kdpp", "rpcholesky"]
errors = {m: [np.mean([left(m, c, seed) for seed in range(3)]) for c in counts] for m in methods}
K = kernel(X[:1000])
spectrum = np.linalg.eigvalsh(K)[::-1]
best = [1 - spectrum[:count].sum() / spectrum.sum() for count in counts]

figure, axis = plt.subplots(figsize=(6, 4))
for method, error in errors.items():
    axis.loglog(counts, error, marker="o", markersize=3, label=method)
axis.loglog(counts, best, color="0.6", linestyle="--", label="best of rank m (1000 rows)")
axis.set_xticks(counts, counts)
axis.minorticks_off()
axis.set_xlabel("landmarks")
axis.set_ylabel("share of the trace that is left")
axis.legend()
figure.tight_layout()
figure.savefig("pictures/landmark-errors.svg")

# %% [markdown]
# ![Share of the trace of K in K − ΦΦᵀ, by number of landmarks](../pictures/landmark-errors.svg)
#
# With few landmarks all methods are about equally good. With more, uniform landmarks still miss the
# sparse part of the spiral. "rpcholesky" and "kdpp" come closest to the best approximation of the
# same rank, which needs the eigenvectors of K.

# %%
assert errors["rpcholesky"][-1] < errors["uniform"][-1]
assert errors["leverage"][-1] < errors["uniform"][-1]

# %% [markdown]
# ## Which rows matter
#
# The *ridge leverage score* of a row is large if the other rows approximate it badly. The sum of
# the scores, the *effective dimension*, tells how many landmarks are needed at a given ridge. Both
# are estimated without the n × n matrix.

# %%
alpha = 1.0
scores = ny.leverage_scores(X, kernel, alpha, method="bless-r", random_state=0)
told = ny.audit(X, kernel, alpha, method="bless-r", rows=50, random_state=0)
print(f"effective dimension {scores.sum():.1f}")
print(f"50 rows: estimates over exact scores, on average {told['mean_ratio']:.3f}")

figure, axis = plt.subplots(figsize=(4.6, 4))
shown = axis.scatter(*X[::4].T, c=scores[::4], s=6, cmap="viridis", rasterized=True)
figure.colorbar(shown, label="leverage score")
figure.tight_layout()
figure.savefig("pictures/leverage.png", dpi=90)

# %% [markdown]
# ![Leverage scores on the spiral](../pictures/leverage.png)
#
# ## Does it matter for regression?
#
# Here the target varies most in regions with few rows. The certificate bounds the distance to exact
# regression at the same ridge, without computing the exact regression.

# %%
y = np.sin(20 / (1 + turn)) + 0.05 * rng.normal(size=n)
for method in ("uniform", "rpcholesky"):
    model = ny.NystroemRidge(kernel=kernel, n_components=120, landmarks=method, random_state=0)
    model.fit(X, y)
    bound = ny.certificate(model, X, y, random_state=0).bound[0]
    print(
        f"{method:10} leave-one-out RMSE {(-model.best_score_) ** 0.5:.4f}, at most {bound:.4f} off"
    )

# %% [markdown]
# ## In short
#
# * `landmarks="rpcholesky"` is a good default. It stores n·m numbers and evaluates n·m kernel
#   values.
# * "leverage" evaluates fewer kernel values if there are many landmarks, and theorems bound its
#   error.
# * "uniform" costs nothing, and is as good if rows are spread evenly.
# * "kdpp" is for few landmarks that should differ: designs, prototypes, tests.
