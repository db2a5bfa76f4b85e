"""What the volumes, claims and StorageClasses of a text say about a pod that waits for its volume."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from schedviz.explain.details.node_labels import volume_requirements
from schedviz.explain.pasted.claim_events import is_of_stateful_set, may_be_of, missing_class
from schedviz.explain.reason_tables.volumes import NO_NODE_THERE
from schedviz.kube.claims import (
    class_of_claim,
    class_of_volume,
    has_access_modes,
    have_different_modes,
    requested_storage,
    storage_capacity,
)
from schedviz.kube.core import Node
from schedviz.kube.selectors import Requirement
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from schedviz.trace.phrase import Phrase, joined, phrase, some

#: The provisioner that creates no volumes.
_NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
_HOSTNAME: Final = "kubernetes.io/hostname"
#: Volumes of which it is said why they do not match.
_MAX_VOLUMES: Final = 3
_UNBOUND: Final = ("Pending", "Lost", "")
_RECREATE_VOLUME: Final = phrase(
    "name an existing node: `kubectl get nodes --show-labels` lists the labels. The node affinity of a volume cannot be changed, so "
    "delete the volume and create it again"
)


class Storage(Protocol):
    """What a text shows about volumes, and the nodes that it names."""

    @property
    def volumes(self) -> Sequence[PersistentVolume]: ...
    @property
    def claims(self) -> Sequence[PersistentVolumeClaim]: ...
    @property
    def classes(self) -> Sequence[StorageClass]: ...
    @property
    def default_class(self) -> str: ...
    @property
    def lists_classes(self) -> bool: ...
    @property
    def nodes(self) -> Sequence[Node]: ...
    @property
    def used_by(self) -> Mapping[str, Sequence[str]]: ...


class StorageAnswer(NamedTuple):
    """Why the pod waits for a claim or its volume, and what to do about it. `used`: the names of what says so."""

    sentence: Phrase
    advice: Phrase
    used: Sequence[str] = ()


def why_unbound(storage: Storage, pod: str, claim_keys: Sequence[str]) -> StorageAnswer | None:
    """Why no volume matches a claim of the pod; None if the text does not say so. `claim_keys`: the pod's claims, if they are known."""
    for claim in _claims_of(storage, pod, claim_keys):
        if not claim.spec.volume_name and claim.status.phase in _UNBOUND and (answer := why_claim_unbound(storage, claim)) is not None:
            return answer
    return None


def why_claim_unbound(storage: Storage, claim: PersistentVolumeClaim) -> StorageAnswer | None:
    """The same about one claim."""
    name, shown = class_of_claim(claim), _shown(claim.key)
    alike = [volume for volume in storage.volumes if class_of_volume(volume) == name or _is_for(volume, claim)]
    if volumes := alike or storage.volumes:
        return _no_match(storage, claim, volumes)
    known = next((each for each in storage.classes if each.metadata.name == (name or storage.default_class)), None)
    if known is not None and known.provisioner == _NO_PROVISIONER:
        sentence = phrase(
            "The claim `{claim}` has no volume: StorageClass `{name}` has the provisioner `{provisioner}`, which creates none, and the "
            "text shows no PersistentVolume.",
            claim=shown,
            name=known.metadata.name,
            provisioner=_NO_PROVISIONER,
        )
        advice = phrase(
            "create a PersistentVolume with `storageClassName: {name}` for the claim, or recreate the claim with a StorageClass that has a "
            "provisioner",
            name=known.metadata.name,
        )
        return StorageAnswer(sentence, advice, (claim.key, known.metadata.name))
    classes = [each.metadata.name for each in storage.classes]
    if storage.lists_classes and not classes:
        sentence = phrase(
            "The claim `{claim}` has no volume: the cluster has no StorageClass, and the text shows no PersistentVolume that matches.",
            claim=shown,
        )
        advice = phrase("install a storage provisioner with a StorageClass, or create a PersistentVolume that matches the claim")
        return StorageAnswer(sentence, advice, (claim.key,))
    if name and classes and storage.lists_classes and name not in classes:
        users = storage.used_by.get(claim.key, ())
        is_of_template = any(is_of_stateful_set(claim.key, user) for user in users)
        cause, advice = missing_class(name, classes, is_of_template=is_of_template)
        return StorageAnswer(phrase("The claim `{claim}` has no volume: {cause}.", claim=shown, cause=cause), advice, (claim.key, *classes))
    if not name and classes and storage.lists_classes and not storage.default_class:
        sentence = phrase(
            "The claim `{claim}` has no volume: it names no StorageClass, and none of the classes in the text is the default.", claim=shown
        )
        advice = phrase(
            "recreate the claim with a `storageClassName` ({classes}), or make one of the classes the default with the annotation "
            "`storageclass.kubernetes.io/is-default-class`",
            classes=some(classes),
        )
        return StorageAnswer(sentence, advice, (claim.key, *classes))
    return None


def _no_match(storage: Storage, claim: PersistentVolumeClaim, volumes: Sequence[PersistentVolume]) -> StorageAnswer:
    reasons = [(volume, *_mismatch(storage, claim, volume)) for volume in volumes]
    # What can be corrected at a free volume comes first.
    reasons.sort(key=lambda each: each[3])
    used = (claim.key, *(volume.metadata.name for volume in volumes))
    first, said, advice, _ = reasons[0]
    if said is None:
        sentence = phrase(
            "The claim `{claim}` is not bound, although the volume `{volume}` matches it as far as the text shows.",
            claim=_shown(claim.key),
            volume=first.metadata.name,
        )
        return StorageAnswer(sentence, advice, used)
    listed = joined([reason for _, reason, _, _ in reasons[:_MAX_VOLUMES] if reason is not None], "{first}; {next}")
    sentence = phrase("No PersistentVolume in the text matches the claim `{claim}`: {why}.", claim=_shown(claim.key), why=listed)
    if len(volumes) > _MAX_VOLUMES:
        sentence = phrase(
            "None of the {count} PersistentVolumes in the text matches the claim `{claim}`: {why}; …",
            count=len(volumes),
            claim=_shown(claim.key),
            why=listed,
        )
    return StorageAnswer(sentence, advice, used)


def _mismatch(storage: Storage, claim: PersistentVolumeClaim, volume: PersistentVolume) -> tuple[Phrase | None, Phrase, int]:
    """Why the volume does not match the claim, what to do about it, and how far it is from matching; None: nothing in the text says why."""
    name = volume.metadata.name
    reference = volume.spec.claim_ref
    other = f"{reference.namespace}/{reference.name}" if reference is not None else ""
    if other and volume.status.phase == "Released":
        # A claim that was created again has the same name.
        said = phrase("`{volume}` is Released: it still belongs to the deleted claim `{other}`", volume=name, other=_shown(other))
        return said, _release(name), 3
    if other and not _is_for(volume, claim):
        return phrase("`{volume}` belongs to the claim `{other}`", volume=name, other=_shown(other)), _another(), 5
    of_claim, of_volume = class_of_claim(claim), class_of_volume(volume)
    if of_claim != of_volume:
        if not of_volume:
            said = phrase("`{volume}` has no StorageClass, but the claim has `{own}`", volume=name, own=of_claim)
        elif not of_claim:
            said = phrase("`{volume}` has StorageClass `{theirs}`, but the claim has none", volume=name, theirs=of_volume)
        else:
            said = phrase("`{volume}` has StorageClass `{theirs}`, but the claim has `{own}`", volume=name, theirs=of_volume, own=of_claim)
        return said, phrase("give the claim and the volume the same `storageClassName`: recreate the claim, or create another volume"), 4
    if claim.spec.volume_mode and volume.spec.volume_mode and have_different_modes(claim, volume):
        said = phrase(
            "`{volume}` has the volume mode {theirs}, but the claim has {own}",
            volume=name,
            theirs=volume.spec.volume_mode,
            own=claim.spec.volume_mode,
        )
        return said, phrase("recreate the claim with the volume mode of the volume"), 2
    if claim.spec.resources.requests and storage_capacity(volume).scaled_value(0) < requested_storage(claim).scaled_value(0):
        said = phrase(
            "`{volume}` has {capacity}, but the claim requests {requested}",
            volume=name,
            capacity=str(storage_capacity(volume)),
            requested=str(requested_storage(claim)),
        )
        return said, phrase("recreate the claim with a smaller request, or create a larger volume"), 2
    if claim.spec.access_modes and volume.spec.access_modes and not has_access_modes(claim, volume):
        said = phrase(
            "`{volume}` has the access modes {theirs}, but the claim requests {own}",
            volume=name,
            theirs=", ".join(volume.spec.access_modes),
            own=", ".join(claim.spec.access_modes),
        )
        return said, phrase("recreate the claim with access modes that the volume has"), 2
    if requirements := _requirements(volume):
        return (*_affinity_sentences(storage, volume, requirements), 1)
    advice = phrase(
        "compare the requested size and the access modes with those of the volume: `kubectl get pvc {claim} -o yaml`; a pending claim's "
        "description lacks them",
        claim=_argument(claim.key),
    )
    return None, advice, 0


def _affinity_sentences(storage: Storage, volume: PersistentVolume, requirements: Sequence[Requirement]) -> tuple[Phrase, Phrase]:
    """Why the nodes do not have the volume that matches otherwise."""
    name, required = volume.metadata.name, _printed(requirements)
    matching, comparable = _nodes(storage, requirements)
    if comparable and not matching:
        said = phrase(
            "`{volume}` can be used only from nodes with `{labels}`, and no node in the text has this label", volume=name, labels=required
        )
        return said, _RECREATE_VOLUME
    said = phrase("`{volume}` would match, but only nodes with `{labels}` can access it", volume=name, labels=required)
    if matching:
        advice = phrase(
            "find out why the pod cannot run on {nodes}: compare the pod's node selector, tolerations and requests with `kubectl describe "
            "node {first}`",
            nodes=some(matching),
            first=matching[0],
        )
        return said, advice
    advice = phrase(
        "check that such a node exists: `kubectl get nodes --show-labels | grep {value}`. If there is none, delete the volume and create "
        "it again with the name of an existing node: the node affinity of a volume cannot be changed",
        value=_telling(requirements),
    )
    return said, advice


def why_not_accessible(storage: Storage, pod: str, claim_keys: Sequence[str], *, selected: int = 0, nodes: int = 0) -> StorageAnswer | None:
    """From where the bound volumes of the pod can be used; None if the text has none of them.

    `selected`: of `nodes`, so many match the pod's node selector and affinity, and none of these can access the volume; 0: it is unknown.
    """
    bound = list(_bound(storage, pod, claim_keys))
    required = [(volume, _requirements(volume)) for _, volume in bound]
    required = [(volume, requirements) for volume, requirements in required if requirements]
    used = tuple(name for claim, volume in bound for name in (claim, volume.metadata.name))
    if not bound:
        return None
    if not required:
        claim, volume = bound[0]
        sentence = phrase("The pod's claim `{claim}` is bound to the volume `{volume}`.", claim=_shown(claim), volume=volume.metadata.name)
        advice = phrase(
            "find out which nodes can access the volume: run `kubectl describe pv {volume}` and look under `Node Affinity`. A bound volume "
            "cannot move, so one of those nodes must be schedulable and have enough capacity",
            volume=volume.metadata.name,
        )
        return StorageAnswer(sentence, advice, used)
    if apart := _apart(required):
        listed = joined(
            [phrase("`{volume}` (`{labels}`)", volume=volume.metadata.name, labels=_printed(labels)) for volume, labels in apart]
        )
        sentence = phrase("No node can access all volumes of the pod, which are in different places: {volumes}.", volumes=listed)
        advice = phrase(
            "recreate the claims so that their volumes are in one place, and restore the data. A StorageClass with "
            "`volumeBindingMode: WaitForFirstConsumer` creates the volumes where the pod is scheduled"
        )
        return StorageAnswer(sentence, advice, used)
    volume, requirements = required[0]
    matching, comparable = _nodes(storage, requirements)
    name, labels = volume.metadata.name, _printed(requirements)
    if selected and (matching or not comparable):
        return _excluding(name, labels, selected, nodes, used)
    if matching:
        sentence = phrase(
            "The pod's volume `{volume}` can be used only from nodes with `{labels}`: {nodes}.",
            volume=name,
            labels=labels,
            nodes=some(matching),
        )
        advice = phrase(
            "find out what rejects that node: `kubectl describe node {first}` shows its taints and what is requested", first=matching[0]
        )
    elif comparable:
        sentence = phrase(
            "The pod's volume `{volume}` can be used only from nodes with `{labels}`, and no node in the text has this label.",
            volume=name,
            labels=labels,
        )
        advice = _RECREATE_VOLUME if requirements[0].key == _HOSTNAME else NO_NODE_THERE
    else:
        sentence = phrase("The pod's volume `{volume}` can be used only from nodes with `{labels}`.", volume=name, labels=labels)
        advice = phrase(
            "check that such a node exists, is schedulable, and has enough capacity: `kubectl get nodes --show-labels | grep {value}`. A "
            "bound volume cannot move",
            value=_telling(requirements),
        )
    return StorageAnswer(sentence, advice, used)


def _excluding(volume: str, labels: str, selected: int, nodes: int, used: Sequence[str]) -> StorageAnswer:
    """That the node selector of the pod allows only nodes which cannot access its volume."""
    sentence = phrase(
        "The pod's volume and its node selector or affinity exclude each other: `{volume}` can be used only from nodes with `{labels}`, "
        "but of the {nodes} nodes the selector allows only {count}, and not one of those.",
        volume=volume,
        labels=labels,
        nodes=nodes,
        count=selected,
    )
    advice = phrase(
        "change the pod's node selector or affinity so that it allows a node with `{labels}`, or give the pod a volume that its nodes can "
        "access: a bound volume cannot move",
        labels=labels,
    )
    return StorageAnswer(sentence, advice, used)


def _claims_of(storage: Storage, pod: str, keys: Sequence[str]) -> list[PersistentVolumeClaim]:
    """The claims of the pod: those that it is known to use, otherwise by name; of a text with one claim, that one."""
    named = [claim for claim in storage.claims if claim.key in keys or pod in storage.used_by.get(claim.key, ())]
    named = named or [claim for claim in storage.claims if claim.metadata.name in {key.partition("/")[2] for key in keys}]
    if not named and not keys:
        named = [claim for claim in storage.claims if may_be_of(claim.key, pod)]
        unbound = [claim for claim in storage.claims if not claim.spec.volume_name]
        named = named or (list(storage.claims) if len(storage.claims) == 1 else unbound if len(unbound) == 1 else [])
    return named


def _bound(storage: Storage, pod: str, keys: Sequence[str]) -> Iterator[tuple[str, PersistentVolume]]:
    """The bound volumes of the pod's claims. The claims may be known from the volumes only."""
    by_name = {volume.metadata.name: volume for volume in storage.volumes}
    claims = _claims_of(storage, pod, keys) or ([] if keys else storage.claims)
    found = {claim.spec.volume_name: claim.key for claim in claims if claim.spec.volume_name in by_name}
    for volume in storage.volumes:
        reference = volume.spec.claim_ref
        key = f"{reference.namespace}/{reference.name}" if reference is not None else ""
        if key and (key in keys or may_be_of(key, pod) or (not keys and len(storage.volumes) == 1)):
            found[volume.metadata.name] = key
    if not found and len(storage.volumes) == 1 and len(claims) == 1 and not claims[0].spec.volume_name:
        # Manifests do not say what is bound to what, but the scheduler says that the pod's claim is.
        [volume], [claim] = storage.volumes, claims
        if volume.spec.claim_ref is None and class_of_volume(volume) == class_of_claim(claim) and _requirements(volume):
            found[volume.metadata.name] = claim.key
    yield from ((claim, by_name[name]) for name, claim in found.items())


def _apart(required: Sequence[tuple[PersistentVolume, Sequence[Requirement]]]) -> Sequence[tuple[PersistentVolume, Sequence[Requirement]]]:
    """The volumes, if two of them require different values of one label."""
    values: dict[str, set[str]] = {}
    for _, requirements in required:
        for each in requirements:
            if each.operator != "in":
                continue
            common = values.setdefault(each.key, set(each.values))
            common &= set(each.values)
    return required if len(required) > 1 and any(not common for common in values.values()) else ()


def _requirements(volume: PersistentVolume) -> list[Requirement]:
    """The labels of the nodes from which the volume can be used; empty if it has alternatives, or none are known."""
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None or len(affinity.required.node_selector_terms) != 1:
        return []
    return volume_requirements(affinity.required)


def _nodes(storage: Storage, requirements: Sequence[Requirement]) -> tuple[list[str], bool]:
    """The nodes of the text that have the labels, and whether the text has nodes whose labels can be compared."""
    keys = {each.key for each in requirements}
    comparable = [node for node in storage.nodes if keys <= {_HOSTNAME} or len(node.metadata.labels) > 1]
    return [node.metadata.name for node in comparable if all(each.matches(node.metadata.labels) for each in requirements)], bool(comparable)


def _telling(requirements: Sequence[Requirement]) -> str:
    """The value that fewest nodes have, to search for: that of a zone rather than of its region."""
    chosen = min(requirements, key=lambda each: each.key.endswith("/region"))
    return chosen.values[0] if chosen.values else chosen.key


def _is_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    reference = volume.spec.claim_ref
    return reference is not None and f"{reference.namespace}/{reference.name}" == claim.key


def _printed(requirements: Sequence[Requirement]) -> str:
    return ", ".join(
        f"{each.key}={each.values[0]}" if each.operator == "in" and len(each.values) == 1 else str(each) for each in requirements
    )


def _release(volume: str) -> Phrase:
    command = f'kubectl patch pv {volume} --type=json -p \'[{{"op":"remove","path":"/spec/claimRef"}}]\''
    return phrase("if its data may be reused, make the volume available again: `{command}`", command=command)


def _another() -> Phrase:
    return phrase("create another PersistentVolume for the claim, or use a StorageClass with a provisioner")


def _shown(key: str) -> str:
    return key.removeprefix("default/")


def _argument(key: str) -> str:
    namespace, _, name = key.partition("/")
    return name if namespace == "default" else f"{name} -n {namespace}"
