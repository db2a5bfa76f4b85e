"""Makes pods of the descriptions and the objects in a copied text, for what they ask for: requests, node selectors and tolerations."""

from __future__ import annotations

import itertools
import re
from typing import Any, Final

import msgspec

from schedviz.ingest.kubectl.described_objects import pod_without_head, pods_in
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.pasted_text import MAX_MESSAGES
from schedviz.ingest.pasted.pod_objects import pod_of
from schedviz.ingest.pasted.pod_positions import PodPositions
from schedviz.kube import codec
from schedviz.kube.core import Pod

#: A line of each description.
_SELECTS: Final = re.compile(r"^Node-Selectors:[ \t]", re.MULTILINE)


def described_pods(text: CopiedText) -> dict[str, Pod]:
    """`namespace/name` -> the pod; descriptions lack affinity. The first `MAX_MESSAGES`.

    A description that cannot be read is left out. "" -> the pod of a description without its beginning, where its name is;
    it has its name, too, if something else in the text says it.
    """
    if text.items:
        pods_of_items = (_pod(item) for item in text.items if pod_of(item) is not None)
        pods = {pod.key: pod for pod in itertools.islice((pod for pod in pods_of_items if pod is not None), MAX_MESSAGES)}
        return pods or _embedded(text)
    shown = text.plain
    pods = {pod.key: pod for content in itertools.islice(pods_in(shown), MAX_MESSAGES) if (pod := _pod(content)) is not None}
    pods = pods or _embedded(text)
    content = None if pods else pod_without_head(shown)
    headless = None if content is None else _pod(content)
    if headless is None:
        return pods
    starts = [match.start() for match in _SELECTS.finditer(shown)]
    named = PodPositions(shown).pod_before(starts[0]) if len(starts) == 1 else ""
    return {"": headless, named: headless}


def _embedded(text: CopiedText) -> dict[str, Pod]:
    """The Pod objects among the text that have no node."""
    pods = [pod for content in text.objects_of("Pod") if (pod := _pod(content)) is not None]
    return {pod.key: pod for pod in pods[:MAX_MESSAGES] if pod.metadata.name and not pod.spec.node_name}


def _in_namespace(pod: Pod) -> Pod:
    metadata = msgspec.structs.replace(pod.metadata, namespace=pod.metadata.namespace or "default")
    return msgspec.structs.replace(pod, metadata=metadata)


def _pod(content: msgspec.Raw | dict[str, Any]) -> Pod | None:
    try:
        pod = codec.from_dict(msgspec.json.decode(content) if isinstance(content, msgspec.Raw) else content)
    except ValueError:
        return None
    return _in_namespace(pod) if isinstance(pod, Pod) else None
