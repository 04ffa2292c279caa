#!/usr/bin/env python3
"""Accuracy on tables: what a user would pick instead, beside the program `nystrom`.

  python tabular.py                                     the embedded sets, every method installed
  python tabular.py --data DIR --sets casp,gas-turbine --methods nystrom,lightgbm

Every set is split by one permutation of a fixed seed: 80 % training, 20 % test. The split lies in
OUT/SET/train.csv and test.csv (text one-hot, target `y` last), so that any program sees the same
rows. Regression reports RMSE over the standard deviation of the training target; classification
the error rate and the log-loss. Results are kept in OUT/results.json: what was measured on the
same rows, by the same version with the same settings, is not measured again.
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
SEED = 20261122


# ---------------------------------------------------------------- data
class Absent(Exception):
    """A data set whose files are not here."""


def text(data, path):
    """A file below the folder of all data sets, plain or gzip."""
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
    """`class;concentration 1:v … 128:v`."""
    rows = []
    for line in content.splitlines():
        head, *cells = line.split()
        rows.append([float(x) for x in head.split(";") + [cell.split(":")[1] for cell in cells]])
    return pd.DataFrame(rows, columns=["class", "concentration"] + [f"x{i}" for i in range(128)])


TURBINE = "AT AP AH AFDP GTEP TIT TAT TEY CDP CO NOX".split()
RQC = ["x", "y", "radius", "count"]
# name in the catalogue: its files, their reader, target, columns left out, whether it is a class
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
    "gas-drift-batch3": (["gas-drift/batch3.dat"], gas_drift, "concentration", ["class"], False),
    "skin-segmentation": (["skin-segmentation/Skin_NonSkin.txt"], csv(sep="\t"), "SKIN", [], True),
}


def load(data, name):
    """Features (text one-hot) and the target `y`: from the files of the catalogue, from what
    `cargo xtask fetch` made of another packing, or from what is embedded."""
    files, reader, target, dropped, _ = SETS[name]
    try:
        table = pd.concat([reader(text(data, path)) for path in files], ignore_index=True)
    except Absent:
        try:
            table = csv()(text(data, f"{name}/table.csv.gz"))
        except Absent:
            table = csv()(text(EMBEDDED, f"{name}.csv.gz"))
    table = table.drop(columns=dropped)
    y = table.pop(target).astype(float)
    x = pd.get_dummies(table).astype(float)
    names = [f"x{i}" for i in range(x.shape[1])] + ["y"]
    return pd.DataFrame(np.column_stack([x, y]), columns=names)


class Split:
    """Training and test rows of a set, also as files."""

    def __init__(self, data, name, rows, out):
        table = load(data, name)
        order = np.random.default_rng(SEED).permutation(len(table))[:rows]
        cut = len(order) // 5
        self.name, self.is_class = name, SETS[name][4]
        self.train, self.test = (table.iloc[np.sort(part)] for part in (order[cut:], order[:cut]))
        self.folder = out / name
        self.folder.mkdir(parents=True, exist_ok=True)
        for part in ("train", "test"):
            getattr(self, part).to_csv(self.folder / f"{part}.csv", index=False)
        bits = [np.ascontiguousarray(part.values).tobytes() for part in (self.train, self.test)]
        self.hash = hashlib.sha256(b"".join(bits)).hexdigest()[:16]
        self.x, self.x_test = (part.drop(columns="y").values for part in (self.train, self.test))
        self.y, self.y_test = self.train.y.values, self.test.y.values
        if self.is_class:
            self.classes, self.y = np.unique(self.y, return_inverse=True)
            self.y_test = np.searchsorted(self.classes, self.y_test)

    def judge(self, predicted):
        """Errors of predicted values, or of predicted probabilities of the classes."""
        if not self.is_class:
            rmse = np.sqrt(np.mean((predicted - self.y_test) ** 2))
            return dict(relative_rmse=float(rmse / self.y.std()))
        right = np.maximum(predicted[np.arange(len(self.y_test)), self.y_test], 1e-15)
        error = np.mean(predicted.argmax(1) != self.y_test)
        return dict(error=float(error), log_loss=float(-np.log(right).mean()))


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
    train, valid = (lgb.Dataset(split.x[part], split.y[part]) for part in (~held, held))
    stop = lgb.early_stopping(100, verbose=False)
    return lgb.train(settings, train, 4000, [valid], callbacks=[stop]).predict(split.x_test)


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
    """The program of this repository: rpcholesky landmarks, λ by leave-one-out; a class by least
    squares on its indicator, the values clipped to [0, 1] and divided by their sum."""
    if not split.is_class:
        return program(split, options, split.folder / "train.csv", "y")
    two = len(split.classes) == 2
    values = []
    for label in range(1 if two else 0, len(split.classes)):
        path = split.folder / "indicator.csv"
        split.train.assign(y=(split.y == label).astype(float)).to_csv(path, index=False)
        values.append(program(split, options, path, f"class {label}"))
    if two:
        values.insert(0, 1 - values[0])
    p = np.clip(np.column_stack(values), 1e-6, 1.0)
    return p / p.sum(1, keepdims=True)


def program(split, options, train, what):
    model, out = split.folder / "model.json", split.folder / "predictions.csv"
    count = min(options.landmarks, len(split.y))
    landmarks = f"rpcholesky:{count}"
    fit = ["fit", train, "--target", "y", "--landmarks", landmarks, "--quiet", "-o", model]
    predict = ["predict", model, split.folder / "test.csv", "--quiet", "-o", out]
    for arguments in (fit, predict):
        command = [options.nystrom, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            complaint = done.stderr.strip()
            raise RuntimeError(f"nystrom {arguments[0]} of {split.name}, {what}: {complaint}")
    return pd.read_csv(out).iloc[:, -1].values


METHODS = dict(nystrom=nystrom, histgb=histgb, lightgbm=lightgbm, nystroem=nystroem, xrfm=xrfm)
PACKAGES = dict(histgb="scikit-learn", lightgbm="lightgbm", nystroem="scikit-learn", xrfm="xrfm")


def version_of(method, options):
    """What a result belongs to; None if it is not installed."""
    if method == "nystrom":
        if not options.nystrom.is_file():
            return None
        return hashlib.sha256(options.nystrom.read_bytes()).hexdigest()[:16]
    try:
        return f"{PACKAGES[method]} {version(PACKAGES[method])}"
    except PackageNotFoundError:
        return None


# ---------------------------------------------------------------- results
def write(path, results):
    """All or nothing."""
    half = path.with_suffix(".half")
    half.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    half.replace(path)


def table(results, methods):
    """Markdown, a line for each set."""
    lines = ["| set | " + " | ".join(methods) + " |", "|---" * (len(methods) + 1) + "|"]
    for name in SETS:
        cells = []
        for method in methods:
            found = results.get(f"{name}/{method}", {})
            key = next((key for key in ("relative_rmse", "error") if key in found), None)
            cells.append(f"{found[key]:.4f} ({found['seconds']:.1f} s)" if key else "")
        if any(cells):
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    raw = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    add, folder = parser.add_argument, os.environ.get("NYSTROM_DATA")
    add("--data", type=Path, default=folder and Path(folder), help="folder of the data sets")
    add("--sets", help="names, separated by commas [default: all that are here]")
    add("--methods", help="names, separated by commas [default: all installed]")
    add("--out", type=Path, default=ROOT / "target/peers", help="folder of the results")
    add("--nystrom", type=Path, default=ROOT / "target/release/nystrom", help="the program")
    add("--landmarks", type=int, default=1000)
    add("--rows", type=int, help="only so many rows of each set: a trial")
    options = parser.parse_args()
    methods = options.methods.split(",") if options.methods else list(METHODS)
    versions = {method: version_of(method, options) for method in methods}
    for method in methods:
        if versions[method] is None:
            build = "build it with `cargo build --release -p nystrom-cli`, or say --nystrom"
            ours = f"no program {options.nystrom}: {build}"
            print(ours if method == "nystrom" else f"{method}: not installed")
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "results.json"
    results = json.loads(path.read_text()) if path.is_file() else {}
    warnings.filterwarnings("ignore")
    for name in options.sets.split(",") if options.sets else SETS:
        try:
            split = Split(options.data, name, options.rows, options.out)
        except Absent:
            print(f"{name}: not here; cargo xtask fetch {name}")
            continue
        for method in filter(versions.get, methods):
            key, about = f"{name}/{method}", dict(version=versions[method], data=split.hash)
            if method in ("nystrom", "nystroem"):
                about["landmarks"] = options.landmarks
            if about.items() <= results.get(key, {}).items():
                continue
            start = time.time()
            try:
                predicted = METHODS[method](split, options)
            except RuntimeError as error:
                print(error, flush=True)
                continue
            found = dict(about, seconds=round(time.time() - start, 2), n=len(split.y),
                         d=split.x.shape[1], **split.judge(predicted))
            results[key] = found
            write(path, results)
            print(key, json.dumps(found), flush=True)
    print(table(results, methods))


if __name__ == "__main__":
    main()
