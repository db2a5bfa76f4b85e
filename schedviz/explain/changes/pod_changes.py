"""Changes to the pod itself, which its author can make."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

import msgspec

from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.adjusted_rows import amount
from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.taint import HARD_TAINT_EFFECTS, tolerations_tolerate_taint
from schedviz.explain.changes.change import MOST_THAT_FITS, ON_CONTROL_PLANE, REQUIRED_ON_PURPOSE, Change
from schedviz.explain.changes.port_holders import is_used_by_others
from schedviz.explain.explanation import Explanation
from schedviz.explain.messages.main_reason import keeps_for_others
from schedviz.explain.mistyped import OF_MACHINE, mistyped_toleration, printed_toleration
from schedviz.explain.reserved_nodes import CONTROL_PLANE_KEYS, is_for_other_pods, is_of_control_plane, is_out_of_use
from schedviz.explain.resource_names import resource_name
from schedviz.kube import quantity
from schedviz.kube.affinity import Affinity, NodeSelectorTerm, PodAffinity, PodAffinityTerm, Toleration, TopologySpreadConstraint
from schedviz.kube.core import Container, Pod, PodSpec
from schedviz.kube.printed_amount import is_in_bytes, printed_amount
from schedviz.kube.quantity import Quantity
from schedviz.trace.phrase import Phrase, joined, phrase

replace = msgspec.structs.replace

#: Requests are rounded down to these amounts, to keep them readable.
_ROUND_TO: Final = {"cpu": 10, "memory": 1 << 20, "ephemeral-storage": 1 << 20}
#: Changes that lower a request by a larger part of it are suggested as unlikely.
_MAX_LIKELY_REDUCTION: Final = 0.5
#: What another host port costs less if no replica of the pod uses the present one: an additional node comes after it.
_NO_REPLICA: Final = 0.75


def changes_of_pod(dry_run: DryRun, explanation: Explanation) -> Iterator[Change]:
    """All single changes to the pod that answer an objection of some node."""
    objecting = {objection.plugin for verdict in explanation.matrix for objection in verdict.objections}
    pod = dry_run.pod.pod
    if names.TAINT_TOLERATION in objecting:
        yield from _tolerations(dry_run, explanation)
    if names.NODE_RESOURCES_FIT in objecting:
        lowered = (*_requests(dry_run, explanation), *_several_requests(dry_run, explanation))
        # One template makes the pods of all nodes.
        yield from (replace(change, is_of_daemon_set=True) for change in lowered) if pod.is_of_daemon_set else lowered
    if names.NODE_AFFINITY in objecting or dry_run.pre_filter.node_names is not None:
        yield from _selectors(pod, is_met=selects_nodes(explanation))
    if names.POD_TOPOLOGY_SPREAD in objecting:
        yield from _spread(pod)
    if names.INTER_POD_AFFINITY in objecting:
        yield from _pod_affinity(pod)
    if names.NODE_PORTS in objecting:
        yield from _ports(dry_run)


def _tolerations(dry_run: DryRun, explanation: Explanation) -> Iterator[Change]:
    """One toleration for each distinct hard taint that the pod does not tolerate, unless the node is out of use or for other pods.

    v1.36's reason does not name the taint.
    """
    tolerations = dry_run.pod.pod.spec.tolerations
    added: dict[tuple[str, str], bool] = {}
    has_workers = selects_workers(dry_run, explanation)
    for verdict, info in zip(explanation.matrix, dry_run.rows.infos, strict=True):
        if info.node is not None and any(objection.plugin == names.TAINT_TOLERATION for objection in verdict.objections):
            hard = (taint for taint in info.node.spec.taints if taint.effect in HARD_TAINT_EFFECTS)
            for taint in hard:
                if is_out_of_use(taint) or is_for_other_pods(taint, dry_run.pod.pod) or tolerations_tolerate_taint(tolerations, taint):
                    continue
                is_for_others = keeps_for_others(info, taint, dry_run.pod) or (has_workers and is_of_control_plane(taint))
                added[taint.key, taint.value] = is_for_others
    there = {(taint.key, taint.value) for info in dry_run.rows.infos if info.node is not None for taint in info.node.spec.taints}
    is_for_any = _is_for_any_node(dry_run.pod.pod, explanation)
    unused = [each for each in tolerations if not any(_is_for(each, key, value) for key, value in there)]
    for (key, value), is_for_others in added.items():
        toleration = Toleration(key=key, operator="Equal", value=value)
        taint_text = f"{key}={value}" if value else key
        typo = mistyped_toleration(unused, key, value)
        yield Change(
            "toleration",
            phrase("add a toleration for the taint `{taint}`", taint=taint_text)
            if typo is None
            else phrase(
                "change the toleration `{mistyped}`, which is probably a typo, to `{taint}`",
                taint=taint_text,
                mistyped=printed_toleration(typo),
            ),
            yaml=_toleration_yaml(toleration),
            against=frozenset({names.TAINT_TOLERATION}),
            is_unlikely=(is_for_others or is_for_any) and typo is None,
            consequence=ON_CONTROL_PLANE if key in CONTROL_PLANE_KEYS else "",
            pod=partial(_with_toleration, toleration=toleration),
        )


def selects_workers(dry_run: DryRun, explanation: Explanation) -> bool:
    """Whether some node that the pod selects is not reserved for the control plane, as the only node of a test cluster often is."""
    pairs = zip(explanation.matrix, dry_run.rows.infos, strict=True)
    selected = (info.node for verdict, info in pairs if all(each.plugin != names.NODE_AFFINITY for each in verdict.objections))
    return any(node is not None and not any(map(is_of_control_plane, node.spec.taints)) for node in selected)


def _is_for_any_node(pod: Pod, explanation: Explanation) -> bool:
    """Whether nodes without a taint, which lack something else, are as good for the pod: it does not ask for the tainted ones."""
    affinity = pod.spec.affinity
    selects = bool(pod.spec.node_selector) or (affinity is not None and affinity.node_affinity is not None)
    closed = (names.TAINT_TOLERATION, names.NODE_UNSCHEDULABLE)
    return not selects and any(all(each.plugin not in closed for each in verdict.objections) for verdict in explanation.matrix)


def _is_for(toleration: Toleration, key: str, value: str) -> bool:
    """Whether the toleration names the taint."""
    return toleration.key in ("", key) and (toleration.operator == "Exists" or toleration.value == value)


def _toleration_yaml(toleration: Toleration) -> str:
    """For the spec of the pod. The text of JSON is valid YAML, whatever a taint is called."""
    key, value = json.dumps(toleration.key), json.dumps(toleration.value)
    return f"tolerations:\n- key: {key}\n  operator: {toleration.operator}\n  value: {value}"


def _with_toleration(pod: Pod, *, toleration: Toleration) -> Pod:
    return _with_spec(pod, tolerations=(*pod.spec.tolerations, toleration))


# Requests.


def _requests(dry_run: DryRun, explanation: Explanation) -> Iterator[Change]:
    """For each resource, the largest possible request on some node that lacks only that resource."""
    for resource in _resources(dry_run):
        reason = f"Insufficient {resource}"
        lacking = [
            row
            for row, verdict in enumerate(explanation.matrix)
            if any(objection.plugin == names.NODE_RESOURCES_FIT and objection.reasons == (reason,) for objection in verdict.objections)
        ]
        requested = amount(dry_run.pod, resource)
        if not lacking or not requested:
            continue
        free = _free(dry_run, resource)
        # Only the roomiest node, and the roomiest without other objections.
        alone = [row for row in lacking if len(explanation.matrix[row].objections) == 1]
        of_alone, of_lacking = (max((int(free[row]) for row in some), default=None) for some in (alone, lacking))
        largest = int(dry_run.rows.allocatable(resource).max())
        for room in sorted({room for room in (of_alone, of_lacking) if room is not None}, reverse=True):
            rounded = _rounded(resource, room)
            change = _request_less(dry_run.pod.pod, resource, requested, rounded) if 0 < rounded < requested else None
            if change is not None:
                # A reader knows the size of the largest node, and asks why the request has to be smaller.
                yield msgspec.structs.replace(change, consequence=MOST_THAT_FITS if room == of_alone and rounded < largest else "")


def _resources(dry_run: DryRun) -> Iterable[str]:
    """The resources that the pod may request."""
    return ("cpu", "memory", "ephemeral-storage", *dry_run.pod.requests.resource.scalar)


def _free(dry_run: DryRun, resource: str) -> IntArray:
    """What each node has free of a resource; negative where more is requested than there is."""
    return dry_run.rows.allocatable(resource) - dry_run.rows.requested(resource)


def _rounded(resource: str, room: int) -> int:
    """The largest amount within `room` that is written as people write it."""
    unit = _ROUND_TO.get(resource, 1)
    return room // unit * unit


def _request_less(pod: Pod, resource: str, requested: int, room: int) -> Change | None:
    """The pod with its request for a resource reduced to `room`; the container that requests most is reduced."""
    containers = pod.spec.containers
    largest = max(range(len(containers)), key=lambda index: _request(containers[index], resource), default=None)
    return _lowered(pod, largest, {resource: (requested, room)}) if largest is not None else None


def _several_requests(dry_run: DryRun, explanation: Explanation) -> Iterator[Change]:
    """All requests of one container that a node lacks, lowered together to what the node has free.

    Two changes at most: for the node that asks for the smallest reduction, and for the one without other objections.
    """
    free = {resource: (amount(dry_run.pod, resource), _free(dry_run, resource).tolist()) for resource in _resources(dry_run)}
    # Many nodes lack the same amounts.
    of_amounts: dict[tuple[tuple[str, int], ...], Change | None] = {}
    alone: list[Change] = []
    lowered: list[Change] = []
    for row, verdict in enumerate(explanation.matrix):
        plugins = {objection.plugin for objection in verdict.objections}
        if names.NODE_RESOURCES_FIT not in plugins:
            continue
        rooms = tuple((resource, room[row]) for resource, (requested, room) in free.items() if requested > room[row])
        if len(rooms) < 2:
            continue
        if rooms not in of_amounts:
            amounts = {resource: (free[resource][0], _rounded(resource, room)) for resource, room in rooms}
            of_amounts[rooms] = _lowered_somewhere(dry_run.pod.pod, amounts)
        change = of_amounts[rooms]
        if change is not None:
            lowered.append(change)
            if plugins == {names.NODE_RESOURCES_FIT}:
                alone.append(change)
    smallest = (min(changes, key=lambda change: change.amount) for changes in (alone, lowered) if changes)
    yield from {change.what: change for change in smallest}.values()


def _lowered_somewhere(pod: Pod, amounts: dict[str, tuple[int, int]]) -> Change | None:
    """The pod with the requests of the first container that is large enough lowered; None: no container is."""
    lowered = (_lowered(pod, index, amounts) for index in range(len(pod.spec.containers)))
    return next((change for change in lowered if change is not None), None)


def _lowered(pod: Pod, index: int, amounts: dict[str, tuple[int, int]]) -> Change | None:
    """The pod with requests of the container at `index` lowered. `amounts`: resource -> the request of the pod, and what it has to become.

    None if nothing of a request would be left.
    """
    container = pod.spec.containers[index]
    before = {resource: _request(container, resource) for resource in amounts}
    after = {resource: before[resource] - (requested - room) for resource, (requested, room) in amounts.items()}
    if min(after.values()) <= 0 or min(room for _, room in amounts.values()) <= 0:
        return None
    name = container.name or str(index)
    if len(amounts) == 1:
        (resource,) = amounts
        title = phrase(
            "lower the {resource} request of container `{container}` from {before} to {after}",
            after=_printed(resource, after[resource]),
            resource=resource_name(resource),
            before=_printed(resource, before[resource]),
            container=name,
        )
    else:
        title = phrase(
            "lower the requests of container `{container}` from {before} to {after}",
            after=_listed(after),
            before=_listed(before),
            container=name,
        )
    reductions = [(requested - room) / requested for requested, room in amounts.values()]
    return Change(
        "request",
        title,
        against=frozenset({names.NODE_RESOURCES_FIT}),
        # Two small reductions are not smaller than one.
        amount=min(1, sum(reductions)),
        is_unlikely=max(reductions) > _MAX_LIKELY_REDUCTION,
        pod=partial(_with_requests, index=index, requests={resource: _quantity(resource, number) for resource, number in after.items()}),
    )


def _listed(amounts: dict[str, int]) -> Phrase:
    """`2.5 CPU and 6.5Gi of memory`."""
    templates = {resource: "{amount} of {resource}" if is_in_bytes(resource) else "{amount} {resource}" for resource in amounts}
    return joined(
        [
            Phrase(templates[resource], {"amount": _printed(resource, number), "resource": resource_name(resource)})
            for resource, number in amounts.items()
        ],
        "{first} and {next}",
    )


def _request(container: Container, resource: str) -> int:
    requested = container.resources.requests.get(resource)
    if requested is None:
        return 0
    return requested.milli_value if resource == "cpu" else requested.value


def _printed(resource: str, number: int) -> str:
    """An amount as explanations print it, but never rounded."""
    printed = printed_amount(resource, number)
    return str(_quantity(resource, number)) if printed.startswith("≈") else printed


def _quantity(resource: str, number: int) -> Quantity:
    if resource == "cpu":
        return quantity.of_milli(number)
    return quantity.of_int(number, "BinarySI" if resource in ("memory", "ephemeral-storage") else "DecimalSI")


def _with_requests(pod: Pod, *, index: int, requests: dict[str, Quantity]) -> Pod:
    """The other pods of a group may have fewer containers."""
    containers = list(pod.spec.containers)
    if index >= len(containers):
        return pod
    resources = containers[index].resources
    limits = {name: limit for name, limit in resources.limits.items() if name not in requests or limit.compare(requests[name]) >= 0}
    resources = replace(resources, requests={**resources.requests, **requests}, limits=limits)
    containers[index] = replace(containers[index], resources=resources)
    return _with_spec(pod, containers=tuple(containers))


# Placement constraints.


def selects_nodes(explanation: Explanation) -> bool:
    """Whether some nodes have the labels that the pod asks for: then it asks for them on purpose, and lacks something else."""
    return any(all(objection.plugin != names.NODE_AFFINITY for objection in verdict.objections) for verdict in explanation.matrix)


def _selectors(pod: Pod, *, is_met: bool) -> Iterator[Change]:
    """The pod without a label that it asks for, unless it would then run on machines that cannot run its image."""
    against = frozenset({names.NODE_AFFINITY})
    selector = pod.spec.node_selector
    for key, value in selector.items():
        if key in OF_MACHINE:
            continue
        yield Change(
            "selector",
            phrase("remove `{label}` from the pod's `nodeSelector`", label=f"{key}={value}"),
            against=against,
            amount=1 / len(selector),
            is_unlikely=is_met,
            pod=partial(_without_label, key=key),
            consequence=REQUIRED_ON_PURPOSE,
        )
    affinity = pod.spec.affinity
    required = affinity.node_affinity.required if affinity is not None and affinity.node_affinity is not None else None
    if required is not None and not any(map(_is_fixed, required.node_selector_terms)):
        title = phrase("remove the pod's required node affinity")
        yield Change(
            "selector",
            title,
            against=against,
            amount=1,
            is_unlikely=is_met,
            pod=_without_node_affinity,
            consequence=REQUIRED_ON_PURPOSE,
        )


def _is_fixed(term: NodeSelectorTerm) -> bool:
    """Whether a term of node affinity names the node, as the DaemonSet controller does, or the kind of machine."""
    return bool(term.match_fields) or any(expression.key in OF_MACHINE for expression in term.match_expressions)


def _without_label(pod: Pod, *, key: str) -> Pod:
    if key not in pod.spec.node_selector:
        return pod
    return _with_spec(pod, node_selector={label: value for label, value in pod.spec.node_selector.items() if label != key})


def _without_node_affinity(pod: Pod) -> Pod:
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return pod
    return _with_affinity(pod, replace(affinity, node_affinity=replace(affinity.node_affinity, required=None)))


def _spread(pod: Pod) -> Iterator[Change]:
    for constraint in pod.spec.topology_spread_constraints:
        if constraint.when_unsatisfiable == "DoNotSchedule":
            yield Change(
                "constraint",
                phrase(
                    "set `whenUnsatisfiable: ScheduleAnyway` in the topology spread constraint for `{key}`", key=constraint.topology_key
                ),
                against=frozenset({names.POD_TOPOLOGY_SPREAD}),
                pod=partial(_with_soft_spread, hard=constraint),
            )


def _with_soft_spread(pod: Pod, *, hard: TopologySpreadConstraint) -> Pod:
    """The other pods of a group may not have the constraint."""
    constraints = pod.spec.topology_spread_constraints
    if hard not in constraints:
        return pod
    soft = replace(hard, when_unsatisfiable="ScheduleAnyway", min_domains=None)
    return _with_spec(pod, topology_spread_constraints=tuple(soft if constraint == hard else constraint for constraint in constraints))


def _pod_affinity(pod: Pod) -> Iterator[Change]:
    affinity = pod.spec.affinity or Affinity()
    sides: tuple[tuple[str, PodAffinity | None], ...] = (
        ("podAffinity", affinity.pod_affinity),
        ("podAntiAffinity", affinity.pod_anti_affinity),
    )
    for side, terms in sides:
        for term in terms.required if terms is not None else ():
            yield Change(
                "constraint",
                phrase("remove the required `{side}` term with the `topologyKey` `{key}`", side=side, key=term.topology_key),
                against=frozenset({names.INTER_POD_AFFINITY}),
                amount=0.5,
                pod=partial(_without_term, side=side, term=term),
            )


def _without_term(pod: Pod, *, side: str, term: PodAffinityTerm) -> Pod:
    """The other pods of a group may not have the term."""
    affinity = pod.spec.affinity or Affinity()
    member = "pod_affinity" if side == "podAffinity" else "pod_anti_affinity"
    terms: PodAffinity | None = getattr(affinity, member)
    if terms is None or term not in terms.required:
        return pod
    others = tuple(other for other in terms.required if other != term)
    return _with_affinity(pod, replace(affinity, **{member: replace(terms, required=others)}))


def _ports(dry_run: DryRun) -> Iterator[Change]:
    pod = dry_run.pod.pod
    ports = dict.fromkeys(port.host_port for container in pod.spec.containers for port in container.ports if port.host_port)
    for port in ports:
        yield Change(
            "port",
            phrase("change or remove the host port {port}", port=str(port)),
            against=frozenset({names.NODE_PORTS}),
            discount=_NO_REPLICA if is_used_by_others(dry_run, port) else 0,
            pod=partial(_without_port, host_port=port),
        )


def _without_port(pod: Pod, *, host_port: int) -> Pod:
    containers = tuple(
        replace(container, ports=tuple(replace(port, host_port=0) if port.host_port == host_port else port for port in container.ports))
        for container in pod.spec.containers
    )
    return _with_spec(pod, containers=containers)


def _with_affinity(pod: Pod, affinity: Affinity) -> Pod:
    return _with_spec(pod, affinity=affinity)


def _with_spec(pod: Pod, **members: object) -> Pod:
    spec: PodSpec = replace(pod.spec, **members)
    return replace(pod, spec=spec)
