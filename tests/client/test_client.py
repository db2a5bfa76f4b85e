"""`schedviz.client` as used by scripts, with a real server."""

from __future__ import annotations

import asyncio
import inspect
import json
import stat
from datetime import datetime
from pathlib import Path

import pytest

from schedviz.client import (
    AsyncClient,
    AsyncSession,
    Client,
    CommandFailed,
    ImportFailed,
    KubectlError,
    NotAllowed,
    NotFound,
    Refused,
    SchedvizError,
    Session,
    Unavailable,
)
from schedviz.client.flows import require_done
from schedviz.client.server import find_server


@pytest.fixture
def session(client: Client):
    with client.generate(nodes=3, pods=10, seed=1, name="three nodes") as session:
        yield session


def test_a_session_is_run_and_read_now_and_at_earlier_moments(session: Session):
    outcome = session.run()
    state = session.state()
    cycles = session.cycles()

    assert (outcome.stopped, outcome.cycles) == ("empty", len(cycles))
    assert {row["state"] for row in state.pods} <= {"bound", "unschedulable", "backoffQ"}
    assert len(state.pods) == 10
    assert sum(state.nodes.column("pods")) == len(state.pods.where(state="bound")) == len(cycles.where(outcome="scheduled"))
    assert session.state(at=0).nodes.column("pods") == [0, 0, 0]
    assert session.cycle(1)["pod"] == cycles[0]["pod"]
    assert [event["event"] for event in session.events()] == list(range(1, outcome.event + 1))


def test_the_state_of_v1_36_has_pods_in_flight_and_every_queue(client: Client):
    with client.generate(nodes=3, pods=10, seed=1, release="v1.36") as session:
        session.step(4, unit="stage")
        state = session.state()

    (pod,) = state.in_flight.column("pod")
    assert state.raw["queue"]["inFlightPods"] == [pod]
    assert state.preemptions == []
    assert len(state.pods) == 9
    assert set(state.queue.column("queue")) == {"activeQ"}


def test_rows_are_flat_and_displayed_as_tables(session: Session):
    session.run()
    rows = session.cycles()

    assert all(not isinstance(value, dict) for row in rows for value in row.values())
    assert rows.to_csv().splitlines()[0].startswith("cycle,") or "cycle" in rows.columns
    assert "<table>" in rows._repr_html_()
    assert rows.__rich__().row_count == min(20, len(rows))
    assert "three nodes" in session._repr_html_()
    assert "three nodes" in repr(session)


def test_untrusted_names_are_escaped_in_a_notebook(client: Client):
    with client.generate(nodes=1, pods=0, name="<script>alert(1)</script>") as session:
        assert "<script>" not in session._repr_html_()


def test_forks_can_be_compared_with_their_parent(session: Session):
    session.run()
    with session.fork(at=0, name="another way") as other:
        other.remove("Node", other.state().nodes[0]["node"])
        other.run()
        result = session.compare(other)

    assert not result.same
    assert result.divergence
    assert result.counts["moved"] + result.counts["placedOnlyInA"] > 0


def test_a_session_has_the_requested_release_and_feature_gates(client: Client, here: Path):
    gates = {"SchedulerAsyncPreemption": False}
    objects = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}]

    with client.generate(nodes=1, pods=0) as plain, client.generate(nodes=1, pods=0, release="v1.36", feature_gates=gates) as made:
        assert (plain.release, plain.feature_gates) == ("v1.27.1", {})
        assert (made.release, made.feature_gates) == ("v1.36", gates)
    with client.from_objects(objects, release="v1.36", feature_gates=gates) as sent:
        assert (sent.release, sent.feature_gates) == ("v1.36", gates)
    with pytest.raises(Refused, match=r"there is no release 'v1.33'; this version of schedviz simulates v1\.27\.1 and v1\.36"):
        client.generate(nodes=1, pods=0, release="v1.33")


def test_a_session_has_the_time_at_which_its_last_command_was_accepted(client: Client, here: Path):
    with client.generate(nodes=1, pods=0) as made:
        before = made.last_command_at
        made.run()
        after = made.refresh().last_command_at

        accepted = client.call("GET", f"sessions/{made.id}/")["lastCommandAt"]
        assert before is None
        assert after == datetime.fromisoformat(accepted)


def test_commands_are_accepted_together_or_not_at_all(session: Session):
    with pytest.raises(Refused) as refused:
        session.send({"op": "cycle"}, {"op": "fly"})
    numbers = session.submit({"op": "cycle"}, {"op": "cycle"})

    assert (refused.value.status, refused.value.path) == (400, "$.commands[1].op")
    assert numbers == [1, 2]


def test_a_command_that_fails_raises_an_error(session: Session):
    with pytest.raises(CommandFailed, match="already exists"):
        session.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": session.state().nodes[0]["node"]}})


def test_the_error_of_a_quarantined_command_names_its_cause():
    why = "The command was quarantined: it was stuck."
    with pytest.raises(CommandFailed, match=rf"command 3 \(run\): {why}"):
        require_done({"seq": 3, "command": {"op": "run"}, "status": "quarantined", "outcome": {"error": why}})


def test_errors_in_a_file_are_reported(client: Client, tmp_path: Path):
    file = tmp_path / "cluster.json"
    file.write_text('{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "10x"}}}')

    with pytest.raises(ImportFailed, match=r"cluster\.json"):
        client.from_files(file)
    with pytest.raises(SchedvizError, match="No such file"):
        client.from_files(tmp_path / "nothing.json")


def test_a_configuration_can_be_a_dict_or_a_file(client: Client, tmp_path: Path):
    file = tmp_path / "packed.yaml"
    file.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}]\n"
    )
    packed = {"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}]}]}
    nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}}]

    with client.from_objects(nodes, config=file) as by_file, client.from_objects(nodes, config=packed) as by_dict:
        with client.from_objects(nodes) as usual:
            assert client.compare(by_file, usual).raw["settings"]
        compared = client.compare(by_file, by_dict)
        assert [row["path"] for row in compared.raw["settings"] if "profiles" in row["path"]] == []
        assert str(compared) == "They did the same, and every pod is in the same place."
    with pytest.raises(SchedvizError, match="give the configuration as a dict"):
        client.generate(nodes=1, config=file)


def test_missing_forbidden_and_unreachable_resources_are_reported(client: Client):
    with pytest.raises(NotFound):
        client.session("00000000-0000-4000-8000-000000000000")
    with pytest.raises(NotAllowed), Client(client.server.address, "wrong") as other:
        other.sessions()


def test_the_error_about_an_unspecified_server_suggests_setting_the_data_folder(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("schedviz.client.sending.MAX_RETRIES", 0)
    monkeypatch.setattr("schedviz.client.server.data_folders", lambda: iter(()))
    monkeypatch.setattr("schedviz.client.server.DEFAULT_SERVER", "http://127.0.0.1:9")
    for name in ("SCHEDVIZ_SERVER", "SCHEDVIZ_TOKEN"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(Unavailable, match="its data folder is another one: set SCHEDVIZ_DATA"), Client() as nobody:
        nobody.sessions()


def test_the_error_about_an_unreachable_server_names_its_address(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("schedviz.client.sending.MAX_RETRIES", 0)

    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:9 does not respond"), Client("http://127.0.0.1:9", "t") as nobody:
        nobody.sessions()


def test_waiting_for_a_server_is_reported_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    monkeypatch.setattr("schedviz.client.sending._PAUSE_SECONDS", 0.05)

    with pytest.raises(Unavailable), Client("http://127.0.0.1:9", "t") as nobody:
        nobody.sessions()

    (told,) = [record.getMessage() for record in caplog.records if record.name == "schedviz.client.sending"]
    assert told.startswith("http://127.0.0.1:9 does not respond (")
    assert told.endswith("); retrying for 1 s.")


@pytest.mark.parametrize("token", ["hush\n", " hush ", "hush\r\n"])
def test_spaces_and_line_breaks_around_a_token_are_ignored(monkeypatch: pytest.MonkeyPatch, token: str):
    """A token file often ends with a line break, and the HTTP libraries would quote the token in their errors."""
    monkeypatch.setenv("SCHEDVIZ_TOKEN", token)
    assert find_server("http://127.0.0.1:1").token == "hush"
    assert find_server("http://127.0.0.1:1", token).token == "hush"
    with pytest.raises(SchedvizError, match="characters that tokens do not have"):
        find_server("http://127.0.0.1:1", "hu\nsh")


@pytest.mark.parametrize(
    "address", ["http://ada:hush@h:1", "http://ada:hush@h:bad/", "ftp://ada:hush@h", "ada:hush@h", "http://ada:hush@[::1"]
)
def test_a_url_with_a_password_is_refused_without_quoting_it(address: str):
    with pytest.raises(SchedvizError, match="contains a user name or a password") as refused:
        find_server(address, "token")
    assert "hush" not in str(refused.value)


def test_a_url_may_contain_an_at_sign_after_its_host():
    assert find_server("http://127.0.0.1:1/a@b", "token").address == "http://127.0.0.1:1/a@b"


def test_the_local_token_is_sent_only_to_the_local_server(here: Path):
    assert Client().server.token
    assert Client("https://schedviz.example").server.token == ""


def test_all_sessions_are_listed_page_by_page(client: Client, session: Session):
    assert session.id in client.sessions().column("id")
    assert len(client.sessions(most=1)) == 1
    assert client.sessions(name="three").where(id=session.id)


def test_a_stream_continues_with_new_events(session: Session):
    session.submit({"op": "run"})

    kinds = []
    for event in session.events(follow=True):
        kinds.append(event["t"])
        if event["t"] == "commandDone":
            break

    assert kinds.count("cycleEnded") == 10


@pytest.mark.parametrize(("plain", "awaited"), [(Client, AsyncClient), (Session, AsyncSession)])
def test_the_async_client_has_each_method_with_the_same_parameters(plain: type, awaited: type):
    def parameters(of: type, word: str) -> list[tuple[str, object, object]]:
        return [
            (parameter.name, parameter.kind, parameter.default) for parameter in inspect.signature(getattr(of, word)).parameters.values()
        ]

    #: A session that looks up its server relies on the garbage collector to close the client, which cannot be awaited.
    words = [word for word, member in vars(plain).items() if word[0] != "_" and inspect.isfunction(member)]

    assert len(words) > 5
    assert {word: parameters(awaited, word) for word in words} == {word: parameters(plain, word) for word in words}


def test_both_clients_can_create_a_session_from_objects(client: Client, here: Path):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "mine"}, "status": {"allocatable": {"cpu": "2", "pods": "10"}}}

    async def awaited() -> list[object]:
        async with AsyncClient() as client, await client.from_objects([node]) as session:
            return (await session.state()).nodes.column("node")

    with client.from_objects([node], name="of objects") as session:
        assert session.name == "of objects"
        assert session.state().nodes.column("node") == asyncio.run(awaited()) == ["mine"]


def test_the_async_client_can_run_stream_fork_and_compare(here: Path):
    async def main() -> tuple[int, list[str], str]:
        async with AsyncClient() as client, await client.generate(nodes=2, pods=4, seed=1, name="awaited") as session:
            outcome = await session.run()
            kinds = [event["t"] async for event in session.events()]
            state = await session.state()
            async with await session.fork(at=0) as other:
                found = await session.compare(other)
            assert outcome.cycles == len(await session.cycles()) == 4
            return len(state.pods), kinds, found.divergence

    pods, kinds, divergence = asyncio.run(main())

    assert pods == 4
    assert "cycleEnded" in kinds
    assert divergence


def test_a_cluster_is_read_with_the_users_own_kubectl(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "real"}, "status": {"allocatable": {"cpu": "2", "pods": "10"}}}
    (tmp_path / "nodes").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node]}))
    (tmp_path / "pods").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": []}))
    fake = tmp_path / "kubectl"
    fake.write_text(
        f'#!/bin/sh\n[ "$2" = kind ] && [ "$3" = get ] || exit 2\ncat {tmp_path}/"$4" 2>/dev/null || {{ echo "no such resource" >&2; exit 1; }}\n'
    )
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    with Session.from_kubectl(context="kind") as session:
        assert session.state().nodes.column("node") == ["real"]
        assert session.name == "kind"
    (tmp_path / "pods").unlink()
    with pytest.raises(KubectlError, match="get pods: no such resource"):
        Session.from_kubectl(context="kind")
