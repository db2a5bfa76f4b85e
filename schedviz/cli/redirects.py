"""HTTP without redirects: a request that carries a token goes to the address that the user named, and nowhere else."""

from __future__ import annotations

import urllib.request
from typing import Any


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Answers a redirect with its own `HTTPError`. urllib would send the Authorization header along, to any host."""

    def redirect_request(self, *_: Any) -> None:
        return None
