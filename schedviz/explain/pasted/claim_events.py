"""What the event of a claim says whose volume could not be provisioned, and which claims are those of a pod."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from schedviz.explain.explanation import Clause
from schedviz.explain.messages.parsed_message import PROVISIONER, Message, ParsedMessage
from schedviz.kube.event_reasons import NO_VOLUME_MESSAGE
from schedviz.kube.text_facts import FailedClaim, TextFact
from schedviz.trace.phrase import Phrase, phrase, some

#: How the scheduler's reasons begin about a pod whose claim has no volume.
WITHOUT_VOLUME: Final = ("node(s) didn't find available persistent volumes", "pod has unbound immediate PersistentVolumeClaims")
#: Upstream: the same
_TAKEN: Final = re.compile(r'volume "?(?P<volume>[a-z0-9.-]{1,253})"? already bound to a different claim', re.IGNORECASE)
_NOT_ALLOWED: Final = re.compile(r"unauthori[sz]ed|not authorized|access ?denied|permission|forbidden", re.IGNORECASE)
_NO_MORE: Final = re.compile(r"quota|limit ?exceeded|exceeds? the|out of capacity|insufficient capacity|no space", re.IGNORECASE)
#: The end of the name of a StatefulSet's pod.
_ORDINAL: Final = re.compile(r"-\d{1,5}\Z")
#: Upstream: pkg/controller/volume/persistentvolume/pv_controller.go provisionClaimOperation, with the API server's message.
_NO_CLASS: Final = re.compile(r'storageclass(?:\.storage\.k8s\.io)? "(?P<name>[^"]{1,253})" not found', re.IGNORECASE)


def provisioning_failure(message: str, classes: Sequence[str] = (), *, is_of_template: bool = False) -> tuple[Phrase, Phrase]:
    """The likely cause of a ProvisioningFailed event, and what to do. `classes`: the StorageClasses that are known to exist.

    `is_of_template`: as in `missing_class`.
    """
    missing = _NO_CLASS.search(message)
    if missing is None:
        return _why_not(message)
    return missing_class(missing["name"].replace("`", "'"), classes, is_of_template=is_of_template)


def _why_not(message: str) -> tuple[Phrase, Phrase]:
    if NO_VOLUME_MESSAGE in message.lower():
        return (
            phrase("no PersistentVolume matches it, and it names no StorageClass, nor is one the default"),
            phrase(
                "recreate the claim with a `storageClassName` (`kubectl get storageclass` lists them), make one of them the default, or "
                "create a PersistentVolume that matches the claim"
            ),
        )
    if (taken := _TAKEN.search(message)) is not None:
        return (
            phrase("it names the volume `{volume}`, which is bound to another claim", volume=taken["volume"]),
            phrase("recreate the claim without `volumeName`, or with the name of a free volume: `kubectl get pv`"),
        )
    if _NOT_ALLOWED.search(message):
        return (
            phrase("its provisioner is not allowed to create the volume"),
            phrase("grant the provisioner's account the permission that the message names"),
        )
    if _NO_MORE.search(message):
        return phrase("a storage limit is reached"), phrase("free up storage, or raise the limit that the message names")
    return (
        phrase("its provisioner cannot create the volume"),
        phrase("compare the message with the claim's StorageClass, and check the log of its provisioner"),
    )


def missing_class(name: str, classes: Sequence[str] = (), *, is_of_template: bool = False) -> tuple[Phrase, Phrase]:
    """The same for a StorageClass that does not exist. `classes` as in `provisioning_failure`.

    `is_of_template`: a StatefulSet makes the claim, from a template that cannot be changed, and would make it again as it is.
    """
    cause = phrase("StorageClass `{name}` does not exist", name=name)
    if is_of_template:
        return cause, phrase(
            (
                "create StorageClass `{name}`; to use an existing class instead (`kubectl get storageclass`), change "
                "`volumeClaimTemplates`, and recreate the StatefulSet (`kubectl delete statefulset --cascade=orphan`) "
                "and the claim"
            ),
            name=name,
        )
    if classes and name not in classes:
        advice = "create StorageClass `{name}`, or recreate the claim with an existing class: {classes}"
        return cause, phrase(advice, name=name, classes=some(classes))
    return cause, phrase(
        ("create StorageClass `{name}`, or recreate the claim with an existing class: `kubectl get storageclass` lists them"), name=name
    )


def may_be_of(claim: str, pod: str) -> bool:
    """Whether the claim (`namespace/name`) is one of the pod by its name, as those of StatefulSets and of ephemeral volumes are."""
    namespace, _, name = pod.partition("/")
    of_claim, _, claim_name = claim.partition("/")
    return bool(name) and namespace == of_claim and (claim_name.endswith(f"-{name}") or claim_name.startswith(f"{name}-"))


def is_of_stateful_set(claim: str, pod: str) -> bool:
    """Whether the claim has the name that a StatefulSet gives to the claims of its pod: `data-kafka-2` of `kafka-2`."""
    return _ORDINAL.search(pod) is not None and may_be_of(claim, pod) and claim.endswith(f"-{pod.rpartition('/')[2]}")


def failed_claims_of(pod: str, messages: Sequence[ParsedMessage], facts: Sequence[TextFact], *, is_only: bool) -> list[FailedClaim]:
    """The claims of a pod that have no volume.

    `is_only`: the text has messages about no other pod, so that the only claim is one of this pod.
    """
    failed = [fact for fact in facts if isinstance(fact, FailedClaim)]
    named = [each for each in failed if each.claim and may_be_of(each.claim, pod)]
    waits = any(clause.reason.startswith(WITHOUT_VOLUME) for message in messages for clause in message.message.clauses)
    claims = {each.claim for each in failed} - {"", pod}
    # What a text names without its namespace may be in any.
    namespaces = {key.partition("/")[0] for key in (*claims, pod)} - {"", "default"}
    if named or not is_only or not waits or len(claims) > 1 or len(namespaces) > 1:
        return named
    return failed


def messages_about_claims(failed: Sequence[FailedClaim], age: Callable[[str], float]) -> list[ParsedMessage]:
    """The newest failure of each claim of which the text has no pod, as a message about the claim."""
    newest: dict[str, FailedClaim] = {}
    for each in sorted(failed, key=lambda each: age(each.at)):
        newest.setdefault(each.claim, each)
    return [_about_claim(each) for each in newest.values()]


def _about_claim(failed: FailedClaim) -> ParsedMessage:
    cause, advice = provisioning_failure(failed.message)
    why = phrase("the claim has no volume, so pods that use it stay pending: {cause}", cause=cause)
    clause = Clause(0, failed.message, PROVISIONER, "", ()).with_phrases(headline=why, advice=advice)
    return ParsedMessage(failed.claim, failed.at, failed.message, Message(0, (clause,)))
