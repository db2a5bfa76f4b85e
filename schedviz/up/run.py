"""Runs `schedviz up` from the options to the end of the last child."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from schedviz.up import ports, programs, redis_server
from schedviz.up.address import server_address
from schedviz.up.child import Program
from schedviz.up.errors import CannotStart
from schedviz.up.lock import DataLock
from schedviz.up.options import UpOptions
from schedviz.up.supervisor import Supervisor
from schedviz.up.terminal import Terminal

#: Enough open files for every connection limit. macOS refuses "unlimited" as a soft limit.
_OPEN_FILES = 65_536
#: The longest path of a Unix socket (104 on macOS), minus the socket's name.
_MAX_FOLDER_LENGTH = 90


def run(options: UpOptions) -> None:
    """Start everything and run until Ctrl-C. Raises `CannotStart` if something prevents it."""
    if sys.platform == "win32":
        raise CannotStart("schedviz up needs Linux or macOS. On Windows, run it in WSL 2 or with Docker (see docker/).")
    # The data folder may be open to other users; new files are private nevertheless. Children inherit this.
    os.umask(0o077)
    _raise_file_limit()
    data = _data_folder(options.data)
    lock = DataLock(data)
    try:
        with ports.listen(options.host, options.port) as listener:
            address = server_address(options, listener)
            lock.name_holder(address.url)
            terminal = Terminal(server_address=address, data=data, open_browser=options.open_browser, page=options.page)
            terminal.starting()
            _empty(data / "tmp")
            with _socket_folder() as folder:
                redis, redis_url = _redis(folder, terminal)
                environment = programs.shared_environment(data, redis_url, address)
                supervisor = Supervisor(data=data, folder=folder, environment=environment, server_address=address, terminal=terminal)
                # The web server loads longest, so it starts while the housekeeper prepares the database. Workers follow.
                supervisor.run([*redis, programs.housekeeper(address.url), programs.web(listener, address.tls)], programs.workers())
    finally:
        lock.release()


def _raise_file_limit() -> None:
    """Let the children open as many files as the system allows: every socket is one, and the usual soft limit is 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def _data_folder(path: Path) -> Path:
    data = path.expanduser().absolute()
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CannotStart(f"The data folder {data} cannot be created: {error.strerror}. Choose another with --data.") from error
    if not os.access(data, os.W_OK | os.X_OK):
        raise CannotStart(f"The data folder {data} cannot be written to. Choose another with --data.")
    return data


def _empty(folder: Path) -> None:
    """Delete temporary files of an earlier run."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, exist_ok=True)


@contextlib.contextmanager
def _socket_folder() -> Iterator[Path]:
    """A new private folder with a short name, which is removed at the end. If this process is killed, `parent_watcher` removes it."""
    folder = _new_socket_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _new_socket_folder() -> Path:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    for parent in (runtime, tempfile.gettempdir(), "/tmp"):  # noqa: S108 (mkdtemp makes a private folder in it)  # nosec B108
        if parent and len(parent) < _MAX_FOLDER_LENGTH - 20 and os.access(parent, os.W_OK | os.X_OK):
            return Path(tempfile.mkdtemp(prefix="schedviz-", dir=parent))
    raise CannotStart("No folder for temporary files is writable. Set TMPDIR to a writable folder with a short path.")


def _redis(folder: Path, terminal: Terminal) -> tuple[list[Program], str]:
    """The Redis to run and its address. None is run if SCHEDVIZ_REDIS_URL is set."""
    if url := os.environ.get("SCHEDVIZ_REDIS_URL"):
        return [], url
    choice = redis_server.choose(folder)
    if choice.warning:
        terminal.warn(choice.warning)
    return [choice.program], choice.url
