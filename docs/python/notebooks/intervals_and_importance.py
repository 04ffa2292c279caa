# %% [markdown]
# # Intervals and importance
#
# `KernelRegressor` searches for the best fit of a table. Besides predictions it gives prediction
# intervals, and the importance of each column.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nystrom as ny

plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "nystrom"})

rng = np.random.default_rng(0)
n = 2000
table = pd.DataFrame(
    {
        "hour": rng.uniform(0, 24, n),
        "wind": rng.gamma(2.0, 3.0, n),
        "day": rng.choice(["week", "weekend"], n, p=[5 / 7, 2 / 7]),
        "noise": rng.normal(size=n),
    }
)
mean = 20 - 8 * np.cos(np.pi * table["hour"] / 12) - 0.4 * table["wind"]
mean += 5 * (table["day"] == "week")
spread = 0.5 + 2.5 * np.exp(-(((table["hour"] - 18) / 3) ** 2))  # evenings are uncertain
power = (mean + spread * rng.normal(size=n)).rename("power")
train, test = slice(0, 1200), slice(1200, n)

# %% [markdown]
# ## Intervals
#
# With `calibrate=0.2` a fifth of the rows is set aside. A second fit predicts the size of the
# errors of the first. The width of an interval is proportional to this size, by a factor that is
# determined on the rows set aside. If new rows and fitted rows are exchangeable, an interval
# contains the true value with at least the requested probability, for any distribution of the data.

# %%
model = ny.KernelRegressor("quick", calibrate=0.2, deviations=True, random_state=0)
model.fit(table[train], power[train])
print(f"R² on new rows {model.score(table[test], power[test]):.3f}")

levels = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
inside = []
for level in levels:
    lower, upper = model.predict_interval(table[test], level)
    inside.append(np.mean((lower <= power[test]) & (power[test] <= upper)))

hours = pd.DataFrame({"hour": np.linspace(0, 24, 200), "wind": 6.0, "day": "week", "noise": 0.0})
lower, upper = model.predict_interval(hours, 0.9)
figure, (band, cover) = plt.subplots(1, 2, figsize=(9, 3.6))
band.fill_between(hours["hour"], lower, upper, alpha=0.3, label="90 % of new values")
band.plot(hours["hour"], model.predict(hours), label="prediction")
band.set_xlabel("hour")
band.set_ylabel("power")
band.legend()
cover.plot(levels, inside, marker="o")
cover.plot(levels, levels, color="0.6", linestyle="--")
cover.set_xlabel("level asked for")
cover.set_ylabel("share of new rows inside")
figure.tight_layout()
figure.savefig("pictures/intervals.svg")
# four standard deviations of a share of 800 new rows and of a quantile of 240 rows set aside
assert np.all(np.abs(np.array(inside) - levels) < 4 * np.sqrt(0.25 / 800 + 0.25 / 240))

# %% [markdown]
# ![Intervals over the day, and how many new rows they hold](../pictures/intervals.svg)
#
# Three kinds of intervals differ in cost and guarantee:
#
# | `calibrate` | rows fitted | coverage of an interval of level 1 − α | cost |
# |---|---|---|---|
# | `0.2` | 80 % | at least 1 − α | two fits |
# | `"cv:10"` | all | about 1 − α in practice, at least 1 − 2α − √(2/n) | ten more fits |
# | `"loo"` | all | about 1 − α in practice, at least 1 − 2α | one fit, for few rows |
#
# The standard deviations are those of the Gaussian process whose posterior mean is the fit. They
# grow where rows are sparse. They do not show that evenings are uncertain, because the process has
# the same noise everywhere.

# %%
std = model.predict_std(hours)
of_function = model.predict_std(hours, noise=False)
assert np.all(of_function < std)

# %% [markdown]
# ## Importance
#
# `feature_importances_` are the shares of the columns in the learned metric, or in the mean squared
# slopes of the prediction if there is no metric. The report also contains the average derivative of
# the prediction with respect to each numeric column, and the partial dependence on the most
# important columns, each with its standard error.

# %%
shares = pd.Series(model.feature_importances_, index=table.columns).sort_values()
figure, axis = plt.subplots(figsize=(5, 2.4))
axis.barh(shares.index, shares)
axis.set_xlabel("share of importance")
figure.tight_layout()
figure.savefig("pictures/importance.svg")
assert shares["noise"] == shares.min() and shares["hour"] == shares.max()

# %% [markdown]
# ![Shares of importance](../pictures/importance.svg)
#
# All of this on one HTML page:

# %%
page = model.report_html("power.html")
assert "Which columns matter" in page
