"""Every harmful setting is reported with a remedy; a server that follows the documentation has none."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings as real

from schedviz.cli.check.finding import Level
from schedviz.cli.check.settings_check import Configured, findings_of


def configured(tmp_path: Path, environment: dict[str, str] | None = None, **changed: Any) -> Configured:
    """A public server set up as in docs/operations.md, with some changes."""
    tmp_path.chmod(0o700)
    values = {name: getattr(real, name) for name in dir(real) if name.isupper()}
    values |= {
        "DATA": tmp_path,
        "DEBUG": False,
        "PUBLIC": True,
        "SECRET_KEY": "x" * 64,
        "ALLOWED_HOSTS": ["schedviz.example.org", "127.0.0.1"],
        "CSRF_TRUSTED_ORIGINS": ["https://schedviz.example.org"],
        "PROXIES": 1,
        "DATABASE_URL": "postgresql://schedviz:secret@db.example.org/schedviz?sslmode=verify-full&sslrootcert=/ca.crt",
        "REDIS_URL": "rediss://schedviz:secret@redis.example.org:6379/0?ssl_ca_certs=/ca.crt",
        "METRICS_TOKEN": "y" * 43,
        "METRICS_FROM": [],
        "SOCKETS": 100,
        **{name: 10 for name in values if name.endswith(("_PER_USER", "_IN_ALL"))},
        **changed,
    }
    given = {"SCHEDVIZ_SECRET_KEY": "x" * 64, "OPENBLAS_NUM_THREADS": "1", **(environment or {})}
    return Configured(SimpleNamespace(**values), given)


def named(at: Configured) -> set[tuple[str, str]]:
    return {(str(one.level), one.setting) for one in findings_of(at) if one.setting not in ("the user", "the page")}


def test_a_server_configured_as_documented_has_no_findings(tmp_path: Path) -> None:
    assert named(configured(tmp_path)) == set()


@pytest.mark.parametrize(
    ("changed", "level", "setting"),
    [
        ({"DEBUG": True}, "error", "SCHEDVIZ_DEBUG"),
        ({"SECRET_KEY": "short"}, "error", "SCHEDVIZ_SECRET_KEY"),
        ({"METRICS_TOKEN": "short"}, "error", "SCHEDVIZ_METRICS_TOKEN"),
        ({"ALLOWED_HOSTS": ["*"]}, "error", "SCHEDVIZ_ALLOWED_HOSTS"),
        ({"ALLOWED_HOSTS": ["127.0.0.1"]}, "error", "SCHEDVIZ_ALLOWED_HOSTS"),
        ({"PUBLIC": False}, "warning", "SCHEDVIZ_PUBLIC"),
        ({"CSRF_TRUSTED_ORIGINS": []}, "error", "SCHEDVIZ_ORIGINS"),
        ({"CSRF_TRUSTED_ORIGINS": ["http://schedviz.example.org"]}, "error", "SCHEDVIZ_ORIGINS"),
        ({"CSRF_TRUSTED_ORIGINS": ["https://*.example.org"]}, "error", "SCHEDVIZ_ORIGINS"),
        ({"EMBED_ORIGINS": ["*"]}, "warning", "SCHEDVIZ_EMBED_ORIGINS"),
        ({"PROXIES": 0}, "error", "SCHEDVIZ_PROXIES"),
        ({"METRICS_FROM": ["127.0.0.0/8"], "PROXIES": 0}, "error", "SCHEDVIZ_METRICS_FROM"),
        ({"METRICS_FROM": ["0.0.0.0/0"]}, "error", "SCHEDVIZ_METRICS_FROM"),
        ({"DATABASE_URL": "sqlite:////data/schedviz.sqlite3"}, "error", "SCHEDVIZ_DATABASE_URL"),
        ({"DATABASE_URL": "sqlite:////data/schedviz.sqlite3", "REDIS_URL": "unix:///run/redis"}, "warning", "SCHEDVIZ_DATABASE_URL"),
        ({"DATABASE_URL": "postgresql://u:p@db.example.org/s"}, "warning", "SCHEDVIZ_DATABASE_URL"),
        ({"REDIS_URL": "rediss://redis.example.org/0"}, "error", "SCHEDVIZ_REDIS_URL"),
        ({"REDIS_URL": "redis://:secret@redis.example.org/0"}, "warning", "SCHEDVIZ_REDIS_URL"),
        ({"REDIS_URL": "rediss://:secret@redis.example.org/0?ssl_cert_reqs=none"}, "error", "SCHEDVIZ_REDIS_URL"),
        ({"EXTENDER_NETWORKS": ["169.254.0.0/16"]}, "error", "SCHEDVIZ_EXTENDER_NETWORKS"),
        ({"EXTENDER_HOSTS": ["a:1"], "EXTENDER_USERS": []}, "warning", "SCHEDVIZ_EXTENDER_USERS"),
        ({"OIDC_ISSUER": "http://login.example.org"}, "error", "SCHEDVIZ_OIDC_ISSUER"),
        ({"OIDC_ISSUER": "login.example.org"}, "error", "SCHEDVIZ_OIDC_ISSUER"),
        ({"NODES_IN_ALL": 0, "BYTES_PER_USER": 0}, "warning", "SCHEDVIZ_BYTES_PER_USER, SCHEDVIZ_NODES_IN_ALL"),
        ({"SOCKETS": 10_000_000}, "error", "the limit of open files"),
        ({"ROOM_HOURS": 0}, "error", "SCHEDVIZ_ROOM_HOURS"),
        ({"UPLOAD_BYTES": 0}, "error", "SCHEDVIZ_UPLOAD_BYTES"),
    ],
)
def test_each_unsafe_setting_is_named(tmp_path: Path, changed: dict[str, Any], level: str, setting: str) -> None:
    assert (level, setting) in named(configured(tmp_path, **changed))


@pytest.mark.parametrize("issuer", ["https://login.example.org/realms/all", "http://127.0.0.1:8080"])
def test_a_provider_over_https_or_on_the_same_host_is_accepted(tmp_path: Path, issuer: str) -> None:
    assert ("error", "SCHEDVIZ_OIDC_ISSUER") not in named(configured(tmp_path, OIDC_ISSUER=issuer))


def test_a_mistyped_name_is_reported_with_the_closest_known_one(tmp_path: Path) -> None:
    findings = findings_of(configured(tmp_path, {"SCHEDVIZ_PUBLICK": "1", "SCHEDVIZ_EXPERIMENT_TRIALS": "5"}))
    found = [(one.setting, one.remedy) for one in findings if one.what == "is no setting of schedviz"]
    assert found == [("SCHEDVIZ_PUBLICK", "rename it to SCHEDVIZ_PUBLIC, or unset it")]


def test_several_hosts_need_a_shared_secret_key(tmp_path: Path) -> None:
    assert ("error", "SCHEDVIZ_SECRET_KEY") in named(configured(tmp_path, {"SCHEDVIZ_SECRET_KEY": ""}))


def test_files_that_other_users_can_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret")
    (tmp_path / "token").chmod(0o644)

    assert ("error", "SCHEDVIZ_DATA") in named(configured(tmp_path))


def test_the_worst_finding_comes_first_and_each_has_a_remedy(tmp_path: Path) -> None:
    findings = findings_of(configured(tmp_path, EMBED_ORIGINS=["*"], DEBUG=True, PROXIES=0))

    assert [finding.level for finding in findings] == sorted(one.level for one in findings)
    assert findings[0].level is Level.ERROR
    assert all(finding.remedy and not re.search(r"[.!]$", finding.remedy) for finding in findings)


def test_a_local_server_may_use_sqlite(tmp_path: Path) -> None:
    own = configured(
        tmp_path,
        {"SCHEDVIZ_SECRET_KEY": ""},
        PUBLIC=False,
        ALLOWED_HOSTS=["127.0.0.1", "localhost"],
        CSRF_TRUSTED_ORIGINS=[],
        PROXIES=0,
        DATABASE_URL="sqlite:////data/schedviz.sqlite3",
        REDIS_URL="redis://127.0.0.1:6379/0",
    )

    assert named(own) == set()
