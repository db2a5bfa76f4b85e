"""Limits of one command or file: profiles of a configuration, and replicas of a workload."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.base import ContentFile

from schedviz.kube.errors import DecodeError
from schedviz.sessions.commands import inbox
from schedviz.sessions.commands.stored_form import canonical
from schedviz.sessions.errors import CommandRefused
from schedviz.sessions.models import Session
from schedviz.sessions.transfer import create, import_job
from schedviz.sessions.transfer.validation import validate_settings, validate_trace
from schedviz.trace.commands import convert_command
from tests.sessions.conftest import MakeSession, command, node

CONFIGURATION = {"profiles": [{"schedulerName": f"s{number}"} for number in range(101)]}
TOO_MANY = "profiles: there are 101; at most 100 are allowed"


def deployment(replicas: int) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "d"}, "spec": spec}


@pytest.fixture
def few(settings: Any) -> None:
    settings.GENERATE_PODS = 1000


@pytest.mark.usefixtures("few")
def test_a_command_over_a_limit_is_refused(make_session: MakeSession) -> None:
    session_id = make_session()

    with pytest.raises(CommandRefused, match=f"config.{TOO_MANY}"):
        inbox.accept(session_id, command("configure", config=CONFIGURATION), "a")
    with pytest.raises(CommandRefused, match=r"object.spec.replicas: is 1,001; SCHEDVIZ_GENERATE_PODS allows 1,000"):
        inbox.accept(session_id, command("create", object=deployment(1001)), "b")
    with pytest.raises(CommandRefused, match=r"object.spec.replicas"):
        inbox.accept_all(session_id, [("c", command("cycle")), ("d", command("update", object=deployment(2_000_000_000)))])
    inbox.accept(session_id, command("configure", config={"profiles": CONFIGURATION["profiles"][:100]}), "e")
    assert inbox.accept(session_id, command("create", object=deployment(1000)), "f").seq == 2


def test_settings_over_a_limit_are_refused() -> None:
    with pytest.raises(DecodeError, match=r"config.profiles: there are 101"):
        validate_settings({"config": CONFIGURATION})
    with pytest.raises(DecodeError, match="podsPerSync"):
        validate_settings({"podsPerSync": 0})


def test_the_arguments_of_a_profiles_plugins_have_at_most_1000_items() -> None:
    rules = [{"point": "filter", "code": "Unschedulable", "nodes": ["a"]}] * 501
    config = {"profiles": [{"pluginConfig": [{"name": "Scripted", "args": {"rules": rules}}]}]}
    with pytest.raises(DecodeError, match=r"config.profiles\[0\].pluginConfig: the lists in the plugins' arguments have 1,003 items"):
        validate_settings({"config": config})
    with pytest.raises(CommandRefused, match=r"config.profiles\[0\].pluginConfig: .* at most 1,000 are allowed"):
        canonical(convert_command({"op": "configure", "config": config}))


def test_the_arguments_of_a_profiles_plugins_have_at_most_256_kib() -> None:
    rules = [{"point": "filter", "code": "Unschedulable", "reasons": ["r" * 262_144]}]
    config = {"profiles": [{"pluginConfig": [{"name": "Scripted", "args": {"rules": rules}}]}]}
    with pytest.raises(DecodeError, match=r"config.profiles\[0\].pluginConfig: the plugins' arguments have 262,2\d\d bytes of JSON"):
        validate_settings({"config": config})
    with pytest.raises(CommandRefused, match=r"config.profiles\[0\].pluginConfig: .* at most 262,144 are allowed"):
        canonical(convert_command({"op": "configure", "config": config}))


@pytest.mark.usefixtures("few")
def test_a_trace_over_a_limit_is_refused() -> None:
    document = {"format": "schedviz-trace/1", "name": "t", "steps": [{"op": "create", "object": deployment(1001)}]}
    with pytest.raises(DecodeError, match=r"steps\[0\].object.spec.replicas"):
        validate_trace(document)
    with pytest.raises(DecodeError, match=r"config.profiles: there are 101"):
        validate_trace({**document, "steps": [], "config": CONFIGURATION})


def imported(*documents: dict[str, Any]) -> Session:
    files = [ContentFile(json.dumps(document).encode(), name=f"{number}.json") for number, document in enumerate(documents)]
    session = create.create_session(None, "a test", create.Files(files))
    import_job.run_import(session.pk)
    session.refresh_from_db()
    return session


@pytest.mark.usefixtures("few", "transactional_db", "redis")
def test_an_import_over_a_limit_is_refused() -> None:
    version = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}

    assert imported(node("n"), deployment(1000)).status == Session.Status.READY
    assert "Deployment d/d: spec.replicas: is 1,001; SCHEDVIZ_GENERATE_PODS allows 1,000" in imported(node("n"), deployment(1001)).message
    assert TOO_MANY in imported(node("n"), {**version, **CONFIGURATION}).message
    trace = {"format": "schedviz-trace/1", "name": "t", "steps": [{"op": "create", "object": deployment(1001)}]}
    assert "object.spec.replicas" in imported(trace).message


def pod_with_terms(count: int) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": f"k{n}", "operator": "Exists"}]} for n in range(count)]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    spec = {"affinity": affinity, "containers": [{"name": "c", "image": "i"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "d"}, "spec": spec}


def test_the_terms_of_a_pod_are_limited(make_session: MakeSession) -> None:
    session_id = make_session()
    message = r"spec: nodeSelector, affinity, tolerations, topologySpreadConstraints and schedulingGates have 1,002 terms; at most 1,000"
    workload = deployment(1)
    workload["spec"]["template"]["spec"] |= pod_with_terms(501)["spec"]

    with pytest.raises(CommandRefused, match=f"object.{message}"):
        inbox.accept(session_id, command("create", object=pod_with_terms(501)), "a")
    with pytest.raises(CommandRefused, match=r"object.spec.template.spec: nodeSelector"):
        inbox.accept(session_id, command("create", object=workload), "b")
    inbox.accept(session_id, command("create", object=pod_with_terms(500)), "c")

    listed = {"apiVersion": "v1", "kind": "List", "items": [node("n"), pod_with_terms(501)]}
    made = create.create_session(None, "x", create.Files([ContentFile(json.dumps(listed).encode(), name="a.json")]))
    import_job.run_import(made.pk)
    assert "Pod d/p: spec: nodeSelector" in Session.objects.get(pk=made.pk).message


CONSTRAINT = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
NEAR = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b", "c": "d"}}}


@pytest.mark.parametrize(
    ("spec", "terms"),
    [
        ({"topologySpreadConstraints": [CONSTRAINT] * 101}, 101),
        ({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [NEAR] * 34}}}, 102),
        ({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [NEAR] * 34}}}, 102),
    ],
)
def test_terms_that_are_matched_against_every_pod_have_a_lower_limit(make_session: MakeSession, spec: dict[str, Any], terms: int) -> None:
    session_id = make_session()
    large = pod_with_terms(0)
    large["spec"] |= spec

    with pytest.raises(CommandRefused, match=f"have {terms} terms, with those of their selectors; at most 100 are allowed"):
        inbox.accept(session_id, command("create", object=large), "a")
    assert f"have {terms} terms" in imported(node("n"), large).message


def test_the_default_constraints_of_a_profile_have_the_same_limit(make_session: MakeSession) -> None:
    arguments = {"defaultConstraints": [CONSTRAINT] * 101, "defaultingType": "List"}
    config = {"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": arguments}]}]}
    with pytest.raises(CommandRefused, match="the default spread constraints have 101 terms; at most 100"):
        inbox.accept(make_session(), command("configure", config=config), "a")


def test_the_node_selector_of_a_pod_counts_as_terms(make_session: MakeSession) -> None:
    session_id = make_session()
    result = pod_with_terms(0)
    result["spec"] |= {"affinity": {}, "nodeSelector": {f"k{number}": "v" for number in range(1001)}}

    with pytest.raises(CommandRefused, match="have 1,001 terms"):
        inbox.accept(session_id, command("create", object=result), "a")
    listed = {"apiVersion": "v1", "kind": "List", "items": [node("n"), result]}
    made = create.create_session(None, "x", create.Files([ContentFile(json.dumps(listed).encode(), name="a.json")]))
    import_job.run_import(made.pk)
    assert "have 1,001 terms" in Session.objects.get(pk=made.pk).message


def test_a_requirement_may_have_many_values(make_session: MakeSession) -> None:
    result = pod_with_terms(1)
    required = result["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    required["nodeSelectorTerms"][0]["matchExpressions"] = [{"key": "host", "operator": "In", "values": [f"n{n}" for n in range(5000)]}]

    assert inbox.accept(make_session(), command("create", object=result), "a").seq == 1


def pod_with_resources(count: int) -> dict[str, Any]:
    made = pod_with_terms(1)
    made["spec"]["containers"] = [
        {"name": f"c{n}", "image": "i", "resources": {"requests": {f"example.com/r{n}": "1", "cpu": "1m"}}} for n in range(count)
    ]
    return made


def test_the_requested_resources_of_a_pod_are_limited(make_session: MakeSession) -> None:
    session_id = make_session()
    message = r"spec: the containers request 1,001 different resources; at most 1,000 are allowed"

    with pytest.raises(CommandRefused, match=f"object.{message}"):
        inbox.accept(session_id, command("create", object=pod_with_resources(1000)), "a")
    inbox.accept(session_id, command("create", object=pod_with_resources(999)), "b")

    listed = {"apiVersion": "v1", "kind": "List", "items": [node("n"), pod_with_resources(1000)]}
    made = create.create_session(None, "x", create.Files([ContentFile(json.dumps(listed).encode(), name="a.json")]))
    import_job.run_import(made.pk)
    assert f"Pod d/p: {message}" in Session.objects.get(pk=made.pk).message


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ({"containers": [{"name": "c", "ports": [{"hostPort": 80, "hostIP": f"10.0.0.{n % 250}"} for n in range(1001)]}]}, "ports"),
        ({"containers": [{"name": "c"}], "volumes": [{"name": f"v{n}", "emptyDir": {}} for n in range(1001)]}, "volumes"),
    ],
)
def test_the_ports_and_volumes_of_pods_and_templates_are_limited(spec: dict[str, Any], kind: str) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "d"}, "spec": spec}
    workload = deployment(1)
    workload["spec"]["template"]["spec"] = spec

    with pytest.raises(CommandRefused, match=f"object.spec: there are 1,001 {kind}; at most 1,000 are allowed for one pod"):
        canonical(convert_command({"op": "create", "object": pod}))
    with pytest.raises(CommandRefused, match=f"object.spec.template.spec: there are 1,001 {kind}"):
        canonical(convert_command({"op": "create", "object": workload}))


@pytest.mark.usefixtures("transactional_db", "redis")
def test_the_limits_of_a_pod_apply_to_imported_pods_and_templates() -> None:
    volumes = [{"name": f"v{n}", "persistentVolumeClaim": {"claimName": f"c{n}"}} for n in range(1001)]
    spec: dict[str, Any] = {"containers": [{"name": "c"}], "volumes": volumes}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "d"}, "spec": spec}
    large, spread = deployment(1), deployment(1)
    large["spec"]["template"]["spec"] = spec
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    spread["spec"]["template"]["spec"]["topologySpreadConstraints"] = [constraint] * 101

    assert "Pod d/p: spec: there are 1,001 volumes; at most 1,000" in imported(node("n"), pod).message
    assert "Deployment d/d: spec.template.spec: there are 1,001 volumes; at most 1,000" in imported(node("n"), large).message
    assert "Deployment d/d: spec.template.spec: topologySpreadConstraints, podAffinity" in imported(node("n"), spread).message
