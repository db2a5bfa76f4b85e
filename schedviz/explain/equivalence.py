"""Groups pods with equal scheduling requirements: what holds for one holds for all."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from schedviz.kube.codec import enc_hook
from schedviz.kube.core import Pod
from schedviz.kube.volumes import Volume

_encoder = msgspec.json.Encoder(enc_hook=enc_hook, order="deterministic")


def equivalence_key(pod: Pod) -> bytes:
    """Everything that decides where a pod may run: its namespace, labels and spec. Equal for the replicas of one template.

    A claim of one StatefulSet replica distinguishes it, as it should, because its volume may be elsewhere. Names of volumes
    do not (`kube-api-access-x7k2p` differs in every replica).
    """
    volumes = tuple(unnamed for volume in pod.spec.volumes if (unnamed := msgspec.structs.replace(volume, name="")) != Volume())
    spec = msgspec.structs.replace(pod.spec, volumes=volumes, node_name="")
    return _encoder.encode([pod.namespace, pod.metadata.labels, spec])


def groups(pods: Iterable[Pod]) -> list[list[Pod]]:
    """The pods by their requirements, ordered by each group's first pod."""
    by_equivalence_key: dict[bytes, list[Pod]] = {}
    for pod in pods:
        by_equivalence_key.setdefault(equivalence_key(pod), []).append(pod)
    return list(by_equivalence_key.values())
