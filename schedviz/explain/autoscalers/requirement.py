"""`Requirement`: a node requirement as Karpenter prints it, `key In [a b]`, and amounts of resources in its messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from schedviz.kube.printed_amount import printed_amount
from schedviz.kube.quantity import QuantityError, parse

#: `key In [a b]`, `key Exists >2`, `key DoesNotExist`. Possessive, because the text may be hostile.
_REQUIREMENT: Final = re.compile(
    r"(?P<key>[A-Za-z0-9][A-Za-z0-9._/-]*+) (?P<operator>In|NotIn|Exists|DoesNotExist|Gt|Lt|Gte|Lte)(?: \[(?P<values>[^\]]*+)\])?"
    r"(?P<bounds>(?: [<>]=?-?\d++)*+)(?: minValues \d++)?"
)
#: The end of a list of values that Karpenter shortens: `[a b c d e and 7 others]`.
_OTHERS: Final = re.compile(r" and (\d{1,9}+) others$")
_AMOUNTS: Final = re.compile(r"(?:max=)?(\{[^{}]*+\})")
#: Labels that every node of a NodePool has, so that they decide nothing.
_GIVEN: Final = frozenset(
    {
        "karpenter.sh/initialized",
        "karpenter.sh/registered",
        "kubernetes.io/os",
        "karpenter.k8s.aws/ec2nodeclass",
        "eks.amazonaws.com/nodeclass",
    }
)
#: Labels whose value is the name of the NodePool or of the Provisioner.
POOL_KEYS: Final = ("karpenter.sh/nodepool", "karpenter.sh/provisioner-name")
ZONE: Final = "topology.kubernetes.io/zone"
CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
#: Keys whose values say what they are.
_PLAIN: Final = frozenset({CAPACITY_TYPE, "kubernetes.io/arch", "node.kubernetes.io/instance-type"})
#: Domains of labels that need none to be understood.
_CLOUDS: Final = ("karpenter.k8s.aws/", "eks.amazonaws.com/", "karpenter.azure.com/", "karpenter.k8s.gcp/")
#: Values of one requirement.
_MAX_VALUES: Final = 3
#: Those that decide come first.
_ORDER: Final = (ZONE, "node.kubernetes.io/instance-type", "kubernetes.io/arch", CAPACITY_TYPE)
_COUNTED: Final = ("pods",)
#: Requirements and resources in a sentence.
_MAX_LISTED: Final = 4


class Requirement(NamedTuple):
    """A label that a node must have, or must not have."""

    key: str
    operator: str
    values: tuple[str, ...] = ()
    #: `>2`, as printed.
    bounds: str = ""
    #: Values that the message leaves out.
    more: int = 0

    @property
    def text(self) -> str:
        """`key=a`, `key in (a, b)`, `key not in (a)`, `key>2`, `key` or `!key`, as kubectl prints selectors."""
        listed = self.listed
        match self.operator:
            case "In" if len(self.values) == 1 and not self.more:
                return f"{self.key}={listed}"
            case "In":
                return f"{self.key} in ({listed})"
            case "NotIn":
                return f"{self.key} not in ({listed})"
            case "DoesNotExist":
                return f"!{self.key}"
        return f"{self.key}{self.bounds}" if self.bounds else self.key

    @property
    def listed(self) -> str:
        """The values: `a, b and 7 more`."""
        more = f" and {self.more} more" if self.more else ""
        return f"{', '.join(self.values)}{more}"

    @property
    def alternatives(self) -> str:
        """The values: `a`, `a or b`, `a, b, or c`, `a, b, or 7 others`."""
        hidden = len(self.values) - _MAX_VALUES + self.more if len(self.values) > _MAX_VALUES or self.more else 0
        shown = self.values[: _MAX_VALUES - 1] if hidden else self.values
        last = [f"{hidden + len(self.values[_MAX_VALUES - 1 : _MAX_VALUES])} others"] if hidden else []
        listed = [*shown, *last]
        if len(listed) < 3:
            return " or ".join(listed)
        return f"{', '.join(listed[:-1])}, or {listed[-1]}"

    @property
    def short(self) -> str:
        """The values of a key that they explain, otherwise with the key, without the domain of its cloud."""
        if self.operator == "In" and self.key == ZONE:
            return f"zone {self.alternatives}"
        if self.operator == "In" and self.key in _PLAIN:
            return self.alternatives
        return self.text.removeprefix(next((domain for domain in _CLOUDS if self.key.startswith(domain)), ""))


def requirements_in(text: str) -> Iterator[Requirement]:
    """The requirements that a text lists."""
    for found in _REQUIREMENT.finditer(text):
        values = found["values"] or ""
        others = _OTHERS.search(values)
        kept = values[: others.start()] if others is not None else values
        yield Requirement(
            found["key"], found["operator"], tuple(kept.split()), found["bounds"].strip(), int(others[1]) if others is not None else 0
        )


def pool_in(text: str) -> str:
    """The NodePool that the requirements of a text name; "": none, or several."""
    names = {value for each in requirements_in(text) if each.key in POOL_KEYS and each.operator == "In" for value in each.values}
    return names.pop() if len(names) == 1 else ""


def decisive(text: str) -> str:
    """The requirements that may exclude instance types, in short: `zone eu-west-2z; c7g.medium; arm64; on-demand`; "": there are none."""
    pool = pool_in(text)
    found = [
        each
        for each in requirements_in(text)
        if each.key not in _GIVEN and each.key not in POOL_KEYS and each.values != (pool,) and not each.key.startswith("nodepool/")
    ]
    known = [each for key in _ORDER for each in found if each.key == key]
    rest = [each for each in found if each not in known]
    listed = [each.short for each in (*known, *rest)]
    hidden = len(listed) - _MAX_LISTED
    more = [f"{hidden} more requirement{'' if hidden == 1 else 's'}"] if hidden > 0 else []
    return "; ".join((*listed[:_MAX_LISTED], *more))


def amounts(text: str) -> dict[str, str]:
    """The resources of a JSON object in a text, as people write them; without the number of pods. The larger of `min=…, max=…`."""
    found = _AMOUNTS.findall(text)
    if not found:
        return {}
    try:
        raw = msgspec.json.decode(found[-1], type=dict[str, str])
    except msgspec.MsgspecError:
        return {}
    return {name: _amount(name, value) for name, value in raw.items() if name not in _COUNTED}


def printed(resources: dict[str, str]) -> str:
    """`3.31 CPU, 3.3Gi memory, 1 nvidia.com/gpu`."""
    return ", ".join(f"{amount} {_NAMES.get(name, name)}" for name, amount in resources.items())


_NAMES: Final = {"cpu": "CPU"}


def extended(resources: dict[str, str]) -> list[str]:
    """The extended resources, such as `nvidia.com/gpu`."""
    return [name for name in resources if "/" in name]


def _amount(resource: str, text: str) -> str:
    try:
        quantity = parse(text)
    except QuantityError:
        return text
    if resource == "cpu":
        return printed_amount(resource, quantity.milli_value)
    return _binary(quantity.value) if resource in ("memory", "ephemeral-storage") else printed_amount(resource, quantity.value)


def _binary(value: int) -> str:
    """`20.6Gi`: an amount of bytes with at most one decimal."""
    amount, unit = float(value), 0
    units = ("", "Ki", "Mi", "Gi", "Ti")
    while amount >= 1024 and unit < len(units) - 1:
        amount /= 1024
        unit += 1
    return f"{amount:.1f}".removesuffix(".0") + units[unit]
