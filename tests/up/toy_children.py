"""Small children for a supervisor under test: `python toy_children.py KIND ARGUMENT`."""

from __future__ import annotations

import http.server
import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path


def idle(_argument: str) -> None:
    """Runs until it is terminated."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    time.sleep(600)


def stubborn(argument: str) -> None:
    """Ignores SIGTERM after it has written its file."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Path(argument).touch()
    time.sleep(600)


def parent(argument: str) -> None:
    """Starts its own child, and writes its pid to a file."""
    grandchild = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
    Path(argument).write_text(str(grandchild.pid))
    idle(argument)


def broken(_argument: str) -> None:
    """Cannot start."""
    sys.stderr.write("it is broken, and says why\n")
    sys.exit(7)


def returning(_argument: str) -> None:
    """Ends at once, without an error."""
    sys.stderr.write("it has nothing to do\n")


def awaiting(argument: str) -> None:
    """Writes its environment to a file first."""
    line = sys.stdin.readline()
    with Path(argument).open("a") as file:
        file.write(line)
    idle(argument)


def housekeeper(argument: str) -> None:
    """Responds like the real housekeeper, and records its requests."""
    print(json.dumps({"database": "ready"}), flush=True)
    for line in sys.stdin:
        with Path(argument).open("a") as heard:
            heard.write(line)
        if line == "login\n":
            print(json.dumps({"login": "http://toy/login"}), flush=True)


def unlucky_housekeeper(argument: str) -> None:
    """Has a database at first. After it is killed, the database is unavailable for three starts and then available again."""
    starts = Path(f"{argument}-starts")
    started = int(starts.read_text()) + 1 if starts.exists() else 1
    starts.write_text(str(started))
    if started in {2, 3, 4}:
        print(json.dumps({"failed": "The database is on holiday."}), flush=True)
        sys.exit(3)
    if started == 5:
        with Path(argument).open("a") as heard:
            heard.write("told again\n")
    print(json.dumps({"housekeeper": "ready"}), flush=True)
    housekeeper(argument)


def failing_housekeeper(_argument: str) -> None:
    print(json.dumps({"failed": "The database is on holiday."}), flush=True)
    time.sleep(600)


def web(argument: str) -> None:
    """Responds with 200 to every request, on an inherited socket."""

    class Fine(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

    server = http.server.HTTPServer(("", 0), Fine, bind_and_activate=False)
    server.socket = socket.socket(fileno=int(argument))
    server.socket.setblocking(True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server.serve_forever()


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
