"""The result of shadowing a real scheduler, as values that become JSON: the choice of this engine, and a verdict on the real one."""

from __future__ import annotations

from typing import Literal

from schedviz.explain.explanation import Part

#: `agrees`: the node is among the best. `notBest`: it is feasible, but other nodes have a higher total. `infeasible`: this engine would
#: have rejected the node. `undecided`: the verdict depends on the order of decisions, which is not known. `unjudged`: there is none.
Verdict = Literal["agrees", "notBest", "infeasible", "undecided", "unjudged"]
#: Why a binding does not agree. `order`: other pods or changes were under way. `release`: the cluster has another release of kube-scheduler
#: than the session. `sampling`: the real scheduler scores only some of the nodes. `configuration`: it is not known, and the node would be
#: chosen without one plugin. `unexplained`: none of these.
Cause = Literal["order", "release", "sampling", "configuration", "unexplained"]


class Choice(Part, frozen=True):
    """What a scheduling cycle would choose now: one of the nodes that share the highest total."""

    nodes: int
    feasible: int
    #: The names of the first few of the best nodes.
    best: tuple[str, ...] = ()
    #: How many nodes share the highest total, and that total.
    tied: int = 0
    total: int = 0
    #: Why no node was chosen: the FitError without preemption's part, or the failure.
    message: str = ""


class Share(Part, frozen=True):
    """The weighted score that one plugin or extender gave to the best node and to the node that was taken."""

    plugin: str
    best: int
    taken: int


class Judgement(Part, frozen=True):
    """The verdict of this engine on the node that the real scheduler chose."""

    verdict: Verdict
    choice: Choice | None = None
    #: The total of the chosen node, if it is feasible.
    total: int = 0
    #: For `notBest`: the plugins whose scores differ, the largest difference first.
    shares: tuple[Share, ...] = ()
    #: For `infeasible`: the plugin or extender that rejected the node, and its reasons. For `unjudged`: why no verdict is possible.
    plugin: str = ""
    reasons: tuple[str, ...] = ()
    #: Why the binding does not agree; None: it agrees, or is not judged.
    cause: Cause | None = None
    #: For the cause `configuration`: plugins each of whose removal alone would make the node the choice.
    without: tuple[str, ...] = ()
    #: How many bindings were in flight at the same time, this one included.
    in_flight: int = 1

    @property
    def deciding_plugin(self) -> str:
        """The plugin that rejected the node, or that makes the largest difference; "" if there is none."""
        return self.plugin or next((share.plugin for share in self.shares), "")
