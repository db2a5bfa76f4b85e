"""Tolerations that compare a taint's value as a number: the operators Gt and Lt of v1.36 (TaintTolerationComparisonOperators).

Upstream: component-helpers/scheduling/corev1/helpers.go, api/core/v1/toleration.go ToleratesTaint
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from schedviz.engine.framework.plugins.helper.taint import tolerates_taint
from schedviz.kube.affinity import Toleration
from schedviz.kube.core import Taint

#: Upstream's numbers: 64 bits, without leading zeros and without a plus sign.
_NUMBER: Final = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_INT64_LIMIT: Final = 2**63


def tolerates_taint_v1_36(toleration: Toleration, taint: Taint, *, compares: bool) -> bool:
    """Whether a toleration tolerates a taint. Without `compares` Gt and Lt tolerate nothing."""
    if toleration.operator not in ("Gt", "Lt"):
        return tolerates_taint(toleration, taint)
    if not compares or (toleration.effect and toleration.effect != taint.effect):
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    toleration_number, taint_number = _number(toleration.value), _number(taint.value)
    if toleration_number is None or taint_number is None:
        return False
    return taint_number > toleration_number if toleration.operator == "Gt" else taint_number < toleration_number


def tolerations_tolerate_taint_v1_36(tolerations: Iterable[Toleration], taint: Taint, *, compares: bool) -> bool:
    """Whether any toleration tolerates the taint. Upstream: TolerationsTolerateTaint"""
    return any(tolerates_taint_v1_36(toleration, taint, compares=compares) for toleration in tolerations)


def _number(text: str) -> int | None:
    if not _NUMBER.fullmatch(text) or len(text) > len(str(_INT64_LIMIT)) + 1:
        return None
    number = int(text)
    return number if -_INT64_LIMIT <= number < _INT64_LIMIT else None
