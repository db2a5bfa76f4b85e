"""The performance pages contain the figures of docs/measurements/performance.json, next to every goal that was set."""

from pathlib import Path

import msgspec
import pytest

from tests.bench import document


@pytest.mark.parametrize("page", document.SECTIONS)
def test_the_page_contains_the_figures(page: Path) -> None:
    text = page.read_text("utf-8")

    assert document.filled(text, document.read(), document.SECTIONS[page]) == text


def test_the_summary_has_a_row_for_each_cost() -> None:
    rows = _rows(document.SUMMARY, "summary")

    for what in ("5,000 nodes", "15,000 nodes", "preemption", "JSON", "YAML", "session", "checkpoint", "frame of one cycle", "viewer"):
        assert any(what in row[0] and (row[1] or row[2]) for row in rows), what


def test_the_picture_is_drawn_of_the_figures() -> None:
    measured = document.read()

    assert document.PICTURE.read_text("utf-8") == document.svg(document.plotted(measured))


def test_every_goal_has_a_row_with_what_was_measured() -> None:
    cells = _rows(document.LOG, "goals")

    for what in (
        "basic, 5,000",
        "hard topology spread",
        "soft topology spread",
        "preferred",
        "required affinity",
        "preempting",
        "recording",
        "update_snapshot",
    ):
        assert any(what in row[0] for row in cells), what
    for what in ("15,000 compared with 5,000", "JSON", "YAML", "write", "read", "size", "memory of the engine"):
        assert any(what in row[0] for row in cells), what
    assert all(len(row) == 4 and row[2] and row[3] in ("yes", "**no**") for row in cells)


def test_rows_that_were_not_measured_leave_their_goals_out() -> None:
    sections = document.SECTIONS[document.LOG]
    marks = [f"<!-- {name}: begin -->\n<!-- {name}: end -->" for name in sections]

    text = document.filled("\n".join(marks), document.Measured(), sections)

    assert "| what | goal | measured | met |" in text
    assert msgspec.json.decode(msgspec.json.encode(document.Measured()), type=document.Measured) == document.Measured()


def _rows(page: Path, section: str) -> list[list[str]]:
    """The cells of a section's table, without its header."""
    text = page.read_text("utf-8").split(f"<!-- {section}: begin -->")[1].split(f"<!-- {section}: end -->")[0]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in text.strip().splitlines()[2:]]
