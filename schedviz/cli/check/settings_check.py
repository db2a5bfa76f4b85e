"""Checks of settings that are unsafe on a server for many users, alone or in combination."""

from __future__ import annotations

import ipaddress
import os
import resource
import stat
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from schedviz.cli.check.finding import Finding, error, warning
from schedviz.cli.check.known_settings import unknown_settings

_LOCAL = frozenset(("127.0.0.1", "localhost", "[::1]", "::1", ""))
_MIN_SECRET_LENGTH = 32
_MIN_TOKEN_LENGTH = 24
#: Limits for which 0 does not mean that there is no limit.
_NOT_ZERO = (
    *("SOCKETS", "SOCKETS_PER_SESSION", "SOCKETS_PER_VIEWER", "SOCKET_COMMANDS_PER_SECOND", "SOCKET_COMMANDS_AT_ONCE"),
    *("VIEWER_QUEUE_BYTES", "BODY_BYTES", "UPLOAD_BYTES", "ROOM_HOURS", "ROOM_PARTICIPANTS", "ROOM_TRIES_PER_MINUTE"),
)
#: File descriptors besides those of sockets: database, Redis, files, logs.
_OTHER_FILES = 256


class Configured:
    """The settings and the environment that they come from."""

    def __init__(self, settings: Any, environment: Mapping[str, str]) -> None:
        self.settings = settings
        self.environment = environment
        self.database = urlsplit(settings.DATABASE_URL)
        self.redis = urlsplit(settings.REDIS_URL)

    @property
    def is_for_others(self) -> bool:
        """Whether users of other machines can reach the server."""
        return self.settings.PUBLIC or any(host not in _LOCAL for host in self.settings.ALLOWED_HOSTS)

    @property
    def is_on_several_hosts(self) -> bool:
        """Whether the components communicate over a network."""
        return _is_remote(self.redis.hostname) or (self.database.scheme != "sqlite" and _is_remote(self.database.hostname))


def _is_remote(host: str | None) -> bool:
    return host is not None and host not in _LOCAL and not host.startswith("/")


def findings_of(configured: Configured) -> list[Finding]:
    """All problems, worst first."""
    findings = [finding for check in _CHECKS for finding in check(configured)]
    return sorted(findings, key=lambda finding: finding.level)


def _debug(configured: Configured) -> Iterator[Finding]:
    if configured.settings.DEBUG:
        yield error("SCHEDVIZ_DEBUG", "shows source code and settings on every error page", "unset it")


def _secrets(configured: Configured) -> Iterator[Finding]:
    if configured.is_on_several_hosts and not configured.environment.get("SCHEDVIZ_SECRET_KEY"):
        yield error(
            "SCHEDVIZ_SECRET_KEY",
            "is not set, so each host generates its own key, and logins at one host are invalid at the others",
            "set the same one everywhere: python3 -c 'import secrets; print(secrets.token_urlsafe(48))'",
        )
    if len(configured.settings.SECRET_KEY) < _MIN_SECRET_LENGTH:
        yield error(
            "SCHEDVIZ_SECRET_KEY", f"has {len(configured.settings.SECRET_KEY)} characters and can be guessed", "use 48 random bytes"
        )
    token = configured.settings.METRICS_TOKEN
    if token and len(token) < _MIN_TOKEN_LENGTH:
        yield error("SCHEDVIZ_METRICS_TOKEN", f"has {len(token)} characters and can be guessed", "use 32 random bytes")


def _hosts(configured: Configured) -> Iterator[Finding]:
    hosts = configured.settings.ALLOWED_HOSTS
    if "*" in hosts or any(host.startswith(".") for host in hosts):
        yield error(
            "SCHEDVIZ_ALLOWED_HOSTS",
            "accepts any hostname: links in emails and rooms can be forged to lead to another site",
            "list the hostnames exactly",
        )
    if configured.is_for_others and not configured.settings.PUBLIC:
        yield warning(
            "SCHEDVIZ_PUBLIC",
            "is off while the server accepts other hostnames than this machine's: cookies travel over plain HTTP and limits are wide",
            "set it to 1, unless everybody who can reach the server is trusted",
        )
    if configured.settings.PUBLIC and all(host in _LOCAL for host in hosts):
        yield error("SCHEDVIZ_ALLOWED_HOSTS", "has no public hostname: clients get 400", "add it")


def _origins(configured: Configured) -> Iterator[Finding]:
    origins = configured.settings.CSRF_TRUSTED_ORIGINS
    if configured.settings.PUBLIC and not origins:
        yield error("SCHEDVIZ_ORIGINS", "is not set: behind an HTTPS proxy, logins and sockets are refused", "set https://your.name")
    for origin in origins:
        if configured.settings.PUBLIC and not origin.startswith("https://"):
            yield error("SCHEDVIZ_ORIGINS", f"has {origin}, which is not HTTPS, and cookies are only sent over HTTPS", "write https://…")
        if "*" in origin:
            yield error("SCHEDVIZ_ORIGINS", f"has {origin}, which trusts forms of every site that matches", "list the origins exactly")
    if "*" in (configured.settings.EMBED_ORIGINS or []):
        yield warning("SCHEDVIZ_EMBED_ORIGINS", "lets every site embed panels", "list the sites, unless you want all")


def _proxies(configured: Configured) -> Iterator[Finding]:
    if configured.settings.PUBLIC and configured.settings.PROXIES == 0:
        yield error(
            "SCHEDVIZ_PROXIES",
            "is 0, so all clients share the proxy's address: failed logins of one lock out the others, and rate limits are shared",
            "set it to the number of proxies in front (1 for one)",
        )
    local = [network for network in configured.settings.METRICS_FROM if ipaddress.ip_network(network, strict=False).is_loopback]
    if local and configured.is_for_others and configured.settings.PROXIES == 0:
        yield error(
            "SCHEDVIZ_METRICS_FROM", f"has {local[0]}, also a proxy's address on this host: anybody can read /metrics", "use a token"
        )
    if any(ipaddress.ip_network(network, strict=False).prefixlen == 0 for network in configured.settings.METRICS_FROM):
        yield error("SCHEDVIZ_METRICS_FROM", "lets everybody read /metrics, which covers all sessions", "list the network, or use a token")


def _database(configured: Configured) -> Iterator[Finding]:
    if configured.database.scheme == "sqlite":
        if configured.is_on_several_hosts:
            yield error("SCHEDVIZ_DATABASE_URL", "is SQLite, a file that other hosts cannot read", "use PostgreSQL")
        elif configured.settings.PUBLIC:
            yield warning(
                "SCHEDVIZ_DATABASE_URL",
                "is SQLite, which has one writer at a time: too slow for more than about ten busy sessions",
                "use PostgreSQL",
            )
        return
    mode = dict(parse_qsl(configured.database.query)).get("sslmode", "prefer")
    if _is_remote(configured.database.hostname) and mode not in ("verify-full", "verify-ca"):
        yield warning(
            "SCHEDVIZ_DATABASE_URL",
            f"has sslmode={mode}: anybody on the network path can read and change everything, including the password",
            "add ?sslmode=verify-full&sslrootcert=/path/to/ca.crt, unless the network is yours",
        )


def _redis(configured: Configured) -> Iterator[Finding]:
    if not _is_remote(configured.redis.hostname):
        return
    if not configured.redis.password:
        yield error(
            "SCHEDVIZ_REDIS_URL",
            "has no password: anybody who can reach it can read all frames and wake workers",
            "give it a user and a password",
        )
    if configured.redis.scheme != "rediss":
        yield warning(
            "SCHEDVIZ_REDIS_URL",
            "is not TLS: anybody on the network path can read frames and the password",
            "use rediss://, unless the network is yours",
        )
    if configured.redis.scheme == "rediss" and dict(parse_qsl(configured.redis.query)).get("ssl_cert_reqs", "required") in (
        "none",
        "CERT_NONE",
    ):
        yield error(
            "SCHEDVIZ_REDIS_URL",
            "does not verify the certificate, so TLS does not authenticate the server",
            "add ssl_ca_certs=… in place of ssl_cert_reqs=none",
        )


def _extenders(configured: Configured) -> Iterator[Finding]:
    for network in configured.settings.EXTENDER_NETWORKS:
        parsed = ipaddress.ip_network(network, strict=False)
        if parsed.prefixlen == 0 or parsed.is_link_local or parsed.is_loopback:
            yield error(
                "SCHEDVIZ_EXTENDER_NETWORKS",
                f"has {network}, which lets sessions call this host or a cloud's metadata service",
                "list only the extenders' network",
            )
    if configured.settings.EXTENDER_HOSTS and not configured.settings.EXTENDER_USERS:
        yield warning("SCHEDVIZ_EXTENDER_USERS", "is empty, so no user's sessions may call SCHEDVIZ_EXTENDER_HOSTS", "list the users")


def _oidc(configured: Configured) -> Iterator[Finding]:
    issuer = urlsplit(configured.settings.OIDC_ISSUER)
    if configured.settings.OIDC_ISSUER and issuer.scheme != "https" and (issuer.scheme != "http" or _is_remote(issuer.hostname)):
        yield error(
            "SCHEDVIZ_OIDC_ISSUER",
            "is not HTTPS: whoever can change the traffic to the provider can log in as any user",
            "write https://…",
        )
    if configured.settings.OIDC_ISSUER and (find_spec("authlib") is None or find_spec("requests") is None):
        yield error("SCHEDVIZ_OIDC_ISSUER", "is set but Authlib is not installed: every login fails", "pip install 'schedviz[oidc]'")


def _quotas(configured: Configured) -> Iterator[Finding]:
    if not configured.settings.PUBLIC:
        return
    unlimited = [
        name for name in dir(configured.settings) if name.endswith(("_PER_USER", "_IN_ALL")) and getattr(configured.settings, name) == 0
    ]
    if unlimited:
        named = ", ".join(f"SCHEDVIZ_{name}" for name in sorted(unlimited))
        yield warning(named, "are 0: anonymous clients can fill the database", "set limits (docs/reliability.md, Quotas)")


def _data_folder(configured: Configured) -> Iterator[Finding]:
    data: Path = configured.settings.DATA
    secrets = [path for path in (data / "secret_key", data / "token", data / "schedviz.sqlite3") if path.exists()]
    for path in [data, *secrets] if secrets else []:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            yield error("SCHEDVIZ_DATA", f"is not private: other users of this host can read {path}", f"chmod go= {path}")
    if os.geteuid() == 0:
        yield warning("the user", "is root; no part of schedviz needs that", "run it as its own user")


def _limits_of_the_process(configured: Configured) -> Iterator[Finding]:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files < configured.settings.SOCKETS + _OTHER_FILES:
        yield error(
            "the limit of open files",
            f"is {files}; SCHEDVIZ_SOCKETS allows {configured.settings.SOCKETS} sockets, and each needs one",
            f"ulimit -n {configured.settings.SOCKETS + _OTHER_FILES}, or LimitNOFILE= of systemd",
        )
    if configured.environment.get("OPENBLAS_NUM_THREADS") != "1":
        yield warning("OPENBLAS_NUM_THREADS", "is not 1: NumPy's threads use memory and slow down small arrays", "set it to 1 for workers")


def _parts(configured: Configured) -> Iterator[Finding]:
    if configured.settings.TRACES and find_spec("opentelemetry.exporter") is None:
        yield error("SCHEDVIZ_TRACES", "is on but OpenTelemetry is not installed: no process starts", "pip install 'schedviz[otel]'")
    if configured.database.scheme in ("postgres", "postgresql") and find_spec("psycopg") is None:
        yield error("SCHEDVIZ_DATABASE_URL", "is PostgreSQL but its driver is not installed", "pip install 'schedviz[postgres]'")
    if not (Path(configured.settings.BASE_DIR) / "schedviz/web/static/app/.vite/manifest.json").exists():
        yield error("the page", "was not built: every page shows an error", "run `make setup`, or install the wheel")


def _names(configured: Configured) -> Iterator[Finding]:
    for name, similar in unknown_settings(configured.environment):
        yield warning(name, "is no setting of schedviz", f"rename it to {similar}, or unset it" if similar else "unset it")


def _zeros(configured: Configured) -> Iterator[Finding]:
    for name in _NOT_ZERO:
        if getattr(configured.settings, name) == 0:
            yield error(f"SCHEDVIZ_{name}", "is 0, which allows nothing, unlike other limits", "set a limit, or unset it")


def wrong_in(configured: Configured) -> list[Finding]:
    """The problems of settings that cannot be meant on any server."""
    return [finding for check in (_names, _zeros) for finding in check(configured)]


_CHECKS: tuple[Callable[[Configured], Iterator[Finding]], ...] = (
    _names,
    _zeros,
    _debug,
    _secrets,
    _hosts,
    _origins,
    _proxies,
    _database,
    _redis,
    _extenders,
    _oidc,
    _quotas,
    _data_folder,
    _limits_of_the_process,
    _parts,
)
