"""All examples of the documentation run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_the_docstring_of_the_package_runs():
    import doctest

    import nystrom

    assert doctest.testmod(nystrom).failed == 0
    assert doctest.testmod(nystrom).attempted > 0
