"""`ShortNames`: names of nodes for sentences, without the domain that all of them have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

#: A name with a domain. An IP address has none.
_NAME: Final = re.compile(r"[^.]+(?P<domain>\.[A-Za-z].*)", re.DOTALL)


class ShortNames:
    """Shortens `ip-10-0-3-19.eu-west-1.compute.internal` to `ip-10-0-3-19` if all nodes have the same domain."""

    def __init__(self, names: Sequence[str]) -> None:
        self._domain = _common_domain(names)

    def of(self, name: str) -> str:
        """A name of a node; another name is returned unchanged."""
        return name.removesuffix(self._domain)


def _common_domain(names: Sequence[str]) -> str:
    """The domain with its dot, such as `.eu-west-1.compute.internal`; "": there is none. It is that of `commonDomain` of the page."""
    first = _NAME.fullmatch(names[0]) if len(names) > 1 else None
    if first is None:
        return ""
    domain = first["domain"]
    return domain if all(name.endswith(domain) and "." not in name[: -len(domain)] for name in names) else ""
