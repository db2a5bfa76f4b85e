"""What the nodes cost, by the prices of the plan. Plans without prices have no cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedviz.experiments.measures.measure import measure
from schedviz.experiments.measures.nodes import is_used

if TYPE_CHECKING:
    from schedviz.experiments.finished_trial import FinishedTrial

_SECONDS_PER_HOUR = 3600


@measure("cost", title="Price per hour of the nodes with a pod, DaemonSets aside, and of all nodes", unit="price", better="lower")
def cost(trial: FinishedTrial) -> dict[str, float]:
    if not trial.prices:
        return {}
    priced = [(trial.prices.get(info.name, 0.0), is_used(info)) for info in trial.nodes]
    return {"used": sum(price for price, used in priced if used), "all": sum(price for price, _ in priced)}


@measure("totalCost", title="Price of the nodes with a pod, DaemonSets aside, from the beginning to the end", unit="price", better="lower")
def total_cost(trial: FinishedTrial) -> dict[str, float]:
    means = trial.usage.means()
    if "cost" not in means:
        return {}
    return {"": means["cost"] * trial.simulation.clock_seconds / _SECONDS_PER_HOUR}
