"""What the paper measures: the GPUs that are not allocated, while more and more work arrives."""

from __future__ import annotations

from collections import defaultdict

from gpu_sharing import COUNT, MILLI, WHOLE

from schedviz.experiments.finished_trial import FinishedTrial
from schedviz.experiments.measures import measure

#: Arrived load, in percent of the cluster's GPUs.
LOADS = range(80, 131, 2)


@measure(
    "unallocatedGpus",
    title="Unallocated GPUs when the work that has arrived requests this many percent of all",
    unit="share",
    better="lower",
)
def unallocated_gpus(trial: FinishedTrial) -> dict[str, float]:
    """For each load the mean over the pods that arrive while the load, rounded, is that one, as in the authors' script."""
    capacity = sum(info.allocatable.scalar.get(COUNT, 0) for info in trial.nodes) * WHOLE
    requested = {key: shape.get(MILLI, 0) for key, shape in zip(trial.workload, trial.shapes, strict=True)}
    arrived = allocated = 0
    found: dict[int, list[float]] = defaultdict(list)
    for attempt in trial.attempts:
        arrived += requested[attempt.pod] if attempt.attempt == 1 else 0
        allocated += requested[attempt.pod] if attempt.node else 0
        found[round(100 * arrived / capacity)].append(1 - allocated / capacity)
    values = {}
    for load in LOADS:
        # A pod that requests many GPUs can skip a load, which then has the value of the one before it.
        nearest = max((each for each in found if each <= load), default=None)
        if nearest is not None and load <= max(found):
            values[str(load)] = sum(found[nearest]) / len(found[nearest])
    return values
