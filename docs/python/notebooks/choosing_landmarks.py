# %% [markdown]
# # Choosing landmarks
#
# A kernel matrix of n rows has n² entries. Nyström's method looks at m of its columns, those of the
# *landmarks*, and approximates the rest from them. Which rows are landmarks decides how well.
# This page compares ways to choose them, on rows that lie on a spiral, most of them near its end.

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
# `landmarks` gives the numbers of rows. "uniform" draws them alike: dense places get most of them.
# "rpcholesky" draws the next one where the approximation is worst. "kdpp" draws sets of rows that
# are unlike each other.

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
# How good are they? With features Φ, K is approximated by ΦΦᵀ, and what is left is a positive
# semi-definite matrix. Its trace is n less the sum of squares of Φ, since k(x, x) = 1.


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
# ![What is left of the trace against the number of landmarks](../pictures/landmark-errors.svg)
#
# With few landmarks all methods are alike. With more, uniform ones keep missing the thin part of
# the spiral. "rpcholesky" and "kdpp" come nearest to the best approximation of their rank, which
# takes all eigenvectors.

# %%
assert errors["rpcholesky"][-1] < errors["uniform"][-1]
assert errors["leverage"][-1] < errors["uniform"][-1]

# %% [markdown]
# ## Which rows matter
#
# *Ridge leverage scores* say how little the other rows explain of each. Their sum, the *effective
# dimension*, says how many landmarks a ridge needs. Both are estimated without the n × n matrix.

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
# Here the target varies most where rows are few. The certificate bounds the distance to exact
# regression at the same ridge, without computing that.

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
# * `landmarks="rpcholesky"` is a good default: it takes n·m numbers of memory and of kernel values.
# * "leverage" needs fewer kernel values where landmarks are many, and comes with theorems.
# * "uniform" costs nothing, and is as good where rows are spread evenly.
# * "kdpp" is for few landmarks that should differ: designs, prototypes, tests.
