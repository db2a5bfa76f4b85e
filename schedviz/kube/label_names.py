"""Validates label keys and values and object names, with the API server's messages. Upstream: apimachinery/pkg/util/validation"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

#: For longer texts only the length is reported.
_MAX_CHECKED_CHARACTERS: Final = 1000
_ALPHANUMERIC_ENDS: Final = "must start and end with an alphanumeric character"


class _Form(NamedTuple):
    """A required form. `rule` describes it in words; upstream's messages end with examples and the regular expression."""

    shape: str
    rule: str
    examples: tuple[str, ...]
    max_bytes: int = 63

    def faults(self, text: str) -> list[str]:
        if len(text) > _MAX_CHECKED_CHARACTERS:
            return [f"must be no more than {self.max_bytes} characters"]
        result = [f"must be no more than {self.max_bytes} characters"] if len(text.encode()) > self.max_bytes else []
        return result if re.fullmatch(self.shape, text) else [*result, self.message]

    @property
    def message(self) -> str:
        """Upstream: validation.go RegexError, including its double space."""
        examples = " or ".join(f"'{example}', " for example in self.examples)
        return f"{self.rule} (e.g. {examples}regex used for validation is '{self.shape}')"


_NAME: Final = _Form(
    "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
    f"must consist of alphanumeric characters, '-', '_' or '.', and {_ALPHANUMERIC_ENDS}",
    ("MyName", "my.name", "123-abc"),
)
_VALUE: Final = _Form(
    f"({_NAME.shape})?",
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and {_ALPHANUMERIC_ENDS}",
    ("MyValue", "my_value", "12345"),
)
_LABEL: Final = _Form(
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?",
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and {_ALPHANUMERIC_ENDS}",
    ("my-name", "123-abc"),
)
_SUBDOMAIN: Final = _Form(
    rf"{_LABEL.shape}(\.{_LABEL.shape})*",
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and {_ALPHANUMERIC_ENDS}",
    ("example.com",),
    max_bytes=253,
)
_DNS_1035: Final = _Form(
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    ("my-name", "abc-123"),
)


@lru_cache(maxsize=16_384)
def key_faults(key: str) -> tuple[str, ...]:
    """The errors in a label key; empty if it is valid. Upstream: validation.go IsQualifiedName"""
    parts = key.split("/")
    if len(parts) > 2:
        return (f"a qualified name {_NAME.message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",)
    faults: list[str] = []
    name = parts[-1]
    if len(parts) == 2:
        faults += [f"prefix part {fault}" for fault in (subdomain_faults(parts[0]) if parts[0] else ["must be non-empty"])]
    if not name:
        faults.append("name part must be non-empty")
    faults += [f"name part {fault}" for fault in _NAME.faults(name)]
    return tuple(faults)


@lru_cache(maxsize=16_384)
def value_faults(value: str) -> tuple[str, ...]:
    """The errors in a label value; empty if it is valid. Upstream: validation.go IsValidLabelValue"""
    return tuple(_VALUE.faults(value))


def subdomain_faults(text: str) -> list[str]:
    """The errors in a DNS subdomain, the form of most names. Upstream: validation.go IsDNS1123Subdomain"""
    return _SUBDOMAIN.faults(text)


def dns_1123_label_faults(text: str) -> list[str]:
    """The errors in a DNS label, such as a namespace. Upstream: validation.go IsDNS1123Label"""
    return _LABEL.faults(text)


def dns_1035_faults(text: str) -> list[str]:
    """The errors in the name of a Service. Upstream: validation.go IsDNS1035Label"""
    return _DNS_1035.faults(text)
