"""The initial settings of the simulated controllers. The command `helper` changes them in a session."""

from __future__ import annotations

from typing import Annotated

import msgspec

Seconds = Annotated[float, msgspec.Meta(ge=0)]

#: The default time from a pod's binding to Running.
RUNNING_AFTER_SECONDS = 1.0
#: How long a node must have been deleted before its pods are. Upstream: pkg/controller/podgc/gc_controller.go quarantineTime
QUARANTINE_SECONDS = 40.0


class ControllerSettings(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """Every controller is off by default."""

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
    resource_claims: bool = False
    device_driver: bool = False
