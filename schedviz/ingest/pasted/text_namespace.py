"""`contents_of`: what a copied text says, in the namespace that its heading or its command names."""

from __future__ import annotations

import re
from typing import Final, NamedTuple, TypeVar

import msgspec

from schedviz.ingest.kubectl.described_storage import TextStorage, storage_in
from schedviz.ingest.pasted.described_pods import described_pods
from schedviz.ingest.pasted.fact_reader import facts_in
from schedviz.ingest.pasted.pasted_text import messages_in
from schedviz.ingest.pasted.plain_text import plain
from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.kube.core import Pod
from schedviz.kube.storage import PersistentVolumeClaim
from schedviz.kube.text_facts import FailedClaim, PodFact, TextFact

_Object = TypeVar("_Object", Pod, PersistentVolumeClaim)
_NAMESPACE: Final = re.compile(r"^Namespace:[ \t]++(?P<namespace>[a-z0-9][a-z0-9-]{0,62})[ \t]*+$", re.MULTILINE)
_NAME: Final = re.compile(r"^Name:[ \t]", re.MULTILINE)
#: A command whose output, a table without the column NAMESPACE, follows it.
_COMMAND: Final = re.compile(
    r"^[ \t`]*+(?:[^\n|]{0,80}?[$#%>;][ \t]*+)?(?:kubectl|oc|k)[ \t](?=[^\n|]{0,200}?\bget[ \t]++(?:pods?|po|events?|ev)\b)"
    r"[^\n|]{0,200}?(?:-n|--namespace)(?:[ \t]++|=)(?P<namespace>[a-z0-9][a-z0-9-]{0,62})[^\n]{0,200}+\n(?:[ \t]*+\n){0,9}"
    r"(?:NAME[ \t]|LAST SEEN[ \t]|[a-z0-9][a-z0-9.-]*+[ \t]++\d++/\d++[ \t])",
    re.MULTILINE,
)
#: The same of a description without its head, such as that of an owner of pods.
_DESCRIBE_COMMAND: Final = re.compile(
    r"^[ \t`]*+(?:[^\n|]{0,80}?[$#%>;][ \t]*+)?(?:kubectl|oc|k)[ \t](?=[^\n|]{0,200}?\bdescribe[ \t])"
    r"[^\n|]{0,200}?(?:-n|--namespace)(?:[ \t]++|=)(?P<namespace>[a-z0-9][a-z0-9-]{0,62})[^\n]{0,200}+\n(?:[ \t]*+\n){0,9}"
    r"(?:\.\.\.|\[|Events:)",
    re.MULTILINE,
)
#: A row of a table of events without the column NAMESPACE, whose message names the namespace of its pod.
_ASSIGNED: Final = re.compile(
    r"^[ \t]*+(?:\d++[smhdy])++[ \t]++Normal[ \t]++Scheduled[ \t]++[Pp]od/(?P<name>\S++)[ \t][^\n]{0,200}?"
    r"Successfully assigned (?P<namespace>[a-z0-9][a-z0-9-]{0,62})/(?P=name) ",
    re.MULTILINE,
)
#: Of what a text names without its namespace.
_DEFAULT: Final = "default/"
#: What names the namespace of each pod.
_EACH: Final = re.compile(r"^[ \t]*+NAMESPACE[ \t]|\bdefault/", re.MULTILINE)


class TextContents(NamedTuple):
    """What is read from a copied text."""

    messages: list[PodMessage]
    facts: list[TextFact]
    #: The described pods, by `namespace/name`.
    pods: dict[str, Pod]
    storage: TextStorage


def contents_of(text: str) -> TextContents:
    """The messages, facts, pods and volumes in a text. What it names without a namespace is in that of its heading or command."""
    shown = plain(text)
    found = TextContents(messages_in(text), facts_in(text), described_pods(text), storage_in(shown))
    return in_namespace(found, namespace_of(shown))


def namespace_of(text: str) -> str:
    """The namespace in the heading or the commands of a text; "": it names none, or several, or each pod has its own."""
    if _EACH.search(text) is not None:
        return ""
    headings = list(_NAMESPACE.finditer(text))
    name = _NAME.search(text)
    namespaces = {each["namespace"] for each in headings} | {
        each["namespace"] for pattern in (_COMMAND, _DESCRIBE_COMMAND, _ASSIGNED) for each in pattern.finditer(text)
    }
    if len(namespaces) != 1:
        return ""
    is_heading = bool(headings) and (name is None or headings[0].start() < name.start())
    return namespaces.pop() if is_heading or not headings else ""


def in_namespace(reading: TextContents, namespace: str) -> TextContents:
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
