"""What the Events of the files say about pending pods and their claims: notes, which explanations show with the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

from schedviz.explain.autoscalers.clauses import clauses_of_autoscaler
from schedviz.explain.doctor.differences import note
from schedviz.explain.finding import Finding
from schedviz.explain.pasted.claim_events import provisioning_failure
from schedviz.kube.claims import claim_keys
from schedviz.kube.core import Pod
from schedviz.kube.event_reasons import FAILED_BINDING, PROVISIONING_FAILED
from schedviz.kube.meta import KubeObject
from schedviz.kube.storage import StorageClass
from schedviz.trace.phrase import Phrase, phrase

KIND: Final = "event"
#: Events with a known meaning: the likely cause, and what to do.
_MEANINGS: Final[dict[str, tuple[Phrase, Phrase]]] = {
    "WaitForFirstConsumer": (
        phrase("its StorageClass binds the claim when a node is chosen for the pod, so the claim itself is not the problem"),
        phrase("check the pod's other reasons"),
    ),
    "WaitForPodScheduled": (
        phrase("its StorageClass binds the claim when a node is chosen for the pod, so the claim itself is not the problem"),
        phrase("check the pod's other reasons"),
    ),
    "ExternalProvisioning": (
        phrase("its provisioner has not created the volume yet"),
        phrase("check that the CSI driver is running, and check the log of its provisioner"),
    ),
    FAILED_BINDING: (
        phrase("no volume matches the claim, and the claim names no StorageClass that could provision one"),
        phrase("set `storageClassName`, or create a PersistentVolume that matches"),
    ),
    "TriggeredScaleUp": (
        phrase("a node was on its way at that time"),
        phrase("wait for it: `kubectl get nodes -w`; if it has not joined after 15 minutes, check the autoscaler's log"),
    ),
}


class ObjectEvent(Protocol):
    """An Event about an object."""

    @property
    def about(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def at(self) -> str: ...


def notes_of_events(events: Iterable[ObjectEvent], objects: Sequence[KubeObject]) -> Iterator[Finding]:
    """A note for each Event about a pending pod or a claim of one."""
    pending = [obj for obj in objects if isinstance(obj, Pod) and not obj.spec.node_name]
    subjects = {subject for pod in pending for subject in (f"Pod {pod.key}", *map(_claim, claim_keys(pod)))}
    classes = [obj.name for obj in objects if isinstance(obj, StorageClass)]
    for event in events:
        if event.about not in subjects:
            continue
        is_failure = event.reason == PROVISIONING_FAILED
        cause, advice = provisioning_failure(event.message, classes) if is_failure else _meaning(event)
        message = event.message.rstrip(".")
        if event.at:
            sentence = phrase(
                "event for {about} at {at}: {reason}: {message}", about=event.about, at=event.at, reason=event.reason, message=message
            )
        else:
            sentence = phrase("event for {about}: {reason}: {message}", about=event.about, reason=event.reason, message=message)
        yield note(KIND, event.about, ("API", "API"), sentence, cause, advice)


def _meaning(event: ObjectEvent) -> tuple[Phrase | None, Phrase | None]:
    """The likely cause, and what to do; of an autoscaler's event what its message says about the decisive node group or NodePool."""
    if event.reason in _MEANINGS:
        return _MEANINGS[event.reason]
    clauses = clauses_of_autoscaler(event.message)
    decisive = next((clause for clause in clauses if clause.advice_phrase is not None), next(iter(clauses), None))
    return (decisive.headline_phrase, decisive.advice_phrase) if decisive is not None else (None, None)


def _claim(key: str) -> str:
    return f"PersistentVolumeClaim {key}"
