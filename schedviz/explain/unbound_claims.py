"""Why a pod's claim has no volume, as far as the objects say: its StorageClass does not exist, or its binding has not ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.framework.plugins import names
from schedviz.explain.explanation import Clause
from schedviz.explain.pasted.claim_events import is_of_stateful_set, missing_class
from schedviz.kube.claims import BIND_COMPLETED, claim_keys, class_of_claim
from schedviz.kube.core import Pod
from schedviz.kube.storage import PersistentVolumeClaim
from schedviz.trace.phrase import phrase

_UNBOUND: Final = "pod has unbound immediate PersistentVolumeClaims"


def with_missing_class(simulation: Simulation, pod: Pod, clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """The clauses, of which that about an unbound claim names the StorageClass if it is missing, or the
    volume that the claim is not bound to yet.

    Only if there are StorageClasses: files without any say nothing about them.
    """
    if not any(clause.plugin == names.VOLUME_BINDING and clause.reason.startswith(_UNBOUND) for clause in clauses):
        return tuple(clauses)
    informers = simulation.scheduler.state.informers
    classes = sorted(storage_class.metadata.name for storage_class in informers.list("StorageClass"))
    stored = (informers.by_key("PersistentVolumeClaim", key) for key in claim_keys(pod))
    claims = [claim for claim in stored if isinstance(claim, PersistentVolumeClaim)]
    half = next((claim for claim in claims if claim.spec.volume_name and BIND_COMPLETED not in claim.metadata.annotations), None)
    if half is not None:
        return tuple(_not_bound_yet(clause, half) if clause.reason.startswith(_UNBOUND) else clause for clause in clauses)
    unbound = (claim for claim in claims if not claim.spec.volume_name)
    claim = next((claim for claim in unbound if (name := class_of_claim(claim)) and name not in classes), None)
    if claim is None or not classes:
        return tuple(clauses)
    cause, advice = missing_class(class_of_claim(claim), classes, is_of_template=is_of_stateful_set(claim.key, pod.key))
    headline = phrase("the claim `{claim}` has no volume: {cause}", claim=claim.key, cause=cause)
    return tuple(
        msgspec.structs.replace(clause, causes=()).with_phrases(headline=headline, advice=advice)
        if clause.reason.startswith(_UNBOUND)
        else clause
        for clause in clauses
    )


def _not_bound_yet(clause: Clause, claim: PersistentVolumeClaim) -> Clause:
    """The clause about a claim that names a volume and is not bound to it: where the volume can be used does not matter yet."""
    headline = phrase(
        ("the claim `{claim}` names the volume `{volume}` but is not bound to it"), claim=claim.key, volume=claim.spec.volume_name
    )
    advice = phrase(
        (
            "check whether the claim has the annotation {annotation}, which kube-controller-manager sets once the claim is "
            "bound; an edited file may lack it"
        ),
        annotation=BIND_COMPLETED,
    )
    return msgspec.structs.replace(clause, causes=(), details=()).with_phrases(headline=headline, advice=advice)
