"""A script of parent_death.py: waits for the end of its standard input, then kills the registered process groups.

    python parent_watcher.py FOLDER        stdin: "+123" registers group 123, "-123" forgets it

Then it removes FOLDER, which contains sockets. It imports nothing of schedviz, so that it starts quickly and cannot fail.
"""

import contextlib
import os
import signal
import sys
from pathlib import Path


def main() -> None:
    groups: set[int] = set()
    for line in sys.stdin:
        group = int(line[1:])
        if line.startswith("+"):
            groups.add(group)
        else:
            groups.discard(group)
    for group in groups:
        # PermissionError: macOS raises it for a group of zombies.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    folder = Path(sys.argv[1])
    with contextlib.suppress(OSError):
        for leftover in folder.iterdir():
            leftover.unlink()
        folder.rmdir()


if __name__ == "__main__":
    main()
