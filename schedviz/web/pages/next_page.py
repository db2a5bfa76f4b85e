"""Where a login leads: a path of this server and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.http import url_has_allowed_host_and_scheme

if TYPE_CHECKING:
    from django.http import HttpRequest

#: Characters of the longest path that a login leads to.
_LONGEST = 2048


def local_path(request: HttpRequest, wanted: str | None) -> str:
    """`wanted` where it is a path of this server, else `/`."""
    if not wanted or not wanted.startswith("/") or len(wanted) > _LONGEST:
        return "/"
    is_local = url_has_allowed_host_and_scheme(wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return wanted if is_local else "/"
