"""A mkdocs hook: pages made from other files, and Markdown as GitHub reads it."""

import inspect
import os
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
OUTSIDE = {"README.md": "index.md", "CONTRIBUTING.md": "CONTRIBUTING.md"}
"""Files outside `docs` that are pages of the site."""


def on_files(files, config):
    """Adds the pages that are not files of `docs`."""
    docs = Path(config.docs_dir)
    pages = {page: (ROOT / path).read_text(encoding="utf-8") for path, page in OUTSIDE.items()}
    for script in sorted(docs.glob("python/notebooks/*.py")):
        path = script.relative_to(docs).with_suffix(".md").as_posix()
        pages[path] = page_of(script.read_text(encoding="utf-8"))
    pages["python/names.md"] = names()
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown, page, config, **_):
    """Completes the reference, and rewrites links and lists for mkdocs."""
    uri = page.file.src_uri
    if uri == "program.md":
        markdown += options()
    if uri == "rust.md":
        markdown = with_rustdoc(markdown, Path(config.site_dir))
    pieces = re.split(r"(^ *```.*?^ *```$)", markdown, flags=re.M | re.S)
    pieces[::2] = [lists(links(piece, uri)) for piece in pieces[::2]]
    return "".join(pieces)


def links(text: str, uri: str) -> str:
    """Replaces links to files of the repository by links to their pages.

    The text of a link remains if the file is not part of the site.
    """
    source = next((path for path, page in OUTSIDE.items() if page == uri), f"docs/{uri}")

    def replace(match):
        whole, mark, words, target, anchor = match.group(0, 1, 2, 3, 4)
        if not target or ":" in target:
            return whole
        path = os.path.normpath(os.path.join(os.path.dirname(source), target))
        if path in OUTSIDE:
            page = OUTSIDE[path]
        elif path.startswith("docs/"):
            page = re.sub(r"^(python/notebooks/.*)\.py$", r"\1.md", path.removeprefix("docs/"))
        else:
            return words if (ROOT / path).exists() else whole
        return f"{mark}[{words}]({os.path.relpath(page, os.path.dirname(uri) or '.')}{anchor})"

    return re.sub(r"(!?)\[([^\]]*)\]\(([^)\s#]*)((?:#[^)\s]*)?)\)", replace, text)


def lists(text: str) -> str:
    """Makes lists as GitHub reads them lists of Python-Markdown.

    The content of an item is indented by four columns. An empty line comes before a list, and after
    an item of several paragraphs.
    """
    lines, paragraphs = [], False
    for line in text.split("\n"):
        words = line.lstrip(" ")
        level = (len(line) - len(words)) // 2
        item = r"([-*]|\d+\.) "
        before = lines[-1] if lines else ""
        if level == 0 and re.match(item, line):
            if paragraphs or not re.match(rf"$|\s|#|{item}", before):
                lines.append("")
            paragraphs = False
        paragraphs |= level > 0 and before == ""
        lines.append("    " * level + words)
    return "\n".join(lines)


def page_of(script: str) -> str:
    """Converts a script with cells `# %%` and `# %% [markdown]` to Markdown."""
    cells = re.split(r"^# %%", script, flags=re.M)[1:]
    return "\n".join(
        words(cell) if cell.startswith(" [markdown]") else code(cell) for cell in cells
    )


def words(cell: str) -> str:
    return (
        "\n".join(line.removeprefix("#").removeprefix(" ") for line in cell.splitlines()[1:]) + "\n"
    )


def code(cell: str) -> str:
    return f"```python\n{cell.strip()}\n```\n"


def names() -> str:
    """A page with the signature and the docstring of each name that the package exports."""
    import nystrom

    page = ["# All names\n", "These are the docstrings of the package, as `help()` shows them.\n"]
    for name in sorted(nystrom.__all__, key=str.lower):
        thing = getattr(nystrom, name)
        try:
            signature = inspect.signature(thing)
        except ValueError:
            signature = ""
        said = inspect.getdoc(thing) or ""
        page.append(f"## {name}\n\n```text\n{call(name, signature)}\n\n{said}\n```\n")
        for method, of in methods(thing):
            said = inspect.getdoc(of) or ""
            head = call(f".{method}", inspect.signature(of))
            page.append(f"```text\n{head}\n\n{said}\n```\n")
    return "\n".join(page)


def call(name: str, signature: object) -> str:
    """The name with its signature, in lines that break only between parameters."""
    parameters = f"{name}{signature}".split(", ")
    line = ", ".join(parameter.replace(" ", "\0") for parameter in parameters)
    lines = textwrap.wrap(
        line, 88, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\0", " ")


def methods(thing: object) -> list:
    """The public methods that a class of the package or its bases in the package define."""
    if not inspect.isclass(thing):
        return []
    ours = [base for base in thing.__mro__ if base.__module__.startswith("nystrom")]
    found = {name: of for base in reversed(ours) for name, of in vars(base).items()}
    return [
        (name, getattr(thing, name))
        for name, of in sorted(found.items())
        if not name.startswith("_") and (inspect.isfunction(of) or isinstance(of, classmethod))
    ]


def target() -> Path:
    """The folder in which cargo builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def program() -> str | None:
    """The program `nystrom`, if it has been built or installed."""
    built = [target() / profile / "nystrom" for profile in ("release", "debug")]
    return next((str(path) for path in built if path.exists()), shutil.which("nystrom"))


def options() -> str:
    """The help of every command, if the program is there."""
    nystrom = program()
    if nystrom is None:
        return ""
    page = []
    for command in ["fit", "predict", "evaluate", "inspect", "scores", "landmarks", "sample"]:
        said = subprocess.run([nystrom, command, "--help"], capture_output=True, text=True)
        lines = "\n".join(wrapped(line) for line in said.stdout.strip().splitlines())
        page.append(f"\n## nystrom {command}\n\n```text\n{lines}\n```\n")
    return "\n".join(page)


def wrapped(line: str) -> str:
    """The line, broken at 100 columns with its indent."""
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(line, 100, subsequent_indent=indent, break_on_hyphens=False)


def with_rustdoc(markdown: str, site: Path) -> str:
    """Links each crate of a table to its documentation, if `cargo doc` has made it."""

    def link(match):
        name = match[1].replace("-", "_")
        front = target() / "doc" / name / "index.html"
        href = os.path.relpath(front, site)
        return f'| <a href="{href}">`{match[1]}`</a>' if front.exists() else match[0]

    return re.sub(r"^\| `(nystrom[a-z-]*)`", link, markdown, flags=re.M)
