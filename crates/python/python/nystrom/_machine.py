"""The machine: free memory, and the versions of what computes."""

from __future__ import annotations

import platform
import sys

import numpy as np
import sklearn

from . import _native


def bytes_of(count: float) -> str:
    """`512 bytes`, `1.6 GB`."""
    for size, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= size:
            return f"{count / size:.1f} {name}"
    return f"{count:.0f} bytes"


def show_versions() -> None:
    """Prints what a report of a problem needs: the versions of nystrom, Python, NumPy and
    scikit-learn, the instruction set, which determines the last digits of results, the number of
    threads, and the memory that a search may use by default.

    Examples
    --------
    >>> import nystrom
    >>> nystrom.show_versions()  # doctest: +ELLIPSIS
    nystrom          ...
    Python           ...
    """
    import nystrom

    memory, budget = _native.half_of_free_memory(), "not limited"
    if memory is not None:
        budget = f"{bytes_of(memory)}, half of the free memory"
    facts = {
        "nystrom": nystrom.__version__,
        "Python": sys.version.split()[0],
        "NumPy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "platform": platform.platform(),
        "instruction set": _native.instruction_set(),
        "threads": str(_native.threads()),
        "memory budget": budget,
    }
    for label, text in facts.items():
        print(f"{label:15}  {text}")
