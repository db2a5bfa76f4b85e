"""Resources and their amounts in sentences: `2 CPU`, `6Gi of memory`, `1 nvidia.com/gpu`."""

from __future__ import annotations

from typing import Final

from schedviz.kube.printed_amount import is_in_bytes, printed_amount
from schedviz.trace.phrase import Phrase, phrase

_NAMES: Final = {"cpu": phrase("CPU"), "memory": phrase("memory"), "ephemeral-storage": phrase("ephemeral storage")}


def resource_name(resource: str) -> str | Phrase:
    """The name of a resource in a sentence; that of an extended resource is the name itself."""
    return _NAMES.get(resource, resource)


def amount_of(resource: str, amount: int) -> Phrase:
    """An amount in base units with the name of its resource."""
    template = "{amount} of {resource}" if is_in_bytes(resource) else "{amount} {resource}"
    return Phrase(template, {"amount": printed_amount(resource, amount), "resource": resource_name(resource)})


def short_amount_of(resource: str, amount: int) -> str | Phrase:
    """The same where the resource was named before: cores still have a unit, because bytes have one, too."""
    return amount_of(resource, amount) if resource == "cpu" else printed_amount(resource, amount)
