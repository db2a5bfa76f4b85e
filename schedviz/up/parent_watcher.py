"""Run as a script by parent_death.py: waits for the end of its standard input, then kills the process groups that it was told of.

    python watcher.py FOLDER        stdin: "+123" watch group 123, "-123" forget it

Then removes FOLDER, which holds sockets. Imports nothing of schedviz: it must start at once and never fail.
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
        # PermissionError: macOS says so of a group whose members are all zombies.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    folder = Path(sys.argv[1])
    with contextlib.suppress(OSError):
        for leftover in folder.iterdir():
            leftover.unlink()
        folder.rmdir()


if __name__ == "__main__":
    main()
