"""What a difference of a measure means, as a clause of a sentence: "uses 7.2 fewer nodes".

The page has the same clauses, in other languages too (frontend/src/views/experiments/clause.ts).
"""

from __future__ import annotations

import math
from typing import Final

from schedviz.experiments.results.document import Column
from schedviz.experiments.results.statistics import Interval
from schedviz.experiments.results.table import in_words, label, signed

#: Measure -> the clauses for a larger and for a smaller number. `size` is the difference without sign and margin, `change` with its
#: sign; `part` is the column's part, such as `memory`; `pods` and `nodes` are the nouns for `size`.
CLAUSES: Final = {
    "placed": ("places {size} more {pods}", "places {size} fewer {pods}"),
    "pending": ("leaves {size} more {pods} pending", "leaves {size} fewer {pods} pending"),
    "pendingReason": ("leaves {size} more {pods} pending ({part})", "leaves {size} fewer {pods} pending ({part})"),
    "nodesUsed": ("uses {size} more {nodes}", "uses {size} fewer {nodes}"),
    "nodesEmpty": ("leaves {size} more {nodes} empty", "leaves {size} fewer {nodes} empty"),
    "cost": ("costs {size} more per hour", "costs {size} less per hour"),
    "totalCost": ("costs {size} more in total", "costs {size} less in total"),
    "utilization": ("fills nodes more ({part} {change})", "fills nodes less ({part} {change})"),
    "stranded": (
        "increases stranded {part} by {size}",
        "reduces stranded {part} by {size}",
    ),
    "fragmentation": (
        "increases {part} fragmentation by {size}",
        "reduces {part} fragmentation by {size}",
    ),
    "zoneSkew": (
        "spreads applications less evenly over zones (zone skew {change})",
        "spreads applications more evenly over zones (zone skew {change})",
    ),
    "nodeSpread": ("spreads applications over more nodes ({change})", "spreads applications over fewer nodes ({change})"),
    "victims": ("evicts {size} more {pods}", "evicts {size} fewer {pods}"),
    "pdbViolations": ("evicts {size} more {pods} against disruption budgets", "evicts {size} fewer {pods} against disruption budgets"),
    "attempts": ("makes {size} more scheduling attempts ({part})", "makes {size} fewer scheduling attempts ({part})"),
    "waiting": ("makes pods wait {size} longer ({part})", "makes pods wait {size} less ({part})"),
}


#: Smaller differences are given with a decimal.
_MIN_ROUNDED: Final = 1.5


def clause(column: Column, mean: float) -> str:
    """What a difference of this mean is, after the name of a variant."""
    change = signed(Interval(mean, None, 1), column.unit)
    size = _rounded_size(mean, column.unit) or change[1:]
    more, less = CLAUSES.get(column.measure, ("changes {label} by {change}",) * 2)
    return (more if mean > 0 else less).format(
        size=size,
        change=change,
        part=in_words(column.key.partition(".")[2]),
        label=label(column.key),
        pods="pod" if size == "1" else "pods",
        nodes="node" if size == "1" else "nodes",
    )


def _rounded_size(mean: float, unit: str) -> str:
    """ "about 7" instead of 7.2 pods or nodes, which are whole; "": the size is exact, or too small to be rounded."""
    size = abs(mean)
    if unit not in ("pods", "nodes") or float(size).is_integer() or size < _MIN_ROUNDED:
        return ""
    return f"about {math.floor(size + 0.5):,}"
