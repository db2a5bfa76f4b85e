"""Lists of flat dicts that pandas, csv and notebooks accept, and that display themselves as tables."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

#: Rows that are displayed; the list contains all.
_MAX_SHOWN_ROWS = 20


class Records(list[dict[str, Any]]):
    """Rows of one kind. `pandas.DataFrame(records)`, `polars.from_dicts(records)` and `records.to_csv()` work directly."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in the order of first appearance."""
        return list(dict.fromkeys(name for row in self for name in row))

    def where(self, test: Callable[[dict[str, Any]], bool] | None = None, /, **members: Any) -> Records:
        """The rows with these values that also pass the test."""
        return Records(
            row for row in self if all(row.get(name) == value for name, value in members.items()) and (test is None or test(row))
        )

    def column(self, name: str) -> list[Any]:
        """One column."""
        return [row.get(name) for row in self]

    def to_csv(self) -> str:
        """The rows as CSV with a header line; lists are joined by spaces."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: printed(value) for name, value in row.items()} for row in self)
        return text.getvalue()

    def _repr_html_(self) -> str:
        """An HTML table for Jupyter."""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(printed(row.get(name)))}</td>" for name in self.columns) + "</tr>"
            for row in self[:_MAX_SHOWN_ROWS]
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{self._more()}"

    def _more(self) -> str:
        return f"<p>and {len(self) - _MAX_SHOWN_ROWS} more</p>" if len(self) > _MAX_SHOWN_ROWS else ""

    def __rich__(self) -> Table:
        """A table for rich."""
        from rich.table import Table

        table = Table(caption=f"and {len(self) - _MAX_SHOWN_ROWS} more" if len(self) > _MAX_SHOWN_ROWS else None, pad_edge=False, box=None)
        for name in self.columns:
            table.add_column(name)
        for row in self[:_MAX_SHOWN_ROWS]:
            table.add_row(*(printed(row.get(name)) for name in self.columns))
        return table


def records(rows: Iterable[dict[str, Any]]) -> Records:
    """The rows without their nested members."""
    return Records(
        {
            name: value
            for name, value in row.items()
            if not isinstance(value, dict) and not (isinstance(value, list) and any(isinstance(item, dict | list) for item in value))
        }
        for row in rows
    )


def printed(value: Any) -> str:
    """The text of a table cell."""
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(str(item) for item in value)
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
