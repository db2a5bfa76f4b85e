"""`MeasureInfo`: the metadata of a measure. This module does not import the engine, so that a web server can build tables."""

from __future__ import annotations

from typing import Literal

import msgspec

#: What the numbers count. A `share` is between 0 and 1; a `price` is in the currency of the plan.
Unit = Literal["pods", "nodes", "count", "share", "seconds", "price"]
#: Which of two numbers is the better one; "": neither.
Better = Literal["lower", "higher", ""]


class MeasureInfo(msgspec.Struct, frozen=True, rename="camel"):
    """The metadata of a measure."""

    name: str
    #: A sentence for the report.
    title: str
    unit: Unit = "count"
    better: Better = ""
    #: The value of a trial in a column that only other trials have, such as a pending reason; None: the cell is empty.
    absent: float | None = None
    #: Equal trials can have different numbers, such as times. These columns are left out where results are compared byte for byte.
    is_volatile: bool = False
