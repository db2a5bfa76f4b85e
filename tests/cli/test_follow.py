"""`schedviz follow` reads a cluster that lists, watches, expires and restarts, and sends every difference once and in order."""

from __future__ import annotations

import base64
import gzip
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from schedviz.cli.follow import backoff, cluster_api, in_cluster, kubeconfig, reflector
from schedviz.cli.follow.cluster_api import ClusterApi
from schedviz.cli.follow.cluster_version import version_of, with_release
from schedviz.cli.follow.command import follow
from schedviz.cli.follow.errors import FollowError, Forbidden, Unavailable
from schedviz.cli.follow.following import Following, Order
from schedviz.cli.follow.outage import Outage
from schedviz.cli.follow.permissions import denied, missing_permissions
from schedviz.cli.follow.pushing import Pusher
from schedviz.cli.follow.redaction import Redaction
from schedviz.cli.follow.reflector import Change, PushedVersion, Reflector
from schedviz.cli.follow.scheduling_events import RESOURCE as EVENTS
from schedviz.cli.follow.status import line_of
from schedviz.cli.release_options import NO_CHOICE, ChosenRelease
from schedviz.cli.rest_client import ServerResponse
from schedviz.kube.kinds import BY_NAME, WATCHED_KINDS_V1_36
from tests.conftest import until
from tests.kubernetes_api import KubernetesApi


@pytest.fixture
def cluster() -> Iterator[KubernetesApi]:
    with KubernetesApi() as api:
        yield api


def api_of(cluster: KubernetesApi, **members: Any) -> ClusterApi:
    return ClusterApi(kubeconfig.Access(**{"context": "dev", "server": cluster.address, "token": cluster.token, **members}))


class Watched:
    """A reflector of pods that runs in a thread, and its notifications."""

    def __init__(self, cluster: KubernetesApi, *, secret: str | None = None) -> None:
        self.notifications: list[tuple[str, str]] = []
        self.changes: list[Change] = []
        self.messages: list[str] = []
        self._stop = threading.Event()
        self.outage = Outage(self.messages.append)
        self.reflector = Reflector(
            api_of(cluster), BY_NAME["Pod"], Redaction(secret), emit=self._emit, say=self.messages.append, outage=self.outage
        )
        self.thread = threading.Thread(target=self.reflector.run, args=(self._stop,), daemon=True)

    def _emit(self, change: Change) -> None:
        self.changes.append(change)
        self.notifications.append((change.type, change.object["metadata"]["name"]))

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self._stop.set()


@pytest.fixture
def watched(cluster: KubernetesApi) -> Iterator[Watched]:
    result = Watched(cluster)
    yield result
    result.stop()


def pod(cluster: KubernetesApi, name: str, **members: Any) -> None:
    spec = {"containers": [{"name": "c", "image": "app", "env": [{"name": "PASSWORD", "value": "hush"}]}], **members}
    cluster.put("pods", name, namespace="shop", spec=spec, metadata={"annotations": {"owner": "somebody"}})


def test_a_list_is_read_in_pages_and_then_every_change_is_received_once_and_in_order(
    cluster: KubernetesApi, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedviz.cli.follow.cluster_api._PAGE_SIZE", 2)
    for number in range(5):
        pod(cluster, f"p{number}")
    watched.start()
    until(lambda: cluster.watching("pods"))
    pod(cluster, "p1", nodeName="n")
    cluster.delete("pods", "p0", namespace="shop")
    pod(cluster, "p0")
    until(lambda: len(watched.notifications) == 8)

    assert watched.notifications == [*(("ADDED", f"p{n}") for n in range(5)), ("MODIFIED", "p1"), ("DELETED", "p0"), ("ADDED", "p0")]
    assert {method for method, _ in cluster.requests} == {"GET"}
    assert all("fieldSelector=status.phase" in path for _, path in cluster.requests)


def test_fields_that_the_scheduler_does_not_read_are_not_compared(cluster: KubernetesApi) -> None:
    pod(cluster, "p")
    cluster.put("nodes", "n", status={"allocatable": {"cpu": "1"}, "conditions": [{"type": "Ready", "lastHeartbeatTime": "1"}]})
    watched = Watched(cluster, secret="a secret")
    watched.reflector.list()

    text = json.dumps(watched.changes[0].object)
    assert "hush" not in text
    assert "somebody" not in text
    assert "shop" not in text


@pytest.mark.parametrize("as_line", [True, False])
def test_after_410_objects_are_relisted_and_only_differences_are_sent(cluster: KubernetesApi, watched: Watched, *, as_line: bool) -> None:
    cluster.expires_as_error_line = as_line
    cluster.watch_seconds = 0.1
    pod(cluster, "stays")
    pod(cluster, "goes")
    watched.start()
    until(lambda: cluster.watching("pods"))
    cluster.stop()
    cluster.delete("pods", "goes", namespace="shop")
    pod(cluster, "comes")
    cluster.compact()
    cluster.start()
    until(lambda: len(watched.notifications) == 4)

    # Deletions first, then the others in the order of their changes.
    assert watched.notifications == [("ADDED", "stays"), ("ADDED", "goes"), ("DELETED", "goes"), ("ADDED", "comes")]
    assert all(change.is_listed for change in watched.changes)
    assert any("expired" in sentence for sentence in watched.messages)


def test_no_change_is_lost_or_duplicated_by_a_restart_of_the_api_server(cluster: KubernetesApi, watched: Watched) -> None:
    pod(cluster, "a")
    watched.start()
    until(lambda: cluster.watching("pods"))
    cluster.stop()
    pod(cluster, "b")
    cluster.start()
    until(lambda: len(watched.notifications) == 2)
    pod(cluster, "c")
    until(lambda: len(watched.notifications) == 3)

    assert watched.notifications == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]


def test_permission_errors_of_a_starting_api_server_are_retried(cluster: KubernetesApi, watched: Watched) -> None:
    pod(cluster, "a")
    watched.start()
    until(lambda: cluster.watching("pods"))
    cluster.unready_requests = 2
    cluster.stop()
    pod(cluster, "b")
    cluster.start()
    until(lambda: len(watched.notifications) == 2)

    assert watched.notifications == [("ADDED", "a"), ("ADDED", "b")]
    assert any("is forbidden" in sentence for sentence in watched.messages)


def test_a_finished_pod_is_removed(cluster: KubernetesApi, watched: Watched) -> None:
    pod(cluster, "job")
    watched.start()
    until(lambda: cluster.watching("pods"))
    cluster.put("pods", "job", namespace="shop", spec={"nodeName": "n"}, status={"phase": "Succeeded"})
    until(lambda: len(watched.notifications) == 2)

    assert watched.notifications == [("ADDED", "job"), ("DELETED", "job")]


def test_a_broken_watch_is_reopened_after_a_short_pause(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the pauses would grow with each restart of the API server."""
    now = [0.0]
    monkeypatch.setattr(reflector.time, "monotonic", lambda: now[0])
    pauses: list[float] = []

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            assert timeout is not None
            pauses.append(timeout)
            return super().is_set()

    def watch(*_: object, opened: Callable[[], None]) -> Iterator[Any]:
        opened()
        now[0] += 60
        if len(pauses) == 5:
            stop.set()
        raise Unavailable("the connection broke")
        yield

    stop = Stop()
    monkeypatch.setattr(ClusterApi, "watch", watch)
    watched.reflector.run(stop)

    assert max(pauses) <= backoff.FIRST_PAUSE_SECONDS


def test_changes_of_several_kinds_are_pushed_in_resource_version_order() -> None:
    changes = [Change("ADDED", {}, "a", 7), Change("ADDED", {}, "b", 9), Change("ADDED", {}, "c", 8)]
    assert [one.version for one in Order().of(changes, is_interrupted=False)] == ["a", "c", "b"]

    # Python converts no number of more than 4,300 digits.
    assert reflector._number("9" * 5000) == 0
    # Resource versions of another API server may not be numbers.
    unnumbered = [*changes, Change("ADDED", {}, "d")]
    assert Order().of(unnumbered, is_interrupted=False) == unnumbered


def test_late_changes_and_changes_during_an_interrupted_watch_have_no_known_order() -> None:
    order = Order()
    assert [one.is_late for one in order.of([Change("ADDED", {}, "node", 9)], is_interrupted=False)] == [False]

    pods = order.of([Change("MODIFIED", {}, "bound", 8), Change("MODIFIED", {}, "bound later", 10)], is_interrupted=False)

    assert [one.body().get("listed", False) for one in pods] == [True, False]
    assert [one.is_late for one in order.of([Change("ADDED", {}, "p", 11)], is_interrupted=True)] == [True]


def test_the_release_of_a_new_session_is_that_of_the_cluster(cluster: KubernetesApi) -> None:
    api = api_of(cluster)
    assert version_of(api) == "v1.36.0"
    assert with_release(NO_CHOICE, "v1.36.0") == (
        ChosenRelease("v1.36"),
        "the cluster is v1.36.0: the session simulates kube-scheduler v1.36.",
    )

    between, sentence = with_release(NO_CHOICE, "v1.33.4-eks-1")
    assert between.release == "v1.36"
    assert "none between them" in sentence
    forced, sentence = with_release(ChosenRelease("v1.27.1"), "v1.36.0")
    assert forced.release == "v1.27.1"
    assert "the cluster is v1.36.0, and the session simulates v1.27.1" in sentence


def test_the_newest_kubelets_version_is_used_if_the_api_server_reports_none(cluster: KubernetesApi) -> None:
    cluster.version = "unknown.x"
    for name, version in (("old", "v1.34.1"), ("new", "v1.35.0")):
        cluster.put("nodes", name, status={"nodeInfo": {"kubeletVersion": version}})
    assert version_of(api_of(cluster)) == "v1.35.0"
    assert with_release(NO_CHOICE, "") == (NO_CHOICE, "")


def test_a_watch_continues_from_its_bookmark(cluster: KubernetesApi, watched: Watched) -> None:
    cluster.watch_seconds = 0.05
    pod(cluster, "a")
    watched.start()
    until(lambda: cluster.watching("pods") == 1)
    for number in range(3):
        cluster.put("nodes", f"n{number}")
    until(lambda: "resourceVersion=14" in cluster.requests[-1][1])

    assert watched.notifications == [("ADDED", "a")]


class Schedviz:
    """A server for a pusher: it sends the configured responses, and otherwise accepts batches."""

    address = "http://schedviz.example"

    def __init__(self) -> None:
        self.taken: list[tuple[int, list[str]]] = []
        self.refusals: list[Callable[[Any], ServerResponse | None]] = []

    def request(self, path: str, body: Any = None) -> ServerResponse:
        if body is None:
            return ServerResponse(200, json.dumps({"source": None, "expected": 1, "objects": [], "next": None}).encode(), {})
        if self.refusals and (refused := self.refusals.pop(0)(body)) is not None:
            return refused
        self.taken.append((body["n"], [event["object"]["metadata"]["name"] for event in body["events"]]))
        return ServerResponse(201, b"{}", {})


def refusal(status: int, code: str, **detail: Any) -> Callable[[Any], ServerResponse]:
    return lambda _: ServerResponse(status, json.dumps({"error": {"code": code, "message": f"{code}.", "detail": detail}}).encode(), {})


def change(name: str) -> Change:
    return Change("ADDED", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}, "v")


def pusher_to(server: Schedviz) -> tuple[Pusher, list[str]]:
    messages: list[str] = []
    return Pusher(server, "an-id", "dev", say=messages.append, sleep=lambda _: None), messages  # type: ignore[arg-type]


def test_after_429_smaller_batches_are_sent(cluster: KubernetesApi) -> None:
    server = Schedviz()
    server.refusals = [refusal(429, "too_many_commands"), refusal(429, "too_many_requests")]
    pusher, _ = pusher_to(server)
    pusher.push([change(name) for name in "abcd"])

    assert server.taken == [(1, ["a", "b"]), (2, ["c", "d"])]


def test_a_batch_that_may_have_been_accepted_is_resent_unchanged() -> None:
    server = Schedviz()

    def broken(_: Any) -> ServerResponse:
        raise OSError("connection reset")

    server.refusals = [broken, refusal(503, "database_down")]
    pusher, said = pusher_to(server)
    pusher.push([change("a"), change("b")])

    assert server.taken == [(1, ["a", "b"])]
    assert "connection reset" in said[0]


def test_an_object_that_the_server_refuses_is_skipped_and_named() -> None:
    server = Schedviz()
    server.refusals = [refusal(400, "invalid_command", path="$.events[1].object.spec")]
    pusher, said = pusher_to(server)
    pusher.push([change("a"), change("b"), change("c")])

    assert server.taken == [(1, ["a", "c"])]
    assert pusher.left_out == 1
    assert "left out" in said[0]


def test_a_second_observer_of_a_session_is_warned() -> None:
    server = Schedviz()
    server.refusals = [refusal(409, "wrong_batch", expected=7)]
    pusher, _ = pusher_to(server)

    with pytest.raises(FollowError, match="another `schedviz follow`"):
        pusher.push([change("a")])


def test_all_missing_permissions_are_named_in_one_error(cluster: KubernetesApi) -> None:
    cluster.forbidden = {("list", "nodes"), ("list", "csinodes")}
    pusher, _ = pusher_to(Schedviz())
    with pytest.raises(FollowError, match=r"no permission to list nodes, list csinodes\.storage\.k8s\.io") as error:
        Following(api_of(cluster), pusher, Redaction(), say=print).list_all()
    assert 'User "dev" cannot list resource "nodes"' in str(error.value)

    cluster.forbidden = {("watch", "pods")}
    following = Following(api_of(cluster), pusher, Redaction(), say=print)
    following.list_all()
    with pytest.raises(FollowError, match="no permission to watch pods"):
        following.watch()


def test_resources_that_a_cluster_does_not_serve_are_skipped(cluster: KubernetesApi) -> None:
    cluster.missing = {"csistoragecapacities"}
    messages: list[str] = []
    pusher, _ = pusher_to(Schedviz())
    following = Following(api_of(cluster), pusher, Redaction(), say=messages.append)

    assert "csistoragecapacities" not in following.list_all()
    assert messages == ["the cluster has no csistoragecapacities.storage.k8s.io (storage.k8s.io/v1); it is left out."]


def test_resources_of_later_releases_are_skipped_if_the_role_does_not_permit_them(cluster: KubernetesApi) -> None:
    cluster.forbidden = {("list", "resourceslices")}
    messages: list[str] = []
    pusher, _ = pusher_to(Schedviz())
    counts = Following(api_of(cluster), pusher, Redaction(), say=messages.append).list_all()

    assert "resourceslices" not in counts
    assert "resourceclaims" in counts
    assert [line.endswith("it is left out.") for line in messages] == [True]
    assert "no permission to list resourceslices.resource.k8s.io" in messages[0]


def test_an_unknown_user_is_reported(cluster: KubernetesApi) -> None:
    with pytest.raises(FollowError, match="does not know the user of context dev"):
        api_of(cluster, token="another").list(BY_NAME["Node"])
    cluster.forbidden = {("list", "nodes")}
    with pytest.raises(Forbidden):
        api_of(cluster).list(BY_NAME["Node"])


def test_an_exec_plugin_runs_again_when_its_token_has_expired(cluster: KubernetesApi, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("old\n" + cluster.token)
    script = tmp_path / "plugin"
    script.write_text(
        f"#!/bin/sh\nt=$(head -n 1 {tokens}); sed -i 1d {tokens}\n"
        'echo "{\\"kind\\": \\"ExecCredential\\", \\"status\\": {\\"token\\": \\"$t\\"}}"\n'
    )
    script.chmod(0o700)
    plugin = kubeconfig.ExecPlugin(command=str(script))

    assert api_of(cluster, token="", plugin=plugin).list(BY_NAME["Node"])[0] == []
    with pytest.raises(FollowError, match=r"the exec plugin /nowhere/x of the kubeconfig cannot be run.*Install x"):
        api_of(cluster, token="", plugin=kubeconfig.ExecPlugin(command="/nowhere/x", install_hint="Install x")).list(BY_NAME["Node"])


def written(path: Path, *, cluster: dict[str, Any], user: dict[str, Any]) -> Path:
    content = {
        "current-context": "dev",
        "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
    }
    path.write_text(yaml.safe_dump(content))
    return path


def test_a_kubeconfig_is_read_as_kubectl_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ca.pem").write_text("an authority")
    key = base64.b64encode(b"a key").decode()
    first = written(
        tmp_path / "one", cluster={"server": "https://c:6443/", "certificate-authority": "ca.pem"}, user={"client-key-data": key}
    )
    second = written(tmp_path / "two", cluster={"server": "https://other"}, user={})
    monkeypatch.setenv("KUBECONFIG", f"{first}:{second}:{tmp_path / 'none'}")

    result = kubeconfig.access(kubeconfig.paths(None), None)

    assert (result.server, result.authority, result.key) == ("https://c:6443", b"an authority", b"a key")
    with pytest.raises(FollowError, match="there is no context 'prod'; there are dev"):
        kubeconfig.access([first], "prod")


@pytest.mark.parametrize(
    ("cluster_", "user", "message"),
    [
        ({"server": "https://c", "proxy-url": "socks5://p"}, {}, "expected an HTTP proxy such as"),
        ({"server": "https://c"}, {"auth-provider": {"name": "gcp"}}, "auth-provider is not supported"),
        ({"server": "https://c"}, {"as-groups": ["admins"]}, "need as, the name of the user to impersonate"),
        ({"server": "https://c"}, {"as": "root", "as-groups": "admins"}, "as-groups must be a list"),
        ({}, {}, "expected an address"),
        ({"server": "https://c", "certificate-authority": "nowhere.pem"}, {}, "nowhere.pem: No such file"),
        ({"server": "https://c", "certificate-authority-data": "###"}, {}, "is not base64"),
        ({"server": "https://c", "insecure-skip-tls-verify": "false"}, {}, "expected true or false, without quotes"),
        ({"server": "https://c", "proxy-url": "socks5://ada:hush@p"}, {}, "proxy-url is 'socks5://p'"),
        ({"server": "https://c"}, {"as": "root", "as-user-extra": {"scopes": 5}}, "as-user-extra a map of lists"),
        ({"server": "https://c"}, {"exec": {"command": "true", "args": 5}}, "args of exec must be a list"),
        ({"server": "https://c"}, {"exec": {"command": "true", "env": ["A=B"]}}, "env of exec must be a list of name and value"),
    ],
)
def test_unusable_parts_of_a_kubeconfig_are_reported(tmp_path: Path, cluster_: dict[str, Any], user: dict[str, Any], message: str) -> None:
    path = written(tmp_path / "config", cluster=cluster_, user=user)

    with pytest.raises(FollowError, match=message):
        kubeconfig.access([path], None)


@pytest.mark.parametrize(
    ("cluster_", "user", "message"),
    [
        ({"server": "https://[::1"}, {}, "not a valid address"),
        ({"proxy-url": "http://[::1"}, {}, "not a valid address"),
        ({}, {"token": "hush\nX-Remote-User: root"}, "the token contains a line break"),
        ({}, {"token": "t", "as": "root\r\nhush"}, "Impersonate-User contains a line break"),
        ({}, {"token": "hush\ud800"}, "the token contains characters that are no text"),
        ({}, {"username": "ada", "password": "hush\ud800"}, "the password contains characters that are no text"),
        ({}, {"exec": {"command": "echo", "args": ["a\0b"]}}, "cannot be run: embedded null byte"),
        ({}, {"exec": {"command": "echo", "args": ["[" * 100_000]}}, "printed no ExecCredential"),
    ],
)
def test_unusable_credentials_are_reported_without_their_value(
    cluster: KubernetesApi, tmp_path: Path, cluster_: dict[str, Any], user: dict[str, Any], message: str
) -> None:
    path = written(tmp_path / "config", cluster={"server": cluster.address, **cluster_}, user=user)

    with pytest.raises(FollowError, match=message) as raised:
        listed([path])
    assert "hush" not in str(raised.value)


def test_a_socks_proxy_of_the_environment_is_reported(cluster: KubernetesApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://ada:hush@127.0.0.1:1")
    with pytest.raises(FollowError, match=r"SOCKS proxies are not supported \(proxy-url, or ALL_PROXY\)"):
        api_of(cluster)


def test_spaces_around_a_token_are_ignored(cluster: KubernetesApi, tmp_path: Path) -> None:
    path = written(tmp_path / "config", cluster={"server": cluster.address}, user={"token": f" {cluster.token} "})

    listed([path])
    assert cluster.headers["Authorization"] == f"Bearer {cluster.token}"


def test_a_token_file_that_is_not_text_is_reported(cluster: KubernetesApi, tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"\xff\xfe")
    path = written(tmp_path / "config", cluster={"server": cluster.address}, user={"tokenFile": "token"})

    with pytest.raises(FollowError, match="not text"):
        listed([path])


def test_messages_do_not_contain_the_password_of_a_url(cluster: KubernetesApi, tmp_path: Path) -> None:
    server = cluster.address.replace("http://", "http://ada:hush@")
    path = written(tmp_path / "config", cluster={"server": server}, user={})
    cluster.stop()

    with pytest.raises(Unavailable, match="does not respond") as raised:
        listed([path])
    assert "hush" not in str(raised.value)


def test_a_dry_run_shows_what_would_be_sent_without_contacting_a_server(cluster: KubernetesApi, tmp_path: Path) -> None:
    pod(cluster, "p")
    path = written(tmp_path / "config", cluster={"server": cluster.address}, user={"token": cluster.token})

    result = CliRunner().invoke(follow, ["--kubeconfig", str(path), "--dry-run", "--server", "http://127.0.0.1:1"])

    assert result.exit_code == 0, result.output
    assert "pods: 1 objects, " in result.output
    assert "1 Pod.spec.containers[].env" in result.output


def test_a_reconnecting_observer_sends_only_differences(cluster: KubernetesApi) -> None:
    pod(cluster, "same")
    first = Watched(cluster)
    first.reflector.list()
    again = Watched(cluster)
    again.reflector.resume(
        {
            "shop/same": PushedVersion(first.changes[0].object["metadata"]["uid"], first.changes[0].version),
            "shop/gone": PushedVersion("u", "v"),
        }
    )
    pod(cluster, "new")

    again.reflector.list()

    assert again.notifications == [("DELETED", "gone"), ("ADDED", "new")]


@pytest.mark.parametrize(
    ("failure", "reason"), [(401, "does not know the user of context dev"), (403, "no permission to watch pods"), (500, "failure")]
)
def test_a_running_watch_is_retried_after_every_error(cluster: KubernetesApi, watched: Watched, failure: int, reason: str) -> None:
    watched.start()
    until(lambda: cluster.watching("pods") == 1)
    cluster.stop()
    cluster.failure = failure
    cluster.start()
    until(lambda: reason in watched.outage.line)
    cluster.failure = None
    until(lambda: not watched.outage.line)
    pod(cluster, "later")
    until(lambda: watched.notifications == [("ADDED", "later")])

    assert watched.messages[-1].startswith("all watches run again, after ")


def test_an_outage_of_all_watches_is_reported_once() -> None:
    messages: list[str] = []
    now = [0.0]
    outage = Outage(messages.append, clock=lambda: now[0])
    for resource in ("pods", "nodes", "services"):
        outage.interrupted(resource, Unavailable("the API server does not respond"))
    now[0] = 75.0

    assert messages == ["pods: the API server does not respond. Retrying."]
    assert outage.line.startswith("3 watches interrupted for 1 min 15 s (since ")
    assert outage.line.endswith(": the API server does not respond")
    assert line_of(3, 0.0, None, outage.line) == f"{outage.line} · 3 changes · 0.0/s"

    outage.interrupted("pods", Forbidden("watch", "pods", "no"))
    for resource in ("pods", "nodes", "services"):
        outage.running(resource)
    assert messages[1:] == ["pods: no permission to watch pods: no. Retrying.", "all watches run again, after 1 min 15 s."]
    assert outage.line == ""


def test_all_missing_permissions_are_named_before_anything_is_listed(cluster: KubernetesApi) -> None:
    cluster.forbidden = {("watch", "pods"), ("list", "csinodes"), ("watch", "resourceslices")}
    result = denied(api_of(cluster), WATCHED_KINDS_V1_36)

    assert [(kind.resource, missing.verb) for kind, missing in result] == [
        (kind.resource, verb) for kind in WATCHED_KINDS_V1_36 for verb in ("list", "watch") if (verb, kind.resource) in cluster.forbidden
    ]
    assert cluster.requests == []


def test_a_cluster_without_access_reviews_gets_only_one_request_for_them(cluster: KubernetesApi) -> None:
    cluster.reviews = False
    assert denied(api_of(cluster), WATCHED_KINDS_V1_36) == []
    assert cluster.reviewed == 1


def test_the_advice_never_suggests_leaving_out_nodes_or_pods() -> None:
    nodes, csinodes = Forbidden("list", "nodes", "No."), Forbidden("list", "csinodes.storage.k8s.io", "No.")
    assert "--without" not in str(missing_permissions([nodes, csinodes]))
    assert str(missing_permissions([csinodes])).endswith(
        "Or leave them out with --without csinodes: decisions that depend on them then differ."
    )


@pytest.mark.parametrize("verb", ["list", "watch"])
def test_a_dry_run_fails_if_a_required_permission_is_missing(cluster: KubernetesApi, tmp_path: Path, verb: str) -> None:
    cluster.forbidden = {(verb, "pods")}
    path = written(tmp_path / "config", cluster={"server": cluster.address}, user={"token": cluster.token})
    result = CliRunner().invoke(follow, ["--kubeconfig", str(path), "--dry-run"])

    assert result.exit_code == 1, result.output
    assert f"no permission to {verb} pods" in result.output


@pytest.mark.parametrize(("options", "shown"), [((), False), (("--feature-gates", "DRADeviceTaintRules=true"), True)])
def test_a_feature_gated_kind_is_listed_only_if_its_gate_is_enabled(
    cluster: KubernetesApi, tmp_path: Path, options: tuple[str, ...], *, shown: bool
) -> None:
    path = written(tmp_path / "config", cluster={"server": cluster.address}, user={"token": cluster.token})
    result = CliRunner().invoke(follow, ["--kubeconfig", str(path), "--dry-run", *options])

    assert result.exit_code == 0, result.output
    assert ("devicetaintrules" in result.output) == shown
    assert any("devicetaintrules" in asked for _, asked in cluster.requests) == shown


def test_a_refused_follow_creates_no_session(cluster: KubernetesApi, tmp_path: Path) -> None:
    cluster.forbidden = {("watch", "pods")}
    path = written(tmp_path / "config", cluster={"server": cluster.address}, user={"token": cluster.token})
    # Nothing listens at this address: permissions are checked first.
    result = CliRunner().invoke(follow, ["--kubeconfig", str(path), "--server", "http://127.0.0.1:1"])

    assert result.exit_code == 2
    assert "no permission to watch pods" in result.output


def test_the_documented_role_has_exactly_the_read_resources() -> None:
    text = (Path(__file__).parents[2] / "docs" / "follow.md").read_text()
    role = yaml.safe_load(text.partition("```yaml\n")[2].partition("```")[0])
    documented = {
        (group, one, verb) for rule in role["rules"] for group in rule["apiGroups"] for one in rule["resources"] for verb in rule["verbs"]
    }

    assert documented == {
        *((kind.api_version.rpartition("/")[0], kind.resource, verb) for kind in WATCHED_KINDS_V1_36 for verb in ("list", "watch")),
        *(("", EVENTS, verb) for verb in ("list", "watch")),
    }


def test_the_status_line_says_how_often_the_two_schedulers_agree() -> None:
    none = {"agrees": 0, "notBest": 0, "infeasible": 0, "unjudged": 0, "rate": None}
    assert line_of(1204, 3.24, {"all": none, "waiting": 0}) == "1,204 changes · 3.2/s · no binding was judged yet"
    some = {"agrees": 1999, "notBest": 1, "infeasible": 0, "unjudged": 2, "rate": 0.9995}
    message = "1,999 of 2,000 bindings agree (99.9%), 1 feasible but not best, 2 not judged · 4 waiting"
    assert line_of(5000, 0, {"all": some, "waiting": 4}) == f"5,000 changes · 0.0/s · {message}"
    assert line_of(1, 0, None) == "1 change · 0.0/s"


def test_a_cluster_with_its_own_ca_and_a_user_certificate_is_supported(certificates: Path, tmp_path: Path) -> None:
    """As kind and k3s write their kubeconfigs."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(certificates / "ca.pem"))
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_cert_chain(certificates / "server.pem", certificates / "server.key")
    encoded = {name: base64.b64encode((certificates / name).read_bytes()).decode() for name in ("ca.pem", "user.pem", "user.key")}
    with KubernetesApi(token="", tls=tls) as cluster:
        cluster.put("nodes", "n")
        trusted = {"server": cluster.address, "certificate-authority-data": encoded["ca.pem"]}
        user = {"client-certificate-data": encoded["user.pem"], "client-key-data": encoded["user.key"]}
        path = written(tmp_path / "config", cluster=trusted, user=user)
        assert len(ClusterApi(kubeconfig.access([path], "dev")).list(BY_NAME["Node"])[0]) == 1

        untrusted = written(tmp_path / "untrusted", cluster={"server": cluster.address}, user=user)
        with pytest.raises(FollowError, match="its certificate is not trusted by the kubeconfig"):
            ClusterApi(kubeconfig.access([untrusted], "dev")).list(BY_NAME["Node"])
        with pytest.raises(FollowError, match="a certificate or a key cannot be used"):
            ClusterApi(kubeconfig.Access(context="dev", server=cluster.address, certificate=b"not PEM", key=b"neither"))


def listed(files: list[Path], context: str = "dev") -> int:
    return len(ClusterApi(kubeconfig.access(files, context)).list(BY_NAME["Node"])[0])


def service_account(folder: Path, token: str, authority: bytes) -> Path:
    """The folder that the kubelet mounts into a pod."""
    folder.mkdir()
    (folder / "token").write_text(token)
    (folder / "ca.crt").write_bytes(authority)
    return folder


def test_a_pod_uses_its_service_account_and_the_renewed_token(certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server.pem", certificates / "server.key")
    with KubernetesApi(tls=context) as api:
        api.put("nodes", "n")
        host, port = api.address.removeprefix("https://").split(":")
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
        folder = service_account(tmp_path / "account", api.token, (certificates / "ca.pem").read_bytes())
        assert in_cluster.is_in_cluster(folder)
        cluster_api = ClusterApi(in_cluster.access(folder))
        assert len(cluster_api.list(BY_NAME["Node"])[0]) == 1

        api.token = "renewed by the kubelet"
        (folder / "token").write_text(api.token)
        assert len(cluster_api.list(BY_NAME["Node"])[0]) == 1


def test_an_ipv6_address_of_the_api_server_is_bracketed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")

    assert in_cluster.access(service_account(tmp_path / "account", "t", b"")).server == "https://[fd00::1]:443"


def test_outside_a_pod_there_is_no_service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = service_account(tmp_path / "account", "t", b"")
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert not in_cluster.is_in_cluster(folder)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    (folder / "token").unlink()
    assert not in_cluster.is_in_cluster(folder)


def test_a_token_file_is_read_again_for_each_request(cluster: KubernetesApi, tmp_path: Path) -> None:
    cluster.put("nodes", "n")
    (tmp_path / "token").write_text(f"{cluster.token}\n")
    path = written(tmp_path / "config", cluster={"server": cluster.address}, user={"tokenFile": "token"})
    api = ClusterApi(kubeconfig.access([path], "dev"))
    assert len(api.list(BY_NAME["Node"])[0]) == 1

    (tmp_path / "token").write_text("")
    assert len(api.list(BY_NAME["Node"])[0]) == 1
    cluster.token = "renewed"
    (tmp_path / "token").write_text("renewed")
    assert len(api.list(BY_NAME["Node"])[0]) == 1


def test_an_empty_token_file_is_reported_instead_of_being_anonymous(cluster: KubernetesApi, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("")
    path = written(tmp_path / "config", cluster={"server": cluster.address}, user={"tokenFile": "token"})

    with pytest.raises(FollowError, match="the token file is empty"):
        listed([path])


def test_impersonation_sends_the_user_with_all_groups_and_extras(cluster: KubernetesApi, tmp_path: Path) -> None:
    user = {
        "token": cluster.token,
        "as": "jane",
        "as-uid": "42",
        "as-groups": ["dev", "ops"],
        "as-user-extra": {"acme.com/team": ["a", "b"]},
    }
    path = written(tmp_path / "config", cluster={"server": cluster.address}, user=user)

    assert listed([path]) == 0

    assert cluster.headers.get_all("Impersonate-User") == ["jane"]
    assert cluster.headers.get_all("Impersonate-Uid") == ["42"]
    assert cluster.headers.get_all("Impersonate-Group") == ["dev", "ops"]
    assert cluster.headers.get_all("Impersonate-Extra-acme.com%2Fteam") == ["a", "b"]
    assert cluster.headers["Authorization"] == f"Bearer {cluster.token}"


def test_requests_go_through_the_proxy_of_the_kubeconfig(cluster: KubernetesApi, tmp_path: Path) -> None:
    # The stand-in accepts an absolute URL, as sent to an HTTP proxy.
    path = written(
        tmp_path / "config", cluster={"server": "http://cluster.invalid:6443", "proxy-url": cluster.address}, user={"token": cluster.token}
    )

    assert listed([path]) == 0

    assert cluster.requests[-1][1].startswith("http://cluster.invalid:6443/api/v1/nodes?")


def test_entries_of_several_kubeconfigs_are_combined(cluster: KubernetesApi, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(yaml.safe_dump({"contexts": [{"name": "dev", "context": {"cluster": "c", "user": "u"}}]}))
    second.write_text(
        yaml.safe_dump(
            {
                "clusters": [{"name": "c", "cluster": {"server": cluster.address}}],
                "users": [{"name": "u", "user": {"token": cluster.token}}],
            }
        )
    )

    assert listed([first, second]) == 0


def test_a_redirect_is_not_followed_with_credentials(cluster: KubernetesApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def redirect(handler: Any) -> None:
        handler.send_response(302)
        handler.send_header("Location", f"{cluster.address}/elsewhere")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    monkeypatch.setattr(cluster, "_answer", redirect)
    path = written(tmp_path / "config", cluster={"server": cluster.address}, user={"token": cluster.token})

    with pytest.raises(FollowError, match="refuses to list nodes: HTTP 302"):
        listed([path])


def test_the_certificate_may_have_another_name_than_the_server_address(certificates: Path, tmp_path: Path) -> None:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificates / "server.pem", certificates / "server.key")
    authority = str(certificates / "ca.pem")
    with KubernetesApi(tls=tls) as cluster:
        by_name = cluster.address.replace("127.0.0.1", "localhost")
        user = {"token": cluster.token}
        other = written(tmp_path / "other", cluster={"server": by_name, "certificate-authority": authority}, user=user)
        named = written(
            tmp_path / "named", cluster={"server": by_name, "certificate-authority": authority, "tls-server-name": "127.0.0.1"}, user=user
        )
        insecure = written(tmp_path / "insecure", cluster={"server": by_name, "insecure-skip-tls-verify": True}, user=user)

        with pytest.raises(FollowError, match="its certificate is not trusted"):
            listed([other])
        assert listed([named]) == 0
        assert listed([insecure]) == 0


class _Endless(BaseHTTPRequestHandler):
    """An API server that sends one endless object or one endless line of a watch."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"[" * 65_536)
        except OSError:
            # The client has closed the connection.
            return

    def log_message(self, *_: object) -> None:
        pass


def test_an_endless_response_from_an_api_server_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_api, "_MAX_PAGE_BYTES", 1_000_000)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Endless) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        api = ClusterApi(kubeconfig.Access(context="dev", server=f"http://127.0.0.1:{server.server_port}"))
        with pytest.raises(FollowError, match="the response has more than 1,000,000 bytes"):
            api.list(BY_NAME["Node"])
        with pytest.raises(FollowError, match="A line of the response has more than 16,777,216 bytes"):
            list(api.watch(BY_NAME["Node"], "1"))
        server.shutdown()


class _Hostile(BaseHTTPRequestHandler):
    """An API server whose lists take more memory or time than their size suggests."""

    body = b""
    encoding = "identity"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Encoding", self.encoding)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("body", "encoding", "message"),
    [
        (b'{"metadata": {"continue": "again"}, "items": []}', "identity", "has 101 pages in a row without an object"),
        (b'{"metadata": {"continue": "again"}, "items": [1, 1, 1]}', "identity", "has more than 1,000 objects"),
        (b'{"metadata": {}, "items": [' + b"1," * 10_000 + b"1]}", "identity", "the response has more than 9,999 values"),
        (gzip.compress(b" " * 10_000_000), "gzip", "the response has more than 1,000,000 bytes"),
        (gzip.compress(gzip.compress(b" " * 10_000_000)), "gzip, gzip", "the encoding 'gzip, gzip'"),
        (b"", "zstd", "the encoding 'zstd'"),
        (b"not gzip", "gzip", "not valid gzip"),
    ],
)
def test_a_list_from_a_hostile_api_server_is_refused(monkeypatch: pytest.MonkeyPatch, body: bytes, encoding: str, message: str) -> None:
    monkeypatch.setattr(cluster_api, "_MAX_PAGE_BYTES", 1_000_000)
    monkeypatch.setattr(cluster_api, "_MAX_VALUES", 9_999)
    monkeypatch.setattr(cluster_api, "_MAX_OBJECTS", 1_000)
    response = type("_Answer", (_Hostile,), {"body": body, "encoding": encoding})
    with ThreadingHTTPServer(("127.0.0.1", 0), response) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        api = ClusterApi(kubeconfig.Access(context="dev", server=f"http://127.0.0.1:{server.server_port}"))
        with pytest.raises((FollowError, Unavailable), match=message):
            api.list(BY_NAME["Node"])
        server.shutdown()


def test_a_long_message_from_an_api_server_is_truncated(cluster: KubernetesApi, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handler: Any) -> None:
        body = json.dumps({"message": "x" * 100_000}).encode()
        handler.send_response(400)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    monkeypatch.setattr(cluster, "_answer", refuse)

    with pytest.raises(FollowError, match=r"nodes: x{1000}$"):
        api_of(cluster).list(BY_NAME["Node"])
