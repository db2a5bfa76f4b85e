"""A real supervisor over toy children: `python toy_supervisor.py FOLDER KIND...`, one more child for each KIND.

Prints the terminal's lines to standard output.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from schedviz.up import ports
from schedviz.up.address import server_address
from schedviz.up.child import Program
from schedviz.up.errors import CannotStart
from schedviz.up.options import UpOptions
from schedviz.up.supervisor import Supervisor
from schedviz.up.terminal import Terminal

CHILDREN = str(Path(__file__).with_name("toy_children.py"))


def program(name: str, kind: str, argument: object, **options: object) -> Program:
    return Program(name, [sys.executable, "-I", "-S", CHILDREN, kind, str(argument)], grace_seconds=0.5, **options)  # type: ignore[arg-type]


def main(folder: Path, kinds: list[str]) -> int:
    listener = ports.listen("127.0.0.1", 0)
    reached = server_address(UpOptions(data=folder), listener)
    sockets = Path(tempfile.mkdtemp(dir=folder))
    terminal = Terminal(server_address=reached, data=folder, open_browser=False)
    supervisor = Supervisor(data=folder, folder=sockets, environment=dict(os.environ), server_address=reached, terminal=terminal)
    housekeeper = next((kind for kind in kinds if kind.endswith("_housekeeper")), "housekeeper")
    first = [program("redis", "idle", ""), program("housekeeper", housekeeper, folder / "heard", talks_to_supervisor=True)]
    # With a child that does not start, not everything is up.
    web = program("web", "idle" if {"broken", "returning"} & set(kinds) else "web", listener.fileno(), inherit=(listener.fileno(),))
    first += [program(kind, kind, folder / kind, awaits_database=True) for kind in kinds if kind == "awaiting"]
    others = [program(kind, kind, folder / kind) for kind in kinds if kind not in {housekeeper, "awaiting"}]
    try:
        supervisor.run(first, [web, *others])
    except CannotStart as error:
        print(f"cannot start: {error}", flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
