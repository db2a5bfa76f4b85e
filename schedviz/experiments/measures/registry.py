"""All measures by name: those of this package, and those that users install as entry points of the group `schedviz.measures`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from typing import Final

from schedviz.experiments.errors import Fault, PlanError
from schedviz.experiments.measures import cost, nodes, over_time, placement, preemption, queue, spread, times, utilization
from schedviz.experiments.measures.measure import Measure

GROUP: Final = "schedviz.measures"

#: In the order of the table.
BUILT_IN: Final[tuple[Measure, ...]] = (
    placement.placed,
    placement.pending,
    placement.pending_by_reason,
    nodes.nodes_used,
    nodes.nodes_empty,
    cost.cost,
    cost.total_cost,
    utilization.utilization,
    utilization.node_utilization,
    over_time.mean_utilization,
    over_time.mean_nodes_used,
    utilization.stranded,
    utilization.stranded_units,
    utilization.fragmentation,
    spread.zone_skew,
    spread.node_spread,
    preemption.preemptions,
    preemption.victims,
    preemption.pdb_violations,
    queue.attempts,
    queue.waiting,
    queue.evaluated,
    times.engine_seconds,
)


def built_in_measures() -> dict[str, Measure]:
    """The built-in measures by name."""
    return {measure.name: measure for measure in BUILT_IN}


def measures_named(names: Sequence[str] | None, own: Mapping[str, Measure] = {}) -> list[Measure]:
    """The measures of a plan; None: all built-in ones and the plan's `own`. Raises `PlanError` for an unknown or broken one."""
    if names is None:
        return [*BUILT_IN, *own.values()]
    known = {**built_in_measures(), **own}
    points = {point.name: point for point in entry_points(group=GROUP)}
    measures, faults = [], []
    for index, name in enumerate(names):
        path = f"measures[{index}]"
        if name in known:
            measures.append(known[name])
        elif name in points:
            try:
                loaded = points[name].load()
            except Exception as error:  # noqa: BLE001  (this is a user's code)
                faults.append(Fault(path, f"the measure {name!r} cannot be loaded: {type(error).__name__}: {error}"))
                continue
            if not isinstance(loaded, Measure):
                faults.append(Fault(path, f"the entry point {name!r} is not a Measure; decorate the function with schedviz's `measure`"))
                continue
            measures.append(loaded)
        else:
            faults.append(Fault(path, f"there is no measure {name!r}; there are {', '.join(sorted([*known, *points]))}"))
    if faults:
        raise PlanError(faults)
    return measures
