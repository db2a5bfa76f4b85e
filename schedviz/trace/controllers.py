"""Which helpers a simulated cluster begins with. A session switches them with the command `helper`."""

from __future__ import annotations

from typing import Annotated

import msgspec

Seconds = Annotated[float, msgspec.Meta(ge=0)]

#: How long a pod takes from its binding to Running, where nothing else is said.
RUNNING_AFTER_SECONDS = 1.0
#: How long a node has to be gone. Upstream: pkg/controller/podgc/gc_controller.go quarantineTime
QUARANTINE_SECONDS = 40.0


class HelperSettings(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """Every helper is off unless it is asked for."""

    kubelet: bool = False
    #: From a pod's binding to Running.
    kubelet_seconds: Seconds = RUNNING_AFTER_SECONDS
    node_lifecycle: bool = False
    pod_gc: bool = False
    #: From a node's deletion to that of its pods.
    pod_gc_seconds: Seconds = QUARANTINE_SECONDS
    deployments: bool = False
    replica_sets: bool = False
    pv_binder: bool = False
    pdb_status: bool = False
