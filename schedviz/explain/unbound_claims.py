"""Why a pod's claim has no volume, as far as the objects say: its StorageClass does not exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.framework.plugins import names
from schedviz.explain.claim_events import is_of_stateful_set, missing_class
from schedviz.explain.explanation import Clause
from schedviz.kube.claims import claim_keys, class_of_claim
from schedviz.kube.core import Pod
from schedviz.kube.storage import PersistentVolumeClaim
from schedviz.trace.phrase import phrase

_UNBOUND: Final = "pod has unbound immediate PersistentVolumeClaims"


def with_missing_class(simulation: Simulation, pod: Pod, clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """The clauses, of which that about an unbound claim names the StorageClass if it is missing.

    Only if there are StorageClasses: files without any say nothing about them.
    """
    if not any(clause.plugin == names.VOLUME_BINDING and clause.reason.startswith(_UNBOUND) for clause in clauses):
        return tuple(clauses)
    informers = simulation.scheduler.state.informers
    classes = sorted(storage_class.metadata.name for storage_class in informers.list("StorageClass"))
    claims = (informers.by_key("PersistentVolumeClaim", key) for key in claim_keys(pod))
    unbound = (claim for claim in claims if isinstance(claim, PersistentVolumeClaim) and not claim.spec.volume_name)
    claim = next((claim for claim in unbound if (name := class_of_claim(claim)) and name not in classes), None)
    if claim is None or not classes:
        return tuple(clauses)
    cause, advice = missing_class(class_of_claim(claim), classes, is_of_template=is_of_stateful_set(claim.key, pod.key))
    headline = phrase("the claim {claim} has no volume: {cause}", claim=claim.key, cause=cause)
    return tuple(
        msgspec.structs.replace(
            clause, headline=headline.text, headline_phrase=headline, causes=(), advice=advice.text, advice_phrase=advice
        )
        if clause.reason.startswith(_UNBOUND)
        else clause
        for clause in clauses
    )
