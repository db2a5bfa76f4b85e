"""Settings from environment variables."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from schedviz.web import environment


def test_the_secret_key_is_created_once_and_readable_only_by_its_user(tmp_path: Path, monkeypatch):
    monkeypatch.delenv("SCHEDVIZ_SECRET_KEY", raising=False)
    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(environment.secret_key(tmp_path))) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(results)) == 1
    assert len(results[0]) >= 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


@pytest.mark.parametrize("stored", [b"short", b"\xff" * 64], ids=["short", "not UTF-8"])
def test_a_secret_key_that_is_too_short_or_not_text_is_refused(tmp_path: Path, monkeypatch, stored: bytes):
    monkeypatch.delenv("SCHEDVIZ_SECRET_KEY", raising=False)
    (tmp_path / "secret_key").write_bytes(stored)

    with pytest.raises(ImproperlyConfigured, match="Remove it"):
        environment.secret_key(tmp_path)


def test_an_unreadable_secret_key_is_reported_with_its_folder_and_a_remedy(tmp_path: Path, monkeypatch):
    monkeypatch.delenv("SCHEDVIZ_SECRET_KEY", raising=False)
    (tmp_path / "secret_key").mkdir()

    with pytest.raises(ImproperlyConfigured, match="Is a directory") as refused:
        environment.secret_key(tmp_path)
    assert str(tmp_path) in str(refused.value)
    assert "SCHEDVIZ_DATA" in str(refused.value)


def test_only_its_user_can_read_the_data_folder(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("SCHEDVIZ_DATA", str(tmp_path / "a" / "b"))

    assert environment.data_folder(tmp_path).stat().st_mode & 0o777 == 0o700


def test_a_data_folder_that_cannot_be_created_is_named(tmp_path: Path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SCHEDVIZ_DATA", str(tmp_path / "file" / "b"))

    with pytest.raises(ImproperlyConfigured, match="SCHEDVIZ_DATA"):
        environment.data_folder(tmp_path)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sqlite:////a/b.sqlite3", {"NAME": "/a/b.sqlite3"}),
        ("postgresql://u:p%40ss@db:5433/name", {"USER": "u", "PASSWORD": "p@ss", "HOST": "db", "PORT": "5433", "NAME": "name"}),
        (
            "postgres://u@/name?host=/run/pg",
            {"HOST": "", "NAME": "name", "OPTIONS": {"connect_timeout": 5, "host": "/run/pg", "prepare_threshold": 5}},
        ),
    ],
)
def test_a_database_is_read_from_its_url(url, expected):
    result = environment.database(url, synchronous="FULL")

    assert {name: result[name] for name in expected} == expected


def test_sqlite_waits_for_locks_and_keeps_what_it_accepted():
    options = environment.database("sqlite:///x", synchronous="FULL")["OPTIONS"]

    assert options["transaction_mode"] == "IMMEDIATE"
    assert options["timeout"] == 20
    assert "journal_mode=WAL" in options["init_command"]
    assert "synchronous=FULL" in options["init_command"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://r:6379/2", "redis://r:6379/2"),
        ("unix:///run/redis", "redis+socket:///run/redis?virtual_host=0"),
        ("unix:///run/redis?db=3", "redis+socket:///run/redis?virtual_host=3"),
    ],
)
def test_the_celery_broker_is_the_same_redis(url, expected):
    assert environment.broker_url(url) == expected


@pytest.mark.parametrize(
    "call", [lambda: environment.broker_url("amqp://x"), lambda: environment.database("mysql://x/y", synchronous="FULL")]
)
def test_a_url_of_an_unsupported_database_is_refused(call):
    with pytest.raises(ImproperlyConfigured, match="expected"):
        call()


def test_invalid_switches_and_numbers_are_refused(monkeypatch):
    monkeypatch.setenv("SCHEDVIZ_X", "perhaps")

    with pytest.raises(ImproperlyConfigured, match="SCHEDVIZ_X"):
        environment.flag("SCHEDVIZ_X")
    with pytest.raises(ImproperlyConfigured, match="SCHEDVIZ_X"):
        environment.number("SCHEDVIZ_X", 1)


def test_an_ipv6_address_is_a_host_name_with_or_without_its_brackets(monkeypatch):
    # Kubernetes gives a pod its address without them (docker/chart, SCHEDVIZ_POD_IP), and the kubelet's probes send them.
    monkeypatch.setenv("SCHEDVIZ_ALLOWED_HOSTS", "schedviz.example.org,fd00::1,[fd00::2],10.0.0.1")

    assert environment.host_names("SCHEDVIZ_ALLOWED_HOSTS", []) == ["schedviz.example.org", "[fd00::1]", "[fd00::2]", "10.0.0.1"]


@pytest.mark.parametrize("value", ["javascript:alert(1)", "schedviz.example.org", "https://a b", "https://u:p@host"])
def test_an_invalid_site_url_is_refused(monkeypatch, value: str):
    monkeypatch.setenv("SCHEDVIZ_URL", value)
    with pytest.raises(ImproperlyConfigured, match="SCHEDVIZ_URL"):
        environment.base_url("SCHEDVIZ_URL")


@pytest.mark.parametrize("value", ["https://schedviz.example.org", "http://127.0.0.1:8777", "https://example.org/schedviz/"])
def test_a_valid_site_url_is_accepted(monkeypatch, value: str):
    monkeypatch.setenv("SCHEDVIZ_URL", value)
    assert environment.base_url("SCHEDVIZ_URL") == value


def test_sites_that_would_change_the_content_security_policy_are_refused(monkeypatch):
    monkeypatch.setenv("SITES", "https://wiki.example, https://*.example:8443")
    assert environment.embedding_sites("SITES") == ["https://wiki.example", "https://*.example:8443"]
    monkeypatch.setenv("SITES", "https://a.b; script-src 'unsafe-inline'")
    with pytest.raises(ImproperlyConfigured, match="is not a site"):
        environment.embedding_sites("SITES")


def test_an_unknown_log_level_is_refused(monkeypatch):
    monkeypatch.setenv("LEVEL", "debug")
    assert environment.log_level("LEVEL") == "DEBUG"
    monkeypatch.setenv("LEVEL", "FOO")
    with pytest.raises(ImproperlyConfigured, match="expected one of DEBUG, INFO"):
        environment.log_level("LEVEL")


@pytest.mark.parametrize(
    "value", ["-1", "1e3", "0x10", "1_000", "\N{SUPERSCRIPT TWO}", "\N{ARABIC-INDIC DIGIT THREE}", "nan", "9" * 5000 + "x"]
)
def test_a_value_that_is_no_whole_number_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SCHEDVIZ_SOCKETS", value)
    with pytest.raises(ImproperlyConfigured, match=r"SCHEDVIZ_SOCKETS=.* is not a whole number") as refused:
        environment.number("SCHEDVIZ_SOCKETS", 1)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("name", "maximum"),
    [
        ("SCHEDVIZ_REQUEST_HEAD_SECONDS", 10**8),
        ("SCHEDVIZ_DEMO_MINUTES", 10**7),
        ("SCHEDVIZ_ROOM_HOURS", 10**5),
        ("SCHEDVIZ_AUDIT_DAYS", 10**5),
        ("SCHEDVIZ_IMPORT_MEGABYTES", 10**9),
        ("SCHEDVIZ_BYTES_IN_ALL", 10**15),
    ],
)
def test_an_unusable_number_of_seconds_or_processes_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, maximum: int) -> None:
    for value in (str(maximum), f"000{maximum}"):
        monkeypatch.setenv(name, value)
        assert environment.number(name, 1) == maximum
    for value in (str(maximum + 1), "9" * 5000):
        monkeypatch.setenv(name, value)
        with pytest.raises(ImproperlyConfigured, match=f"{name}=.* is too large; at most {maximum:,} is possible"):
            environment.number(name, 1)


def test_a_value_outside_the_choices_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDVIZ_LOG", "jsonn")
    with pytest.raises(ImproperlyConfigured, match="SCHEDVIZ_LOG='jsonn' is unknown; expected json or console"):
        environment.choice("SCHEDVIZ_LOG", ("json", "console"), "json")


@pytest.mark.parametrize(
    "url",
    ["mysql://u:hush@h/db", "postgresql://u:hush@h:99999/db", "postgresql://u:hush@h:port/db", "postgresql://u:hush@[::1/db", "hush"],
)
def test_an_unusable_url_of_a_store_is_refused_without_printing_its_password(url: str) -> None:
    for read in (lambda: environment.database(url, synchronous="FULL"), lambda: environment.broker_url(url)):
        with pytest.raises(ImproperlyConfigured) as refused:
            read()
        assert "hush" not in str(refused.value)
        assert refused.value.__cause__ is None
