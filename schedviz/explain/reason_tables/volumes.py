"""Reasons that concern volumes and claims."""

from __future__ import annotations

from typing import Final

from schedviz.engine.framework.plugins import names
from schedviz.explain.meaning import Meaning, Row

#: Another StorageClass, or another binding mode, does not help a claim that is bound.
BOUND: Final = "make room on the nodes where the volume is, or add one there: a bound volume does not move"
_ZONE: Final = "use a StorageClass with volumeBindingMode WaitForFirstConsumer, or add nodes in the volume's zone"
_CLAIM: Final = "`kubectl describe pvc{claims}` says in its events why the claim is not bound"

VOLUMES: Final[tuple[Row, ...]] = (
    (
        r"node\(s\) (?:had volume node affinity conflict|didn't match PersistentVolume's node affinity)",
        Meaning(
            names.VOLUME_BINDING,
            "a volume of the pod cannot be used from the node",
            ("the volume is in another zone",),
            BOUND,
            of_nodes=("{nodes} cannot use the pod's volume", "{nodes} cannot use the pod's volume"),
        ),
    ),
    (
        r"node\(s\) didn't find available persistent volumes to bind",
        Meaning(
            names.VOLUME_BINDING,
            "no volume that matches the claim can be used from the node",
            (),
            "compare the claim's size, access mode and StorageClass with the volumes: `kubectl describe pvc{claims}` and `kubectl get pv`",
            of_nodes=("{nodes} has no free volume for the pod's claim", "{nodes} have no free volume for the pod's claim"),
        ),
    ),
    (
        r"node\(s\) did not have enough free storage",
        Meaning(
            names.VOLUME_BINDING,
            "no CSIStorageCapacity object reports enough capacity for the node",
            (),
            "free or add storage, or check the CSI driver: `kubectl get csistoragecapacities -A`",
            of_nodes=("{nodes} has too little storage capacity for the volume", "{nodes} have too little storage capacity for the volume"),
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
            "the claim {claim} is bound to the volume {volume}, which does not exist",
            (),
            "restore the volume, or recreate the claim",
        ),
    ),
    (
        r"pod has unbound immediate PersistentVolumeClaims(?: \(repeated \d+ times\))?(?:\. not found)?",
        Meaning(
            names.VOLUME_BINDING,
            "a claim of the pod has no volume yet",
            ("the claim's StorageClass does not exist", "no volume matches", "the provisioner does not run, or fails"),
            _CLAIM,
        ),
    ),
    (
        r'persistentvolumeclaim "(?P<claim>.*)" (?:not found|does not exist)',
        Meaning(
            names.VOLUME_BINDING, "the claim {claim} does not exist", (), "create the claim in the pod's namespace, or correct its name"
        ),
    ),
    (
        r'persistentvolumeclaim "(?P<claim>.*)" is being deleted',
        Meaning(names.VOLUME_BINDING, "the claim {claim} is being deleted", (), "wait until it is gone, and create it again"),
    ),
    (
        r'waiting for ephemeral volume controller to create the persistentvolumeclaim "(?P<claim>.*)"',
        Meaning(names.VOLUME_BINDING, "the claim {claim} of an ephemeral volume is not created yet", (), _CLAIM),
    ),
    (
        r'(?:PVC|persistentvolumeclaim) "?(?P<claim>[^" ]*)"? was not created for (?:the )?pod.*',
        Meaning(
            names.VOLUME_BINDING,
            "a claim with the name of the pod's ephemeral volume exists, and does not belong to the pod",
            (),
            "delete or rename the claim",
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
            of_nodes=("{nodes} is in another zone than the pod's volume", "{nodes} are in another zone than the pod's volume"),
        ),
    ),
    (
        (
            r"(?:PersistentVolumeClaim had no name|PersistentVolumeClaim had no pv name and storageClass name|PersistentVolume had no name|"
            r'VolumeBindingMode not set for StorageClass ".*"|PersistentVolumeClaim is not bound: ".*")'
        ),
        Meaning(names.VOLUME_ZONE, "a claim or its StorageClass is incomplete, so that its zone is unknown", (), _CLAIM),
    ),
    (
        r"node\(s\) exceed max volume count",
        Meaning(
            names.NODE_VOLUME_LIMITS,
            "the maximum number of volumes is attached to the node",
            (),
            "add nodes, or use a machine type that allows more volumes",
            of_nodes=("{nodes} has its maximum number of volumes", "{nodes} have their maximum number of volumes"),
        ),
    ),
    (
        r"(?P<driver>\S+) CSI driver is not installed on the node",
        Meaning(
            names.NODE_VOLUME_LIMITS,
            "the CSI driver {driver} is not registered on the node",
            (),
            "check that the driver's node pod runs there: `kubectl get csinode`",
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
            "a ReadWriteOncePod claim is in use by another pod",
            (),
            "delete the other pod, or use the access mode ReadWriteOnce",
        ),
    ),
)
