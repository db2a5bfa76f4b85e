"""The complete path of a cluster's changes: list and watch, redaction, REST, commands, the engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import yaml
from click.testing import CliRunner, Result

from schedviz.cli.follow import kubeconfig
from schedviz.cli.follow.cluster_api import ClusterApi
from schedviz.cli.follow.command import follow
from schedviz.cli.follow.following import Following
from schedviz.cli.follow.pushing import Pusher
from schedviz.cli.follow.redaction import Redaction
from schedviz.cli.rest_client import RestClient
from schedviz.sessions.models import Command, Observed, Observer, Session
from schedviz.web.auth.login import make_token
from tests.conftest import Worker, until
from tests.kubernetes_api import KubernetesApi
from tests.web.conftest import LiveServer, People

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cluster() -> Iterator[KubernetesApi]:
    with KubernetesApi() as api:
        capacity = {"cpu": "4", "memory": "8Gi", "pods": "110"}
        for number in range(3):
            api.put("nodes", f"n{number}", status={"capacity": capacity, "allocatable": capacity})
        for number in range(4):
            pod(api, f"p{number}")
        yield api


def pod(cluster: KubernetesApi, name: str, **spec: Any) -> None:
    container = {"name": "c", "image": "app", "resources": {"requests": {"cpu": "100m"}}}
    cluster.put("pods", name, namespace="default", spec={"containers": [container], **spec}, status={"phase": "Pending"})


@pytest.fixture
def run(
    cluster: KubernetesApi, web_server: LiveServer, people: People, engine_worker: Worker, io_worker: Worker, tmp_path: Path
) -> Callable[..., Result]:
    """Runs `schedviz follow` to its end."""
    content = {
        "current-context": "kind-dev",
        "contexts": [{"name": "kind-dev", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": cluster.address}}],
        "users": [{"name": "u", "user": {"token": cluster.token}}],
    }
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(content))
    common = ["--kubeconfig", str(path), "--server", f"http://{web_server.netloc}", "--token", make_token(people.owner, "follows")]
    return lambda *arguments: CliRunner().invoke(follow, [*common, *arguments])


def shadows(session_id: UUID, cluster: KubernetesApi) -> bool:
    """Whether the session has the nodes and pods of the cluster, with their names."""
    session = Session.objects.get(pk=session_id)
    rows = Observed.objects.filter(session=session)
    keys = {kind: set(rows.filter(kind=kind).values_list("key", flat=True)) for kind in ("Node", "Pod")}
    return (
        session.applied_seq == session.last_seq
        and keys == {"Node": cluster.keys("nodes"), "Pod": cluster.keys("pods")}
        and (session.nodes, session.pods) == (len(keys["Node"]), len(keys["Pod"]))
    )


def test_a_new_session_follows_a_cluster_and_a_second_run_pushes_only_what_differs(
    run: Callable[..., Result], cluster: KubernetesApi
) -> None:
    printed = run("--once")
    assert printed.exit_code == 0, printed.output
    session = Session.objects.get(name="kind-dev")
    assert f"{session.pk}: kind-dev is in the session (3 nodes, 4 pods)." in printed.output
    until(lambda: shadows(session.pk, cluster))
    before = Session.objects.get(pk=session.pk).last_seq

    cluster.delete("pods", "p0", namespace="default")
    pod(cluster, "p1", nodeName="n1")
    again = run("--once", "--session", str(session.pk))

    assert again.exit_code == 0, again.output
    assert Session.objects.get(pk=session.pk).last_seq == before + 2
    until(lambda: shadows(session.pk, cluster))
    outcomes = Command.objects.filter(session=session).values_list("outcome", flat=True)
    assert all(not (outcome or {}).get("result") and not (outcome or {}).get("error") for outcome in outcomes)


def test_a_restarted_process_resumes_the_session_of_its_source(run: Callable[..., Result], cluster: KubernetesApi) -> None:
    assert run("--once", "--resume", "--source", "production").exit_code == 0
    session = Session.objects.get(name="production")
    until(lambda: shadows(session.pk, cluster))
    cluster.delete("pods", "p0", namespace="default")

    again = run("--once", "--resume", "--source", "production")
    other = run("--once", "--resume", "--source", "staging")

    assert f"{session.pk}: production is in the session" in again.output
    assert str(session.pk) not in other.output
    assert sorted(Observer.objects.values_list("source", flat=True)) == ["production", "staging"]
    until(lambda: shadows(session.pk, cluster))
    assert "--resume finds the session by its source" in run("--resume", "--session", str(session.pk)).output


def test_a_session_of_another_source_and_a_token_without_permission_are_refused(run: Callable[..., Result], people: People) -> None:
    Session.objects.filter(pk=people.session.pk).update(nodes=2)

    assert "2 nodes and 0 pods already" in run("--once", "--session", str(people.session.pk)).output
    Observer.objects.create(session=people.session, source="another", n=3)
    assert "follows 'another'" in run("--once", "--session", str(people.session.pk)).output
    assert "(HTTP 401)" in run("--once", "--session", str(people.session.pk), "--token", "nobodys").output


def test_changes_during_a_restart_and_an_expired_watch_arrive(
    run: Callable[..., Result], cluster: KubernetesApi, web_server: LiveServer, people: People
) -> None:
    cluster.watch_seconds = 0.5
    assert run("--once").exit_code == 0
    session = Session.objects.get(name="kind-dev")
    messages: list[str] = []
    server = RestClient(f"http://{web_server.netloc}", make_token(people.owner, "watches"))
    api = ClusterApi(kubeconfig.Access(context="kind-dev", server=cluster.address, token=cluster.token))
    following = Following(api, Pusher(server, str(session.pk), "kind-dev", say=messages.append), Redaction(), say=messages.append)
    following.list_all()
    thread = threading.Thread(target=following.watch)
    thread.start()
    until(lambda: cluster.watching("pods"))
    pod(cluster, "watched")
    until(lambda: shadows(session.pk, cluster))
    cluster.stop()
    cluster.delete("pods", "p2", namespace="default")
    cluster.delete("nodes", "n2")
    cluster.compact()
    cluster.start()
    pod(cluster, "p3", nodeName="n0")
    until(lambda: shadows(session.pk, cluster))
    assert any("expired" in sentence for sentence in messages)

    cluster.forbidden = {("watch", "nodes")}
    until(lambda: "no permission to watch nodes" in following.outage.line)
    cluster.put("nodes", "n3")
    cluster.forbidden = set()
    until(lambda: shadows(session.pk, cluster))
    following.stop()
    thread.join()
