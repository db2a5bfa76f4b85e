"""Which taints a pod tolerates. Upstream: component-helpers/scheduling/corev1/helpers.go, framework/plugins/helper/taint.go"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schedviz.kube.affinity import Toleration
from schedviz.kube.core import Taint

NO_SCHEDULE: Final = "NoSchedule"
NO_EXECUTE: Final = "NoExecute"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"

#: Effects that keep a pod off a node.
HARD_TAINT_EFFECTS: Final = (NO_SCHEDULE, NO_EXECUTE)


def tolerates_taint(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration tolerates a taint. Gt and Lt of v1.36 tolerate none here (see `taint_comparison`).

    Upstream: api/core/v1/toleration.go ToleratesTaint
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case _:
            return False


def tolerations_tolerate_taint(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Whether any toleration tolerates the taint. Upstream: TolerationsTolerateTaint"""
    return any(tolerates_taint(toleration, taint) for toleration in tolerations)


def find_matching_untolerated_taint(
    taints: Iterable[Taint], tolerations: Iterable[Toleration], effects: Iterable[str] = HARD_TAINT_EFFECTS
) -> Taint | None:
    """The first taint with one of the effects that is not tolerated. Upstream: FindMatchingUntoleratedTaint"""
    for taint in taints:
        if taint.effect in effects and not tolerations_tolerate_taint(tolerations, taint):
            return taint
    return None
