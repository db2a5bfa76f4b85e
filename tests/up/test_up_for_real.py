"""`schedviz up` with Redis, workers, web server and database, on a new data folder."""

from __future__ import annotations

import json
import re
import signal
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from websockets.sync.client import connect

from schedviz.up import programs, redis_server
from tests.conftest import until
from tests.up.certificates import certificate
from tests.up.running import Running, Start, alive, starter
from tests.up.server_addresses import own_address

CHILDREN = {
    "redis": ("redis",),
    "housekeeper": ("schedviz.up.housekeeper",),
    "web": ("schedviz.up.web_server",),
    "engine-1": ("schedviz.up.worker", "engine-1"),
    "engine-2": ("schedviz.up.worker", "engine-2"),
    "io": ("schedviz.up.worker", "io"),
}


def address_of(running: Running) -> str:
    running.waits_for("schedviz starts on ")
    match = re.search(r"schedviz starts on (http://\S+),", running.printed)
    assert match
    return match[1]


def get(url: str, *, timeout: float = 30, **headers: str) -> tuple[int, Any]:
    """The status and the decoded body; 0 without a response."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=timeout) as response:
            status, body = response.status, response.read()
    except urllib.error.HTTPError as error:
        with error:
            status, body = error.code, error.read()
    except OSError:
        return 0, None
    try:
        return status, json.loads(body)
    except ValueError:
        return status, body


def is_up(url: str) -> bool:
    return get(f"{url}/healthz", timeout=5)[0] == 200


def wait_until_up(running: Running) -> str:
    url = address_of(running)
    until(lambda: is_up(url), seconds=120)
    return url


def find(running: Running, name: str) -> psutil.Process:
    """A child of the supervisor by its name, without the child's own children and the watcher, whose command line has the same words."""
    words = CHILDREN[name]

    def look() -> psutil.Process | None:
        for member in psutil.Process(running.process.pid).children():
            try:
                line = member.cmdline()
            except psutil.Error:
                continue
            if all(any(word in part for part in line) for word in words) and not any("watcher" in part for part in line):
                return member
        return None

    return until(look)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server that stays up, for the tests that do not stop it."""
    folder = tmp_path_factory.mktemp("up")
    for start in starter(folder, _command(folder)):
        running = start()
        wait_until_up(running)
        yield running


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server on an empty, world-readable data folder. It may not be up yet; the last test that uses it kills it."""
    folder = tmp_path_factory.mktemp("second")
    (folder / "data").mkdir(mode=0o755)
    for start in starter(folder, _command(folder)):
        yield start()


@pytest.fixture
def start_up(tmp_path: Path) -> Iterator[Start]:
    """Start the real `schedviz up` on a fresh data folder, by default on a free port."""
    yield from starter(tmp_path, _command(tmp_path))


def _command(folder: Path) -> Any:
    command = [sys.executable, "-m", "schedviz.cli.main", "up", "--data", str(folder / "data"), "--no-open"]
    return lambda options: [*command, *(options if "--port" in options else ("--port", "0", *options))]


def test_the_token_works_when_healthz_first_returns_200(second: Running):
    url = address_of(second)
    token = second.folder / "data" / "token"

    until(lambda: is_up(url), seconds=120)
    assert token.stat().st_mode & 0o777 == 0o600
    status, sessions = get(f"{url}/api/v1/sessions/", Authorization=f"Bearer {token.read_text().strip()}")

    assert status == 200
    assert sessions["results"] == [], "no session was created"
    assert get(f"{url}/api/v1/sessions/")[0] == 401


def test_secrets_are_readable_only_by_their_user(shared: Running):
    for path in (shared.folder / "data").iterdir():
        if path.name in {"token", "secret_key", "lock"}:
            assert path.stat().st_mode & 0o777 == 0o600, path
    assert (shared.folder / "data").stat().st_mode & 0o777 == 0o700


def test_the_web_server_raises_its_open_file_limit(shared: Running):
    soft, hard = shared.child("schedviz.up.web_server").rlimit(psutil.RLIMIT_NOFILE)

    assert soft == min(hard, 65_536) if hard != psutil.RLIM_INFINITY else soft == 65_536


def test_a_client_cannot_spoof_its_address(shared: Running):
    """Without SCHEDVIZ_PROXIES, X-Forwarded-For is ignored for every peer."""
    url = address_of(shared)

    def status(number: int) -> int:
        request = urllib.request.Request(
            f"{url}/api/v1/rooms/join/",
            json.dumps({"code": "ABCDEFGH", "nickname": "guess"}).encode(),
            {"Content-Type": "application/json", "X-Forwarded-For": f"9.9.9.{number}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code

    assert 429 in [status(number) for number in range(20)]


def test_files_in_a_world_readable_data_folder_are_private(second: Running):
    wait_until_up(second)

    files = [path for path in (second.folder / "data").rglob("*") if path.is_file()]
    assert {path.name for path in files} > {"schedviz.sqlite3", "secret_key", "token"}
    assert [path for path in files if path.stat().st_mode & 0o077] == []


def test_without_workers_healthz_returns_503_and_names_the_failed_part(shared: Running):
    url = wait_until_up(shared)
    for name in ("engine-1", "engine-2"):
        find(shared, name).suspend()

    status, body = until(lambda: _unless_ok(get(f"{url}/healthz")))

    assert status == 503
    assert body["down"] == ["workers"]
    for name in ("engine-1", "engine-2"):
        find(shared, name).resume()
    until(lambda: is_up(url))


def _unless_ok(response: tuple[int, Any]) -> tuple[int, Any] | None:
    return None if response[0] == 200 else response


@pytest.mark.parametrize("name", CHILDREN)
def test_a_killed_part_is_restarted(shared: Running, name: str):
    url = wait_until_up(shared)
    old = find(shared, name)

    old.kill()

    until(lambda: not alive(old))
    until(lambda: find(shared, name).pid != old.pid)
    until(lambda: is_up(url), seconds=120)


def test_a_second_start_on_the_same_folder_names_the_running_one(shared: Running, start_up: Start):
    second = start_up("--data", str(shared.folder / "data"))

    assert second.process.wait(timeout=60) == 1
    assert f"already running on the data folder {shared.folder / 'data'}: pid {shared.process.pid}, {address_of(shared)}" in second.printed
    assert "Traceback" not in second.printed


def test_a_port_in_use_is_refused_with_its_process(shared: Running, start_up: Start):
    url = address_of(shared)
    port = url.rsplit(":", 1)[1]

    second = start_up("--port", port)

    assert second.process.wait(timeout=60) == 1
    assert f"Port {port} on 127.0.0.1 is in use" in second.printed
    assert "choose another port with --port" in second.printed
    assert "Traceback" not in second.printed


def test_an_invalid_setting_is_reported_in_one_sentence(start_up: Start):
    started = start_up(SCHEDVIZ_UPLOAD_FILES="many")

    assert started.process.wait(timeout=60) == 1
    assert "schedviz: SCHEDVIZ_UPLOAD_FILES='many' is not a whole number." in started.printed
    assert "Traceback" not in started.printed


def test_ctrl_c_stops_everything_and_the_next_start_has_the_same_sessions(start_up: Start, tmp_path: Path):
    running = start_up()
    wait_until_up(running)
    running.waits_for("Ready after")
    token = (tmp_path / "data" / "token").read_text()
    everybody = running.family()
    assert len(everybody) >= len(CHILDREN)

    running.process.send_signal(signal.SIGINT)

    assert running.process.wait(timeout=60) == 0
    until(lambda: not [member for member in everybody if alive(member)])

    again = start_up()
    wait_until_up(again)
    assert (tmp_path / "data" / "token").read_text() == token


def test_the_grace_periods_of_all_parts_add_up_to_less_than_three_seconds(tmp_path: Path):
    with socket.socket() as listener:
        web = programs.web(listener).grace_seconds
    workers = max(program.grace_seconds for program in [*programs.workers(), programs.housekeeper("")])
    redis = redis_server.choose(tmp_path).program.grace_seconds

    assert web + workers + redis < 3


def test_the_login_link_works_once(second: Running):
    link = second.login_link()

    first, _ = _without_redirect(link)
    second, _ = _without_redirect(link)

    assert first == 302
    assert second != 302


def another_login_link(running: Running) -> str:
    command = [sys.executable, "-m", "schedviz.cli.main", "login", "--data", str(running.folder / "data")]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def test_schedviz_login_prints_another_link_that_works(shared: Running, tmp_path: Path):
    url = wait_until_up(shared)
    command = [sys.executable, "-m", "schedviz.cli.main", "login", "--data", str(tmp_path)]

    link = another_login_link(shared)
    refused = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert link.startswith(f"{url}/login/?once=")
    assert _without_redirect(link)[0] == 302
    assert refused.returncode == 2
    assert "No schedviz is running on the data folder" in refused.stderr


def _without_redirect(url: str) -> tuple[int, Any]:
    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any, **__: Any) -> None:
            return None

    try:
        with urllib.request.build_opener(Stay).open(url, timeout=30) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_a_public_server_is_reached_over_tls_by_its_own_name_only(start_up: Start, tmp_path: Path):
    address = own_address()
    cert, key = certificate(tmp_path / "tls", address)
    running = start_up("--listen", "0.0.0.0", "--tls-cert", str(cert), "--tls-key", str(key))
    running.waits_for("Participants of a room open")
    url, login = re.findall(r"https://[^\s,]+", running.printed)[:2]

    with httpx.Client(verify=ssl.create_default_context(cafile=str(cert)), base_url=url) as browser:
        assert browser.get("/healthz").status_code == 200
        assert browser.get("/r/").status_code == 200
        assert browser.get("/healthz", headers={"Host": "elsewhere.example"}).status_code == 400
        assert browser.get(login).status_code == 302
        assert all(cookie.secure for cookie in browser.cookies.jar)
        browser.get("/")
        token = next(cookie.value for cookie in browser.cookies.jar if cookie.name.startswith("schedviz_csrf"))
        passes = {"X-CSRFToken": token, "Origin": url, "Referer": f"{url}/"}
        made = browser.post("/api/v1/sessions/", json={"generate": {"nodes": 1, "pods": 1}}, headers=passes).json()["id"]
        room = browser.post("/api/v1/rooms/", json={"session": made}, headers=passes).json()
        foreign = browser.post("/api/v1/rooms/", json={"session": made}, headers={**passes, "Origin": "https://elsewhere.example"})

    assert url == f"https://{address}:{url.rpartition(':')[2]}"
    assert room["link"] == f"{url}/r/{room['code']}"
    assert foreign.status_code == 403
    assert "Without TLS" not in running.printed


def test_two_instances_keep_separate_logins_in_one_browser(shared: Running, second: Running):
    first = wait_until_up(shared)
    wait_until_up(second)
    earlier, link = another_login_link(shared), another_login_link(second)

    # Its cookie jar ignores ports, as every browser's does.
    with httpx.Client() as browser:
        assert browser.get(earlier).status_code == 302
        page = browser.get(f"{first}/sessions/").text
        assert browser.get(link).status_code == 302
        pages = {first: page, second.address(): browser.get(f"{second.address()}/sessions/").text}
        assert browser.get(f"{first}/sessions/").status_code == 200, "still logged in"
        made = [_make_session(browser, url, page) for url, page in pages.items()]
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in browser.cookies.jar)

    assert made == [201, 201], "a page that was opened earlier still sends its own instance's token"
    for url in pages:
        session = json.loads(_as(cookies, f"{url}/api/v1/sessions/"))["results"][0]["id"]
        with connect(f"ws{url.removeprefix('http')}/ws/v1/sessions/{session}/", origin=url, additional_headers={"Cookie": cookies}):  # type: ignore[arg-type]
            pass


def _make_session(browser: httpx.Client, url: str, page: str) -> int:
    """Create a session with the token of a page; returns the status of the response."""
    token = re.search(r'name="csrf-token" content="(\w+)"', page)
    assert token is not None
    headers = {"X-CSRFToken": token[1], "Origin": url}
    return browser.post(f"{url}/api/v1/sessions/", json={"generate": {"nodes": 1, "pods": 1}}, headers=headers).status_code


def _as(cookies: str, url: str) -> str:
    """The response to a browser with these cookies."""
    return httpx.get(url, headers={"Cookie": cookies}).text


def test_killing_the_supervisor_leaves_no_process(second: Running):
    wait_until_up(second)
    everybody = second.family()

    second.process.kill()

    until(lambda: not [member for member in everybody if alive(member)])
