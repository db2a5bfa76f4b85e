"""docs/performance.md says what docs/performance.json has, beside every goal that was set."""

import msgspec

from tests.bench import document


def test_the_document_is_made_of_the_figures() -> None:
    text = document.DOCUMENT.read_text("utf-8")

    assert document.filled(text, document.read()) == text


def test_the_picture_is_drawn_of_the_figures() -> None:
    measured = document.read()

    assert document.PICTURE.read_text("utf-8") == document.svg([*measured.cycles, *measured.sweeps])


def test_every_goal_has_a_row_with_what_was_measured() -> None:
    text = document.DOCUMENT.read_text("utf-8")
    goals = text.split("<!-- goals: begin -->")[1].split("<!-- goals: end -->")[0].strip().splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in goals]

    for what in (
        "basic, 5,000",
        "hard spread",
        "soft spread",
        "preferred",
        "required affinity",
        "preempting",
        "recording",
        "update_snapshot",
    ):
        assert any(what in row[0] for row in cells), what
    for what in ("15,000 against 5,000", "JSON", "YAML", "write", "read", "size", "memory of the engine"):
        assert any(what in row[0] for row in cells), what
    assert all(len(row) == 4 and row[2] and row[3] in ("yes", "**no**") for row in cells)


def test_rows_that_were_not_measured_leave_their_goals_out() -> None:
    marks = [
        f"<!-- {name}: begin -->\n<!-- {name}: end -->" for name in ("product", "goals", "cycles", "shares", "imports", "frames", "load")
    ]

    text = document.filled("\n".join(marks), document.Measured())

    assert "| what | goal | measured | met |" in text
    assert msgspec.json.decode(msgspec.json.encode(document.Measured()), type=document.Measured) == document.Measured()
