"""Which texts may be label keys and values, and names of objects, in the API server's words. Upstream: apimachinery/pkg/util/validation"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_NAME_RULE: Final = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_VALUE: Final = f"({_NAME})?"
_VALUE_RULE: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_SUBDOMAIN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_SUBDOMAIN_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_RULE: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_DNS_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_DNS_1035_RULE: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character"
)
_NAME_SHAPE: Final = re.compile(_NAME)
_VALUE_SHAPE: Final = re.compile(_VALUE)
_SUBDOMAIN_SHAPE: Final = re.compile(_SUBDOMAIN)
_LABEL_SHAPE: Final = re.compile(_LABEL)
_DNS_1035_SHAPE: Final = re.compile(_DNS_1035)


@lru_cache(maxsize=16_384)
def key_faults(key: str) -> tuple[str, ...]:
    """What is wrong with a label key; empty when nothing is. Upstream: validation.go IsQualifiedName"""
    parts = key.split("/")
    if len(parts) > 2:
        rule = _rule(_NAME_RULE, _NAME, "MyName", "my.name", "123-abc")
        return (f"a qualified name {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",)
    faults: list[str] = []
    name = parts[-1]
    if len(parts) == 2:
        faults += [f"prefix part {fault}" for fault in (subdomain_faults(parts[0]) if parts[0] else ["must be non-empty"])]
    if not name:
        faults.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        faults.append("name part must be no more than 63 characters")
    if not _NAME_SHAPE.fullmatch(name):
        faults.append(f"name part {_rule(_NAME_RULE, _NAME, 'MyName', 'my.name', '123-abc')}")
    return tuple(faults)


@lru_cache(maxsize=16_384)
def value_faults(value: str) -> tuple[str, ...]:
    """What is wrong with a label value; empty when nothing is. Upstream: validation.go IsValidLabelValue"""
    faults: list[str] = []
    if len(value.encode()) > 63:
        faults.append("must be no more than 63 characters")
    if not _VALUE_SHAPE.fullmatch(value):
        faults.append(_rule(_VALUE_RULE, _VALUE, "MyValue", "my_value", "12345"))
    return tuple(faults)


def subdomain_faults(value: str) -> list[str]:
    """What is wrong with a DNS subdomain. Upstream: validation.go IsDNS1123Subdomain"""
    faults: list[str] = []
    if len(value.encode()) > 253:
        faults.append("must be no more than 253 characters")
    if not _SUBDOMAIN_SHAPE.fullmatch(value):
        faults.append(_rule(_SUBDOMAIN_RULE, _SUBDOMAIN, "example.com"))
    return faults


def label_faults(value: str) -> list[str]:
    """What is wrong with a DNS label, such as a namespace. Upstream: validation.go IsDNS1123Label"""
    faults: list[str] = []
    if len(value.encode()) > 63:
        faults.append("must be no more than 63 characters")
    if not _LABEL_SHAPE.fullmatch(value):
        faults.append(_rule(_LABEL_RULE, _LABEL, "my-name", "123-abc"))
    return faults


def dns_1035_faults(value: str) -> list[str]:
    """What is wrong with the name of a Service. Upstream: validation.go IsDNS1035Label"""
    faults: list[str] = []
    if len(value.encode()) > 63:
        faults.append("must be no more than 63 characters")
    if not _DNS_1035_SHAPE.fullmatch(value):
        faults.append(_rule(_DNS_1035_RULE, _DNS_1035, "my-name", "abc-123"))
    return faults


def _rule(rule: str, shape: str, *examples: str) -> str:
    """Upstream: validation.go RegexError, its doubled space included."""
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{shape}')"
