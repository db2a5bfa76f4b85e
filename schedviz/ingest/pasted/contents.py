"""`contents_of`: what a copied text says, in the namespace that its heading or its command names."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeVar

import msgspec

from schedviz.ingest.kubectl.described_storage import TextStorage, storage_in
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.described_pods import described_pods
from schedviz.ingest.pasted.fact_reader import facts_in
from schedviz.ingest.pasted.pasted_text import messages_in
from schedviz.ingest.pasted.text_namespace import namespace_of
from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.kube.core import Pod
from schedviz.kube.storage import PersistentVolumeClaim
from schedviz.kube.text_facts import FailedClaim, PodFact, TextFact

_Object = TypeVar("_Object", Pod, PersistentVolumeClaim)
#: Of what a text names without its namespace.
_DEFAULT: Final = "default/"


class TextContents(NamedTuple):
    """What is read from a copied text."""

    messages: list[PodMessage]
    facts: list[TextFact]
    #: The described pods, by `namespace/name`.
    pods: dict[str, Pod]
    storage: TextStorage


def contents_of(text: str) -> TextContents:
    """The messages, facts, pods and volumes in a text. What it names without a namespace is in that of its heading or command."""
    copied = CopiedText(text)
    found = TextContents(messages_in(copied), facts_in(copied), described_pods(copied), storage_in(copied.plain))
    return _in_namespace(found, namespace_of(copied.plain))


def _in_namespace(reading: TextContents, namespace: str) -> TextContents:
    """The contents, with what is in no namespace of its own in this one; "": as they are."""
    if not namespace:
        return reading

    def moved(key: str) -> str:
        return f"{namespace}/{key.removeprefix(_DEFAULT)}" if key.startswith(_DEFAULT) else key

    def moved_fact(fact: TextFact) -> TextFact:
        if isinstance(fact, FailedClaim):
            return msgspec.structs.replace(fact, claim=moved(fact.claim))
        return msgspec.structs.replace(fact, pod=moved(fact.pod)) if isinstance(fact, PodFact) else fact

    storage = msgspec.structs.replace(
        reading.storage,
        claims=tuple(_moved(claim, namespace) for claim in reading.storage.claims),
        used_by={moved(claim): tuple(map(moved, pods)) for claim, pods in reading.storage.used_by.items()},
    )
    return TextContents(
        [msgspec.structs.replace(each, pod=moved(each.pod)) for each in reading.messages],
        [moved_fact(fact) for fact in reading.facts],
        {moved(key): _moved(pod, namespace) for key, pod in reading.pods.items()},
        storage,
    )


def _moved(each: _Object, namespace: str) -> _Object:
    if each.metadata.namespace != "default":
        return each
    return msgspec.structs.replace(each, metadata=msgspec.structs.replace(each.metadata, namespace=namespace))
