"""A frame is treated like the file it was read from, with the same decisions and predictions."""

import math
import subprocess
import warnings

import numpy as np
import pandas
import pytest
from test_search import program

import nystrom as ny

ROWS = 90


def row(i):
    """Row i of the plain table: a with two decimals, an integer b, and y."""
    a, b = (i * 37 % 91) / 4 + 1000, i * i % 13 + 2
    return a, b, math.sin(a / 9) + b / 5


def dressed(cell):
    """The plain table as CSV, with `cell(a)` in place of a."""
    lines = (f'"{cell(row(i)[0])}",{row(i)[1]},{row(i)[2]!r}' for i in range(ROWS))
    return "\n".join(["a,b,y", *lines])


def beside(cell):
    """The plain table as CSV, with `cell(i)` in one more column."""
    lines = (f'{row(i)[0]},{row(i)[1]},"{cell(i)}",{row(i)[2]!r}' for i in range(ROWS))
    return "\n".join(["a,b,more,y", *lines])


def day(i):
    return i * 7 % 28 + 1, i % 12 + 1, 2019 + i % 2


TABLES = {
    "plain": dressed(str),
    "thousands": dressed(lambda a: f"{a:,.2f}"),
    "dollars": dressed(lambda a: f"${a:,.2f}"),
    "euros behind": dressed(lambda a: f"{a:.2f} €"),
    "per cent": dressed(lambda a: f"{a:.2f} %"),
    "Fortran exponents": dressed(lambda a: f"{a / 1000:.7f}D+03"),
    "quotes": dressed(lambda a: f"'{a:.2f}'"),
    "a unit": dressed(lambda a: f"{a:.2f} kg"),
    "a sign": dressed(lambda a: f"+{a:.2f}"),
    "blanks": dressed(lambda a: f"  {a:.2f} "),
    "decimal commas": dressed(lambda a: f"{a:.2f}".replace(".", ",")),
    "one value": beside(lambda i: "7"),
    "no value": beside(lambda i: ""),
    "a name for each row": beside(lambda i: f"name {i}x"),
    "numbers of the rows": beside(lambda i: str(i + 1)),
    "categories": beside(lambda i: ["red", "green", "blue"][i % 3]),
    "gaps": beside(lambda i: "NA" if i % 10 == 0 else str(i * i % 17)),
    "question marks": beside(lambda i: "?" if i % 10 == 0 else str(i * i % 17)),
    "sizes": beside(lambda i: ["2", "3", "4", "5more", "XL", "M"][i % 6]),
    "beyond 2**53": beside(lambda i: str(9007199254740992 + [1, 0, 2][i % 3])),
    "ISO dates": beside(lambda i: "{2}-{1:02}-{0:02}".format(*day(i))),
    "German dates": beside(lambda i: "{}.{}.{}".format(*day(i))),
    "clock times": beside(lambda i: f"{i % 24}:{i * 7 % 60:02}:00"),
    "tickets": beside(lambda i: f"A/5 {i}" if i % 3 == 0 else str(i * 113 + 7)),
    "ranges": beside(lambda i: f"{100 * i} - {100 * i + 50}" if i % 9 == 0 else str(i * i % 1009)),
    "durations": beside(lambda i: f"{i % 9}h {i * 7 % 60}min"),
}


@pytest.mark.skipif(program() is None, reason="the command line is not built")
@pytest.mark.parametrize("name", TABLES)
def test_frames_are_read_as_files_are(tmp_path, name):
    file, saved = tmp_path / "t.csv", tmp_path / "m.bin"
    file.write_text(TABLES[name])
    told = ["--target", "y", "--work", "1e7", "--memory", "50000000", "--seed", "7", "--quiet"]
    arguments = [program(), "fit", file, "-o", saved, *told]
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    cli = ny.KernelRegressor.load(saved)
    frame = pandas.read_csv(file, dtype=str, keep_default_na=False)
    X, y = frame.drop(columns="y"), frame["y"].astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about columns left out
        model = ny.KernelRegressor(work=1e7, memory=50_000_000, random_state=7).fit(X, y)
    for key in ("features", "dropped"):
        assert model.model_.describe()[key] == cli.model_.describe()[key]
    assert np.array_equal(model.predict(X), cli.predict(X))
