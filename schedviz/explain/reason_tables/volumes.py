"""Reasons that concern volumes and claims."""

from __future__ import annotations

from typing import Final

from schedviz.engine.framework.plugins import names
from schedviz.explain.meaning import Meaning, Row
from schedviz.trace.phrase import phrase

#: Another StorageClass, or another binding mode, does not help a claim that is bound.
BOUND: Final = phrase("resolve what rejects the nodes that can access the volume, or add such a node: a bound volume does not move")
#: What to do if no node is where the volume is.
NO_NODE_THERE: Final = phrase(
    "add a node there, or restore the data to a new volume that existing nodes can access: a bound volume does not move"
)
#: What to do if the pod's volumes are in different places.
TOGETHER: Final = phrase(
    "recreate the volumes in one zone, from a snapshot or a backup: a bound volume does not move. With "
    "`volumeBindingMode: WaitForFirstConsumer`, a StorageClass provisions new volumes of one pod in the same zone"
)
#: The same if the volume is on the disk of one node.
NODE_IS_GONE: Final = phrase(
    "bring the node back under the same name and with its disk; if the disk is lost, recreate the claim and restore the data from a backup"
)
#: A cause of a volume that a node cannot access.
SEVERAL_ZONES: Final = "the pod uses volumes in different zones"
_WHERE: Final = (
    "to find the volume's zone, run `kubectl describe pv{volumes}` and look under `Node Affinity`. The pod needs a node with free "
    "capacity in that zone or, for a local volume, the node that holds it"
)
_ZONE: Final = "add a node in the volume's zone; for new claims, use a StorageClass with `volumeBindingMode: WaitForFirstConsumer`"
_CLAIM: Final = "run `kubectl describe pvc{claims}`; its events show why the claim is not bound"

#: What says why a claim has no volume.
CLAIM_EVENTS: Final = "the claim's events"

VOLUMES: Final[tuple[Row, ...]] = (
    (
        r'waiting for a volume to be created, either by (?:the )?external provisioner ["\']?(?P<provisioner>[A-Za-z0-9./-]+)["\']? or .*',
        Meaning(
            CLAIM_EVENTS,
            "the claim has no volume, because its provisioner {provisioner} has not created one yet",
            ("the provisioner is not running", "the StorageClass names the provisioner wrongly"),
            (
                "check that the pods of the provisioner are running, and read their logs: `kubectl get pods -A`. Compare its name with the "
                "drivers in `kubectl get csidrivers`"
            ),
        ),
    ),
    (
        r"waiting for first consumer to be created before binding",
        Meaning(
            CLAIM_EVENTS,
            "the claim has no volume yet: its StorageClass (`WaitForFirstConsumer`) provides one when a pod that uses it is scheduled",
            ("no pod uses the claim", "the pod that uses it is pending for another reason"),
            "the claim is not the problem: find the pod that uses it, and find out why that pod is pending: `kubectl describe pod`",
        ),
    ),
    (
        r"waiting for pods? (?P<waiting>\S+) to be scheduled",
        Meaning(
            CLAIM_EVENTS,
            "the claim has no volume yet: it gets one when the pod {waiting} is scheduled",
            (),
            "the claim is not the problem: to find out why the pod is pending, run `kubectl describe pod {waiting}{namespace}`",
        ),
    ),
    (
        r'nodeinfo not found for node name "(?P<gone>[^"]*)"',
        Meaning(
            names.VOLUME_BINDING,
            "the pod can only run on node {gone}, which is not in the cluster",
            ("the pod's local volume is on the disk of that node", "the pod's node affinity names that node"),
            NODE_IS_GONE.template,
        ),
    ),
    (
        r"node\(s\) (?:had volume node affinity conflict|didn't match PersistentVolume's node affinity)",
        Meaning(
            names.VOLUME_BINDING,
            "a volume of the pod is not accessible from the node",
            ("the volume is in another zone", "the volume is local to a node that is gone or unavailable", SEVERAL_ZONES),
            _WHERE,
            of_nodes=("{nodes} cannot access the pod's volume", "{nodes} cannot access the pod's volume"),
            of_none="{nodes} can access the pod's volume",
        ),
    ),
    (
        r"node\(s\) didn't find available persistent volumes to bind",
        Meaning(
            names.VOLUME_BINDING,
            "no volume that matches the claim is accessible from the node",
            (),
            (
                "compare the claim with the available PersistentVolumes: StorageClass, size, access modes, and node affinity "
                "(`kubectl describe pvc{claims}` and `kubectl describe pv`)"
            ),
            of_nodes=(
                "{nodes} can access no available PersistentVolume that matches the pod's claim",
                "{nodes} can access no available PersistentVolume that matches the pod's claim",
            ),
            of_none="no available PersistentVolume matches the pod's claim",
        ),
    ),
    (
        r"node\(s\) did not have enough free storage",
        Meaning(
            names.VOLUME_BINDING,
            "no CSIStorageCapacity object reports enough capacity for the node",
            (),
            ("free up or add storage; if the node has space, check what the CSI driver reports with `kubectl get csistoragecapacities -A`"),
            of_nodes=(
                "{nodes} has no CSIStorageCapacity object that reports enough free storage for the volume",
                "{nodes} have no CSIStorageCapacity object that reports enough free storage for the volume",
            ),
            of_none="{nodes} has a CSIStorageCapacity object that reports enough free storage for the volume",
        ),
    ),
    (
        r"(?:node\(s\) unavailable due to one or more )?pvc\(s\) bound to non-existent pv\(s\)",
        Meaning(names.VOLUME_BINDING, "a claim is bound to a volume that does not exist", (), "restore the volume, or recreate the claim"),
    ),
    (
        r'persistentvolumeclaim "(?P<claim>.*)" bound to non-existent persistentvolume "(?P<volume>.*)"',
        Meaning(
            names.VOLUME_BINDING,
            "the claim `{claim}` is bound to the volume `{volume}`, which does not exist",
            (),
            "restore the volume, or recreate the claim",
        ),
    ),
    (
        r"pod has unbound immediate(?: PersistentVolumeClaims)?(?: \(repeated \d+ times\))?(?:\. not found)?",
        Meaning(
            names.VOLUME_BINDING,
            "a PersistentVolumeClaim of the pod is not bound",
            ("the claim's StorageClass does not exist", "no existing volume matches", "the provisioner is not running or is failing"),
            _CLAIM,
        ),
    ),
    (
        r'persistentvolumeclaim "(?P<claim>[^"]*-\d{1,5})" (?:not found|does not exist)',
        Meaning(
            names.VOLUME_BINDING,
            "the claim `{claim}` does not exist",
            ("the claim was deleted while the pod existed: a StatefulSet creates claims only together with its pods",),
            (
                "if a StatefulSet makes the claim, delete the pod{pod}: the StatefulSet then creates both again. Otherwise create the "
                "claim in the pod's namespace, or correct its name"
            ),
        ),
    ),
    (
        r'persistentvolumeclaim "(?P<claim>.*)" (?:not found|does not exist)',
        Meaning(
            names.VOLUME_BINDING, "the claim `{claim}` does not exist", (), "create the claim in the pod's namespace, or correct its name"
        ),
    ),
    (
        r'persistentvolumeclaim "(?P<claim>.*)" is being deleted',
        Meaning(names.VOLUME_BINDING, "the claim `{claim}` is being deleted", (), "wait until the claim is deleted, then create it again"),
    ),
    (
        (r'(?:.*: )?selectedNode annotation (?:value "[^"]*" not set to scheduled node "[^"]*"|reset for PVC "[^"]*").*'),
        Meaning(
            names.VOLUME_BINDING,
            "a node was chosen, but the provisioner could not create the pod's volume there, so the scheduler starts again",
            ("the provisioner does not support what the claim requests", "the storage has no capacity left in the node's zone"),
            _CLAIM,
        ),
    ),
    (
        r'waiting for ephemeral volume controller to create the persistentvolumeclaim "(?P<claim>.*)"',
        Meaning(names.VOLUME_BINDING, "the claim `{claim}` of an ephemeral volume is not created yet", (), _CLAIM),
    ),
    (
        r'(?:PVC|persistentvolumeclaim) "?(?P<claim>[^" ]*)"? was not created for (?:the )?pod.*',
        Meaning(
            names.VOLUME_BINDING,
            "a claim with the name of the pod's ephemeral volume exists but does not belong to the pod",
            (),
            "delete that claim, or rename the pod",
        ),
    ),
    (
        r'(?:persistentvolume|storageclass\.storage\.k8s\.io|csinode\.storage\.k8s\.io) "(?P<object>.*)" not found',
        Meaning(names.VOLUME_BINDING, "{object}, which a volume of the pod needs, does not exist", (), "create it, or correct its name"),
    ),
    (
        r"node\(s\) had no available volume zone",
        Meaning(
            names.VOLUME_ZONE,
            "a volume is in a zone other than the node's",
            (),
            _ZONE,
            of_nodes=("{nodes} is not in the zone of the pod's volume", "{nodes} are not in the zone of the pod's volume"),
            of_none="{nodes} is in the zone of the pod's volume",
        ),
    ),
    (
        (
            r"(?:PersistentVolumeClaim had no name|PersistentVolumeClaim had no pv name and storageClass name|PersistentVolume had no name|"
            r'VolumeBindingMode not set for StorageClass ".*"|PersistentVolumeClaim is not bound: ".*")'
        ),
        Meaning(names.VOLUME_ZONE, "a claim or its StorageClass is incomplete, so its zone is unknown", (), _CLAIM),
    ),
    (
        r"node\(s\) exceed max volume count",
        Meaning(
            names.NODE_VOLUME_LIMITS,
            "with the pod's volumes, more volumes would be attached to the node than it supports",
            (),
            (
                "compare the number of the pod's claims with a node's limit (`kubectl get csinodes -o yaml`). If a node without pods "
                "could attach them all, add nodes{where}; otherwise use fewer volumes, or a machine type that supports more"
            ),
            of_nodes=(
                "{nodes} would exceed its volume limit with the pod's volumes",
                "{nodes} would exceed their volume limits with the pod's volumes",
            ),
        ),
    ),
    (
        r"(?P<driver>\S+) CSI driver is not installed on the node",
        Meaning(
            names.NODE_VOLUME_LIMITS,
            "the CSI driver {driver} is not registered on the node",
            (),
            "check that the driver's node plugin is running there: `kubectl get csinodes`",
            of_nodes=("{nodes} lacks the CSI driver {driver}", "{nodes} lack the CSI driver {driver}"),
        ),
    ),
    (
        r"node\(s\) had no available disk",
        Meaning(
            names.VOLUME_RESTRICTIONS,
            "another pod on the node uses a disk that cannot be shared",
            (),
            "stop the other pod, or mount the disk read-only in both",
            of_nodes=(
                "{nodes} already uses the pod's disk, which cannot be shared",
                "{nodes} already use the pod's disk, which cannot be shared",
            ),
        ),
    ),
    (
        r"node(?:\(s\) unavailable due to| has pod using) PersistentVolumeClaim with .*ReadWriteOncePod access mode.*",
        Meaning(
            names.VOLUME_RESTRICTIONS,
            "a ReadWriteOncePod claim of the pod is in use by another pod",
            (),
            "stop the other pod, or use the access mode ReadWriteOnce",
        ),
    ),
)
