"""Reasons of Events that other components than kube-scheduler send about pods, claims and nodes, and the messages that identify some."""

from __future__ import annotations

from typing import Final

#: About a claim whose volume could not be provisioned.
PROVISIONING_FAILED: Final = "ProvisioningFailed"
#: About a claim for which there is no volume, and no StorageClass to provision one. Its type is Normal.
FAILED_BINDING: Final = "FailedBinding"
#: The reasons of both. Only claims have them.
CLAIM_FAILURES: Final = (PROVISIONING_FAILED, FAILED_BINDING)
#: The message of `FAILED_BINDING`. Upstream: pkg/controller/volume/persistentvolume/pv_controller.go syncUnboundClaim
NO_VOLUME_MESSAGE: Final = "no persistent volumes available for this claim and no storage class is set"
#: About a pod that was evicted for another one.
PREEMPTED: Final = "Preempted"
NODE_NOT_READY: Final = "NodeNotReady"
#: About a pod on a node that has no network yet.
NETWORK_NOT_READY: Final = "NetworkNotReady"
