"""Files that are installed with the code."""

import importlib.metadata
from pathlib import Path

import nystrom


def test_licences_come_with_the_package():
    files = importlib.metadata.files("nystrom")
    texts = {file.name: file.read_text() for file in files if "licenses" in file.parts}
    assert "MIT License" in texts["LICENSE-MIT"] or "Permission is hereby" in texts["LICENSE-MIT"]
    assert "Apache License" in texts["LICENSE-APACHE"]
    linked = texts["THIRD-PARTY-LICENCES.txt"]
    for crate in ("faer", "pyo3", "rayon", "serde_json"):
        assert f"\n{crate} " in linked


def test_types_come_with_the_package():
    folder = Path(nystrom.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_native.pyi").exists()


def test_stubs_name_what_the_compiled_half_has():
    import re

    stubs = (Path(nystrom.__file__).parent / "_native.pyi").read_text(encoding="utf-8")
    declared = set(re.findall(r"^(?:def|class) (\w+)", stubs, re.M))
    found = {name for name in vars(nystrom._native) if not name.startswith("_")}
    assert declared == found
