"""The REST client of `schedviz compare`, `import` and `follow`, and the options that select a server.

It differs from `schedviz.client`: it returns refusals with their status if asked to, retries nothing, and reports errors as click's.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import secrets
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import click

from schedviz.cli.redirects import NoRedirects
from schedviz.client.errors import SchedvizError
from schedviz.client.limits import MAX_ERROR_BYTES, MAX_JSON_BYTES, TooLarge
from schedviz.client.server import NONE_FOUND, find_server

#: Comparing long sessions takes a while.
_TIMEOUT_SECONDS = 120.0
_REDIRECTS = range(300, 400)
_OPENER = urllib.request.build_opener(NoRedirects())

_NOT_SCHEDVIZ = "The response is not from schedviz."
HOW_TO_AUTHENTICATE = " Pass a token with --token or SCHEDVIZ_TOKEN."

server_option = click.option(
    "--server", envvar="SCHEDVIZ_SERVER", default=None, metavar="URL", help="The server; default: the `schedviz up` of this machine."
)
token_option = click.option(
    "--token", envvar="SCHEDVIZ_TOKEN", default=None, metavar="SECRET", help="A token of `schedviz token create`; default: this machine's."
)


class ServerResponse(NamedTuple):
    """A response."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    def json(self) -> Any:
        """The decoded body. Raises `click.ClickException`."""
        return _decoded(self.body, "the server")

    @property
    def message(self) -> str:
        """The error message of the server."""
        return _message(self.body)

    @property
    def error(self) -> Mapping[str, Any]:
        """`code`, `message` and `detail` of a refusal; empty if the response is not from schedviz."""
        try:
            problem = json.loads(self.body)["error"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return {}
        return problem if isinstance(problem, dict) else {}


class RestClient:
    """Sends requests to one server."""

    def __init__(self, address: str | None, token: str | None) -> None:
        try:
            server = find_server(address, token or None)
        except SchedvizError as error:
            raise click.ClickException(str(error)) from None
        self._address = server.address
        #: What to do if the server does not respond.
        self._hint_if_silent = NONE_FOUND if server.guessed else "Is `schedviz up` running there?"
        self._headers = {"Authorization": f"Bearer {server.token}"} if server.token else {}

    def get_json(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """The decoded response to GET `/api/v1/<path>`. Raises `click.ClickException`."""
        return _decoded(self.get(path, query), self._address)

    def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        """The response to GET `/api/v1/<path>`. Raises `click.ClickException`."""
        address = f"{self._address}/api/v1/{path}" + (f"?{urlencode(query)}" if query else "")
        return self._open(urllib.request.Request(address, headers=self._headers))  # noqa: S310 -- the scheme was looked at.

    def _open(self, request: urllib.request.Request) -> bytes:
        try:
            with _OPENER.open(request, timeout=_TIMEOUT_SECONDS) as response:
                return _read(response)
        except urllib.error.HTTPError as error:
            if error.code in _REDIRECTS:
                raise click.ClickException(
                    f"{self._address} redirects to {error.headers.get('Location', 'nowhere')} (HTTP {error.code}). Redirects are not "
                    "followed, because the token would be sent along. If that address is right, set it with --server or SCHEDVIZ_SERVER."
                ) from None
            message = _message(_error_body(error))
            raise click.ClickException(f"{self._address}: {message} (HTTP {error.code}){self._hint(error.code)}") from None
        except (OSError, http.client.HTTPException) as error:
            raise click.ClickException(f"{self._address} does not respond: {_reason(error)}. {self._hint_if_silent}") from None

    def post_files(self, path: str, files: Mapping[str, bytes], fields: Mapping[str, str]) -> Any:
        """Upload files as a form. Returns the decoded response. Raises `click.ClickException`."""
        boundary = secrets.token_hex(16)
        body = b"".join(
            [
                *(_part(boundary, f'name="{name}"', value.encode()) for name, value in fields.items()),
                *(_part(boundary, f'name="file"; filename="{name}"', data) for name, data in files.items()),
                f"--{boundary}--\r\n".encode(),
            ]
        )
        headers = {**self._headers, "Content-Type": f"multipart/form-data; boundary={boundary}"}
        request = urllib.request.Request(f"{self._address}/api/v1/{path}", body, headers)  # noqa: S310 -- as above.
        return _decoded(self._open(request), self._address)

    def request(self, path: str, body: object = None) -> ServerResponse:
        """The response to a GET or, with a body, to a POST of JSON, whatever its status. Raises `OSError` without one."""
        headers = self._headers if body is None else {**self._headers, "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._address}/api/v1/{path}", data, headers)  # noqa: S310 -- the scheme was looked at.
        try:
            with _OPENER.open(request, timeout=_TIMEOUT_SECONDS) as response:
                return ServerResponse(response.status, _read(response), {})
        except urllib.error.HTTPError as error:
            return ServerResponse(error.code, _error_body(error), dict(error.headers or {}))
        except (urllib.error.URLError, http.client.HTTPException) as error:
            raise OSError(_reason(error)) from None

    def delete(self, path: str) -> None:
        """DELETE `/api/v1/<path>`. An error is ignored: the caller has another one to report."""
        request = urllib.request.Request(f"{self._address}/api/v1/{path}", headers=self._headers, method="DELETE")  # noqa: S310 -- as above.
        with contextlib.suppress(OSError, http.client.HTTPException), _OPENER.open(request, timeout=_TIMEOUT_SECONDS):
            pass

    @property
    def address(self) -> str:
        """The server's address, for messages."""
        return self._address

    def _hint(self, status: int) -> str:
        return HOW_TO_AUTHENTICATE if status in (401, 404) and not self._headers else ""


def _read(response: http.client.HTTPResponse) -> bytes:
    body = response.read(MAX_JSON_BYTES + 1)
    if len(body) > MAX_JSON_BYTES:
        raise OSError(str(TooLarge("the response", MAX_JSON_BYTES)))
    return body


def _decoded(body: bytes, address: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise click.ClickException(f"{address}: {_NOT_SCHEDVIZ} Is the address right?") from None


def _error_body(error: urllib.error.HTTPError) -> bytes:
    """The beginning of an error's body, as far as it arrived: a proxy may cut it."""
    try:
        return error.read(MAX_ERROR_BYTES)
    except (OSError, http.client.HTTPException):
        return b""


def _reason(error: Exception) -> str:
    """Why there is no response. An error about what is not HTTP has only its class, or the line of another protocol."""
    if isinstance(error, http.client.HTTPException):
        return f"what came is not a whole response of HTTP ({type(error).__name__})"
    return str(getattr(error, "reason", error))


def _part(boundary: str, disposition: str, data: bytes) -> bytes:
    return b"--%b\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n" % (boundary.encode(), disposition.encode(), data)


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return _NOT_SCHEDVIZ
