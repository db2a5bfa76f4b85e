"""How long the pods of a workload run, in virtual time."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from typing import Final

from schedviz.engine.clock import nanoseconds
from schedviz.experiments.errors import PlanError
from schedviz.experiments.plans.plan import Lifetimes
from schedviz.kube.core import Pod
from schedviz.kube.meta import OwnerReference, controller_of
from schedviz.kube.timestamps import parse_timestamp

#: Conditions that become false when a pod finishes.
_READY: Final = ("Ready", "ContainersReady")
#: The number that a CronJob adds to its name for each of its Jobs.
_RUN: Final = re.compile(r"-\d+$")


class LifetimeSource:
    """Gives each pod its lifetime. Equal pods have equal lifetimes in all variants, in whatever order they run."""

    def __init__(self, lifetimes: Lifetimes, finished: Iterable[Pod], seed: int) -> None:
        """`finished` are the finished pods of the base. Raises `PlanError` if their lifetimes are needed, and none has its own."""
        self._lifetimes = lifetimes
        self._seed = seed
        self._observed = _observed(finished) if lifetimes.source is not None else {}
        if lifetimes.source is not None and not self._observed:
            message = (
                "no pod of the base has finished and tells how long it ran (status.startTime, and when its condition Ready became False); "
                "give distribution and mean instead"
            )
            raise PlanError.of("workload.lifetimes.from", message)

    def of(self, pod: Pod) -> int | None:
        """How many nanoseconds the pod runs once it is on a node; None: until the end of the trial."""
        owner = controller_of(pod)
        owners = self._lifetimes.owners
        if owners and (owner is None or owner.kind not in owners):
            return None
        rng = random.Random(f"{self._seed}/lifetime/{pod.key}")  # noqa: S311 - a reproducible draw, no secret.
        if self._lifetimes.source is None:
            return nanoseconds(_draw(self._lifetimes, rng))
        names = [] if owner is None else [name for name in _names(pod, owner) if name in self._observed]
        return nanoseconds(rng.choice(self._observed[names[0]])) if names else None


def _draw(lifetimes: Lifetimes, rng: random.Random) -> float:
    mean = lifetimes.mean or 0.0
    match lifetimes.distribution:
        case "exponential":
            return rng.expovariate(1 / mean)
        case "uniform":
            return rng.uniform(0, 2 * mean)
        case "fixed":
            return mean


def _observed(finished: Iterable[Pod]) -> dict[tuple[str, ...], list[float]]:
    """The lifetimes of finished pods in seconds, by each name of their owners."""
    found: dict[tuple[str, ...], list[float]] = {}
    for pod in finished:
        owner, seconds = controller_of(pod), _seconds(pod)
        if owner is not None and seconds is not None:
            for name in dict.fromkeys(_names(pod, owner)):
                found.setdefault(name, []).append(seconds)
    return found


def _seconds(pod: Pod) -> float | None:
    """How long a finished pod ran, if its status has the times."""
    moments = [each.last_transition_time for each in pod.status.conditions if each.type in _READY and each.status == "False"]
    try:
        return max(parse_timestamp(moments[0] or "") - parse_timestamp(pod.status.start_time or ""), 0.0) if moments else None
    except ValueError:
        return None


def _names(pod: Pod, owner: OwnerReference) -> Iterator[tuple[str, ...]]:
    """What a pod's owner is known by, from the owner itself to its kind. The Jobs of one CronJob are alike."""
    yield owner.kind, pod.namespace, owner.name
    yield owner.kind, pod.namespace, _RUN.sub("", owner.name)
    yield (owner.kind,)
