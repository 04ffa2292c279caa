#!/usr/bin/env python3
"""Writes the licences of all crates in the wheel to THIRD-PARTY-LICENCES.txt.

With --check, compares the file with Cargo.lock instead.
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
Crates that are linked into the compiled half of the Python package `nystrom`, with their licences.
Written by licences.py; texts that several crates share stand once.
"""


def metadata() -> dict:
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform"]
    text = subprocess.run([*command, PLATFORM], cwd=HERE, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text)


def linked(found: dict) -> list[dict]:
    """The packages that are linked into the wheel: without dependencies of tests and builds, and
    without procedural macros."""
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    waiting, seen = [found["resolve"]["root"]], set()
    while waiting:
        here = waiting.pop()
        macro = any("proc-macro" in target["kind"] for target in packages[here]["targets"])
        if here in seen or macro:
            continue
        seen.add(here)
        for dependency in nodes[here]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    others = [packages[one] for one in seen if packages[one]["source"] is not None]
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


def whole() -> str:
    packages = linked(metadata())
    refused = [
        f"{p['name']}: {p['license']}" for p in packages if not is_allowed(p["license"] or "")
    ]
    if refused:
        sys.exit("licences that ALLOWED in licences.py does not list: " + ", ".join(refused))
    lines = [HEAD]
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
    if sys.argv[1:] == ["--check"]:
        if not FILE.exists() or FILE.read_text(encoding="utf-8") != whole():
            sys.exit("THIRD-PARTY-LICENCES.txt does not match Cargo.lock; run licences.py")
    else:
        FILE.write_text(whole(), encoding="utf-8")
