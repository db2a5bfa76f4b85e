"""The web server as the files in docker/ start it, on a port of this machine, with every line that it writes."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import httpx

from tests.conftest import ROOT, until

PLAIN = ["uvicorn", "schedviz.asgi:application", "--host", "127.0.0.1", "--port", "8000"]
#: A user, and one of every secret that can be part of a URL.
PREPARE = """
import json
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.contrib.auth.models import User
from schedviz.sessions.models import Session
from schedviz.web.auth import share_links
from schedviz.web.accounts import invites
from schedviz.web.auth.login import ensure_local_token, local_user, make_login_url
from schedviz.web.rooms.opening import open_room
user = local_user()
session = Session.objects.create(owner=user, name="a session", status="ready")
room = open_room(user, session)
print(json.dumps({
    "session": str(session.pk),
    "token": ensure_local_token(None),
    "link": share_links.make_link(session, "viewer", user)[1],
    "once": make_login_url("").partition("once=")[2],
    "invite": invites.make(session, user)[1],
    "room": room.code,
}))
"""


def documented(where: str) -> list[str]:
    """The command of `image` (which compose and the chart run, too), of `systemd`, of `schedviz up`, or uvicorn started by hand (`plain`)."""
    if where == "image":
        match = re.search(r"^CMD (\[.+?\])$", (ROOT / "docker/Dockerfile").read_text().replace("\\\n", ""), re.MULTILINE)
        assert match is not None
        return list(json.loads(match[1]))
    if where == "systemd":
        match = re.search(r"^ExecStart=/opt/schedviz/bin/(.+)$", (ROOT / "docker/systemd/schedviz-web.service").read_text(), re.MULTILINE)
        assert match is not None
        return match[1].split()
    return {"up": ["schedviz.up.web_server"], "plain": list(PLAIN)}[where]


class Prepared:
    """A data folder with a migrated database and the objects that `PREPARE` creates."""

    def __init__(self, folder: Path, redis_url: str) -> None:
        self.folder = folder
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("SCHEDVIZ_", "OTEL_"))},
            "DJANGO_SETTINGS_MODULE": "schedviz.settings",
            "SCHEDVIZ_DATA": str(folder),
            "SCHEDVIZ_REDIS_URL": redis_url,
            "SCHEDVIZ_ROLE": "web",
            "SCHEDVIZ_LOG": "json",
        }
        done = subprocess.run(
            [sys.executable, "-c", PREPARE], cwd=ROOT, env=self.environment, capture_output=True, text=True, check=True, timeout=120
        )
        self.made: dict[str, str] = json.loads(done.stdout)


class DocumentedWeb:
    """A running web server; `with` stops it, whatever happens."""

    def __init__(self, prepared: Prepared, where: str, *options: str, drop: tuple[str, ...] = (), **environment: str) -> None:
        command = [word for word in documented(where) if word not in drop]
        # `schedviz up` listens itself and passes the socket on; it reports when the tables exist.
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        if where == "up":
            command += [str(listener.fileno())]
        else:
            listener.close()
            command[command.index("--host") + 1], command[command.index("--port") + 1] = "127.0.0.1", str(port)
        self.netloc = f"127.0.0.1:{port}"
        self.log = prepared.folder / f"web-{where}-{port}.log"
        with self.log.open("wb") as log, listener:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *command, *options],
                cwd=ROOT,
                env={**prepared.environment, **environment},
                pass_fds=[listener.fileno()] if where == "up" else [],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
            )
        assert self.process.stdin is not None
        self.process.stdin.write(b"database\n")
        self.process.stdin.flush()

    def __enter__(self) -> Self:
        try:
            until(self._is_responding)
        except BaseException:
            self.process.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        finally:
            assert self.process.stdin is not None
            self.process.stdin.close()

    def _is_responding(self) -> bool:
        assert self.process.poll() is None, self.written
        try:
            return httpx.get(f"http://{self.netloc}/healthz?self").status_code == 200
        except httpx.TransportError:
            return False

    @property
    def written(self) -> str:
        return self.log.read_text(errors="replace")

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The log; each line must be JSON."""
        return [json.loads(line) for line in self.written.splitlines()]
