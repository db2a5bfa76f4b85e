"""The deployment files name existing settings, run existing programs, and grant only the needed privileges."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import redis
import yaml

from schedviz.cli.follow import in_cluster
from schedviz.sessions.redis.stream import ENGINE_QUEUE
from tests.conftest import ROOT, test_database_url, until

DOCKER = ROOT / "docker"
COMPOSE = yaml.safe_load((DOCKER / "compose.yaml").read_text())
RENDERED = Path(__file__).parent / "rendered"
#: Our processes in compose.
OURS = ("migrate", "web", "engine", "io", "experiments", "sweeper")
SOURCES = [
    (ROOT / "schedviz" / name).read_text()
    for name in ("settings.py", "web/environment.py", "sessions/hosting/lease.py", "sessions/hosting/slots.py")
]
#: Read by compose, by the shell and by the chart, not by schedviz.
_NOT_SETTINGS = {"SCHEDVIZ_BIND", "SCHEDVIZ_ENV_FILE", "SCHEDVIZ_POD_IP"}
EVERYTHING = [
    *("--set-string", "settings.SCHEDVIZ_TRACES=1"),
    *("--set", "ingress.enabled=true,ingress.tlsSecret=tls,networkPolicy.enabled=true,scrapeConfig.enabled=true,caConfigMap=ca"),
    *("--set", "keda.enabled=true,keda.redis.address=redis:6379,keda.redis.authenticationRef=redis,backup.enabled=true"),
    *("--set", "secrets.databaseUrl.name=postgres,secrets.databaseUrl.key=uri,secrets.oidcClientSecret.key=oidc-client-secret"),
    *("--set", "envFrom[0].secretRef.name=more,extraEnv[0].name=SCHEDVIZ_OIDC_ISSUER,extraEnv[0].value=https://login.example.org"),
    *("--set", "io.processes=3,io.importMegabytes=1024"),
]

FOLLOW = ["--set", "follow.enabled=true,networkPolicy.enabled=true"]


def test_prometheus_and_the_pods_read_the_metrics_token_from_the_same_secret() -> None:
    templates = ROOT / "docker" / "chart" / "templates"
    for name in ("scrape.yaml", "_pods.tpl"):
        assert "Values.secrets.metricsToken" in (templates / name).read_text()


def manifests(name: str) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all((RENDERED / f"{name}.yaml").read_text()) if each]


def pods_of(name: str) -> list[dict[str, Any]]:
    results = [manifest["spec"]["template"]["spec"] for manifest in manifests(name) if manifest["kind"] in ("Deployment", "Job")]
    return [
        *results,
        *(manifest["spec"]["jobTemplate"]["spec"]["template"]["spec"] for manifest in manifests(name) if manifest["kind"] == "CronJob"),
    ]


def deployments(name: str) -> dict[str, dict[str, Any]]:
    """The chart's deployments by component."""
    return {
        manifest["metadata"]["name"].rpartition("-")[2]: manifest["spec"]
        for manifest in manifests(name)
        if manifest["kind"] == "Deployment"
    }


def test_the_password_of_redis_is_not_in_the_list_of_processes(tmp_path: Path) -> None:
    service, password = COMPOSE["services"]["redis"], "a-secret-of-redis"
    environment = {name: str(value).replace("${REDIS_PASSWORD}", password) for name, value in service["environment"].items()}
    # As compose interpolates it, with another folder, and without a port.
    command = [
        part.replace("${REDIS_PASSWORD}", password).replace("$$", "$").replace("/data/", f"{tmp_path}/") for part in service["command"]
    ]
    socket = tmp_path / "redis.sock"
    server = subprocess.Popen([*command, "--port", "0", "--unixsocket", str(socket)], env={**os.environ, **environment}, cwd=tmp_path)
    try:
        until(socket.exists)
        with redis.Redis(unix_socket_path=str(socket)) as stranger, pytest.raises(redis.AuthenticationError):
            stranger.ping()
        with redis.Redis(unix_socket_path=str(socket), password=password) as ours:
            assert ours.config_get("maxmemory-policy") == {"maxmemory-policy": "volatile-lru"}
            assert ours.config_get("save") == {"save": ""}
        arguments = Path(f"/proc/{server.pid}/cmdline").read_text()
        assert arguments.startswith("redis-server")
        # Redis hides its own arguments, but not those of the shell and of `docker inspect`.
        assert not any(password in each for each in [arguments, *command])
        assert (tmp_path / "redis.conf").stat().st_mode & 0o077 == 0
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize("path", ["compose.yaml", "env.example", "Dockerfile", "systemd/environment.example", "chart/templates/_pods.tpl"])
def test_every_named_setting_exists(path: str) -> None:
    named = set(re.findall(r"\bSCHEDVIZ_[A-Z_]+", (DOCKER / path).read_text())) - _NOT_SETTINGS
    assert named
    assert [name for name in sorted(named) if not any(name in source for source in SOURCES)] == []


@pytest.mark.parametrize("name", [*OURS, "redis", "postgres"])
def test_a_container_runs_unprivileged_with_a_read_only_filesystem(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    # The schedviz image sets its own user.
    assert name in OURS or service["user"] == name


def test_the_image_runs_as_a_numeric_non_root_user() -> None:
    users = re.findall(r"^USER (.+)$", (DOCKER / "Dockerfile").read_text(), re.MULTILINE)
    assert users == ["10001:10001"]


@pytest.mark.parametrize("name", [name for name in OURS if name not in ("migrate", "sweeper")])
def test_services_that_can_hang_have_a_health_check_and_a_grace_period(name: str) -> None:
    assert COMPOSE["services"][name]["healthcheck"]["test"][0] == "CMD"
    assert "stop_grace_period" in COMPOSE["services"][name]


def test_every_deployment_gives_imports_120_seconds_to_finish() -> None:
    # docs/operations.md, Upgrades.
    assert COMPOSE["services"]["io"]["stop_grace_period"] == "120s"
    assert "\nTimeoutStopSec=120\n" in (DOCKER / "systemd" / "schedviz-io.service").read_text()
    assert deployments("default")["io"]["template"]["spec"]["terminationGracePeriodSeconds"] == 120


def test_the_values_of_the_chart_match_their_schema_and_invalid_ones_do_not() -> None:
    values = yaml.safe_load((DOCKER / "chart/values.yaml").read_text())
    schema = json.loads((DOCKER / "chart/values.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(values, schema)
    for wrong in (
        {"nonsense": 1},
        {"hosts": []},
        {"origins": ["https://*.example.org"]},
        {"settings": {"PATH": "x"}},
        {"web": {"replicas": -1}},
        {"volumes": {"tmp": "much"}},
        {"keda": {"redis": {"address": "redis://:password@redis:6379"}}},
        {"extraEnv": [{"value": "without a name"}]},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**values, **wrong}, schema)


@pytest.mark.parametrize("name", ["default", "everything"])
def test_pods_of_the_chart_run_unprivileged_with_a_read_only_root_filesystem(name: str) -> None:
    pods = pods_of(name)
    assert len(pods) == (6 if name == "default" else 7)
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True
            assert context["allowPrivilegeEscalation"] is False
            assert context["capabilities"] == {"drop": ["ALL"]}
            assert container["resources"]["limits"]["memory"]


@pytest.mark.parametrize("name", ["default", "everything", "follow"])
def test_a_rollout_waits_for_ready_workers_and_changed_settings_replace_pods(name: str) -> None:
    result = deployments(name)
    for component in ("engine", "experiments", "io"):
        assert result[component]["minReadySeconds"] > 0
        container = result[component]["template"]["spec"]["containers"][0]
        assert container["readinessProbe"]["exec"]["command"] == ["python", "-m", "schedviz.sessions.health_check"]
    assert result["web"]["minReadySeconds"] > 0
    for spec in result.values():
        assert set(spec["template"]["metadata"]["annotations"]) == {"checksum/settings", "checksum/secrets"}


def test_different_settings_have_different_checksums() -> None:
    first, second = (deployments(name)["web"]["template"]["metadata"]["annotations"] for name in ("default", "everything"))
    assert first["checksum/settings"] != second["checksum/settings"]


@pytest.mark.parametrize("name", ["default", "everything"])
def test_the_writable_volumes_of_a_pod_have_a_size_limit(name: str) -> None:
    for pod in pods_of(name):
        for volume in pod["volumes"]:
            if "emptyDir" in volume:
                assert volume["emptyDir"]["sizeLimit"], volume["name"]


@pytest.mark.parametrize("name", ["default", "everything"])
def test_the_memory_limit_of_io_fits_its_processes(name: str) -> None:
    (container,) = deployments(name)["io"]["template"]["spec"]["containers"]
    processes = int(container["command"][container["command"].index("-c") + 1])
    each = next(int(one["value"]) for one in container["env"] if one["name"] == "SCHEDVIZ_IMPORT_MEGABYTES")
    assert container["resources"]["limits"]["memory"] == f"{processes * each + 512}Mi"


def test_each_secret_can_come_from_another_secret_object() -> None:
    def secrets(name: str) -> dict[str, tuple[str, str]]:
        (container,) = deployments(name)["web"]["template"]["spec"]["containers"]
        references = {one["name"]: one["valueFrom"].get("secretKeyRef") for one in container["env"] if "valueFrom" in one}
        return {variable: (to["name"], to["key"]) for variable, to in references.items() if to}

    assert secrets("default") == {
        "SCHEDVIZ_SECRET_KEY": ("schedviz", "secret-key"),
        "SCHEDVIZ_DATABASE_URL": ("schedviz", "database-url"),
        "SCHEDVIZ_REDIS_URL": ("schedviz", "redis-url"),
        "SCHEDVIZ_METRICS_TOKEN": ("schedviz", "metrics-token"),
    }
    result = secrets("everything")
    assert result["SCHEDVIZ_DATABASE_URL"] == ("postgres", "uri")
    assert result["SCHEDVIZ_OIDC_CLIENT_SECRET"] == ("schedviz", "oidc-client-secret")
    (container,) = deployments("everything")["engine"]["template"]["spec"]["containers"]
    assert container["envFrom"] == [{"secretRef": {"name": "more"}}]
    assert {"name": "SCHEDVIZ_OIDC_ISSUER", "value": "https://login.example.org"} in container["env"]


def test_keda_scales_by_the_redis_list_that_celery_uses() -> None:
    assert not [manifest for manifest in manifests("default") if manifest["kind"] == "ScaledObject"]
    (scaled,) = (manifest["spec"] for manifest in manifests("everything") if manifest["kind"] == "ScaledObject")
    (trigger,) = scaled["triggers"]
    assert trigger["metadata"]["listName"] == ENGINE_QUEUE
    assert trigger["metadata"]["address"] == "redis:6379"
    assert scaled["scaleTargetRef"]["name"] in {
        manifest["metadata"]["name"] for manifest in manifests("everything") if manifest["kind"] == "Deployment"
    }
    # The next upgrade must not reset what KEDA has set.
    assert "replicas" not in deployments("everything")["engine"]
    assert "replicas" in deployments("default")["engine"]


@pytest.mark.django_db(transaction=True)
def test_the_backup_job_of_the_chart_writes_backups_and_keeps_a_limited_number(tmp_path: Path) -> None:
    (job,) = (manifest["spec"] for manifest in manifests("everything") if manifest["kind"] == "CronJob")
    (container,) = job["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    *shell, script = container["command"]
    for day in range(1, 20):
        (tmp_path / f"schedviz-2020-01-{day:02}T00-00-00.backup").write_text("old")
    for name in ("schedviz-2020-01-20T00-00-00.backup.part", ".schedviz-2020-01-20T00-00-00.backup.part.new"):
        (tmp_path / name).write_text("cut short")

    done = subprocess.run(
        [*shell, script.replace("/backups", str(tmp_path))],
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "SCHEDVIZ_DATABASE_URL": test_database_url(),
            "SCHEDVIZ_DATA": str(tmp_path / "data"),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob(".*")) == []
    left = sorted(path.name for path in tmp_path.glob("schedviz-*"))
    assert len(left) == 14
    assert left[0] == "schedviz-2020-01-07T00-00-00.backup"
    assert not left[-1].startswith("schedviz-2020")
    assert (tmp_path / left[-1]).stat().st_size > 500


def test_each_selector_of_the_chart_matches_exactly_one_deployment() -> None:
    result = manifests("everything")
    labels = [each["spec"]["template"]["metadata"]["labels"] for each in result if each["kind"] == "Deployment"]
    for each in result:
        if each["kind"] in ("Service", "PodDisruptionBudget"):
            selector = each["spec"]["selector"].get("matchLabels", each["spec"]["selector"])
            assert sum(selector.items() <= label.items() for label in labels) == 1, each["metadata"]["name"]


def test_the_host_name_that_prometheus_uses_is_allowed() -> None:
    plain = yaml.safe_load((DOCKER / "prometheus/prometheus.yaml").read_text())
    in_cluster = next(manifest for manifest in manifests("everything") if manifest["kind"] == "ScrapeConfig")
    container = next(manifest for manifest in manifests("everything") if manifest["kind"] == "Deployment")["spec"]["template"]["spec"][
        "containers"
    ][0]
    for target, allowed in (
        (plain["scrape_configs"][0]["static_configs"][0]["targets"][0], COMPOSE["x-schedviz"]["environment"]["SCHEDVIZ_ALLOWED_HOSTS"]),
        (
            in_cluster["spec"]["staticConfigs"][0]["targets"][0],
            next(each["value"] for each in container["env"] if each["name"] == "SCHEDVIZ_ALLOWED_HOSTS"),
        ),
    ):
        assert target.rpartition(":")[0] in allowed.split(",")


def test_following_has_read_only_access_and_its_own_service_account() -> None:
    result = manifests("follow")
    (role,) = (each for each in result if each["kind"] == "ClusterRole")
    (binding,) = (each for each in result if each["kind"] == "ClusterRoleBinding")
    documented = (ROOT / "docs/follow.md").read_text().partition("```yaml\n")[2].partition("```")[0]
    spec = deployments("follow")["follow"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]

    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"list", "watch"}
    assert role["rules"] == yaml.safe_load(documented)["rules"]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert [subject["name"] for subject in binding["subjects"]] == [pod["serviceAccountName"]]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["command"] == ["schedviz", "follow", "--resume", "--source", "in-cluster", "--release", "v1.36"]
    assert {one["name"] for one in container["env"]} == {"SCHEDVIZ_SERVER", "SCHEDVIZ_TOKEN"}
    others = [each for name, each in deployments("follow").items() if name != "follow"]
    assert all(other["template"]["spec"]["automountServiceAccountToken"] is False for other in others)


def test_the_single_pod_manifest_has_the_role_of_the_chart_and_reaches_only_itself() -> None:
    results = list(yaml.safe_load_all((DOCKER / "kubernetes/schedviz.yaml").read_text()))
    kinds = {each["kind"]: each for each in results}
    pod = kinds["Deployment"]["spec"]["template"]["spec"]
    containers = {each["name"]: each for each in pod["containers"]}
    (role,) = (manifest for manifest in manifests("follow") if manifest["kind"] == "ClusterRole")

    assert kinds["ClusterRole"]["rules"] == role["rules"]
    assert pod["serviceAccountName"] == kinds["ServiceAccount"]["metadata"]["name"]
    assert set(containers) == {"redis", "schedviz", "follow"}
    for container in containers.values():
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]


def test_only_the_following_container_has_the_service_account_token() -> None:
    results = list(yaml.safe_load_all((DOCKER / "kubernetes/schedviz.yaml").read_text()))
    (pod,) = (each["spec"]["template"]["spec"] for each in results if each["kind"] == "Deployment")
    mounted = {one["name"]: [each for each in one.get("volumeMounts", []) if each["name"] == "account"] for one in pod["containers"]}

    assert pod["automountServiceAccountToken"] is False
    assert mounted == {"redis": [], "schedviz": [], "follow": [{"name": "account", "mountPath": str(in_cluster.FOLDER), "readOnly": True}]}
    (account,) = (volume["projected"]["sources"] for volume in pod["volumes"] if volume["name"] == "account")
    assert account[0]["serviceAccountToken"]["path"] == "token"
    assert account[1]["configMap"]["items"] == [{"key": "ca.crt", "path": "ca.crt"}]


def test_enabling_following_adds_manifests_and_does_not_change_the_default_ones() -> None:
    following = manifests("follow")
    assert [manifest for manifest in following if manifest not in manifests("default")] == [
        manifest for manifest in following if manifest["kind"] == "NetworkPolicy" or "-follow" in manifest["metadata"]["name"]
    ]
    assert all(manifest in following for manifest in manifests("default"))


@pytest.mark.parametrize(("name", "options"), [("default", []), ("everything", EVERYTHING), ("follow", FOLLOW)])
def test_the_checked_in_manifests_are_what_helm_renders(name: str, options: list[str]) -> None:
    helm = shutil.which("helm")
    if helm is None:
        # CI has no helm either. The rendered files are in the repository, so they are checked everywhere.
        pytest.skip("helm is not installed; `helm template` writes tests/deploy/rendered again")
    command = [helm, "template", "release", str(DOCKER / "chart"), "--kube-version", "1.29.0", "--namespace", "schedviz", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == (RENDERED / f"{name}.yaml").read_text()


@pytest.mark.parametrize("unit", sorted((DOCKER / "systemd").glob("*.service")), ids=lambda path: path.name)
def test_systemd_units_run_the_commands_of_the_containers_with_few_privileges(unit: Path) -> None:
    text = unit.read_text()
    for line in (
        *("NoNewPrivileges=true", "ProtectSystem=strict", "ProtectProc=invisible", "ProtectKernelLogs=true", "ProtectHostname=true"),
        *("CapabilityBoundingSet=", "SystemCallArchitectures=native", "RestrictRealtime=true", "User=schedviz", "UMask=0077"),
    ):
        assert f"\n{line}\n" in text
    program = re.search(r"^ExecStart=(?:/bin/sh -c 'until )?/opt/schedviz/bin/(.+?)(?:; do sleep 5; done')?$", text, re.MULTILINE)
    assert program is not None
    words = [
        word
        for word in program[1].split()
        if not word.startswith(("engine-%i", "io@%H", "experiments@%H", "127.0.0.1")) and word not in ("-n", "0.0.0.0")
    ]
    image = re.search(r"^CMD (\[.+?\])$", (DOCKER / "Dockerfile").read_text().replace("\\\n", ""), re.MULTILINE)
    assert image is not None
    commands = [
        json.loads(image[1]),
        *(COMPOSE["services"][name]["command"] for name in ("migrate", "engine", "io", "experiments", "sweeper")),
    ]
    assert words in [[word for word in command if word != "0.0.0.0"] for command in commands]
