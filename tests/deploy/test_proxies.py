"""The unmodified proxies in docker/proxy in front of a running schedviz: uploads, sockets, client addresses, and no secrets in logs."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from websockets.sync.client import connect

from tests.conftest import ROOT, missing, until
from tests.deploy.over_tls import certificates, free_port
from tests.faults.installation import Installation

PROXY = ROOT / "docker/proxy"
NAME = "schedviz.example.org"
#: The address of the client, which differs from the proxy's own address.
CLIENT = "127.0.0.77"
MEGABYTE = 1 << 20
#: Invalid secrets, in URLs at the place of real ones: a log would show both.
SECRETS = {"link": "a-share-link-of-somebody", "once": "a-login-of-somebody", "invite": "an-invite-of-somebody", "code": "a-code-of-oidc"}


class Proxy:
    """A running proxy; a context manager that stops it. Its logs are in its folder."""

    def __init__(self, folder: Path, port: int, command: list[str]) -> None:
        self.folder = folder
        self.port = port
        self.address = f"https://localhost:{port}"
        self.trust = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        with (folder / "output.log").open("wb") as output:
            environment = {"PATH": "/usr/bin:/usr/sbin:/bin", "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
            self.process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder, env=environment)

    def __enter__(self) -> Self:
        try:
            until(self._listens)
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

    def _listens(self) -> bool:
        assert self.process.poll() is None, self.written
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
        except OSError:
            return False
        return True

    @property
    def written(self) -> str:
        return "".join(path.read_text(errors="replace") for path in sorted(self.folder.rglob("*.log")))

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Status, headers and body. A body in chunks is still sent with its length."""
        connection = http.client.HTTPSConnection("localhost", self.port, context=self.trust, timeout=60, source_address=(CLIENT, 0))
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """A configuration with replacements for this machine; each replaced text must occur."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def nginx(folder: Path, port: int, upstream: int) -> list[str]:
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin:/opt/homebrew/bin")
    if program is None:
        missing("nginx", "Install it: apt-get install nginx.")
    plain = free_port()
    text = replaced(
        (PROXY / "nginx.conf").read_text(),
        ("server 127.0.0.1:8000;", f"server 127.0.0.1:{upstream};"),
        ("    listen [::]:80;\n", ""),
        ("    listen [::]:443 ssl http2;\n", ""),
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ssl http2;", f"listen 127.0.0.1:{port} ssl http2;"),
        ("/etc/ssl/schedviz/fullchain.pem", str(folder / "server.crt")),
        ("/etc/ssl/schedviz/privkey.pem", str(folder / "server.key")),
        ("/var/log/nginx", str(folder)),
        (NAME, "localhost"),
    )
    (folder / "schedviz.conf").write_text(text)
    temporary = "".join(f"{kind}_temp_path {folder}/temp/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "temp").mkdir()
    (folder / "nginx.conf").write_text(
        f"daemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/start.log;\nevents {{}}\n"
        f"http {{\n{temporary}include {folder}/schedviz.conf;\n}}\n"
    )
    return [program, "-e", str(folder / "start.log"), "-c", str(folder / "nginx.conf")]


def caddy(folder: Path, port: int, upstream: int) -> list[str]:
    program = shutil.which("caddy")
    if program is None:
        missing("caddy", "Install it: apt-get install caddy.")
    text = replaced(
        (PROXY / "Caddyfile").read_text(),
        # With our certificate, so that it requests none and opens no other port.
        ("{\n\tservers {", "{\n\tadmin off\n\tauto_https off\n\tservers {"),
        (f"\n{NAME} {{\n", f"\nhttps://localhost:{port} {{\n\ttls {folder}/server.crt {folder}/server.key\n"),
        ("reverse_proxy 127.0.0.1:8000", f"reverse_proxy 127.0.0.1:{upstream}"),
        ("/var/log/caddy/schedviz.log", str(folder / "schedviz.log")),
    )
    (folder / "Caddyfile").write_text(text)
    return [program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


KINDS = {"nginx": nginx, "caddy": caddy}


@pytest.fixture(scope="module")
def ports() -> dict[str, int]:
    return {kind: free_port() for kind in KINDS}


@pytest.fixture(scope="module")
def schedviz(tmp_path_factory: pytest.TempPathFactory, ports: dict[str, int]) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("behind")
    (folder / "data").mkdir(mode=0o700)
    settings = {
        "SCHEDVIZ_PUBLIC": "1",
        "SCHEDVIZ_PROXIES": "1",
        "SCHEDVIZ_ALLOWED_HOSTS": "localhost,127.0.0.1",
        "SCHEDVIZ_ORIGINS": ",".join(f"https://localhost:{port}" for port in ports.values()),
    }
    installation = Installation(folder, f"sqlite:///{folder}/data/schedviz.sqlite3", settings)
    try:
        installation.start()
        installation.wait_until_up()
        yield installation
    finally:
        installation.stop()


@pytest.fixture(scope="module", params=KINDS)
def proxy(
    request: pytest.FixtureRequest, schedviz: Installation, ports: dict[str, int], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp(request.param)
    # nginx's workers run as another user; their log files are opened before.
    certificates(folder)
    port = ports[request.param]
    with Proxy(folder, port, KINDS[request.param](folder, port, schedviz.client.port)) as running:
        yield running


@pytest.fixture
def bearer(schedviz: Installation) -> dict[str, str]:
    return {"Authorization": f"Bearer {schedviz.client.token}"}


def upload(size: int) -> tuple[Iterator[bytes], dict[str, str]]:
    """The headers and the chunks of a multipart body with a trace of this size in bytes."""
    head = b'--here\r\nContent-Disposition: form-data; name="file"; filename="list.json"\r\n\r\n{"kind": "List", "items": []}'
    tail = b"\r\n--here--\r\n"

    def pieces() -> Iterator[bytes]:
        yield head
        for _ in range(size // MEGABYTE):
            yield b" " * MEGABYTE
        yield b" " * (size % MEGABYTE) + tail

    length = len(head) + size + len(tail)
    return pieces(), {"Content_Type": "multipart/form-data; boundary=here", "Content_Length": str(length)}


def test_pages_pass_through_the_proxy(proxy: Proxy) -> None:
    status, headers, body = proxy.request("GET", "/login/")

    assert status == 200
    assert b"schedviz" in body
    assert headers["Strict-Transport-Security"], "schedviz must detect that the client uses HTTPS"
    assert headers["X-Request-ID"]


def test_frames_of_a_socket_pass_through_the_proxy(proxy: Proxy, schedviz: Installation, bearer: dict[str, str]) -> None:
    session = schedviz.client.make_session("behind a proxy", {"nodes": 4, "pods": 20})
    until(lambda: schedviz.client.session(session)["status"] == "ready")
    url = f"wss://localhost:{proxy.port}/ws/v1/sessions/{session}/"

    with connect(url, additional_headers=bearer, ssl=proxy.trust, origin=proxy.address, max_size=None) as viewer:
        assert isinstance(viewer.recv(timeout=60), bytes)
        schedviz.client.send(session, "one", {"op": "cycle"})
        until(lambda: isinstance(viewer.recv(timeout=60), bytes))


def test_an_upload_of_20_mb_passes_and_is_not_stored_on_the_proxys_disk(proxy: Proxy, bearer: dict[str, str]) -> None:
    pieces, headers = upload(20 * MEGABYTE)

    status, _, body = proxy.request("POST", "/api/v1/sessions/", pieces, **headers, **bearer)

    assert status == 201, body
    assert [path for path in proxy.folder.rglob("*") if path.is_file() and path.stat().st_size > MEGABYTE] == []


def test_an_upload_over_the_limit_is_refused_by_schedviz_with_its_reason(proxy: Proxy, bearer: dict[str, str]) -> None:
    pieces, headers = upload(65 * MEGABYTE + 65536)

    status, _, body = proxy.request("POST", "/api/v1/sessions/", pieces, **headers, **bearer)

    assert status == 413
    assert "SCHEDVIZ_UPLOAD_BYTES" in json.loads(body)["detail"]


def test_an_upload_far_over_the_limit_is_refused(proxy: Proxy, bearer: dict[str, str]) -> None:
    pieces, headers = upload(80 * MEGABYTE)

    assert status_of_large(proxy, pieces, {**headers, **bearer}) == 413


def status_of_large(proxy: Proxy, pieces: Iterator[bytes], headers: dict[str, str]) -> int:
    """The status of a response that arrives while the body is being sent."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    with (
        socket.create_connection(("127.0.0.1", proxy.port), timeout=60) as plain,
        proxy.trust.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        connection.sendall(f"POST /api/v1/sessions/ HTTP/1.1\r\nHost: localhost:{proxy.port}\r\n{lines}\r\n".encode())
        with contextlib.suppress(OSError):
            for piece in pieces:
                connection.sendall(piece)
        return int(connection.recv(65536).split()[1])


def test_schedviz_sees_the_clients_address_and_not_a_forged_one(proxy: Proxy, schedviz: Installation, django_db_blocker: Any) -> None:
    _, headers, _ = proxy.request("GET", "/login/")
    cookie = re.search(r"schedviz_csrf\w*=(\w+)", " ".join(headers.get_all("Set-Cookie") or []))
    assert cookie is not None
    name = f"nobody-{proxy.port}"
    form = f"csrfmiddlewaretoken={cookie[1]}&username={name}&password=wrong"

    status, _, body = proxy.request(
        "POST",
        "/login/",
        form,
        Content_Type="application/x-www-form-urlencoded",
        Cookie=cookie[0],
        Referer=f"{proxy.address}/login/",
        Origin=proxy.address,
        X_Forwarded_For="203.0.113.9",
    )

    assert status in (200, 401), body
    from tests.faults.conftest import connected_models

    with django_db_blocker.unblock(), connected_models(schedviz.database_url):
        from schedviz.web.accounts.models import AuditEntry

        newest = AuditEntry.objects.filter(action="login_failed").latest("pk")
        assert newest.address == CLIENT


def test_no_secret_of_a_url_is_in_the_log(proxy: Proxy, schedviz: Installation, bearer: dict[str, str]) -> None:
    nowhere = "00000000-0000-4000-8000-000000000000"
    for path in (
        f"/s/{nowhere}/?link={SECRETS['link']}",
        f"/embed/{nowhere}/queue/?link={SECRETS['link']}",
        f"/login/?once={SECRETS['once']}",
        f"/invite/{SECRETS['invite']}/",
        f"/invite/{SECRETS['invite']}/?again=1",
        f"/r/{SECRETS['code']}/",
        f"/oidc/callback/?code={SECRETS['code']}",
    ):
        assert proxy.request("GET", path, **bearer, Cookie=f"schedviz_login={SECRETS['once']}", Referer=f"{proxy.address}{path}")[0] < 500
    pieces, headers = upload(80 * MEGABYTE)
    status_of_large(proxy, pieces, {**headers, **bearer, "Cookie": SECRETS["once"]})

    until(lambda: f"/embed/{nowhere}/queue/" in proxy.written)
    until(lambda: "/oidc/callback/" in proxy.written)
    assert [name for name, secret in {**SECRETS, "token": schedviz.client.token}.items() if secret in proxy.written] == []
    assert CLIENT in proxy.written


def test_no_secret_of_a_url_is_in_the_log_while_schedviz_is_down(
    proxy: Proxy, schedviz: Installation, tmp_path: Path, bearer: dict[str, str]
) -> None:
    kind = "nginx" if (proxy.folder / "nginx.conf").exists() else "caddy"
    certificates(tmp_path)
    port = free_port()
    # No server listens at this address.
    with Proxy(tmp_path, port, KINDS[kind](tmp_path, port, free_port())) as alone:
        status, _, _ = alone.request("GET", f"/s/x/?link={SECRETS['link']}", **bearer)
        assert status == 502
        until(lambda: "502" in alone.written)
        assert [name for name, secret in {**SECRETS, "token": schedviz.client.token}.items() if secret in alone.written] == []


def test_the_body_limit_of_the_proxies_covers_that_of_schedviz() -> None:
    from schedviz.web.server.body_limit import _ENVELOPE_BYTES

    # The limit of a public server, as in settings.py and in the example.
    assert "#SCHEDVIZ_UPLOAD_BYTES=1073741824 | 67108864\n" in (ROOT / "docker/env.example").read_text()
    assert "client_max_body_size 66m;" in (PROXY / "nginx.conf").read_text()
    assert 64 * MEGABYTE + _ENVELOPE_BYTES < 66 * MEGABYTE
