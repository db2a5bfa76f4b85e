"""The placements of pods in two views."""

from __future__ import annotations

from schedviz.trace.comparing.result import Place, Placements, PlaceState, PodPlaces
from schedviz.trace.view import QueuedPod, View


def places(view: View) -> dict[str, Place]:
    """The place of each pod that the scheduler knows, by `namespace/name`. Of two pods with one name, that of the pod on a node."""
    result: dict[str, Place] = {}
    queues: list[tuple[PlaceState, list[QueuedPod]]] = [
        ("activeQ", view.queue.active_q),
        ("backoffQ", view.queue.backoff_q),
        ("backoffQ", view.queue.error_backoff_q),
        ("unschedulable", view.queue.unschedulable),
    ]
    for queue, pods in queues:
        for pod in pods:
            result[pod.pod] = Place(state="gated" if pod.gated else queue)
    for state in view.cache.pod_states.values():
        result[state.pod] = Place(state="assumed" if state.assumed else "bound", node=state.node)
    return result


def compare_placements(a: dict[str, Place], b: dict[str, Place], *, maximum: int) -> Placements:
    """Count and list pods with different places. A pod that is pending in both has the same place, whichever the queue."""
    counts = {"same": 0, "moved": 0, "placed_only_in_a": 0, "placed_only_in_b": 0, "only_in_a": 0, "only_in_b": 0}
    pending_in_both = 0
    differing: list[PodPlaces] = []
    for pod in sorted(a.keys() | b.keys()):
        in_a, in_b = a.get(pod), b.get(pod)
        kind = _kind(in_a, in_b)
        counts[kind] += 1
        pending_in_both += kind == "same" and in_a is not None and not in_a.node
        if kind != "same":
            differing.append(PodPlaces(pod, in_a, in_b))
    return Placements(**counts, pods=differing[:maximum], left_out=max(0, len(differing) - maximum), pending_in_both=pending_in_both)


def _kind(a: Place | None, b: Place | None) -> str:
    if a is None or b is None:
        return "only_in_b" if a is None else "only_in_a"
    if a.node == b.node:
        return "same"
    if a.node and b.node:
        return "moved"
    return "placed_only_in_a" if a.node else "placed_only_in_b"
