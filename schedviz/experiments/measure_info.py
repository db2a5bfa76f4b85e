"""`MeasureInfo`: what a table needs to know about a measure. Without the engine, so that a web server can make tables."""

from __future__ import annotations

from typing import Literal

import msgspec

#: What the numbers count. A `share` is between 0 and 1; a `price` is in the currency of the plan.
Unit = Literal["pods", "nodes", "count", "share", "seconds", "price"]
#: Which of two numbers is the better one; "": neither.
Better = Literal["lower", "higher", ""]


class MeasureInfo(msgspec.Struct, frozen=True, rename="camel"):
    """A measure without its function."""

    name: str
    #: A sentence for the report.
    title: str
    unit: Unit = "count"
    better: Better = ""
    #: The value of a trial for a name that only other trials have, such as a reason of pending pods; None: there is no value.
    absent: float | None = None
    #: Equal trials can have different numbers, such as a time. They are kept out of what is compared byte for byte.
    is_volatile: bool = False
