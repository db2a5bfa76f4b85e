"""When the pods of a workload arrive, in virtual time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate

import msgspec

from schedviz.engine.clock import nanoseconds
from schedviz.experiments.errors import PlanError
from schedviz.experiments.plans.plan import MAX_ARRIVAL_SECONDS, Arrivals
from schedviz.kube.core import Pod
from schedviz.kube.timestamps import parse_timestamp


class Arrival(msgspec.Struct, frozen=True):
    """A pod and when it is created, in nanoseconds since the workload began."""

    at: int
    pod: Pod


def arrivals_of(pods: Sequence[Pod], arrivals: Arrivals, seed: int) -> list[Arrival]:
    """The arrivals in order. Pods with equal times keep their order. Raises `PlanError` for a pod without a time, or far in the future."""
    times = _created(pods, arrivals) if arrivals.source is not None else _drawn(len(pods), arrivals, seed)
    if max(times, default=0.0) > MAX_ARRIVAL_SECONDS:
        member = "speed" if arrivals.source is not None else "rate"
        most = f"at most {MAX_ARRIVAL_SECONDS:,.3g} s are possible"
        message = f"the last pod would arrive after {max(times):,.3g} s; {most}; give a higher {member}"
        raise PlanError.of(f"workload.arrivals.{member}", message)
    found = [Arrival(nanoseconds(time), _as_new(pod)) for time, pod in zip(times, pods, strict=True)]
    return sorted(found, key=lambda arrival: arrival.at)


def _drawn(count: int, arrivals: Arrivals, seed: int) -> list[float]:
    """Seconds until each arrival. The first pod arrives after the first interval."""
    rate = arrivals.rate or 1.0
    if arrivals.distribution == "fixed":
        return [(number + 1) / rate for number in range(count)]
    rng = random.Random(f"{seed}/arrivals")  # noqa: S311 - a reproducible draw, no secret.
    return list(accumulate(rng.expovariate(rate) for _ in range(count)))


def _created(pods: Sequence[Pod], arrivals: Arrivals) -> list[float]:
    """Seconds since the creation of the oldest pod."""
    times = []
    for pod in pods:
        try:
            times.append(parse_timestamp(pod.metadata.creation_timestamp or ""))
        except ValueError:
            message = f"the pod {pod.key} has no creationTimestamp; give a rate instead"
            raise PlanError.of("workload.arrivals.from", message) from None
    first = min(times, default=0.0)
    return [(time - first) / arrivals.speed for time in times]


def _as_new(pod: Pod) -> Pod:
    """The pod without its time of creation, which is when it arrives."""
    return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(pod.metadata, creation_timestamp=None))
