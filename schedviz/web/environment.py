"""Reads environment variables as settings: the data directory, the secret key, the addresses of the database and of Redis.

Only `schedviz.settings` uses it, before Django is set up.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import re
import secrets
import tempfile
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"", "0", "false", "no", "off"}
#: Largest numbers by the last word of a setting's name: years, and what fits into times, dates and limits of processes.
_MAX_BY_UNIT = {"SECONDS": 10**8, "MINUTES": 10**7, "HOURS": 10**5, "DAYS": 10**5, "MEGABYTES": 10**9}
_MAX_NUMBER = 10**15
_MAX_QUOTED = 100
_LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def flag(name: str, *, default: bool = False) -> bool:
    """A switch, such as `SCHEDVIZ_PUBLIC=1`."""
    raw = os.environ.get(name)
    if raw is None:
        return default
    if raw.strip().lower() in _TRUE:
        return True
    if raw.strip().lower() in _FALSE:
        return False
    raise ImproperlyConfigured(f"{name}={raw!r} is not a Boolean; expected 1 or 0.")


def number(name: str, default: int) -> int:
    """A whole number of 0 or more, such as a limit, and at most what the operating system can use in this unit."""
    raw = os.environ.get(name, "").strip()
    if not raw:
        return default
    if not re.fullmatch(r"[0-9]+", raw):
        raise ImproperlyConfigured(f"{name}={_quoted(raw)} is not a whole number.")
    maximum = next((largest for unit, largest in _MAX_BY_UNIT.items() if name.endswith(f"_{unit}")), _MAX_NUMBER)
    digits = raw.lstrip("0") or "0"
    if len(digits) > len(str(maximum)) or int(digits) > maximum:
        raise ImproperlyConfigured(f"{name}={_quoted(raw)} is too large; at most {maximum:,} is possible.")
    return int(digits)


def choice(name: str, choices: Sequence[str], default: str) -> str:
    """One of several words."""
    value = os.environ.get(name, "").strip() or default
    if value not in choices:
        raise ImproperlyConfigured(f"{name}={_quoted(value)} is unknown; expected {', '.join(choices[:-1])} or {choices[-1]}.")
    return value


def _quoted(value: str) -> str:
    """A value as it was set, in one line, cut if it is long."""
    return repr(value if len(value) <= _MAX_QUOTED else f"{value[:_MAX_QUOTED]}…")


def comma_separated(name: str, default: list[str]) -> list[str]:
    """A list, separated by commas."""
    raw = os.environ.get(name)
    if raw is None:
        return default
    return [item.strip() for item in raw.split(",") if item.strip()]


def host_names(name: str, default: list[str]) -> list[str]:
    """Names of hosts, separated by commas, as a `Host` header has them: IPv6 addresses in brackets, whether they are given so or not."""
    return [f"[{host}]" if ":" in host and not host.startswith("[") else host for host in comma_separated(name, default)]


def base_url(name: str) -> str:
    """The URL of a site, such as `https://schedviz.example.org`; "" if it is not set."""
    raw = os.environ.get(name, "").strip()
    if raw and not re.fullmatch(r"https?://[^\s/?#@\"'<>;,]+(?:/[^\s?#\"'<>;,]*)?", raw):
        raise ImproperlyConfigured(f"{name}={raw!r} is not the URL of a site; write https://schedviz.example.org.")
    return raw


def embedding_sites(name: str) -> list[str]:
    """Sites such as `https://wiki.example`, separated by commas, or `*`. They become part of a content security policy."""
    values = comma_separated(name, [])
    for value in values:
        if value != "*" and not re.fullmatch(r"https?://[A-Za-z0-9.*\[\]:_-]+", value):
            raise ImproperlyConfigured(f"{name}: {value!r} is not a site; write https://wiki.example, or * for all.")
    return values


def log_level(name: str) -> str:
    """A level of log lines, INFO by default."""
    raw = os.environ.get(name, "").strip().upper() or "INFO"
    if raw not in _LOG_LEVELS:
        raise ImproperlyConfigured(f"{name}={raw!r} is no log level; expected one of {', '.join(_LOG_LEVELS)}.")
    return raw


def networks(name: str) -> list[str]:
    """Networks such as `10.0.0.0/8`, separated by commas."""
    values = comma_separated(name, [])
    for value in values:
        try:
            ip_network(value)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name}: {error}; write networks such as 10.0.0.0/8.") from error
    return values


def data_folder(checkout: Path) -> Path:
    """The data directory: SCHEDVIZ_DATA, else `data` in a checkout, else the user's data directory. Created with mode 0700."""
    raw = os.environ.get("SCHEDVIZ_DATA")
    if raw:
        folder = Path(raw).expanduser()
    elif (checkout / "manage.py").exists():
        folder = checkout / "data"
    else:
        folder = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "schedviz"
    folder = folder.absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {folder} cannot be created: {error.strerror}. Set SCHEDVIZ_DATA to a folder that can be created."
        ) from error
    return folder


def instance_of(key: str) -> str:
    """Eight letters that identify this installation in a browser, derived from its secret key."""
    return hmac.new(key.encode(), b"schedviz.instance", "sha256").hexdigest()[:8]


def secret_key(data: Path) -> str:
    """SCHEDVIZ_SECRET_KEY, else the content of DATA/secret_key (0600), which is created at the first start."""
    if key := os.environ.get("SCHEDVIZ_SECRET_KEY"):
        return key
    try:
        return _stored_key(data)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The secret key in the data folder {data} cannot be read or created: {error.strerror}. Run schedviz as the owner of the "
            "folder, set SCHEDVIZ_DATA to another folder, or set SCHEDVIZ_SECRET_KEY."
        ) from error


def _stored_key(data: Path) -> str:
    path = data / "secret_key"
    with contextlib.suppress(FileNotFoundError):
        return _read_key(path)
    # Several processes may start at once: each writes its own file, and the first to link it wins.
    handle, name = tempfile.mkstemp(dir=data, prefix=".secret_key.")
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_urlsafe(48))
    try:
        Path(path).hardlink_to(name)
    except FileExistsError:
        pass
    except OSError:
        # The file system has no hard links.
        if not path.exists():
            Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
    return _read_key(path)


def _read_key(path: Path) -> str:
    # What is not UTF-8 is no key.
    key = path.read_text("utf-8", errors="replace").strip()
    if len(key) < 32 or "\ufffd" in key:
        raise ImproperlyConfigured(
            f"{path} does not hold a key of 32 characters or more. Remove it; a new key is created at the next start."
        )
    return key


def database(url: str, *, synchronous: str) -> dict[str, Any]:
    """Django's settings for `sqlite:///path` or `postgresql://user:password@host:port/name?option=value`."""
    parts = _url_parts("SCHEDVIZ_DATABASE_URL", url)
    if parts.scheme == "sqlite":
        return {
            "ENGINE": "schedviz.sessions.sqlite",
            "NAME": unquote(parts.path[1:]) if parts.path.startswith("/") else unquote(parts.path),
            # Opening the file and reading its schema takes as long as many queries.
            "CONN_MAX_AGE": None,
            "OPTIONS": {
                "timeout": 20,
                # Otherwise a transaction that reads first and writes later fails immediately, instead of waiting, if another writer came in
                # between.
                "transaction_mode": "IMMEDIATE",
                "init_command": f"PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous};",
            },
        }
    if parts.scheme in {"postgres", "postgresql"}:
        return {
            "ENGINE": "schedviz.sessions.postgresql",
            "NAME": unquote(parts.path[1:]),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": unquote(parts.hostname or ""),
            "PORT": str(parts.port or ""),
            "CONN_MAX_AGE": 60,
            "CONN_HEALTH_CHECKS": True,
            # The garbage collector would close an open one at any time (see sessions/queries/keyset.py).
            "DISABLE_SERVER_SIDE_CURSORS": True,
            # Applies to the cursors of `prepared_cursor()`: psycopg prepares a statement at its fifth execution.
            "OPTIONS": {"connect_timeout": 5, **dict(parse_qsl(parts.query)), "prepare_threshold": 5},
        }
    raise ImproperlyConfigured(f"SCHEDVIZ_DATABASE_URL: the scheme is {_quoted(parts.scheme)}; expected sqlite or postgresql.")


def broker_url(redis_url: str) -> str:
    """The Redis URL in the form of Celery: `unix:///a/socket?db=1` becomes `redis+socket:///a/socket?virtual_host=1`."""
    parts = _url_parts("SCHEDVIZ_REDIS_URL", redis_url)
    if parts.scheme in {"redis", "rediss"}:
        return redis_url
    if parts.scheme == "unix":
        options = dict(parse_qsl(parts.query))
        password = f":{parts.password}@" if parts.password else ""
        return f"redis+socket://{password}{parts.path}?virtual_host={options.get('db', '0')}"
    raise ImproperlyConfigured(f"SCHEDVIZ_REDIS_URL: the scheme is {_quoted(parts.scheme)}; expected redis, rediss or unix.")


def _url_parts(name: str, url: str) -> SplitResult:
    """The parts of a URL with a possible port. Messages do not quote it: it may contain a password."""
    try:
        parts = urlsplit(url)
        # Raises ValueError for an impossible port.
        _ = parts.port
    except ValueError:
        raise ImproperlyConfigured(
            f"{name} is not a URL: its host or port is invalid. Special characters of a password are written as %40 for @, and so on."
        ) from None
    return parts
