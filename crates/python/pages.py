"""A mkdocs hook that makes pages from the notebooks and from the docstrings of the package."""

import inspect
import re
from pathlib import Path

from mkdocs.structure.files import File


def on_files(files, config):
    """Adds a page for each notebook, and a page with all names of the package."""
    for script in sorted(Path(config.docs_dir).glob("notebooks/*.py")):
        text = page_of(script.read_text(encoding="utf-8"))
        files.append(File.generated(config, f"notebooks/{script.stem}.md", content=text))
    files.append(File.generated(config, "names.md", content=names()))
    return files


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
        page.append(f"## {name}\n\n```text\n{name}{signature}\n\n{said}\n```\n")
        for method, of in methods(thing):
            said = inspect.getdoc(of) or ""
            page.append(f"```text\n.{method}{inspect.signature(of)}\n\n{said}\n```\n")
    return "\n".join(page)


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


def on_page_markdown(markdown, **_):
    """Replaces links to notebooks, which are scripts in the repository, by links to their pages."""
    return re.sub(r"\]\(notebooks/(\w+)\.py\)", r"](notebooks/\1.md)", markdown)
