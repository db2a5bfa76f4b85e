"""The log of Argo Workflows: which pod a message is about, and whether it still waits."""

from __future__ import annotations

from schedviz.explain.pasted.reader import read_text
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.ingest.pasted.pasted_text import messages_in
from tests.ingest.pasted.found_messages import found_messages

FULL = "0/4 nodes are available: 4 Insufficient cpu."
CHANGED = 'time="2024-06-04T16:50:4{second}.202Z" level=info msg="node changed" namespace=cron '


def changed(new: str, old: str, *, second: int = 1, phase: str = "Pending") -> str:
    return (
        f"{CHANGED.format(second=second)}new.message={new} new.phase={phase} new.progress=0/1 nodeID=etl-2x5gc-780208456 "
        f"old.message={old} old.phase=Pending old.progress=0/1 workflow=etl-2x5gc\n"
    )


def test_a_message_is_about_the_pod_of_its_node() -> None:
    [said] = found_messages(changed(f'"Unschedulable: {FULL}"', ""))
    assert (said.pod, said.message, said.at) == ("cron/etl-2x5gc-780208456", FULL, "2024-06-04T16:50:41Z")


def test_the_id_in_parentheses_is_that_of_the_pod() -> None:
    log = (
        f'time="2019-06-11T21:13:13Z" level=info msg="Updating node etl.batch(0:uris:QlpoOT=).sample(0) (etl-1695456398) message: Unschedulable: {FULL}"\n'
        'time="2019-06-11T21:13:13Z" level=info msg="Workflow update successful" namespace=prod workflow=etl\n'
    )
    assert [(said.pod, said.message) for said in found_messages(log)] == [("prod/etl-1695456398", FULL)]


def test_a_log_within_json_is_read() -> None:
    log = f'a.log:{{"log":"time=\\"2020-08-14T20:07:47Z\\" level=info msg=\\"Updating node etl-2683438575 message: Unschedulable: {FULL}\\"\\n"}}\n'
    assert [(said.pod, said.message) for said in found_messages(log)] == [("default/etl-2683438575", FULL)]


def test_the_message_before_a_change_is_over() -> None:
    log = changed(f'"Unschedulable: {FULL}"', "") + changed("PodInitializing", f'"Unschedulable: {FULL}"', second=2)
    [answer] = read_text(messages_in(CopiedText(log)), [], {}, seconds_of_age).answers
    assert answer.pod == "cron/etl-2x5gc-780208456"
    assert answer.sentence == "The pod is not waiting for the scheduler: only a pod that has a node has the status PodInitializing."


def test_a_pod_that_runs_needs_nothing() -> None:
    log = changed("", f'"Unschedulable: {FULL}"', phase="Running")
    [answer] = read_text(messages_in(CopiedText(log)), [], {}, seconds_of_age).answers
    assert (answer.standing, answer.advice) == ("scheduled", "")


def test_a_pod_that_was_started_before_and_waits_again_is_pending() -> None:
    log = changed("PodInitializing", "") + changed(f'"Unschedulable: {FULL}"', "PodInitializing", second=2)
    assert [said.message for said in found_messages(log)] == [FULL]
