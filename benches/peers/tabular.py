#!/usr/bin/env python3
"""Compares the accuracy of the program `nystrom` on tables with that of tools that a user would
choose instead.

  NYSTROM=target/release/nystrom python tabular.py --data DIR      every set, method and split
  python tabular.py --data DIR --sets casp --methods lightgbm --splits 1

A set is split by a permutation with a fixed seed: 80 % training, 20 % test. Five seeds make five
splits. A split is written to OUT/SET/SEED/train.csv and test.csv, so that every program sees the
same rows: sets of numbers with the target `y` last, tables of mixed columns (DIR/tables) line by
line as they are. There LightGBM and CatBoost treat texts as categories, and get dates as seconds,
hour and weekday. For regression the error is the RMSE divided by the standard deviation of the
training target; for classification, the error rate and the log-loss. Results are kept in one file.
A result is not measured again if rows, version and settings are the same.
"""
import argparse
import gzip
import hashlib
import io
import json
import os
import subprocess
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
EMBEDDED = ROOT / "crates/data/src/catalog/embedded"
SEEDS = range(20261122, 20261127)


# ---------------------------------------------------------------- data
class Absent(Exception):
    """Raised for a data set whose files are missing."""


def text(data, path):
    """The text of a file in the folder of data sets, plain or gzipped."""
    for other in (path, path + ".gz", path.removesuffix(".gz")):
        if data and (data / other).is_file():
            content = (data / other).read_bytes()
            return (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode()
    raise Absent(path)


def arff(content):
    names, lines = [], iter(content.splitlines())
    for line in lines:
        word = line.strip().lower()
        if word.startswith("@attribute"):
            names.append(line.split()[1].strip("'\""))
        elif word == "@data":
            break
    rows = [line.split(",") for line in lines if line.strip() and not line.startswith("%")]
    return pd.DataFrame(rows, columns=names).astype(float)


def csv(**options):
    return lambda content: pd.read_csv(io.StringIO(content), **options)


def gas_drift(content):
    """Reads lines of the form `class;concentration 1:v … 128:v`."""
    rows = []
    for line in content.splitlines():
        head, *cells = line.split()
        rows.append([float(x) for x in head.split(";") + [cell.split(":")[1] for cell in cells]])
    return pd.DataFrame(rows, columns=["class", "concentration"] + [f"x{i}" for i in range(128)])


TURBINE = "AT AP AH AFDP GTEP TIT TAT TEY CDP CO NOX".split()
DRIFT = [f"gas-drift/batch{i}.dat" for i in (2, 3)]
RQC = ["x", "y", "radius", "count"]
# name in the catalogue: files, reader, target, columns left out, whether the target is a class
SETS = {
    "abalone": (["abalone/abalone.data"], csv(), "Rings", [], False),
    "ccpp": (["ccpp/Folds5x2_pp.csv"], csv(), "EP", [], False),
    "query-analytics": (["query-analytics/Radius-Queries-Count.csv"],
                        csv(names=RQC), "count", [], False),
    "htru2": (["htru2/HTRU_2.csv"], csv(), "Class", [], True),
    "casp": (["casp/CASP.csv"], csv(), "y", [], False),
    "gas-turbine": ([f"gas-turbine/gt_{year}.csv" for year in range(2011, 2016)],
                    csv(names=TURBINE), "NOX", ["CO"], False),
    "ailerons": (["ailerons/ailerons.arff"], arff, "class", [], False),
    "elevators": (["elevators/elevators.arff"], arff, "class", [], False),
    "cpu-act": (["cpu-act/cpu_act.arff"], arff, "class", [], False),
    "bank32nh": (["bank32nh/bank32NH.arff"], arff, "class", [], False),
    "california-housing": (["california-housing/california_housing.arff"],
                           arff, "class", [], False),
    "pumadyn-32nh": (["pumadyn-32nh/puma32H.arff"], arff, "class", [], False),
    "gas-drift": (DRIFT, gas_drift, "concentration", ["class"], False),
    "gas-drift-class": (DRIFT, gas_drift, "class", ["concentration"], True),
    "skin-segmentation": (["skin-segmentation/Skin_NonSkin.txt"], csv(sep="\t"), "SKIN", [], True),
    # Classes made of numeric targets: the ages that Waugh's thesis of 1995 distinguishes, and the
    # median, as in Grinsztajn, Oyallon & Varoquaux 2022. Chosen before any result was seen.
    "abalone-age": (["abalone/abalone.data"], csv(), "Rings", [], True),
    "california-dear": (["california-housing/california_housing.arff"], arff, "class", [], True),
}
CUTS = {
    "abalone-age": lambda y: 1 * (y > 8) + (y > 10),
    "california-dear": lambda y: y > y.median(),
}


# Tables of mixed columns in DIR/tables, whose targets are classes or not.
MIXED = {"adult": True, "airlines": True, "ames": False, "bengaluru": False, "car_eval": True,
         "german_credit": True, "mpg": False, "spambase": True, "taxis": False,
         "telco_churn": True, "titanic_kaggle": True, "used_cars_ford": False}
# The half of them on which settings are chosen; the other half confirms them.
MIXED_DEVELOPMENT = "adult ames german_credit mpg spambase titanic_kaggle".split()
# The half of the regression sets on which settings are chosen; the other half confirms them. This
# half was named before any result was seen.
DEVELOPMENT = "abalone casp california-housing cpu-act pumadyn-32nh gas-turbine".split()


def load(data, name):
    """Features and the target `y`: from the files of the catalogue, from the table that
    `cargo xtask fetch` made of another format, or from the embedded copy."""
    files, reader, target, dropped, _ = SETS[name]
    folder = files[0].split("/")[0]
    try:
        table = pd.concat([reader(text(data, path)) for path in files], ignore_index=True)
    except Absent:
        try:
            table = csv()(text(data, f"{folder}/table.csv.gz"))
        except Absent:
            table = csv()(text(EMBEDDED, f"{folder}.csv.gz"))
    y = CUTS.get(name, lambda y: y)(table[target].astype(float)).astype(float)
    x = table.drop(columns=[target, *dropped])
    x.columns = [f"x{i}" for i in range(x.shape[1])]
    return x.assign(y=y)


class Split:
    """The training and test rows of a set, in memory and as files."""
    target = "y"

    def __init__(self, table, name, seed, rows, out):
        self.name, self.seed, self.is_class = name, seed, SETS[name][4]
        train, test = self.parts(len(table), rows)
        self.train, self.test = table.iloc[train], table.iloc[test]
        texts = (part.to_csv(index=False).encode() for part in (self.train, self.test))
        self.save(out, *texts)
        numbers = pd.get_dummies(table.drop(columns="y")).astype(float)
        self.x, self.x_test = (numbers.loc[part.index].values for part in (self.train, self.test))
        self.y, self.y_test = self.train.y.values, self.test.y.values
        if self.is_class:
            self.classes, self.y = np.unique(self.y, return_inverse=True)
            self.y_test = np.searchsorted(self.classes, self.y_test)

    def parts(self, n, rows):
        """The training and the test rows, in the order of the table."""
        order = np.random.default_rng(self.seed).permutation(n)[:rows]
        cut = len(order) // 5
        return np.sort(order[cut:]), np.sort(order[:cut])

    def save(self, out, train, test):
        self.folder = out / self.name / str(self.seed)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "train.csv").write_bytes(train)
        (self.folder / "test.csv").write_bytes(test)
        self.hash = hashlib.sha256(train + test).hexdigest()[:16]

    def judge(self, predicted):
        """Errors of predicted values, or of predicted probabilities of the classes."""
        if not self.is_class:
            rmse = np.sqrt(np.mean((predicted - self.y_test) ** 2))
            return dict(error=float(rmse / self.y.std()))
        right = np.maximum(predicted[np.arange(len(self.y_test)), self.y_test], 1e-15)
        error = np.mean(predicted.argmax(1) != self.y_test)
        return dict(error=float(error), log_loss=float(-np.log(right).mean()))


class MixedSplit(Split):
    """The same for a table of mixed columns. `x` and `x_test` are frames for LightGBM and CatBoost,
    in which texts are categories."""

    def __init__(self, folder, name, seed, rows, out):
        self.name, self.seed, self.is_class = name, seed, MIXED[name]
        try:
            files = [gzip.decompress((folder / f"{part}.csv.gz").read_bytes())
                     for part in ("train", "test")]
        except FileNotFoundError as error:
            raise Absent(error.filename) from None
        about = json.loads((folder / "meta.json").read_text())
        self.target = about["target"]
        heads, lines = zip(*((first, rest) for first, *rest in map(bytes.splitlines, files)))
        lines = [line for part in lines for line in part if line.strip()]
        text = lambda rows: b"\n".join([heads[0], *(lines[row] for row in rows), b""])
        train, test = self.parts(len(lines), rows)
        self.save(out, text(train), text(test))
        both = pd.read_csv(io.BytesIO(text([*train, *test])), sep=about["delimiter"],
                           skipinitialspace=True, encoding="latin-1")
        x, y = both.drop(columns=self.target), both[self.target]
        if self.is_class:
            self.classes, y = np.unique(y.astype(str), return_inverse=True)
        y, n = np.asarray(y), len(train)
        self.y, self.y_test = y[:n], y[n:]
        for column in x.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in x.dtypes]]:
            times = pd.to_datetime(x[column], errors="coerce", format="%Y-%m-%d %H:%M:%S")
            if times.notna().mean() > 0.9:
                seconds = (times - times.min()).dt.total_seconds()
                x[column] = seconds.where(times.notna())
                x[column + " hour"], x[column + " day"] = times.dt.hour, times.dt.dayofweek
            elif x[column].nunique() > 0.9 * len(x):
                x = x.drop(columns=column)  # a name for each row
            else:
                texts = x[column].astype(object).fillna("missing").astype(str)
                x[column] = texts.astype("category")
        self.x, self.x_test = x.iloc[:n], x.iloc[n:]


def split_of(name, seed, options):
    if name in MIXED:
        folder = (options.data or Path()) / "tables" / name
        return MixedSplit(folder, name, seed, options.rows, options.out)
    return Split(load(options.data, name), name, seed, options.rows, options.out)


# ---------------------------------------------------------------- methods
def histgb(split, _):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    if split.is_class:
        model = HistGradientBoostingClassifier(random_state=0).fit(split.x, split.y)
        return model.predict_proba(split.x_test)
    return HistGradientBoostingRegressor(random_state=0).fit(split.x, split.y).predict(split.x_test)


def lightgbm(split, _):
    import lightgbm as lgb
    held = np.random.default_rng(0).random(len(split.y)) < 0.1
    settings = dict(objective="l2", learning_rate=0.05, num_leaves=63, verbose=-1, seed=0,
                    num_threads=os.cpu_count())
    if split.is_class:
        settings.update(objective="multiclass", num_class=len(split.classes))
    x = split.x
    if split.name in MIXED:
        x = x.rename(columns={name: f"x{j}" for j, name in enumerate(x.columns)})
    train, valid = (lgb.Dataset(x[part], split.y[part]) for part in (~held, held))
    stop = lgb.early_stopping(100, verbose=False)
    return lgb.train(settings, train, 4000, [valid], callbacks=[stop]).predict(split.x_test)


def catboost(split, _):
    """2000 trees that stop early on a tenth; its own treatment of categories."""
    from catboost import CatBoostClassifier, CatBoostRegressor, Pool
    held = np.random.default_rng(0).random(len(split.y)) < 0.1
    texts = []
    if split.name in MIXED:
        texts = [name for name in split.x if isinstance(split.x[name].dtype, pd.CategoricalDtype)]
    pool = lambda rows, y: Pool(rows, y, cat_features=texts)
    train, valid = (pool(split.x[part], split.y[part]) for part in (~held, held))
    settings = dict(iterations=2000, random_seed=0, verbose=False, thread_count=os.cpu_count(),
                    allow_writing_files=False, early_stopping_rounds=100)
    model = (CatBoostClassifier if split.is_class else CatBoostRegressor)(**settings)
    model.fit(train, eval_set=valid, use_best_model=True)
    rows = pool(split.x_test, None)
    return model.predict_proba(rows) if split.is_class else model.predict(rows)


def nystroem(split, options):
    from scipy.spatial.distance import pdist
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    z, rng = StandardScaler().fit_transform(split.x), np.random.default_rng(0)
    sample = z[rng.choice(len(z), min(1000, len(z)), replace=False)]
    gamma = 1 / (2 * np.median(pdist(sample)) ** 2)
    count = min(options.landmarks, len(z))
    last = RidgeCV(10.0 ** np.arange(-8, 2))
    if split.is_class:
        last = LogisticRegression(C=10, max_iter=300)
    features = Nystroem(gamma=gamma, n_components=count, random_state=0)
    model = make_pipeline(StandardScaler(), features, last).fit(split.x, split.y)
    return model.predict_proba(split.x_test) if split.is_class else model.predict(split.x_test)


def xrfm(split, _):
    """The authors' defaults, on standardised features; needs requirements-torch.txt."""
    import torch
    from sklearn.preprocessing import StandardScaler
    from xrfm import xRFM
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    scaler = StandardScaler().fit(split.x)
    as_tensor = lambda a: torch.tensor(np.asarray(a), dtype=torch.float32, device=device)
    x, x_test = (as_tensor(scaler.transform(a)) for a in (split.x, split.x_test))
    y = np.eye(len(split.classes))[split.y] if split.is_class else split.y[:, None]
    center, scale = (0.0, 1.0) if split.is_class else (y.mean(), y.std())
    held = np.random.default_rng(0).random(len(y)) < 0.2
    model = xRFM(device=device, tuning_metric="brier" if split.is_class else "mse")
    y = as_tensor((y - center) / scale)
    model.fit(x[~held], y[~held], x[held], y[held])
    if split.is_class:
        return np.asarray(model.predict_proba(x_test))
    return np.asarray(model.predict(x_test)).ravel() * scale + center


def nystrom(split, options):
    """The program of this repository with its defaults."""
    if split.is_class:
        return program(split, options, ["--task", "classification"], ["--probabilities"]).values
    return program(split, options)["prediction"].values


def thorough(split, options):
    """The program with its largest effort."""
    return program(split, options, ["--effort", "thorough"])["prediction"].values


def intervals(split, options):
    """The coverage and width of the program's 90 % intervals, for regressions."""
    if split.is_class:
        return None
    out = program(split, options, ["--calibrate", "0.1"], ["--interval", "0.9"])
    inside = (out["lower"].values <= split.y_test) & (split.y_test <= out["upper"].values)
    width = np.median(out["upper"] - out["lower"]) / split.y.std()
    error = split.judge(out["prediction"].values)["error"]
    return dict(error=error, coverage=float(inside.mean()), width=float(width))


def program(split, options, fit=(), predict=()):
    """Fits and predicts with two commands, as a user would."""
    train, model, out = (split.folder / name for name in ("train.csv", "model", "predictions.csv"))
    fit = ["fit", train, "--target", split.target, *options.fit.split(), *fit, "-o", model]
    predict = ["predict", model, split.folder / "test.csv", *predict, "-o", out]
    for arguments in (fit, predict):
        command = [options.nystrom, *map(str, arguments), "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            where = f"nystrom {arguments[0]} of {split.name}, {split.seed}"
            raise RuntimeError(f"{where}: {done.stderr.strip()}")
    return pd.read_csv(out)


METHODS = dict(nystrom=nystrom, thorough=thorough, intervals=intervals, histgb=histgb,
               lightgbm=lightgbm, catboost=catboost, nystroem=nystroem, xrfm=xrfm)
NUMBERS_ONLY = ("histgb", "nystroem", "xrfm")
OURS = ("nystrom", "thorough", "intervals")
PACKAGES = dict(histgb="scikit-learn", lightgbm="lightgbm", catboost="catboost",
                nystroem="scikit-learn", xrfm="xrfm")


def version_of(method, options):
    """The version of a method, with which a result is stored; None if it is not installed."""
    if method in OURS:
        if not options.nystrom.is_file():
            return None
        return hashlib.sha256(options.nystrom.read_bytes()).hexdigest()[:16]
    try:
        return f"{PACKAGES[method]} {version(PACKAGES[method])}"
    except PackageNotFoundError:
        return None


# ---------------------------------------------------------------- results
def write(path, results):
    """Writes the results to a temporary file, then renames it, so that no file is half written."""
    half = path.with_suffix(".half")
    lines = ",\n".join(json.dumps(found, sort_keys=True) for found in results)
    half.write_text(f"[\n{lines}\n]\n")
    half.replace(path)


def errors(results, name, method):
    """The error for each seed, and the mean time."""
    found = [r for r in results if (r["set"], r["method"]) == (name, method)]
    seconds = float(np.mean([r["seconds"] for r in found])) if found else 0.0
    return {r["seed"]: r["error"] for r in found}, seconds


def paired(ours, theirs):
    """The mean and the standard error of the logarithm of the ratio of errors, over the seeds that
    both methods have."""
    both = sorted(ours.keys() & theirs.keys())
    if not both:
        return None
    logs = np.log([max(ours[s], 1e-12) / max(theirs[s], 1e-12) for s in both])
    spread = logs.std(ddof=1) / np.sqrt(len(logs)) if len(logs) > 1 else np.nan
    return float(logs.mean()), float(spread)


def table(results, methods, rival):
    """A Markdown table of errors, times, and ratios to the rival with paired standard errors."""
    lines = ["| set | " + " | ".join(methods) + " |", "|---" * (len(methods) + 1) + "|"]
    for name in [*SETS, *MIXED]:
        cells = []
        for method in methods:
            found, seconds = errors(results, name, method)
            cell = f"{np.mean(list(found.values())):.4f} ({seconds:.0f} s)" if found else ""
            ratio = paired(found, errors(results, name, rival)[0])
            if ratio and method != rival:
                cell += f" ×{np.exp(ratio[0]):.3f} ± {np.exp(ratio[0]) * ratio[1]:.3f}"
            cells.append(cell)
        if any(cells):
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines + [""] + [summary(results, m, rival) for m in methods if m != rival])


def summary(results, method, rival):
    """The geometric mean of the ratios over regression sets, the number of wins and the worst
    ratio, for each half of the sets."""
    regression = [name for name in SETS if not SETS[name][4]]
    rest = [name for name in regression if name not in DEVELOPMENT]
    lines = []
    for what, names in (("all", regression), ("development", DEVELOPMENT), ("confirmation", rest)):
        pairs = {n: paired(errors(results, n, method)[0], errors(results, n, rival)[0])
                 for n in names}
        ratios = {n: np.exp(pair[0]) for n, pair in pairs.items() if pair}
        if ratios:
            worst, values = max(ratios, key=ratios.get), list(ratios.values())
            lines.append(f"- {method} over {rival}, {what} ({len(values)} sets): geometric mean "
                         f"{np.exp(np.mean(np.log(values))):.3f}, below 1 on "
                         f"{sum(v < 1 for v in values)}, at most {ratios[worst]:.3f} ({worst})")
    return "\n".join(lines)


def over_the_better(results, method, rivals=("lightgbm", "catboost")):
    """Ratios to the better of the rivals on the mixed tables: of RMSE, and of log-loss + 0.01."""
    lines = []
    for name, is_class in MIXED.items():
        kind = "log_loss" if is_class else "error"
        of = {m: {r["seed"]: r[kind] + 0.01 * is_class for r in results
                  if (r["set"], r["method"]) == (name, m) and kind in r}
              for m in (method, *rivals)}
        means = {m: np.mean(list(of[m].values())) for m in rivals if of[m]}
        if of[method] and means:
            best = min(means, key=means.get)
            ratio = paired(of[method], of[best])
            if ratio:
                lines.append((is_class, name, best, np.exp(ratio[0]), ratio[1]))
    text = [f"- {method}, {name}: ×{ratio:.3f} ± {ratio * spread:.3f} over {best}"
            for _, name, best, ratio, spread in lines]
    for is_class, what in ((False, "regression"), (True, "classes")):
        logs = [np.log(ratio) for kind, _, _, ratio, _ in lines if kind == is_class]
        if logs:
            text.append(f"- {method}, {what} ({len(logs)} tables): geometric mean "
                        f"{np.exp(np.mean(logs)):.3f}, at most {np.exp(max(logs)):.3f}")
    return "\n".join(text)


def settings_of(method, options):
    if method in OURS:
        return " ".join(["fit", *options.fit.split()])
    return f"{options.landmarks} landmarks" if method == "nystroem" else "as in tabular.py"


def measure(split, method, about, options):
    start = time.time()
    found = METHODS[method](split, options)
    seconds = round(time.time() - start, 2)
    if found is None:
        return None
    sizes = dict(n=len(split.y), d=split.x.shape[1])
    judged = found if isinstance(found, dict) else split.judge(found)
    return dict(about, **sizes, seconds=seconds, **judged)


def main():
    options = arguments()
    methods = options.methods.split(",") if options.methods else list(METHODS)
    versions = {method: version_of(method, options) for method in methods}
    for method in methods:
        if versions[method] is None:
            build = "build it with `cargo build --release -p nystrom-cli`, or set NYSTROM"
            ours = f"no program {options.nystrom}: {build}"
            print(ours if method in OURS else f"{method}: not installed")
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.results or options.out / "tabular.json"
    results = json.loads(path.read_text()) if path.is_file() else []
    warnings.filterwarnings("ignore")
    for seed in SEEDS[:options.splits]:
        for name in options.sets.split(",") if options.sets else [*SETS, *MIXED]:
            try:
                split = split_of(name, seed, options)
            except Absent:
                print(f"{name}: not here" + "; cargo xtask fetch {name}" * (name in SETS))
                continue
            for method in filter(versions.get, methods):
                if name in MIXED and method in NUMBERS_ONLY:
                    continue
                key = dict(set=name, seed=seed, method=method)
                about = dict(key, version=versions[method], data=split.hash,
                             settings=settings_of(method, options))
                if any(about.items() <= found.items() for found in results):
                    continue
                try:
                    found = measure(split, method, about, options)
                except RuntimeError as error:
                    print(error, flush=True)
                    continue
                if found is None:
                    continue
                results = [r for r in results if not key.items() <= r.items()] + [found]
                write(path, results)
                print(json.dumps(found), flush=True)
    print(table(results, methods, options.rival))
    print("\n".join(over_the_better(results, method) for method in methods if method in OURS))


def arguments():
    raw = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    add, folder = parser.add_argument, os.environ.get("NYSTROM_DATA")
    ours = os.environ.get("NYSTROM", ROOT / "target/release/nystrom")
    add("--data", type=Path, default=folder and Path(folder), help="folder of the data sets")
    add("--sets", help="names, separated by commas [default: all that are here]")
    add("--methods", help="names, separated by commas [default: all installed]")
    add("--splits", type=int, default=5, help="how many of the five splits")
    add("--rival", default="lightgbm", help="whose errors divide the others'")
    add("--out", type=Path, default=ROOT / "target/peers", help="folder of splits and models")
    add("--results", type=Path, help="the file of results [default: OUT/tabular.json]")
    add("--nystrom", type=Path, default=Path(ours), help="the program [NYSTROM]")
    add("--fit", default="", help="further options of `nystrom fit`")
    add("--landmarks", type=int, default=1000, help="of scikit-learn's Nystroem")
    add("--rows", type=int, help="only so many rows of each set: a trial")
    return parser.parse_args()


if __name__ == "__main__":
    main()
