"""Makes pods of the descriptions in a copied text, for what they ask for: requests, node selectors and tolerations."""

from __future__ import annotations

import itertools

from schedviz.ingest.described_objects import pods_in
from schedviz.ingest.pasted_text import MAX_MESSAGES, plain
from schedviz.kube import codec
from schedviz.kube.core import Pod


def described_pods(text: str) -> dict[str, Pod]:
    """`namespace/name` -> the pod, without affinity, which descriptions lack: the first `MAX_MESSAGES`.

    A description that cannot be read is left out.
    """
    pods: dict[str, Pod] = {}
    for content in itertools.islice(pods_in(plain(text)), MAX_MESSAGES):
        try:
            pod = codec.from_dict(content)
        except ValueError:
            continue
        if isinstance(pod, Pod):
            pods[pod.key] = pod
    return pods
