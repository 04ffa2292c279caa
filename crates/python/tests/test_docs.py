"""All examples of the documentation run."""

import ast
import doctest
import importlib
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import nystrom

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs" / "python"
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "start.md",
    *sorted(DOCS.glob("*.md")),
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
]
WITHOUT = {"reproduce-a-paper"}
"""Pages without a program in Python."""

NOTEBOOKS = sorted(DOCS.glob("notebooks/*.py"))


def houses(n, rng):
    """The table that pages read from a file."""
    table = pd.DataFrame({
        "size": rng.uniform(50, 200, n).round(1),
        "age": rng.integers(0, 100, n),
        "town": rng.choice(["Brest", "Lille", "Paris"], n),
    })
    price = 2.0 * table["size"] - 0.5 * table["age"] + 100 * (table["town"] == "Paris")
    return table.assign(price=(price + rng.normal(size=n)).round(2))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    houses(300, rng).to_csv("houses.csv", index=False)
    houses(100, rng).to_csv("new-houses.csv", index=False)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    assert bool(blocks) != (page.stem in WITHOUT)
    names = {}
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_runs_and_draws_its_pictures(notebook, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("ROWS", "20000")
    (tmp_path / "pictures").mkdir()
    subprocess.run([sys.executable, notebook], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    text = notebook.read_text(encoding="utf-8")
    shown = set(re.findall(r"\]\(\.\./(pictures/[^)]*)\)", text))
    assert shown and shown == set(re.findall(r'savefig\("([^"]*)"', text))
    for picture in shown:
        assert (tmp_path / picture).stat().st_size > 1000
        assert (DOCS / picture).exists()


def test_the_pages_are_built(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", tmp_path]
    subprocess.run(command, check=True, cwd=ROOT)

    def page(name):
        return (tmp_path / f"{name}.html").read_text(encoding="utf-8")

    assert "<h1" in page("python/notebooks/choosing_landmarks")
    assert "ny.landmarks(" in page("python/notebooks/choosing_landmarks")
    assert "SqueakRegressor" in page("python/names") and ".partial_fit(" in page("python/names")
    assert 'href="guides/trust-a-fit.html"' in page("index")
    assert 'href="ARCHITECTURE.html"' in page("CONTRIBUTING")
    program = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "nystrom"
    assert "--calibrate" in page("program") or not program.exists()


@pytest.mark.parametrize("link", ["gone.md", "start.md#gone"])
def test_a_dead_link_stops_the_build(link, tmp_path):
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in ["mkdocs.yml", "README.md", "CONTRIBUTING.md"]:
        shutil.copy(ROOT / name, tmp_path)
    with (tmp_path / "docs" / "methods.md").open("a", encoding="utf-8") as page:
        page.write(f"\n[dead]({link})\n")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", tmp_path / "site"]
    build = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert build.returncode != 0 and link in build.stderr, build.stderr


MODULES = ["nystrom", *(f"nystrom.{m.name}" for m in pkgutil.iter_modules(nystrom.__path__))]


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_examples_of_docstrings_run(module):
    found = doctest.testmod(importlib.import_module(module))
    assert found.failed == 0
    assert found.attempted > 0 or module != "nystrom"


ESTIMATORS = [
    thing
    for name in nystrom.__all__
    if inspect.isclass(thing := getattr(nystrom, name))
    and issubclass(thing, BaseEstimator)
    and hasattr(thing, "fit")
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_the_docstring_of_an_estimator_is_complete(estimator):
    """Every parameter with its type and its default, attributes, and an example."""
    said = inspect.getdoc(estimator)
    parts = dict(re.findall(r"^(\w+)\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", said, re.M | re.S))
    assert list(parts) == ["Parameters", "Attributes", "Examples"]
    assert ">>> " in parts["Examples"]
    documented = {}
    for heading in re.findall(r"^(\w.*)", parts["Parameters"], re.M):
        names, _, told = heading.partition(" : ")
        documented |= dict.fromkeys(names.split(", "), told)
    parameters = inspect.signature(estimator).parameters
    assert set(documented) == set(parameters)
    for name, parameter in parameters.items():
        usual = re.search(r"default=(.*)", documented[name])
        if usual is None:  # documented by another estimator
            assert documented[name] == "" and "As in `KernelRegressor`" in parts["Parameters"]
        else:
            assert ast.literal_eval(usual[1]) == parameter.default, name
    for heading in re.findall(r"^(\w.*)", parts["Attributes"], re.M):
        names, _, told = heading.partition(" : ")
        assert told and all(name.endswith("_") for name in names.split(", ")), heading
