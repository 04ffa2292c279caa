"""All examples of the documentation run."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import nystrom

DOCS = Path(__file__).parents[3] / "docs" / "python"
PAGES = sorted(DOCS.glob("*.md"))
NOTEBOOKS = sorted(DOCS.glob("notebooks/*.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
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
    config = Path(__file__).parents[1] / "mkdocs.yml"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", config]
    subprocess.run([*command, "-d", tmp_path], check=True)
    landmarks = (tmp_path / "notebooks" / "choosing_landmarks.html").read_text(encoding="utf-8")
    assert "<h1" in landmarks and "ny.landmarks(" in landmarks
    names = (tmp_path / "names.html").read_text(encoding="utf-8")
    assert "SqueakRegressor" in names and ".partial_fit(" in names


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
