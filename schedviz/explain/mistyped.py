"""Words that are probably typos of other words: values of node labels, and tolerations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from schedviz.kube.affinity import Toleration
from schedviz.kube.core import Node

#: Shorter words may differ in a letter on purpose, as `eu` and `us`, or `cpu` and `gpu` do.
_MIN_LETTERS: Final = 4
#: Words of so many letters are typos if they have the same letters: `sdd` and `ssd`.
_SHORT: Final = 3
#: Labels of Kubernetes and of clouds name zones and machines, which differ in a letter on purpose: `m5.large` and `m5.xlarge`.
_WELL_KNOWN: Final = re.compile(r"(?:^|\.)(?:kubernetes|k8s)\.io/")
#: Labels that the kubelet sets by what the machine is: nobody changes them, and a pod that asks for one does not run on other machines.
OF_MACHINE: Final = frozenset({f"{prefix}kubernetes.io/{name}" for prefix in ("", "beta.") for name in ("arch", "os")})
#: Other names of architectures, and those in labels.
_ARCHITECTURES: Final = {"x86_64": "amd64", "x86-64": "amd64", "x64": "amd64", "aarch64": "arm64", "arm64v8": "arm64", "arm": "arm64"}
_BETWEEN_WORDS: Final = re.compile(r"[-._]")


def is_mistyped(value: str, meant: str) -> bool:
    """Whether two values differ in one letter of a word: one that was added, left out or replaced, two that were swapped, or its case."""
    if value.lower() == meant.lower():
        return value != meant
    words, others = _BETWEEN_WORDS.split(value.lower()), _BETWEEN_WORDS.split(meant.lower())
    different = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    if len(words) != len(others) or len(different) != 1:
        return False
    [(word, other)] = different
    is_short = len(word) == len(other) == _SHORT and set(word) == set(other)
    return (is_short or min(len(word), len(other)) >= _MIN_LETTERS) and _differ_in_one_letter(word, other)


def meant_value(key: str, value: str, nodes: Iterable[Node]) -> str:
    """The value that was probably meant for a required label that no node has, but almost; "" if there is none."""
    if _WELL_KNOWN.search(key) and key not in OF_MACHINE:
        return ""
    there = {node.metadata.labels[key] for node in nodes if key in node.metadata.labels}
    if value in there:
        return ""
    if key in OF_MACHINE and (named := _ARCHITECTURES.get(value.lower())) in there:
        return named or ""
    return min((other for other in there if is_mistyped(value, other)), default="")


def mistyped_toleration(tolerations: Iterable[Toleration], key: str, value: str) -> Toleration | None:
    """The toleration whose key, or else value, is probably a typo of the taint's; None if there is none."""
    for toleration in tolerations:
        is_of_key = is_mistyped(toleration.key, key) and (toleration.operator == "Exists" or toleration.value == value)
        is_of_value = toleration.key == key and bool(toleration.value) and is_mistyped(toleration.value, value)
        if is_of_key or is_of_value:
            return toleration
    return None


def printed_toleration(toleration: Toleration) -> str:
    """The key and the value, as kubectl prints taints; "*" for a toleration of everything."""
    return "=".join(filter(None, (toleration.key, toleration.value))) or "*"


def _differ_in_one_letter(word: str, other: str) -> bool:
    start = next((place for place, (one, two) in enumerate(zip(word, other, strict=False)) if one != two), min(len(word), len(other)))
    rest, other_rest = word[start:], other[start:]
    if any(letter.isdigit() for letter in (rest[:1] + other_rest[:1])):
        return False
    is_swapped = rest[:2] == other_rest[:2][::-1] and rest[2:] == other_rest[2:]
    return is_swapped or rest[1:] == other_rest[1:] or rest[1:] == other_rest or rest == other_rest[1:]
