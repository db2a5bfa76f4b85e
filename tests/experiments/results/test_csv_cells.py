"""A spreadsheet reads no part of a text as a formula, whichever cell separator it uses."""

from __future__ import annotations

import csv
import io

import pytest

from schedviz.experiments.results.csv_cells import plain_cell

FORMULAS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
HOSTILE = [
    *(f"{before}{formula}1+1" for formula in FORMULAS for before in ("", "a;", "a\t", "a\n", "a\r\n", 'a;"', "a; ", 'a" ; "', ";")),
    "\t1",
    "\r1",
    "a;b;=1;=2",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("first", ["7", "x"])
def test_no_cell_is_a_formula(text: str, separator: str, first: str) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([float(first) if first.isdigit() else first, plain_cell(text), "last"])

    for row in csv.reader(io.StringIO(out.getvalue(), newline=""), delimiter=separator):
        assert not [cell for cell in row if cell.lstrip(" \"'")[:1] in FORMULAS and "'" not in cell[: len(cell) - len(cell.lstrip(" \"'"))]]
        assert not [cell for cell in row if cell[:1] in ("\t", "\r", *FORMULAS)]


@pytest.mark.parametrize("text", ["", "web-1", "a, -b", "bin-packing = 3", "a;b", "1.5"])
def test_other_texts_are_unchanged(text: str) -> None:
    assert plain_cell(text) == text
