#!/usr/bin/env python3
"""Writes the licences of all crates in the wheel to THIRD-PARTY-LICENCES.txt.

With --check, compares the file with Cargo.lock instead. With --program TARGET, prints the licences
of all crates in the programs `nystrom` and `nystrom-gpu` for that platform.
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
FILE = HERE / "THIRD-PARTY-LICENCES.txt"
PLATFORM = "x86_64-unknown-linux-gnu"
#: The licences allowed in the wheel. Of licences joined by OR one must be allowed, of licences
#: joined by AND all.
ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause",
    "BSL-1.0", "CC0-1.0", "ISC", "MIT", "MIT-0", "Unicode-3.0", "Unlicense", "Zlib",
}  # fmt: skip
HEAD = """\
Crates that are linked into {}, with their licences.
Written by licences.py; texts that several crates share stand once.
"""
WHEEL = "the compiled half of the Python package `nystrom`"
PROGRAM = "the programs `nystrom` and `nystrom-gpu`"


def cargo(*arguments: str, folder: Path) -> str:
    command = ["cargo", *arguments, "--locked"]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked(folder: Path, platform: str, features: list[str]) -> list[dict]:
    """The packages of others that are linked into the crate in a folder: without dependencies of
    tests and builds, and without procedural macros."""
    tree = ["tree", "--edges=normal,no-proc-macro", "--prefix=none", "--format={p}"]
    tree = cargo(*tree, f"--target={platform}", *features, folder=folder)
    names = {tuple(line.split()[:2]) for line in tree.splitlines()}
    found = ["metadata", "--format-version=1", f"--filter-platform={platform}", *features]
    packages = json.loads(cargo(*found, folder=folder))["packages"]
    others = [
        package
        for package in packages
        if package["source"] is not None and (package["name"], f"v{package['version']}") in names
    ]
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def is_allowed(licence: str) -> bool:
    """Whether an SPDX expression of licences is allowed."""
    text = licence.replace("/", " OR ").replace("(", "").replace(")", "")
    return all(
        any(one.strip() in ALLOWED for one in part.split(" OR ")) for part in text.split(" AND ")
    )


def texts(package: dict) -> list[str]:
    """The texts of the licence files beside a package's manifest. If MIT is one of several
    licences to choose from, only its text and notices."""
    folder = Path(package["manifest_path"]).parent
    names = ("LICEN", "COPYING", "NOTICE", "UNLICENSE")
    files = [
        file for file in folder.iterdir() if file.is_file() and file.name.upper().startswith(names)
    ]
    mit = [file for file in files if "MIT" in file.name.upper()]
    if mit and any(choice in package["license"] for choice in (" OR ", "/")):
        files = mit + [file for file in files if file.name.upper().startswith("NOTICE")]
    found = [file.read_text(encoding="utf-8", errors="replace") for file in sorted(files)]
    return ["\n".join(line.rstrip() for line in text.strip().splitlines()) for text in found]


def whole(made: str, folder: Path, platform: str, *features: str) -> str:
    packages = linked(folder, platform, list(features))
    refused = [
        f"{p['name']}: {p['license']}" for p in packages if not is_allowed(p["license"] or "")
    ]
    if refused:
        sys.exit("licences that ALLOWED in licences.py does not list: " + ", ".join(refused))
    lines = [HEAD.format(made)]
    lines += [f"{p['name']} {p['version']}: {p['license']}, {p['repository']}" for p in packages]
    holders: dict[str, list[str]] = {}
    for package in packages:
        for text in texts(package):
            holders.setdefault(text, []).append(package["name"])
    for text, names in holders.items():
        shown = ", ".join(dict.fromkeys(names))
        lines += ["", "-" * 80, shown, "-" * 80, "", text]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--program"]:
        # nystrom-gpu contains all of nystrom
        print(whole(PROGRAM, HERE.parent / "gpu", sys.argv[2], "--features=parquet"), end="")
        sys.exit()
    text = whole(WHEEL, HERE, PLATFORM, "--features=gpu")
    if sys.argv[1:] != ["--check"]:
        FILE.write_text(text, encoding="utf-8")
    elif not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
        sys.exit("THIRD-PARTY-LICENCES.txt does not match Cargo.lock; run licences.py")
