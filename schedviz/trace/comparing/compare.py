"""The comparison of two runs, as a list of phases."""

from __future__ import annotations

from schedviz.trace.comparing.differences import differences
from schedviz.trace.comparing.divergence import first_divergence
from schedviz.trace.comparing.pending import compare_pending
from schedviz.trace.comparing.placements import compare_placements, places
from schedviz.trace.comparing.result import Comparison, SideShown
from schedviz.trace.comparing.scores import compare_scores
from schedviz.trace.comparing.side import Side
from schedviz.trace.comparing.utilisation import compare_utilisation

#: The maximum length of each list; counts are complete.
MAX_LISTED = 1000
#: The same for the nodes of the utilisation, of which a cluster has fewer than pods.
MAX_NODES = 5000
MAX_PODS_PER_REASON = 200


def compare(
    a: Side, b: Side, *, shared_event: int = 0, shared_cycle: int = 0, shared_origin: bool = False, listed: int = MAX_LISTED
) -> Comparison:
    """Compare two runs. Their history is known to be equal up to the shared event and the shared cycle."""
    in_a, in_b = places(a.view), places(b.view)
    placements = compare_placements(in_a, in_b, maximum=listed)
    divergence, cycles = first_divergence(a, b, shared_event=shared_event, shared_cycle=shared_cycle)
    return Comparison(
        same=divergence is None and not placements.pods,
        a=_shown(a, len(in_a)),
        b=_shown(b, len(in_b)),
        shared_event=shared_event,
        shared_origin=shared_origin,
        settings=differences(a.settings, b.settings),
        placements=placements,
        divergence=divergence,
        scores=None if cycles is None else compare_scores(a, b, cycles, maximum=listed),
        utilisation=compare_utilisation(a.view, b.view, maximum=max(listed, MAX_NODES)),
        pending=compare_pending(a, b, maximum=MAX_PODS_PER_REASON),
    )


def _shown(side: Side, pods: int) -> SideShown:
    view = side.view
    return SideShown(
        session=side.session,
        name=side.name,
        event=view.event,
        clock_seconds=view.clock_seconds,
        cycles=view.cycle.cycle if view.cycle else 0,
        pods=pods,
        nodes=view.cache.node_tree.num_nodes,
    )
