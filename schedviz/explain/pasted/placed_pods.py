"""What to read about a pod that has a node already, why it does not run, and about one that was deleted."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from schedviz.explain.meaning import Named
from schedviz.explain.messages.parsed_message import ParsedMessage
from schedviz.explain.pasted.pod_answer import PodAnswer
from schedviz.kube.pod_status import PLACED, PULL_REASONS, STATUS_OF_FAILED
from schedviz.kube.text_facts import PlacedPod, PodProgress, PodWarning, TextFact
from schedviz.trace.phrase import Phrase, phrase

#: What needs no advice: the pod runs, or has run.
_FINE: Final = frozenset({"Running", "Succeeded"})
#: How the kubelet's messages begin that no container starts before, and those about attaching.
_OF_ATTACHING: Final = ("Multi-Attach error for volume ", "AttachVolume.Attach failed ")
_OF_VOLUMES: Final = (
    *_OF_ATTACHING,
    "MountVolume.",
    "MapVolume.",
    "Unable to attach or mount",
    "Unable to mount",
    "Failed to create pod sandbox",
)
#: The kubelet's event about an image, and what the registry says.
_PULL: Final = re.compile(r'Failed to pull image "(?P<image>[^"\s`]{1,300})":(?P<why>.*)', re.DOTALL)
_NOT_FOUND: Final = re.compile(r"not ?found|manifest unknown|does not exist", re.IGNORECASE)
_REFUSED: Final = re.compile(r"unauthorized|denied|forbidden|authentication required", re.IGNORECASE)


def scheduled(placed: PlacedPod, warnings: Sequence[PodWarning]) -> PodAnswer:
    """About a pod that was placed after its messages. `warnings`: those that are not about scheduling."""
    sentence = phrase("The pod is already scheduled to `{node}`, so its earlier messages no longer apply.", node=placed.node)
    if placed.at:
        sentence = phrase(
            "The pod is already scheduled to `{node}` ({when}), so its earlier messages no longer apply.", node=placed.node, when=placed.at
        )
    return PodAnswer.of(placed.pod, "scheduled", sentence, note=_failure(warnings) if warnings else None)


def started(said: ParsedMessage, facts: Sequence[TextFact], age: Callable[[str], float]) -> PodAnswer | None:
    """About a pod whose volume was attached, or whose container started, after what the kubelet said; None: neither has happened."""
    if not said.at or not said.text.startswith(_OF_VOLUMES):
        return None
    progress = [fact for fact in facts if isinstance(fact, PodProgress) and fact.pod == said.pod]
    after = [each for each in progress if each.at and age(each.at) < age(said.at)]
    begun = next((each for each in after if each.reason == "Started"), None)
    if begun is not None:
        sentence = phrase("A container of the pod has started since ({when}), so the earlier message no longer applies.", when=begun.at)
    elif after and said.text.startswith(_OF_ATTACHING):
        sentence = phrase("The volume has been attached since ({when}), so the earlier message no longer applies.", when=after[-1].at)
    else:
        return None
    return PodAnswer.of(said.pod, "scheduled", sentence)


def deleted(pod: str, at: str) -> PodAnswer:
    """About a pod that was deleted after its messages."""
    sentence = phrase("The pod was deleted, so its earlier messages no longer apply.")
    if at:
        sentence = phrase("The pod was deleted ({when}), so its earlier messages no longer apply.", when=at)
    return PodAnswer.of(pod, "deleted", sentence)


def being_deleted(pod: str) -> PodAnswer:
    """About a pod that is being deleted by its scheduler's newest message, after others."""
    sentence = phrase("The pod is being deleted, so its earlier messages no longer apply.")
    advice = phrase("if the pod is not removed, check its finalizers")
    return PodAnswer.of(pod, "deleted", sentence, advice)


def _failure(warnings: Sequence[PodWarning]) -> Phrase:
    """Why a pod that has a node fails: an image that cannot be pulled explains what follows; otherwise its newest warning."""
    failed = next((match for warning in reversed(warnings) if (match := _PULL.match(warning.message)) is not None), None)
    if failed is None:
        newest = warnings[-1]
        return phrase(
            "Its newest warning is not about scheduling: {message} ({reason}).", reason=newest.reason, message=newest.message.rstrip(". ")
        )
    if _NOT_FOUND.search(failed["why"]) is not None:
        return phrase("It now fails for another reason: the image `{image}` was not found.", image=failed["image"])
    if _REFUSED.search(failed["why"]) is not None:
        return phrase("It now fails for another reason: the registry refuses access to the image `{image}`.", image=failed["image"])
    return phrase("It now fails for another reason: the image `{image}` could not be pulled.", image=failed["image"])


def not_running(pod: str, said: str) -> PodAnswer:
    """About a pod that has a node and waits for something else, by its object."""
    node, _, why = said.removeprefix(PLACED).partition("; ")
    reason, _, message = why.partition(": ")
    values: dict[str, str | int | Phrase] = {"node": node, "reason": reason, "message": message}
    if reason == "PodInitializing" or not reason:
        sentence = phrase("The pod is not waiting for the scheduler: it is on {node}, and its containers have not started.", **values)
    elif message:
        sentence = phrase(
            "The pod is not waiting for the scheduler: it is on {node}, and a container waits: {reason} ({message}).", **values
        )
    else:
        sentence = phrase("The pod is not waiting for the scheduler: it is on {node}, and a container waits: {reason}.", **values)
    advice = _advice_about_containers(pod, reason)
    return PodAnswer.of(pod, "scheduled", sentence, advice)


def not_running_by_table(pod: str, status: str) -> PodAnswer:
    """The same by the column STATUS of a table, which may have the node after it."""
    status, _, node = status.partition(" ")
    if STATUS_OF_FAILED.fullmatch(status):
        return _failed(pod, status, node.strip("()"))
    sentence = phrase("The pod is not waiting for the scheduler: only a pod that has a node has the status {status}.", status=status)
    if status in _FINE:
        return PodAnswer.of(pod, "scheduled", sentence)
    advice = _advice_about_containers(pod, status.removeprefix("Init:"))
    return PodAnswer.of(pod, "scheduled", sentence, advice)


def _failed(pod: str, status: str, node: str) -> PodAnswer:
    """About a pod that the kubelet rejected or evicted."""
    where = phrase("`{node}`", node=node) if node else phrase("the node")
    if status == "Evicted":
        sentence = phrase("The pod is not waiting for the scheduler: the kubelet of {where} evicted the pod.", where=where)
    else:
        sentence = phrase(
            "The pod is not waiting for the scheduler: the kubelet of {where} rejected the pod ({status}).",
            where=where,
            status=status,
        )
    advice = phrase(
        "read why in the pod's status: `kubectl describe pod{pod}`. Then delete the pod; a controller creates another one",
        pod=Named(pod=pod).values["pod"],
    )
    return PodAnswer.of(pod, "scheduled", sentence, advice)


def _advice_about_containers(pod: str, reason: str) -> Phrase:
    """What to do about a pod that has a node and does not run."""
    name = Named(pod=pod).values["pod"]
    if reason in PULL_REASONS:
        return phrase(
            "check the name and tag of the image, the registry, and the pod's `imagePullSecrets`; `kubectl describe pod{pod}` shows the "
            "kubelet's events",
            pod=name,
        )
    if reason == "CrashLoopBackOff":
        return phrase("read why the container ended: `kubectl logs{pod} --previous`", pod=name)
    return phrase("read the kubelet's events: `kubectl describe pod{pod}`", pod=name)
