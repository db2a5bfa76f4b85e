"""Credentials for an API server: a token, a password, a certificate, or those of the kubeconfig's exec plugin."""

from __future__ import annotations

import base64
import json
import os
import ssl
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote

from schedviz.cli.follow.errors import FollowError
from schedviz.cli.follow.kubeconfig import Access, ExecPlugin

_PLUGIN_SECONDS = 120


class _NamedContext(ssl.SSLContext):
    """Verifies the server's certificate for `server_name`, if it is set, instead of for the URL's host."""

    server_name = ""

    def wrap_socket(self, *args: Any, **kwargs: Any) -> ssl.SSLSocket:
        """As `SSLContext.wrap_socket`."""
        if self.server_name:
            kwargs["server_hostname"] = self.server_name
        return super().wrap_socket(*args, **kwargs)


class Credentials:
    """The user's credentials, renewed when the API server rejects them."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._lock = threading.Lock()
        self._given: dict[str, Any] | None = None
        #: The token that was read last from the token file.
        self._file_token = ""

    def headers(self) -> list[tuple[bytes, bytes]]:
        """The Authorization header. Raises `FollowError`."""
        access = self._access
        token = access.token
        if access.token_file:
            # A file that is just being written can be empty. Upstream: client-go transport/token_source.go keeps the last token, too.
            token = self._file_token = _text(access.token_file) or self._file_token
            if not token:
                raise FollowError(f"{access.token_file}: the token file is empty.")
        elif access.plugin is not None:
            token = str(self._of_plugin(access.plugin).get("token") or "")
        if token:
            return [(b"Authorization", b"Bearer " + self._header_value("the token", token))]
        if access.username:
            encoded = base64.b64encode(self._encoded("the password", f"{access.username}:{access.password}")).decode()
            return [(b"Authorization", f"Basic {encoded}".encode())]
        return []

    def impersonation(self) -> list[tuple[bytes, bytes]]:
        """The headers that name the impersonated user; a name can be repeated. Upstream: client-go transport/round_trippers.go"""
        user = self._access.impersonated
        if user is None:
            return []
        extra = [(f"Impersonate-Extra-{quote(key, safe='')}", value) for key, values in user.extra.items() for value in values]
        uid = [("Impersonate-Uid", user.uid)] if user.uid else []
        headers = [("Impersonate-User", user.user), *uid, *(("Impersonate-Group", group) for group in user.groups), *extra]
        return [(name.encode(), self._header_value(name, value)) for name, value in headers]

    def tls(self) -> ssl.SSLContext:
        """The trusted authorities and the client certificate. Raises `FollowError`."""
        access = self._access
        context = _NamedContext(ssl.PROTOCOL_TLS_CLIENT)
        context.server_name = access.tls_server_name
        try:
            if access.authority:
                context.load_verify_locations(cadata=access.authority.decode())
            else:
                context.load_default_certs()
            if access.skip_verify:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            certificate, key = access.certificate, access.key
            if access.plugin is not None and (credential := self._of_plugin(access.plugin)).get("clientCertificateData"):
                certificate, key = str(credential["clientCertificateData"]).encode(), str(credential.get("clientKeyData") or "").encode()
            if certificate:
                _load(context, certificate, key)
        except (ssl.SSLError, UnicodeDecodeError, ValueError) as error:
            raise FollowError(f"context {access.context}: a certificate or a key cannot be used: {error}.") from None
        return context

    def refused(self) -> bool:
        """The API server rejected the credentials; returns whether to try again with new ones."""
        with self._lock:
            had, self._given = self._given is not None, None
        return had or bool(self._access.token_file)

    def _header_value(self, name: str, value: str) -> bytes:
        """The value of a header. The error does not contain it: it may be a secret. Raises `FollowError`."""
        # As Go's HTTP client does. The error of httpx about a space at the end would contain the value.
        value = value.strip(" \t")
        if any(letter < " " or letter == "\x7f" for letter in value):
            raise FollowError(f"context {self._access.context}: {name} contains a line break or another control character.")
        return self._encoded(name, value)

    def _encoded(self, name: str, value: str) -> bytes:
        try:
            return value.encode()
        except UnicodeEncodeError:
            raise FollowError(f"context {self._access.context}: {name} contains characters that are no text.") from None

    def _of_plugin(self, plugin: ExecPlugin) -> dict[str, Any]:
        with self._lock:
            if self._given is None:
                self._given = _run(plugin)
            return self._given


def _run(plugin: ExecPlugin) -> dict[str, Any]:
    """The `status` of the ExecCredential that a plugin prints."""
    info = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": {"interactive": False}}
    environment = {**os.environ, **plugin.environment, "KUBERNETES_EXEC_INFO": json.dumps(info)}
    try:
        done = subprocess.run(  # noqa: S603 -- the command in the user's kubeconfig, as with kubectl.
            [plugin.command, *plugin.arguments], env=environment, stdout=subprocess.PIPE, timeout=_PLUGIN_SECONDS, check=False
        )
    except ValueError as error:
        raise FollowError(f"the exec plugin {plugin.command} of the kubeconfig cannot be run: {error}.") from None
    except OSError as error:
        hint = f" {' '.join(plugin.install_hint.split())}" if plugin.install_hint else ""
        raise FollowError(f"the exec plugin {plugin.command} of the kubeconfig cannot be run: {error.strerror}.{hint}") from None
    except subprocess.TimeoutExpired:
        raise FollowError(f"the exec plugin {plugin.command} of the kubeconfig did not end within {_PLUGIN_SECONDS} s.") from None
    if done.returncode:
        raise FollowError(f"the exec plugin {plugin.command} of the kubeconfig failed with {done.returncode}; its message is above.")
    try:
        status = json.loads(done.stdout)["status"]
    except (ValueError, KeyError, TypeError, RecursionError):
        status = None
    if not isinstance(status, dict) or not (status.get("token") or status.get("clientCertificateData")):
        raise FollowError(f"the exec plugin {plugin.command} of the kubeconfig printed no ExecCredential with a token or a certificate.")
    return status


def _load(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Load the certificate from a temporary private file, because OpenSSL only reads files."""
    descriptor, name = tempfile.mkstemp()
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(certificate + b"\n" + key)
        context.load_cert_chain(name)
    finally:
        Path(name).unlink()


def _text(name: str) -> str:
    try:
        return Path(name).read_text().strip()
    except OSError as error:
        raise FollowError(f"{name}: {error.strerror} (the tokenFile of the kubeconfig).") from None
    except UnicodeDecodeError:
        raise FollowError(f"{name}: not text (the tokenFile of the kubeconfig).") from None
