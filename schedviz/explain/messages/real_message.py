"""Compares the message that the pod's own scheduler wrote with the simulated one, and explains a difference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.plugins import names
from schedviz.explain.details.pod_requests import with_requests
from schedviz.explain.explanation import Clause, Explanation
from schedviz.explain.messages.main_reason import is_of_control_plane, most_likely_first
from schedviz.explain.messages.message import parse_message, said_clauses
from schedviz.explain.messages.parsed_message import NotAMessageError
from schedviz.explain.messages.pinned_node import message_about
from schedviz.explain.messages.reason_releases import in_newest_words
from schedviz.explain.queue_place import is_name_only
from schedviz.trace.phrase import Phrase, counted, phrase, some


class _Missing(NamedTuple):
    """A reason that means that an object was not found, its kind, and what kubectl calls it and what belongs to it."""

    reason: re.Pattern[str]
    kind: str
    resources: str


_STORAGE: Final = "pvc,pv,storageclasses,csinodes"
_DEVICES: Final = "resourceclaims,resourceslices,deviceclasses"
#: What the explanation of a pod lacks of which a SIGUSR2 dump has only the name.
PODS: Final = "Pod"
#: What it lacks if the nodes that match the pod's node selector may be those that are not in the files.
NODES: Final = "Node"
_EVERYTHING: Final = "nodes,pods,pv,pvc,sc,events"
_LAST: Final = frozenset({names.VOLUME_BINDING, names.VOLUME_ZONE, names.DYNAMIC_RESOURCES})
_MISSING: Final = (
    _Missing(re.compile(r'persistentvolumeclaim ".*" not found'), "PersistentVolumeClaim", _STORAGE),
    _Missing(re.compile(r'persistentvolume ".*" not found'), "PersistentVolume", _STORAGE),
    _Missing(re.compile(r'storageclass\.storage\.k8s\.io ".*" not found'), "StorageClass", _STORAGE),
    _Missing(re.compile(r'could not find ResourceClaim ".*"'), "ResourceClaim", _DEVICES),
)


def what_to_add(kind: str) -> str:
    """The command that prints the objects of a kind that the files lack."""
    if kind == NODES:
        return "kubectl get nodes -o json"
    resources = _EVERYTHING if kind == PODS else next(missing.resources for missing in _MISSING if missing.kind == kind)
    return f"kubectl get {resources} -A -o json"


def without_missing(simulation: Simulation, explanation: Explanation, dry_run: DryRun) -> Explanation:
    """The explanation without conclusions from objects that the files lack: their absence says nothing about the cluster.

    What the pod's own scheduler wrote is explained instead. Without a disagreement between the two, the explanation is returned as it is.
    """
    missing = _missing(simulation, explanation)
    if missing is None and (clauses := _clauses_about_missing_nodes(explanation, dry_run)):
        return _with_clauses_of_message(explanation, clauses, lacks=NODES)
    if missing is None or not explanation.disagreement:
        return explanation
    clauses = with_requests(said_clauses(explanation.said), dry_run.pod)
    # Filters for volumes and devices come last: the nodes that they reject have passed the others.
    clauses = tuple(sorted(clauses, key=lambda clause: clause.plugin not in _LAST))
    return _with_clauses_of_message(explanation, clauses, lacks=missing.kind)


def _clauses_about_missing_nodes(explanation: Explanation, dry_run: DryRun) -> tuple[Clause, ...]:
    """The reasons that the scheduler wrote, if no node of the files matches the pod's node selector, but one that they lack may.

    Such a node was rejected for something else, which is the answer. Empty: that is not so.
    """
    if explanation.standing != "pending" or explanation.fits or any(each.plugin != names.NODE_AFFINITY for each in explanation.clauses):
        return ()
    message = message_about(explanation.said, dry_run.pod.pod)
    if message is None or message.nodes <= explanation.nodes or message.conclusion_phrase is None or not explanation.clauses:
        return ()
    others = [clause for clause in message.clauses if clause.plugin != names.NODE_AFFINITY and not is_of_control_plane(clause)]
    if not others or len(others) == len(message.clauses):
        return ()
    first, *rest = message.clauses
    if message.first_phrase is not None and not first.advice:
        first = msgspec.structs.replace(first, advice=message.first, advice_phrase=message.first_phrase)
    return (first, *rest)


def explained_by_name(explanation: Explanation) -> Explanation:
    """The explanation of a pod of which a SIGUSR2 dump has only the name: what its own scheduler wrote, if the log has that."""
    clauses = most_likely_first(said_clauses(explanation.said))
    if not clauses:
        return explanation
    # No plugin evaluated it truly, and no pod equals it for sure.
    explained = msgspec.structs.replace(explanation, fits=(), alike=())
    return _with_clauses_of_message(explained, clauses, lacks=PODS)


def _with_clauses_of_message(explanation: Explanation, clauses: tuple[Clause, ...], *, lacks: str) -> Explanation:
    return msgspec.structs.replace(
        explanation,
        # Its own scheduler has tried it.
        standing="pending" if explanation.standing == "gated" else explanation.standing,
        message="",
        clauses=clauses,
        main=next(iter(clauses), None),
        matrix=(),
        outlooks={},
        room=(),
        lacks=lacks,
    ).with_phrases(disagreement=None)


def disagreement(simulation: Simulation, explanation: Explanation, message: str) -> Phrase | None:
    """What would explain that the recorded message differs from `message`; None if they agree or cannot be compared.

    `message` is without preemption's part, which may differ. A message that this session's own scheduler wrote is not compared.
    """
    queue_place = explanation.queue
    if not explanation.nodes or is_name_only(queue_place) or (queue_place is not None and queue_place.attempts):
        return None
    try:
        real = parse_message(explanation.said)
    except NotAMessageError:
        return None
    recorded = " ".join(explanation.said.split())
    if recorded == message or (message and not explanation.fits and recorded.startswith(message.rstrip("."))):
        return None
    if not real.nodes and explanation.fits:
        # A node was found, and the error is that of a later step, such as a volume that is not provisioned in time.
        return None
    if (missing := _missing(simulation, explanation)) is not None:
        return phrase("the files contain no {kind} objects", kind=missing.kind)
    if real.loses_nodes and explanation.fits:
        return phrase(
            "that message gives no reason for {lost} of its {real}, and the pod fits on {fits}: the scheduler lost nodes from its list, as "
            "kube-scheduler 1.18.0 to 1.18.6 does (kubernetes issue 91601); restart it",
            lost=real.unaccounted,
            real=counted(real.nodes, "{count} node", "{count} nodes"),
            fits=some(explanation.fits),
        )
    if real.nodes != explanation.nodes:
        return phrase(
            (
                "that message counts {real}, but the files have {nodes}: the files are incomplete, nodes have been added or "
                "removed since, or the scheduler's cache differs from the API"
            ),
            real=counted(real.nodes, "{count} node", "{count} nodes"),
            nodes=explanation.nodes,
        )
    if not explanation.fits and _are_the_same(real.clauses, explanation.clauses, simulation.settings.release):
        return None
    return phrase(
        (
            "{difference}: the cluster has changed since that message, or the release or configuration of its scheduler "
            "differs from the simulated {release}"
        ),
        difference=_difference(real.clauses, explanation),
        release=simulation.settings.release,
    )


def _are_the_same(real: Sequence[Clause], ours: Sequence[Clause], release: str) -> bool:
    """Whether the reasons are the same for as many nodes, in any order, and in the words of another release if the message is of one."""
    if _counted(real) == _counted(ours):
        return True
    if not any(clause.releases and release not in clause.releases for clause in real):
        return False
    return _counted(real, in_newest_words) == _counted(ours, in_newest_words)


def _counted(clauses: Sequence[Clause], word: Callable[[str], str] = str) -> Counter[str]:
    """The number of nodes for each reason, as `word` puts it."""
    counts: Counter[str] = Counter()
    for clause in clauses:
        counts[word(clause.reason)] += clause.count
    return counts


def _difference(real: Sequence[Clause], explanation: Explanation) -> Phrase:
    """What only one of the two messages has."""
    if explanation.fits:
        return phrase("the pod fits on a node in the simulation")
    theirs = {f"{clause.count} {clause.reason}" for clause in real}
    ours = {f"{clause.count} {clause.reason}" for clause in explanation.clauses}
    only_theirs, only_ours = some(sorted(theirs - ours)), some(sorted(ours - theirs))
    if theirs <= ours <= theirs:
        return phrase("the wording differs")
    if theirs <= ours:
        return phrase("only in the simulation: {here}", here=only_ours)
    if ours <= theirs:
        return phrase("only in that message: {there}", there=only_theirs)
    return phrase("that message counts {there}, and the simulation counts {here}", there=only_theirs, here=only_ours)


def _missing(simulation: Simulation, explanation: Explanation) -> _Missing | None:
    informers = simulation.scheduler.state.informers
    reasons = [clause.reason for clause in explanation.clauses]
    if explanation.queue is not None and explanation.queue.gating_reason:
        reasons.append(explanation.queue.gating_reason)
    for reason in reasons:
        for missing in _MISSING:
            if missing.reason.fullmatch(reason) and not informers.list(missing.kind):
                return missing
    return None
