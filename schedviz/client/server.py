"""Finds the server and the token: from arguments, otherwise from the environment, otherwise the `schedviz up` on this machine."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from schedviz.client.errors import SchedvizError

#: The address if neither the user nor a data folder names one.
DEFAULT_SERVER = "http://127.0.0.1:8777"
NONE_FOUND = (
    "Is `schedviz up` running? If so, its data folder is another one: set SCHEDVIZ_DATA to it, or SCHEDVIZ_SERVER and SCHEDVIZ_TOKEN."
)
WHERE_LOOKED = (
    "No token was given, and none was found for this server: `schedviz up` keeps one in its data folder (SCHEDVIZ_DATA, ./data, that of "
    "the checkout, ~/.local/share/schedviz). Set SCHEDVIZ_TOKEN, or SCHEDVIZ_DATA to that folder."
)


@dataclass(frozen=True)
class Server:
    """An address without a trailing slash, and a token ("" if none)."""

    address: str
    token: str
    #: Whether this is the default address, which neither the user nor a data folder named.
    guessed: bool = False


def find_server(address: str | None = None, token: str | None = None) -> Server:
    """The server: by the arguments, by SCHEDVIZ_SERVER and SCHEDVIZ_TOKEN, otherwise the one that runs on this machine. Its data folder
    (SCHEDVIZ_DATA, `./data`, that of a checkout, ~/.local/share/schedviz) has the address and a token for the user.

    A token from a folder is sent only to that folder's server.
    """
    address_given = (address or os.environ.get("SCHEDVIZ_SERVER") or "").rstrip("/")
    # Files and Secrets of Kubernetes often end with a line break. An HTTP library would refuse it with a message that quotes the token.
    secret = (token if token is not None else os.environ.get("SCHEDVIZ_TOKEN", "")).strip()
    if _has_credentials(address_given):
        # Errors name the address, so that its password would get into logs.
        raise SchedvizError("The address of the server contains a user name or a password. Leave it out, and pass a token instead.")
    if address_given and not _is_address(address_given):
        raise SchedvizError(f"{address_given}: an address such as {DEFAULT_SERVER} is expected.")
    if not secret.isascii() or not secret.isprintable():
        raise SchedvizError("The token has characters that tokens do not have; copy it again.")
    if address_given and secret:
        return Server(address_given, secret)
    for folder in data_folders():
        local, stored_token = _address_of_server_in(folder), _read(folder / "token")
        if local and stored_token and (not address_given or _is_same_server(address_given, local)):
            return Server(address_given or local, secret or stored_token)
    return Server(address_given or DEFAULT_SERVER, secret, guessed=not address_given)


def _has_credentials(address: str) -> bool:
    """Whether the address has a part before its host. Also for what is no valid address, which an error would quote."""
    return "@" in re.split(r"[/?#]", address.partition("://")[2] or address)[0]


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        # Raises ValueError if it is out of range.
        _ = parts.port
    except ValueError:
        return False
    return text.isprintable() and parts.scheme in ("http", "https")


def data_folders() -> Iterator[Path]:
    """The folders in which a server's data is looked for, in order."""
    if raw := os.environ.get("SCHEDVIZ_DATA"):
        yield Path(raw).expanduser()
    yield Path("data")
    # The server's own rule in a checkout, which may be used from any working directory.
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "manage.py").exists():
        yield checkout / "data"
    yield Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "schedviz"


def _address_of_server_in(folder: Path) -> str:
    """The address of a data folder's server; "" if none has run there. It may have stopped since."""
    try:
        lock = json.loads(_read(folder / "lock") or "{}")
    except ValueError:
        return ""
    return str(lock.get("url") or "").rstrip("/") if isinstance(lock, dict) else ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError):
        return ""


def _is_same_server(first: str, second: str) -> bool:
    """Whether two addresses belong to one server: `localhost` is this machine."""

    def place(address: str) -> tuple[str, str, int | None]:
        parts = urlsplit(address)
        host = "127.0.0.1" if parts.hostname == "localhost" else str(parts.hostname)
        return parts.scheme, host, parts.port

    return place(first) == place(second)
