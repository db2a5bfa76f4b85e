"""What the event of a claim says whose volume could not be provisioned, and which claims are those of a pod by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from schedviz.trace.phrase import Phrase, phrase, some

PROVISIONING_FAILED: Final = "ProvisioningFailed"
#: Upstream: pkg/controller/volume/persistentvolume/pv_controller.go provisionClaimOperation, with the API server's message.
_NO_CLASS: Final = re.compile(r'storageclass(?:\.storage\.k8s\.io)? "(?P<name>[^"]{1,253})" not found', re.IGNORECASE)


def provisioning_failure(message: str, classes: Sequence[str] = ()) -> tuple[Phrase, Phrase]:
    """The likely cause of a ProvisioningFailed event, and what to do. `classes`: the StorageClasses that are known to exist."""
    missing = _NO_CLASS.search(message)
    if missing is None:
        return (
            phrase("its provisioner cannot create the volume"),
            phrase("look at the message, the claim's StorageClass and the log of its provisioner"),
        )
    name = missing["name"].replace("`", "'")
    cause = phrase("the StorageClass {name} does not exist", name=name)
    if classes and name not in classes:
        advice = "create the StorageClass {name}, or make the claim again with one that exists: {classes}"
        return cause, phrase(advice, name=name, classes=some(classes))
    return cause, phrase(
        "create the StorageClass {name}, or make the claim again with one that exists: `kubectl get storageclass` lists them", name=name
    )


def may_be_of(claim: str, pod: str) -> bool:
    """Whether the claim (`namespace/name`) is one of the pod by its name, as those of StatefulSets and of ephemeral volumes are."""
    namespace, _, name = pod.partition("/")
    of_claim, _, claim_name = claim.partition("/")
    return bool(name) and namespace == of_claim and (claim_name.endswith(f"-{name}") or claim_name.startswith(f"{name}-"))
