"""The listening socket. The supervisor holds it, so that it survives a restart of the web server."""

from __future__ import annotations

import errno
import shutil
import socket
import subprocess
from pathlib import Path

from schedviz.up.errors import CannotStart

_BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """A listening socket on `host` and `port` (0: any free port). Raises `CannotStart`, naming who has the port."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except socket.gaierror as error:
        raise CannotStart(f"--listen {host}: {error.strerror}. Give an address of this machine, such as 127.0.0.1.") from error
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise CannotStart(_why_not(host, port, error)) from error
    listener.setblocking(False)
    return listener


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is in use{_by_whom(port)}. "
            "Stop that program, or choose another port with --port (make demo PORT=…); --port 0 takes any that is free."
        )
    if error.errno == errno.EACCES:
        return f"Port {port} on {host} is not open to you: {error.strerror}. Choose one above 1023 with --port."
    return f"Cannot listen on {host} port {port}: {error.strerror}. Give an address of this machine with --listen."


def _by_whom(port: int) -> str:
    pid = _listener_in_proc(port) if Path("/proc/net/tcp").exists() else _listener_by_lsof(port)
    if pid is None:
        return ""
    return f" by process {pid}{_command_of(pid)}"


def _listener_in_proc(port: int) -> int | None:
    """The process that listens on a port; only processes of the same user are visible."""
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].rsplit(":", 1)[1], 16) == port:
                inodes.add(f"socket:[{fields[9]}]")
    for descriptor in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if str(descriptor.readlink()) in inodes:
                return int(descriptor.parts[2])
        except OSError:
            continue
    return None


def _listener_by_lsof(port: int) -> int | None:
    lsof = shutil.which("lsof")
    if lsof is None:
        return None
    result = subprocess.run([lsof, "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-t"], capture_output=True, text=True, check=False)  # noqa: S603
    first = result.stdout.split()
    return int(first[0]) if first else None


def _command_of(pid: int) -> str:
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ""
    command = " ".join(arguments).strip()
    return f" ({command if len(command) <= 80 else command[:79] + '…'})"
