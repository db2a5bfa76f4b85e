"""Reads the user's kubeconfig: the server of a context, its certificate authorities, and the user's credentials.

Upstream: client-go tools/clientcmd
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import yaml

from schedviz.cli.follow.errors import FollowError


class ExecPlugin(msgspec.Struct, frozen=True):
    """A program that prints credentials, such as `aws eks get-token`."""

    command: str
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    api_version: str = "client.authentication.k8s.io/v1"
    install_hint: str = ""


class Impersonation(msgspec.Struct, frozen=True):
    """The user to impersonate. Upstream: client-go tools/clientcmd/api AuthInfo"""

    user: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class Access(msgspec.Struct, frozen=True):
    """How to reach a cluster as a user. Certificates and keys are PEM."""

    context: str
    server: str
    authority: bytes = b""
    skip_verify: bool = False
    certificate: bytes = b""
    key: bytes = b""
    token: str = ""
    #: Read again for each request, because other programs renew it.
    token_file: str = ""
    username: str = ""
    password: str = ""
    plugin: ExecPlugin | None = None
    #: The name in the server's certificate; "": the host of `server`.
    tls_server_name: str = ""
    #: The URL of an HTTP proxy; "": that of the environment.
    proxy: str = ""
    impersonated: Impersonation | None = None

    @property
    def address(self) -> str:
        """The server for messages: without a user name and a password."""
        return without_credentials(self.server)


def without_credentials(url: str) -> str:
    """A URL without a user name and a password."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.rpartition("@")[2]
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def paths(path: Path | None) -> list[Path]:
    """The files: the given one, those of KUBECONFIG, or the default one."""
    if path is not None:
        return [path]
    named = [Path(path) for path in os.environ.get("KUBECONFIG", "").split(os.pathsep) if path]
    return named or [Path.home() / ".kube" / "config"]


def access(files: list[Path], context: str | None) -> Access:
    """The access of a context (None: the current one). For duplicate names the first entry counts. Raises `FollowError`."""
    loaded = [(path, _loaded(path)) for path in files if path.exists()]
    if not loaded:
        raise FollowError(f"{files[0]}: there is no kubeconfig. Name one with --kubeconfig.")
    name = context or next((str(document["current-context"]) for _, document in loaded if document.get("current-context")), "")
    if not name:
        raise FollowError(f"{loaded[0][0]} has no current context. Name one with --context.")
    _, chosen = _entry(loaded, "contexts", "context", name)
    cluster_file, cluster = _entry(loaded, "clusters", "cluster", str(chosen.get("cluster", "")))
    user_file, user = _entry(loaded, "users", "user", str(chosen.get("user", "")))
    if user.get("auth-provider"):
        raise FollowError(f"context {name}: auth-provider is not supported; use an exec plugin instead.")
    server = str(cluster.get("server", ""))
    if not server.startswith(("https://", "http://")):
        raise FollowError(
            f"context {name}: the cluster's server is {without_credentials(server)!r}; expected an address such as https://127.0.0.1:6443."
        )
    return Access(
        context=name,
        server=server.rstrip("/"),
        authority=_data(cluster, "certificate-authority", cluster_file),
        skip_verify=_flag(cluster, "insecure-skip-tls-verify", name),
        certificate=_data(user, "client-certificate", user_file),
        key=_data(user, "client-key", user_file),
        token=str(user.get("token") or ""),
        token_file=str(_beside(user_file, user["tokenFile"])) if user.get("tokenFile") else "",
        username=str(user.get("username") or ""),
        password=str(user.get("password") or ""),
        plugin=_plugin(user, user_file, name),
        tls_server_name=str(cluster.get("tls-server-name") or ""),
        proxy=_proxy(cluster, name),
        impersonated=_impersonation(user, name),
    )


def _loaded(path: Path) -> Mapping[str, Any]:
    try:
        document = yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise FollowError(f"{path}: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise FollowError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(document, dict):
        raise FollowError(f"{path}: not a kubeconfig.")
    return document


def _entry(loaded: list[tuple[Path, Mapping[str, Any]]], members: str, member: str, name: str) -> tuple[Path, Mapping[str, Any]]:
    names: list[str] = []
    for path, content in loaded:
        entries = content.get(members) or ()
        if not isinstance(entries, list | tuple):
            raise FollowError(f"{path}: {members} must be a list.")
        for entry in entries:
            if not isinstance(entry, dict):
                continue
            names.append(str(entry.get("name")))
            if entry.get("name") == name:
                value = entry.get(member) or {}
                if not isinstance(value, dict):
                    raise FollowError(f"{path}: {members}: {name} has no {member}.")
                return path, value
    raise FollowError(f"{loaded[0][0]}: there is no {member} {name!r}; there are {', '.join(sorted(set(names))) or 'none'}.")


def _data(entry: Mapping[str, Any], member: str, path: Path) -> bytes:
    """A certificate or a key: inline as base64, or in a file."""
    if inline := entry.get(f"{member}-data"):
        try:
            return base64.b64decode(str(inline), validate=True)
        except binascii.Error:
            raise FollowError(f"{path}: {member}-data is not base64.") from None
    if not entry.get(member):
        return b""
    other = _beside(path, entry[member])
    try:
        return other.read_bytes()
    except OSError as error:
        raise FollowError(f"{other}: {error.strerror} (the {member} of {path}).") from None


def _beside(path: Path, name: object) -> Path:
    """Paths in a kubeconfig are relative to its folder."""
    return path.parent / str(name)


def _flag(entry: Mapping[str, Any], member: str, context: str) -> bool:
    """A Boolean. The text "false" is refused, because it must not count as true."""
    value = entry.get(member)
    if not isinstance(value, bool | None):
        raise FollowError(f"context {context}: {member} is {value!r}; expected true or false, without quotes.")
    return bool(value)


def _plugin(user: Mapping[str, Any], path: Path, context: str) -> ExecPlugin | None:
    plugin = user.get("exec")
    if not isinstance(plugin, dict):
        return None
    command = str(plugin.get("command") or "")
    if os.sep in command:
        command = str(_beside(path, command))
    arguments, variables = plugin.get("args") or (), plugin.get("env") or ()
    if not isinstance(arguments, list | tuple):
        raise FollowError(f"context {context}: args of exec must be a list.")
    if not isinstance(variables, list | tuple) or not all(isinstance(variable, dict) and variable.get("name") for variable in variables):
        raise FollowError(f"context {context}: env of exec must be a list of name and value.")
    return ExecPlugin(
        command=command,
        arguments=tuple(map(str, arguments)),
        environment={str(variable["name"]): str(variable.get("value") or "") for variable in variables},
        api_version=str(plugin.get("apiVersion") or "client.authentication.k8s.io/v1"),
        install_hint=str(plugin.get("installHint") or ""),
    )


def _proxy(cluster: Mapping[str, Any], context: str) -> str:
    proxy = str(cluster.get("proxy-url") or "")
    if proxy and not proxy.startswith(("http://", "https://")):
        raise FollowError(
            f"context {context}: proxy-url is {without_credentials(proxy)!r}; expected an HTTP proxy such as http://proxy:3128 "
            "(SOCKS is not supported)."
        )
    return proxy


def _impersonation(user: Mapping[str, Any], context: str) -> Impersonation | None:
    groups, extra = user.get("as-groups") or (), user.get("as-user-extra") or {}
    lists = (groups, *(extra.values() if isinstance(extra, dict) else ()))
    if not isinstance(extra, dict) or not all(isinstance(items, list | tuple | None) for items in lists):
        raise FollowError(f"context {context}: as-groups must be a list, and as-user-extra a map of lists.")
    if not user.get("as"):
        if groups or extra or user.get("as-uid"):
            raise FollowError(f"context {context}: as-uid, as-groups and as-user-extra need as, the name of the user to impersonate.")
        return None
    values = {str(key): tuple(str(item) for item in items or ()) for key, items in extra.items()}
    return Impersonation(str(user["as"]), str(user.get("as-uid") or ""), tuple(str(group) for group in groups), values)
