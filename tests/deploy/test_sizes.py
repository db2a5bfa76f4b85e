"""The example configurations name every setting, and their numbers fit each other: connections, memory, processes."""

from __future__ import annotations

import ast
import functools
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from django.conf import settings

from schedviz.web.live import database
from schedviz.web.server.asgi_handler import HTTP_THREADS
from tests.conftest import ROOT, missing

DOCKER = ROOT / "docker"
COMPOSE_TEXT = (DOCKER / "compose.yaml").read_text()
COMPOSE = yaml.safe_load(COMPOSE_TEXT)
EXAMPLES = ("env.example", "systemd/environment.example")
UNITS = sorted((DOCKER / "systemd").glob("*.service"))
#: Settings that the code reads but that do not belong in a server's environment file.
EXCEPTIONS = {
    "SCHEDVIZ_DATA": "set by the image, compose and the units",
    "SCHEDVIZ_ROLE": "set for each process by compose and the units",
    "SCHEDVIZ_DEBUG": "for developers: it shows source code to anonymous clients",
    "SCHEDVIZ_OWNER": "set by the supervisor of `schedviz up`",
    "SCHEDVIZ_SLOTS": "follows the worker's -c, which compose, the chart and the units set",
    "SCHEDVIZ_NO_PDEATHSIG": "for tests of `schedviz up`",
    "SCHEDVIZ_SERVER": "for the command line: the server",
    "SCHEDVIZ_TOKEN": "for the command line: the token",
    "SCHEDVIZ_SESSION": "for the command line: the session",
    "SCHEDVIZ_PSEUDONYMS": "for the command line: the key of the pseudonyms of `schedviz follow`",
}
#: Compose derives these from other variables.
MADE_BY_COMPOSE = {"SCHEDVIZ_DATABASE_URL", "SCHEDVIZ_REDIS_URL"}
_READERS = {"flag", "number", "choice", "host_names", "comma_separated", "networks", "embedding_sites", "log_level", "get", "getenv"}


@functools.cache
def settings_read() -> set[str]:
    """Every SCHEDVIZ_… that the code reads from its environment."""
    results = set()
    for path in (ROOT / "schedviz").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            key: ast.expr | None = None
            if isinstance(node, ast.Call) and node.args:
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                key = node.args[0] if name in _READERS else None
            elif isinstance(node, ast.Subscript):
                key = node.slice
            elif isinstance(node, ast.keyword) and node.arg == "envvar":
                key = node.value
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and re.fullmatch(r"SCHEDVIZ_[A-Z_]+", key.value):
                results.add(key.value)
    return results | {"SCHEDVIZ_LESSONS"}


def named_in(text: str) -> set[str]:
    """The variables that a file for `env_file` or EnvironmentFile has, set or commented out."""
    return set(re.findall(r"^#?(SCHEDVIZ_[A-Z_]+)=", text, re.MULTILINE))


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_example_names_exactly_the_existing_settings(example: str) -> None:
    named = named_in((DOCKER / example).read_text())
    if example == "env.example":
        named = (named - {"SCHEDVIZ_BIND"}) | MADE_BY_COMPOSE
    assert settings_read() - set(EXCEPTIONS) == named


def test_every_exempt_setting_is_still_read() -> None:
    assert set(EXCEPTIONS) <= settings_read()


def test_the_examples_have_the_defaults_of_the_code() -> None:
    code = (ROOT / "schedviz/settings.py").read_text()
    code = re.sub(r"\bMEGABYTE\b", str(1 << 20), code)
    for example in EXAMPLES:
        text = (DOCKER / example).read_text()
        for name, private, public in re.findall(r'number\("(SCHEDVIZ_\w+)", ([\d_* ]+?)(?:\)| if PUBLIC else ([\d_* ]+)\))', code):
            if name in ("SCHEDVIZ_PROXIES", "SCHEDVIZ_IMPORT_MEGABYTES", *EXCEPTIONS):
                continue
            # "of a public server if PUBLIC else of another": the example has the other's first.
            values = [value_of(public), value_of(private)] if public else [value_of(private)]
            line = re.search(rf"^#{name}=(.+)$", text, re.MULTILINE)
            assert line is not None, name
            assert [int(value) for value in line[1].split(" | ")] == values, name


def value_of(product: str) -> int:
    """The value of an expression such as `64 * 1024`."""
    result = 1
    for factor in product.split("*"):
        result *= int(factor.replace("_", "").strip())
    return result


def test_a_setting_in_the_env_file_reaches_every_container() -> None:
    for name in ("migrate", "web", "engine", "io", "sweeper"):
        assert COMPOSE["services"][name]["env_file"] == [{"path": "${SCHEDVIZ_ENV_FILE:-.env}", "required": False}]


def default_of(text: str) -> str:
    """The values that compose uses for `${NAME:-default}`."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def megabytes(size: str) -> int:
    """The number of megabytes in 512m, 4g, 4608M, 4Gi, …"""
    match = re.fullmatch(r"(\d+)([mMgG])i?", default_of(size))
    assert match is not None, size
    return int(match[1]) * (1024 if match[2] in "gG" else 1)


def option(command: list[str], name: str) -> str:
    return command[command.index(name) + 1]


def test_max_connections_is_enough_for_the_example() -> None:
    scales = dict(re.findall(r"--scale (web|engine)=(\d+)", COMPOSE_TEXT.split("name: schedviz")[0]))
    assert set(scales) == {"web", "engine"}
    services = COMPOSE["services"]
    # Threads that keep a connection each; exports are streamed from threads of their own.
    web = HTTP_THREADS._maximum + database._threads._maximum + 4
    # Slots, and the threads that renew leases, look after metrics and serve Celery.
    engine = int(option(services["engine"]["command"], "-c")) + 4
    io = int(option(services["io"]["command"], "-c")) * 4 + 4
    # Sweeper, migration, a backup, an interactive client, and PostgreSQL's superuser reserve.
    rest = io + 1 + 1 + 1 + 2 + 3
    assert rest <= 20
    needed = web * int(scales["web"]) + engine * int(scales["engine"]) + 20
    allowed = int(default_of(services["postgres"]["command"][-1]).removeprefix("max_connections="))

    assert needed <= allowed
    assert f"{web} for each web server, {engine} for each engine worker" in COMPOSE_TEXT.replace("\n    # ", " ")
    assert f"{web} for each web server, {engine} for each engine worker" in (DOCKER / "env.example").read_text()


def test_every_container_has_a_memory_limit() -> None:
    for name, service in COMPOSE["services"].items():
        assert megabytes(service["mem_limit"]) >= 512, name


@pytest.mark.parametrize("worker", ["io", "experiments"])
def test_the_memory_limit_of_a_worker_fits_its_processes(worker: str) -> None:
    service = COMPOSE["services"][worker]
    processes = int(option(service["command"], "-c"))
    each = int(default_of(service["environment"]["SCHEDVIZ_IMPORT_MEGABYTES"]))
    assert megabytes(service["mem_limit"]) >= processes * each + 512
    assert f"\nSCHEDVIZ_IMPORT_MEGABYTES={each}\n" in (DOCKER / "env.example").read_text()

    unit = (DOCKER / f"systemd/schedviz-{worker}.service").read_text()
    (most,) = re.findall(r"^MemoryMax=(.+)$", unit, re.MULTILINE)
    (said,) = re.findall(r"^Environment=SCHEDVIZ_IMPORT_MEGABYTES=(\d+)$", unit, re.MULTILINE)
    (count,) = re.findall(r" -c (\d+) ", unit)
    assert megabytes(most) >= int(count) * int(said) + 512


def test_the_documented_public_demo_has_enough_io_processes() -> None:
    needed = settings.DEMO_IMPORTS + 2
    guide = (ROOT / "docs/operations.md").read_text().partition("### Processes of a public demo\n")[2].partition("\n## ")[0]
    io = COMPOSE["services"]["io"]
    processes = int(option(io["command"], "-c"))
    assert f"`SCHEDVIZ_DEMO_IMPORTS` + 2 ({needed} by default)" in guide

    compose = (DOCKER / "env.example").read_text()
    for text in (guide, compose):
        (workers,) = re.findall(r"docker compose up --scale io=(\d+)", text)
        assert int(workers) * processes == needed
    each = int(default_of(io["environment"]["SCHEDVIZ_IMPORT_MEGABYTES"]))
    for text in (guide, (DOCKER / "systemd/environment.example").read_text()):
        (count,) = re.findall(r"-c 2`? to `?-c (\d+)", text)
        (most,) = re.findall(r"MemoryMax`? to (\d+)M", text)
        (high,) = re.findall(r"MemoryHigh`? to (\d+)M", text)
        assert (int(count), int(most)) == (needed, needed * each + 512)
        assert int(high) < int(most)
    assert f"`io.processes` to {needed}, or `io.replicas` to {needed // processes}" in guide


def test_the_memory_limit_of_redis_exceeds_its_maxmemory() -> None:
    redis = COMPOSE["services"]["redis"]
    assert megabytes(redis["mem_limit"]) >= 1.5 * megabytes(option(redis["command"], "--maxmemory").replace("mb", "m"))


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_a_unit_is_throttled_below_its_memory_limit(unit: Path) -> None:
    results = dict(re.findall(r"^(MemoryHigh|MemoryMax)=(.+)$", unit.read_text(), re.MULTILINE))
    assert megabytes(results["MemoryHigh"]) < megabytes(results["MemoryMax"])


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_every_unit_starts_after_the_migration(unit: Path) -> None:
    text = unit.read_text()
    if unit.name == "schedviz-migrate.service":
        assert "\nType=oneshot\nRemainAfterExit=yes\n" in text
        return
    assert "\nRequires=schedviz-migrate.service\n" in text
    assert re.search(r"^After=schedviz-migrate\.service ", text, re.MULTILINE)
    assert "migrate --noinput" not in text


def test_systemd_analyze_reports_no_warnings_about_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        missing("systemd-analyze", "Install systemd.")
    for path in (DOCKER / "systemd").glob("schedviz*"):
        # The programs are not installed here; another test checks that they exist.
        text = re.sub(r"/opt/schedviz/bin/\w[\w-]*", "/bin/true", path.read_text())
        (tmp_path / path.name.replace("@.", "@1.")).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *sorted(map(str, tmp_path.iterdir()))], capture_output=True, text=True, check=False
    )
    warnings = [line for line in done.stderr.splitlines() if "schedviz" in line]
    assert warnings == []
