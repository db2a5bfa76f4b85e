"""The public URL of the server, and its lines on the terminal."""

from __future__ import annotations

import selectors
import socket
import ssl
import threading
from pathlib import Path

import pytest

from schedviz.up import address
from schedviz.up.address import ServerAddress, Tls
from schedviz.up.errors import CannotStart
from schedviz.up.health import HealthProbe
from schedviz.up.terminal import Terminal
from tests.conftest import until
from tests.up.certificates import certificate
from tests.up.server_addresses import address_on, own_address


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch):
    monkeypatch.delenv("SCHEDVIZ_URL", raising=False)


def test_port_0_takes_a_free_port_and_the_url_has_it():
    result = address_on("127.0.0.1")

    assert result.url == f"http://127.0.0.1:{result.connect_to[1]}"
    assert result.connect_to[1] > 0


def test_a_loopback_address_allows_all_local_names_without_a_warning():
    result = address_on("127.0.0.1")

    assert set(result.environment["SCHEDVIZ_ALLOWED_HOSTS"].split(",")) == {"127.0.0.1", "localhost", "[::1]"}
    assert "SCHEDVIZ_URL" not in result.environment
    assert not result.warning


def test_a_public_address_is_the_only_allowed_host_and_origin():
    own = own_address()
    for host in (own, "0.0.0.0"):
        result = address_on(host)

        assert result.url == f"http://{own}:{result.connect_to[1]}"
        assert result.environment == {"SCHEDVIZ_ALLOWED_HOSTS": own, "SCHEDVIZ_ORIGINS": result.url, "SCHEDVIZ_URL": result.url}
        assert "Without TLS" in result.warning


@pytest.fixture
def without_default_route(monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket may not connect to the broadcast address, as it cannot connect to an outside address without a route."""
    nowhere = ("255.255.255.255", 9)
    monkeypatch.setattr(address, "_OUTSIDE_ADDRESSES", {socket.AF_INET: nowhere, socket.AF_INET6: nowhere})


def address_on_all_interfaces(host: str) -> ServerAddress:
    """Skips the test if this machine has no IPv6."""
    try:
        return address_on(host)
    except CannotStart:
        pytest.skip("this machine has no IPv6")


@pytest.mark.usefixtures("without_default_route")
@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_all_interfaces_of_a_machine_without_a_default_route_are_open_to_others(host: str) -> None:
    own = own_address()
    result = address_on_all_interfaces(host)

    assert result.is_open_to_others
    assert result.url == f"http://{own}:{result.connect_to[1]}"
    assert result.environment == {"SCHEDVIZ_ALLOWED_HOSTS": own, "SCHEDVIZ_ORIGINS": result.url, "SCHEDVIZ_URL": result.url}
    assert "Without TLS" in result.warning


@pytest.mark.usefixtures("without_default_route")
@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_unknown_machine_address_gives_a_warning_and_no_url_for_others(
    host: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(socket, "if_nameindex", list)
    monkeypatch.setattr(socket, "gethostname", lambda: "localhost")
    result = address_on_all_interfaces(host)

    assert result.is_open_to_others
    assert "Without TLS" in result.warning
    assert "set SCHEDVIZ_URL" in result.warning
    assert result.environment == {"SCHEDVIZ_ALLOWED_HOSTS": "127.0.0.1,[::1],localhost"}
    Terminal(server_address=result, data=Path("data"), open_browser=False).announce(f"{result.url}/login/?once=x", 1.0)
    assert "Others open" not in capsys.readouterr().out

    monkeypatch.setenv("SCHEDVIZ_URL", "http://classroom.example.org:8777")
    result = address_on_all_interfaces(host)
    assert result.environment["SCHEDVIZ_ALLOWED_HOSTS"] == "classroom.example.org"
    assert "SCHEDVIZ_URL" not in result.warning


def test_an_ipv6_address_is_written_in_brackets():
    try:
        result = address_on("::1")
    except CannotStart:
        pytest.skip("this machine has no IPv6")

    assert result.url == f"http://[::1]:{result.connect_to[1]}"


def test_a_host_name_stays_in_the_url():
    assert address_on("localhost").url.startswith("http://localhost:")


def test_an_explicit_public_url_is_used(monkeypatch):
    monkeypatch.setenv("SCHEDVIZ_URL", "https://schedviz.example.org/")

    result = address_on("127.0.0.1")

    assert result.url == "https://schedviz.example.org"
    assert result.connect_to[0] == "127.0.0.1"
    assert "schedviz.example.org" in result.environment["SCHEDVIZ_ALLOWED_HOSTS"].split(",")


@pytest.mark.parametrize("url", ["schedviz.example.org", "ftp://x", "https://x/path"])
def test_an_invalid_public_url_is_refused(monkeypatch, url):
    monkeypatch.setenv("SCHEDVIZ_URL", url)

    with pytest.raises(CannotStart, match="SCHEDVIZ_URL"):
        address_on("127.0.0.1")


def test_a_certificate_gives_https_without_a_warning(tmp_path):
    cert, key = certificate(tmp_path)

    result = address_on("0.0.0.0", tls_certificate=cert, tls_key=key)

    assert result.url.startswith("https://")
    assert not result.warning


def test_files_that_are_not_a_certificate_are_refused_with_a_reason(tmp_path):
    cert, key = certificate(tmp_path / "one")
    other = certificate(tmp_path / "two")[1]

    for pair in ((cert, other), (key, cert), (cert, Path(__file__))):
        with pytest.raises(CannotStart, match="do not belong together"):
            address_on("127.0.0.1", tls_certificate=pair[0], tls_key=pair[1])
    with pytest.raises(CannotStart, match=r"--tls-key .*: the file does not exist"):
        address_on("127.0.0.1", tls_certificate=cert, tls_key=tmp_path / "none.pem")


def test_the_terminal_shows_a_qr_code_for_a_public_address(capsys):
    there = ServerAddress("http://192.0.2.7:8777", ("192.0.2.7", 8777), None, is_open_to_others=True)
    Terminal(server_address=there, data=Path("data"), open_browser=False).announce("http://192.0.2.7:8777/login/?once=x", 1.0)
    shown = capsys.readouterr().out
    Terminal(server_address=address_on("127.0.0.1"), data=Path("data"), open_browser=False).announce("http://127.0.0.1/login/?once=x", 1.0)
    alone = capsys.readouterr().out

    assert "http://192.0.2.7:8777/r/" in shown
    assert shown.count("█▀") > 10
    assert "█" not in alone


def test_the_terminal_shows_how_scripts_find_a_custom_data_folder(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "usual"))
    monkeypatch.delenv("SCHEDVIZ_DATA", raising=False)
    for folder, told in ((tmp_path / "my own", True), (tmp_path / "usual/schedviz", False)):
        Terminal(server_address=address_on("127.0.0.1"), data=folder, open_browser=False).announce("http://127.0.0.1/login/?once=x", 1.0)
        assert (f"export SCHEDVIZ_DATA='{folder}'" in capsys.readouterr().out) is told


def test_the_health_check_verifies_the_servers_own_certificate(tmp_path):
    own, other = (Tls(*certificate(tmp_path / name)) for name in ("own", "other"))

    assert asked_over_tls(own, own)
    assert not asked_over_tls(own, other)


def asked_over_tls(served: Tls, believed: Tls) -> bool:
    """Whether a probe that trusts one certificate accepts a server with another."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(served.certificate, served.key)
    body = b'{"status": "ok"}' + b" " * 100_000
    response = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body
    with socket.create_server(("127.0.0.1", 0)) as listener, selectors.DefaultSelector() as selector:

        def serve() -> None:
            plain, _ = listener.accept()
            try:
                with context.wrap_socket(plain, server_side=True) as connection:
                    assert b"GET /healthz" in connection.recv(4096)
                    connection.sendall(response)
            except OSError:
                plain.close()

        server = threading.Thread(target=serve)
        server.start()
        probe = HealthProbe(ServerAddress("https://workshop", listener.getsockname(), believed, is_open_to_others=False), selector)
        probe.poll()

        def is_over() -> bool:
            for key, _ in selector.select(0.01):
                key.data()
            return not selector.get_map()

        until(is_over)
        server.join()
        return probe.healthy and probe.detail == {"status": "ok"}
