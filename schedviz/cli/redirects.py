"""HTTP without redirects, so that a request with a token reaches only the address that the user named."""

from __future__ import annotations

import urllib.request
from typing import Any


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Turns a redirect into an `HTTPError`. urllib would send the Authorization header to the other host."""

    def redirect_request(self, *_: Any) -> None:
        return None
