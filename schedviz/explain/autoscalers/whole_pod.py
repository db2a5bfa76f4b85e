"""Explains why Karpenter does not consider a pod at all, whatever the NodePool."""

from __future__ import annotations

import re
from typing import Final

from schedviz.trace.phrase import Phrase, phrase

_STORAGE_CLASS: Final = re.compile(r'(?:StorageClass\.storage\.k8s\.io|storageclasses\.storage\.k8s\.io) "(?P<name>[^"]++)" not found')
_CLAIM: Final = re.compile(r'persistentvolumeclaim(?:s)? "(?P<name>[^"]++)" not found', re.IGNORECASE)
_VOLUME: Final = re.compile(r'persistentvolume(?:s)? "(?P<name>[^"]++)" not found', re.IGNORECASE)
_NAMED_CLAIM: Final = re.compile(r'(?:PersistentVolumeClaim=|pvc "|unbound pvc (?!must\b))(?P<name>[a-z0-9][a-z0-9./-]*+)')
_NO_POOL: Final = re.compile(r"no (?:dynamic )?(?P<kind>nodepools|provisioners) found")
_RESTRICTED: Final = re.compile(r"label (?P<key>\S+) is restricted")


def explained_whole_pod(why: str) -> tuple[Phrase, Phrase] | None:
    """What is wrong with the pod, and what to do; None if the reason is about a NodePool."""
    return _pool_sentences(why) or _claim_sentences(why) or _spec_sentences(why)


def _pool_sentences(why: str) -> tuple[Phrase, Phrase] | None:
    found = _NO_POOL.match(why)
    if found is None:
        return None
    if found["kind"] == "provisioners":
        return phrase("there is no Provisioner"), phrase(
            "Create a Provisioner, or check the existing ones: `kubectl get provisioners -o yaml`"
        )
    return phrase("no NodePool is ready"), phrase(
        "Check the Ready condition of the NodePools and of their node classes: `kubectl get nodepools` and `kubectl describe nodepools`"
    )


def _claim_sentences(why: str) -> tuple[Phrase, Phrase] | None:
    if (found := _STORAGE_CLASS.search(why)) is not None:
        return phrase("StorageClass `{name}` of its claim does not exist", name=found["name"]), phrase(
            (
                "Create StorageClass `{name}`, or correct `storageClassName` in the claim. To see the existing ones, run "
                "`kubectl get storageclass`"
            ),
            name=found["name"],
        )
    if (found := _CLAIM.search(why)) is not None:
        return phrase("its PersistentVolumeClaim `{name}` does not exist", name=found["name"]), phrase(
            "Create the claim `{name}`, or correct the pod's volume", name=found["name"]
        )
    if (found := _VOLUME.search(why)) is not None or "non-existent persistentvolume" in why:
        return phrase("its claim is bound to a PersistentVolume that does not exist"), phrase(
            "Restore the PersistentVolume, or delete the claim and create it again; its data is then lost"
        )
    named = _NAMED_CLAIM.search(why)
    claim = named["name"] if named is not None else ""
    for words, said, advice in _CLAIMS:
        if words in why:
            name = phrase("its claim `{name}`", name=claim) if claim else phrase("a claim of the pod")
            return Phrase(said.template, {"claim": name}), advice
    return None


#: Words of the reason, what they mean, and what to do.
_CLAIMS: Final[tuple[tuple[str, Phrase, Phrase], ...]] = (
    (
        "must define a storage class",
        phrase("{claim} is not bound and names no StorageClass"),
        phrase("Set `storageClassName` in the claim, or create a PersistentVolume that matches it"),
    ),
    (
        "immediate volume binding mode must be bound",
        phrase("{claim} is not bound, although its StorageClass binds volumes immediately"),
        phrase("Run `kubectl describe pvc`. Its events show why the claim is not bound"),
    ),
    (
        "persistentvolumeclaim is being deleted",
        phrase("{claim} is being deleted"),
        phrase("Create the claim again when it is gone"),
    ),
    (
        "does not contain annotation",
        phrase("{claim} is not completely bound to its volume"),
        phrase("Run `kubectl describe pvc`. Its events show why the binding is not complete"),
    ),
    (
        "unsupported topology key",
        phrase("the StorageClass of {claim} restricts volumes by a topology key that Karpenter does not support"),
        phrase("Use a StorageClass whose `allowedTopologies` have a key that Karpenter supports, such as `topology.kubernetes.io/zone`"),
    ),
    (
        "provisioner is not supported",
        phrase("the provisioner of {claim} is not supported by Karpenter"),
        phrase("Use a StorageClass of a CSI driver: in-tree provisioners are not supported"),
    ),
    (
        "failed to validate pvc",
        phrase("{claim} is not valid"),
        phrase("Run `kubectl describe pvc`. Its events show what is wrong with the claim"),
    ),
    (
        "discovering persistent volume claim",
        phrase("{claim} cannot be read"),
        phrase("Run `kubectl get pvc` in the pod's namespace, and check that the claim exists"),
    ),
)


def _spec_sentences(why: str) -> tuple[Phrase, Phrase] | None:
    if "configured to not run on a Karpenter provisioned node" in why:
        return phrase("its node affinity excludes nodes that Karpenter creates"), phrase(
            "Add capacity to the nodes that Karpenter does not manage, or remove the requirement `karpenter.sh/nodepool "
            "DoesNotExist` from the pod"
        )
    if "matchFields is not supported" in why:
        return phrase("its node affinity uses `matchFields`, which Karpenter does not support"), phrase(
            "Use matchExpressions in the pod's node affinity"
        )
    if (found := _RESTRICTED.search(why)) is not None:
        return phrase("it requires the label `{key}`, which Karpenter does not allow pods to require", key=found["key"]), phrase(
            "Use another label in the pod's node selector and affinity"
        )
    if "Dynamic Resource Allocation requirements that are not yet supported" in why:
        return phrase("it has resource claims (Dynamic Resource Allocation), which this version of Karpenter does not support"), phrase(
            "Enable Dynamic Resource Allocation in Karpenter if its version supports that, or add a node with the devices yourself"
        )
    if why.startswith("allocating dynamic resources"):
        return phrase("no instance type provides the devices of its resource claims"), phrase(
            "Compare the pod's resource claims with the devices that the allowed instance types provide"
        )
    return None
