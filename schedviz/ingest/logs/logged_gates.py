"""The feature gates of a cluster's scheduler, as far as its log shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from schedviz.engine.features import V1_36_GATES, FeatureGateError, features_of
from schedviz.kube.core import Pod
from schedviz.kube.devices import DeviceTaintRule
from schedviz.kube.meta import KubeObject

#: The gates without which a pod's group means nothing. API servers keep the field only with the first.
_FOR_POD_GROUPS: Final = ("GenericWorkload", "GangScheduling")
#: The gate without which the scheduler does not read DeviceTaintRules, which few API servers serve.
_FOR_TAINT_RULES: Final = "DRADeviceTaintRules"


def gates_of(logged: Mapping[str, bool], objects: Iterable[KubeObject]) -> dict[str, bool]:
    """The gates of v1.36 that differ from its defaults: those on the command line in the log, otherwise those that the objects need.

    Empty if upstream would refuse them together. Gates that kube-scheduler does not read are left out.
    """
    named = dict(logged) or {gate: True for obj in objects for gate in _needed_by(obj)}
    gates = {name: value for name, value in named.items() if name in V1_36_GATES and value != V1_36_GATES[name].default}
    try:
        features_of(V1_36_GATES, gates)
    except FeatureGateError:
        return {}
    return gates


def _needed_by(obj: KubeObject) -> Sequence[str]:
    """The gates without which the scheduler does not read an object, or its pod group."""
    if isinstance(obj, DeviceTaintRule):
        return (_FOR_TAINT_RULES,)
    return _FOR_POD_GROUPS if isinstance(obj, Pod) and obj.spec.scheduling_group is not None else ()
