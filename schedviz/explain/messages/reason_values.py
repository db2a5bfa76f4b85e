"""`reason_values`: the values of a reason in sentences, with units, and with what follows from several of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from schedviz.explain.resource_names import amount_of, resource_name, short_amount_of
from schedviz.kube.printed_amount import is_in_bytes, printed_amount
from schedviz.kube.quantity import QuantityError, parse
from schedviz.trace.phrase import Phrase, counted, joined, phrase

#: A resource that a container lacks.
_LACKED: Final = re.compile(r"(\S+) for: ")
#: A container of an evicted pod: what it used and requested. Upstream: pkg/kubelet/eviction/helpers.go evictionMessage
_CONTAINER: Final = re.compile(
    r"Container (?P<name>\S+) was using (?P<used>\w+), (?:which exceeds its request of|request is) (?P<requested>\w+)"
)
_MAX_CONTAINERS: Final = 3
#: The values that follow from others, by the group which has to be in the pattern.
COMPUTED: Final[Mapping[str, frozenset[str]]] = {"capacity": frozenset({"free"}), "containers": frozenset({"amounts", "users"})}


def reason_values(groups: Mapping[str, str | None]) -> dict[str, str | Phrase]:
    """The values of the named groups of a reason's pattern, as its sentences print them."""
    given = {key: value or "" for key, value in groups.items()}
    values: dict[str, str | Phrase] = {key: _shown(key, value) for key, value in given.items()}
    if "capacity" in given:
        values |= _values_of_full_node(given["resource"], int(given["requested"]), int(given["used"]), int(given["capacity"]))
    if "short" in given:
        values["lacking"] = _missing(given["lacking"], int(given["short"]))
    if "containers" in given:
        values |= _values_of_eviction(given)
    return values


def _shown(key: str, value: str) -> str | Phrase:
    """A value in a sentence: cpu is `CPU` there."""
    return resource_name(value) if key == "resource" else _plain(value)


def _plain(value: str) -> str:
    """Karpenter's amounts, `{"cpu":"96","memory":"2Gi"}`, as `cpu 96, memory 2Gi`; other values as they are.

    Of what each container lacks, `limits.cpu for: a; limits.memory for: a,b`, only the names of the resources.
    """
    if " for: " in value:
        return ", ".join(dict.fromkeys(_LACKED.findall(value)))
    if not value.startswith('{"'):
        # A quota's amounts: `requests.cpu=2,requests.memory=4Gi`.
        return value.replace(",", ", ") if value.count("=") > 1 and " " not in value else value
    return value.strip("{}").replace('"', "").replace(":", " ").replace(",", ", ")


def _values_of_full_node(resource: str, requested: int, used: int, capacity: int) -> dict[str, str | Phrase]:
    """The amounts of a node on which a pod has no room, in base units, and what is free."""
    return {
        "requested": _amount(resource, requested),
        "free": short_amount_of(resource, max(capacity - used, 0)),
        "used": printed_amount(resource, used),
        "capacity": short_amount_of(resource, capacity),
    }


def _amount(resource: str, amount: int) -> Phrase:
    """An amount with the name of its resource; of pods, as on a node."""
    return counted(amount, "{count} pod", "{count} pods") if resource == "pods" else amount_of(resource, amount)


def _missing(resource: str, amount: int) -> Phrase:
    if resource == "pods":
        return counted(amount, "room for {count} more pod", "room for {count} more pods")
    return amount_of(resource, amount)


def _values_of_eviction(given: Mapping[str, str]) -> dict[str, str | Phrase]:
    """How much the node had left, and which containers of the pod used most."""
    values: dict[str, str | Phrase] = {"amounts": "", "users": ""}
    resource = given["resource"]
    if given["available"]:
        left, least = (_printed(resource, given[key]) for key in ("available", "threshold"))
        values["amounts"] = phrase(": it had {left} left, and the kubelet evicts pods below {least}", left=left, least=least)
    used = [(_bytes(each["used"]), each) for each in _CONTAINER.finditer(given["containers"])]
    used.sort(key=lambda each: -each[0])
    if used:
        listed = [
            phrase(
                "`{container}` used {amount} and requests {requested}",
                container=each["name"],
                amount=_printed(resource, each["used"]),
                requested=_printed(resource, each["requested"]),
            )
            for _, each in used
        ]
        values["users"] = phrase(". Container {containers}", containers=joined(listed, maximum=_MAX_CONTAINERS))
    return values


def _printed(resource: str, text: str) -> str:
    return printed_amount(resource, amount) if is_in_bytes(resource) and (amount := _bytes(text)) else text


def _bytes(text: str) -> int:
    try:
        return parse(text).value
    except QuantityError:
        return 0
