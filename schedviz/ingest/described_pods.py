"""Makes pods of the descriptions in a copied text, for what they ask for: requests, node selectors and tolerations."""

from __future__ import annotations

import itertools
from typing import Any

from schedviz.ingest.described_objects import pod_without_head, pods_in
from schedviz.ingest.pasted_text import MAX_MESSAGES, plain
from schedviz.kube import codec
from schedviz.kube.core import Pod


def described_pods(text: str) -> dict[str, Pod]:
    """`namespace/name` -> the pod, without affinity, which descriptions lack: the first `MAX_MESSAGES`.

    A description that cannot be read is left out. "" -> the pod of a description without its beginning, where its name is.
    """
    text = plain(text)
    pods = {pod.key: pod for content in itertools.islice(pods_in(text), MAX_MESSAGES) if (pod := _pod(content)) is not None}
    content = None if pods else pod_without_head(text)
    headless = None if content is None else _pod(content)
    return pods if headless is None else {"": headless}


def _pod(content: dict[str, Any]) -> Pod | None:
    try:
        pod = codec.from_dict(content)
    except ValueError:
        return None
    return pod if isinstance(pod, Pod) else None
