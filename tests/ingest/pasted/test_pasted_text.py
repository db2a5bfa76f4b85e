"""Messages of the scheduler are found in pasted text of any kind."""

from __future__ import annotations

import json
import sys

import pytest

from schedviz.ingest.kubectl import tables as kubectl_tables
from schedviz.ingest.pasted import pasted_text
from schedviz.ingest.pasted.argo_logs import ArgoLog
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.ingest.pasted.pasted_text import MAX_MESSAGES, MAX_TEXT_LENGTH
from schedviz.ingest.scheduler_messages import PodMessage
from tests.ingest.pasted.found_messages import found_messages

CPU = "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
TAINT = "0/3 nodes are available: 3 node(s) had untolerated taint {gpu: true}."

#: Characters of a hostile text.
HOSTILE = 200_000

DESCRIBED = f"""
\x1b[32mme@host\x1b[0m:~$ kubectl describe pod web-1 -n shop
Name:             web-1
Namespace:        shop
Priority:         0
Node:             <none>
Events:
  Type     Reason            Age                From               Message
  ----     ------            ----               ----               -------
  Warning  FailedScheduling  5m (x12 over 10m)  default-scheduler  {CPU}
"""


def test_a_described_pod_is_named() -> None:
    assert found_messages(DESCRIBED) == [PodMessage("shop/web-1", CPU, at="5m ago", times=12, span="10m")]


def test_a_repeated_message_has_its_newest_time() -> None:
    rows = "".join(f"{age}  Warning  FailedScheduling  pod/web  {CPU}\n" for age in ("39h", "2m57s", "4d16h"))
    assert [each.at for each in found_messages(rows)] == ["2m57s ago"]


def test_the_name_of_a_volume_s_config_map_is_not_that_of_the_pod() -> None:
    volumes = "Volumes:\n  config:\n    Type:      ConfigMap (a volume populated by a ConfigMap)\n    Name:      web-settings\nEvents:\n"
    described = f"Name:       web-1\nNamespace:  shop\n{volumes}  Warning  FailedScheduling  13s  default-scheduler  {CPU}\n"
    assert [(each.pod, each.at) for each in found_messages(described)] == [("shop/web-1", "13s ago")]


@pytest.mark.parametrize(
    ("text", "pod", "at"),
    [
        (
            f"LAST SEEN   TYPE      REASON             OBJECT      MESSAGE\n5m10s   Warning   FailedScheduling   pod/web-1   {TAINT}",
            "default/web-1",
            "5m10s ago",
        ),
        (
            f"NAMESPACE  LAST SEEN  TYPE  REASON  OBJECT  MESSAGE\nshop  5m  Warning  FailedScheduling  pod/web-1  {TAINT}",
            "shop/web-1",
            "5m ago",
        ),
        (
            f'I1123 10:00:00.000000 1 schedule_one.go:1] "Unable to schedule pod; no fit; waiting" pod="shop/web-1" err="{TAINT}"',
            "shop/web-1",
            "11-23 10:00:00",
        ),
        (f"> my pod is stuck:\n> {TAINT}\n\nany idea?", "", ""),
        (f"- lastTransitionTime: null\n  message: '{TAINT}'\n  reason: Unschedulable", "", ""),
        ("0/3 nodes are available: 3 node(s) had\n    untolerated taint {gpu:\n    true}.\n\nWhat now?", "", ""),
        (f"`{TAINT}`", "", ""),
    ],
)
def test_a_message_is_found_in(text: str, pod: str, at: str) -> None:
    assert found_messages(text) == [PodMessage(pod, TAINT, at=at)]


AFFINITY = "0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector."
LONG = (
    "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) had untolerated taint {team: a}. "
    "preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling."
)
OLD = "0/5 nodes are available: 2 node(s) had taint {team: a}, that the pod didn't tolerate, 3 node(s) didn't match node selector."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            f"│ Warning  FailedScheduling  5m  default-scheduler  {TAINT}      │\n│ x │", TAINT, id="frames of a terminal program"
        ),
        pytest.param(f"+LAST SEEN   TYPE\n+10s   Warning   FailedScheduling   x   {TAINT}\n+----\n+next", TAINT, id="a diff"),
        pytest.param(
            "#   0/4 nodes are available: 1 Insufficient cpu, 3 node(s) had\n#   untolerated taint {team: a}. preemption: 0/4\n"
            "#   nodes are available: 4 Preemption is not helpful for\n#   scheduling.\n#\n# The fix is a toleration.",
            LONG,
            id="a comment",
        ),
        pytest.param(
            "FailedScheduling  0/4 nodes are available:\n  1 Insufficient cpu,\n  3 node(s) had untolerated taint {team: a}.\n"
            "  preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.\nWhat now?",
            LONG,
            id="one clause in each line",
        ),
        pytest.param(
            "0/5 nodes are available: 2 node(s) had taint {team: a},\nthat the pod didn't tolerate, 3 node(s) didn't match node selector.\nWhy?",
            OLD,
            id="a clause in two lines",
        ),
        pytest.param(f"The pod said `{AFFINITY}` and then nothing happened.", AFFINITY, id="code in prose"),
        pytest.param(
            f"It shows `Warning  FailedScheduling  5m  default-scheduler  {AFFINITY}` tells me", AFFINITY, id="a row as code in prose"
        ),
        pytest.param(f"**{AFFINITY}**", AFFINITY, id="bold"),
        pytest.param(f"> {TAINT.replace('3 node', '**3 node').replace('}', '}**')}", TAINT, id="partly bold"),
        pytest.param(AFFINITY.replace("'", "’"), AFFINITY, id="typographic apostrophes"),
        pytest.param(AFFINITY.replace("'", "&#39;") + "</td>", AFFINITY, id="HTML"),
        pytest.param(f"| Warning | FailedScheduling | 5m | default-scheduler | {AFFINITY} |", AFFINITY, id="a table of Markdown"),
        pytest.param(json.dumps({"reason": "x", "message": f"Unschedulable: {AFFINITY}", "next": 1}), AFFINITY, id="a JSON string"),
        pytest.param(json.dumps({"log": json.dumps({"message": AFFINITY, "at": "now"})}), AFFINITY, id="JSON in JSON"),
        pytest.param(
            "message: '0/4 nodes are available: 1 Insufficient cpu, 3 node(s) had untolerated taint {team:\n      a}. preemption: 0/4\n"
            "      nodes are available: 4 Preemption is not helpful for scheduling.'\n    reason: Unschedulable",
            LONG,
            id="a folded string of YAML",
        ),
        pytest.param(f"message: '{AFFINITY.replace(chr(39), chr(39) * 2)}'", AFFINITY, id="apostrophes in a string of YAML"),
        pytest.param(
            f'status:\\n  message: \'{AFFINITY.replace(chr(39), chr(39) * 2)}\'\\n    reason: Unschedulable\\n", "x": 1',
            AFFINITY,
            id="escaped YAML",
        ),
        pytest.param(f'[1.5, "o", "Events:\\r\\n  x  {TAINT}\\r\\n  Normal  Scheduled\\r\\n"]', TAINT, id="a recording of a terminal"),
        pytest.param(f"Unable to schedule shop/web-1: no fit: {TAINT}; waiting", TAINT, id="a log of 1.18"),
        pytest.param(
            'err="0/2 nodes are available: 2 persistentvolumeclaim \\"a\\" not found."',
            '0/2 nodes are available: 2 persistentvolumeclaim "a" not found.',
            id="escaped quotes",
        ),
        pytest.param(f"{AFFINITY[:-1]}\nHow do I find out why?", AFFINITY[:-1], id="a message without its full stop, before prose"),
        pytest.param("0/3  nodes are available: 3 Insufficient cpu.", "0/3 nodes are available: 3 Insufficient cpu.", id="two spaces"),
    ],
)
def test_a_message_is_whole_in(text: str, message: str) -> None:
    assert [said.message for said in found_messages(text)] == [message]


@pytest.mark.parametrize(
    ("text", "pod", "message"),
    [
        (
            (
                "Name: web-1\nNamespace: shop\nEvents:\n  Warning  FailedScheduling  30s  default-scheduler  running Reserve plugin "
                '"DynamicResources": waiting for resource driver to allocate resource'
            ),
            "shop/web-1",
            'running Reserve plugin "DynamicResources": waiting for resource driver to allocate resource',
        ),
        (
            "5m  Warning  FailedScheduling  pod/web-1  skip schedule deleting pod: shop/web-1",
            "default/web-1",
            "skip schedule deleting pod: shop/web-1",
        ),
        (
            "Warning  FailedScheduling  34m (x2 over 1h)  volcano  pod group is not ready, 2 Pending",
            "",
            "pod group is not ready, 2 Pending",
        ),
        (
            (
                'I0101 00:00:00.000000 1 event.go:1] Event(v1.ObjectReference{Kind:"Pod", Namespace:"shop", Name:"web-1", UID:"1"}): '
                "type: 'Warning' reason: 'FailedScheduling' no nodes available to schedule pods"
            ),
            "shop/web-1",
            "no nodes available to schedule pods",
        ),
        (
            "E0101 00:00:00.000000 1 factory.go:1] Error scheduling shop/web-1: pod has unbound immediate PersistentVolumeClaims; retrying",
            "shop/web-1",
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        (
            '"Error scheduling pod; retrying" err="running Bind plugin \\"DefaultBinder\\": no" pod="shop/web-1"',
            "shop/web-1",
            'running Bind plugin "DefaultBinder": no',
        ),
        (
            "FailedScheduling Pod/web-1: 0/2 nodes are available: 2 Insufficient cpu.",
            "default/web-1",
            "0/2 nodes are available: 2 Insufficient cpu.",
        ),
    ],
)
def test_a_message_without_counts_is_found_with_its_pod(text: str, pod: str, message: str) -> None:
    assert [(said.pod, said.message) for said in found_messages(text)] == [(pod, message)]


@pytest.mark.parametrize(
    ("text", "pod", "message"),
    [
        (
            (
                "I0211 15:35:46.498813 1 scale_up.go:288] Pod web-1 can't be scheduled on group-a, predicate checking error: Insufficient cpu; "
                "predicateName=NodeResourcesFit; reasons: Insufficient cpu; debugInfo="
            ),
            "default/web-1",
            (
                "Pod web-1 can't be scheduled on group-a, predicate checking error: Insufficient cpu; predicateName=NodeResourcesFit; reasons: "
                "Insufficient cpu"
            ),
        ),
        (
            '{"level":"ERROR","message":"Could not schedule pod, incompatible with nodepool \\"a\\", did not tolerate x=y","pod":"shop/web-1"}',
            "shop/web-1",
            'Could not schedule pod, incompatible with nodepool "a", did not tolerate x=y',
        ),
        (
            '{"level":"ERROR","message":"could not schedule pod","Pod":{"name":"web-1","namespace":"shop"},"error":"no instance type"}',
            "shop/web-1",
            "could not schedule pod, no instance type",
        ),
    ],
)
def test_messages_of_autoscalers_about_a_pod_are_found(text: str, pod: str, message: str) -> None:
    assert [(said.pod, said.message) for said in found_messages(text)] == [(pod, message)]


def test_prose_that_mentions_the_reason_is_not_a_message() -> None:
    assert found_messages("There is a FailedScheduling event, and I do not know why. The FailedScheduling events go on.") == []


def test_all_messages_of_one_line_are_found() -> None:
    line = json.dumps([{"pod": "a", "message": CPU}, {"pod": "b", "message": TAINT}])

    assert [said.message for said in found_messages(line)] == [CPU, TAINT]


def test_the_condition_of_a_pod_as_json_names_it() -> None:
    pod = {
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": "shop"},
        "status": {"conditions": [{"type": "PodScheduled", "message": TAINT}]},
    }

    for text in (json.dumps(pod), json.dumps({"kind": "List", "items": [pod]})):
        assert [(said.pod, said.message) for said in found_messages(text)] == [("shop/a", TAINT)]


def test_each_message_of_a_pod_is_returned_once() -> None:
    rows = [f"5m  Warning  FailedScheduling  pod/p{number % 2}  {TAINT}" for number in range(10)]

    assert [message.pod for message in found_messages("\n".join(rows))] == ["default/p0", "default/p1"]


def test_events_as_json_name_their_pods() -> None:
    event = {
        "kind": "Event",
        "reason": "FailedScheduling",
        "message": TAINT,
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "a"},
    }

    result = found_messages(json.dumps({"kind": "List", "items": [event, {"kind": "Event", "reason": "Pulled"}]}))

    assert [(message.pod, message.message) for message in result] == [("shop/a", TAINT)]


EVENT = {
    "apiVersion": "v1",
    "kind": "Event",
    "reason": "FailedScheduling",
    "message": TAINT,
    "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "last"},
}
OTHER = {"apiVersion": "v1", "kind": "Event", "reason": "Pulled", "message": "x" * 300, "involvedObject": {"kind": "Pod", "name": "a"}}


def events(*, form: str) -> str:
    """A list of 400 KB whose last Event has the message."""
    if form == "JSON":
        return json.dumps({"apiVersion": "v1", "items": [OTHER] * 900 + [EVENT], "kind": "List"}, indent=4)
    other = "- apiVersion: v1\n  kind: Event\n  message: " + "x" * 300 + "\n  reason: Pulled\n"
    event = (
        "- apiVersion: v1\n  involvedObject:\n    kind: Pod\n    name: last\n    namespace: shop\n  kind: Event\n"
        f"  message: '{TAINT}'\n  reason: FailedScheduling\n"
    )
    return f'apiVersion: v1\nitems:\n{other * 1200}{event}kind: List\nmetadata:\n  resourceVersion: ""\n'


@pytest.mark.parametrize("form", ["JSON", "YAML"])
@pytest.mark.parametrize("before", ["", "me@host:~$ kubectl get events -A\n"])
def test_the_last_event_of_a_long_list_is_found_with_its_pod(form: str, before: str) -> None:
    text = before + events(form=form)

    assert 400_000 < len(text) < MAX_TEXT_LENGTH
    assert [(said.pod, said.message) for said in found_messages(text)] == [("shop/last", TAINT)]


def test_an_event_as_yaml_names_its_pod() -> None:
    event = f"apiVersion: v1\nkind: Event\nreason: FailedScheduling\nmessage: '{TAINT}'\ninvolvedObject: {{kind: Pod, name: a, namespace: shop}}\n"

    assert [(said.pod, said.message) for said in found_messages(event)] == [("shop/a", TAINT)]


def test_more_messages_than_are_returned_end_the_search() -> None:
    rows = "".join(f"5m  Warning  FailedScheduling  pod/p{number}  {TAINT}\n" for number in range(MAX_MESSAGES + 1))

    assert len(found_messages(rows)) == MAX_MESSAGES


def test_messages_on_consecutive_lines_are_not_joined() -> None:
    assert [message.message for message in found_messages(f"a: {TAINT}\nb: {CPU}")] == [TAINT, CPU]


def test_a_text_without_a_message_has_none() -> None:
    assert found_messages("NAME  READY  STATUS\nweb-1  0/1  Pending\n1/2 nodes") == []


@pytest.mark.parametrize(
    "piece",
    [
        "\x1b[",
        "> ",
        "0/3 nodes are available",
        "0/3 nodes are available: '",
        'x \\\\" ',
        "Warning FailedScheduling ",
        "FailedScheduling: a b\n",
        "FailedScheduling pod/",
        "Name: a\n",
        "x 0/3 nodes are available\n",
        " ",
        "\x1b]",
        "1/",
        "Error creating: pods ",
    ],
)
def test_hostile_texts_are_read_in_linear_time(piece: str) -> None:
    # Quadratic time would take minutes.
    assert len(found_messages(piece * (HOSTILE // len(piece)))) <= MAX_MESSAGES


@pytest.mark.parametrize("piece", ["Pod a can't be scheduled on b, predicate failed: ", "Error scheduling a/b: "])
@pytest.mark.parametrize("end", ["", "; retrying", "reason: "])
def test_a_long_line_of_beginnings_is_read_in_linear_time(piece: str, end: str) -> None:
    # Quadratic time would take minutes.
    assert len(found_messages(piece * (MAX_TEXT_LENGTH // len(piece) - 1) + end)) <= 1


def test_each_reason_of_a_line_belongs_to_the_pod_before_it() -> None:
    line = "Pod shop/a can't be scheduled on g, predicate failed: x, reason: {0}; Pod b can't be scheduled on g, predicate checking error: y reasons: {1}"
    assert [(said.pod, said.message) for said in found_messages(line.format("too small", "too full"))] == [
        ("shop/a", "Pod shop/a can't be scheduled on g, predicate failed: x, reason: too small"),
        ("default/b", "Pod b can't be scheduled on g, predicate checking error: y reasons: too full"),
    ]


def test_the_event_of_karpenter_is_read_to_its_end() -> None:
    why = 'Failed to schedule pod, incompatible with nodepool "default", daemonset overhead={"cpu":"200m"}, no instance type satisfied resources {"cpu":"96"}'
    row = f"  Warning  FailedScheduling  30s   karpenter  {why}\n"

    assert [(message.message, message.at) for message in found_messages(f"Events:\n{row}")] == [(why, "30s ago")]


def test_events_that_are_nested_too_deep_are_read_as_text() -> None:
    assert found_messages('{"items":[' + "[" * 90_000 + "]" * 90_000 + "]}") == []


def test_the_command_names_the_pod_of_a_truncated_description() -> None:
    row = "  Warning  FailedScheduling  2m  default-scheduler  0/2 nodes are available: 2 Insufficient cpu.\n"
    for command in (
        "$ k describe pod db-0 -n data | tail -3",
        "kubectl -n data describe po/db-0",
        "oc describe pods db-0 --namespace=data",
    ):
        assert [message.pod for message in found_messages(f"{command}\nEvents:\n{row}")] == ["data/db-0"]


def test_the_only_pending_pod_of_a_table_is_that_of_a_message_without_a_name() -> None:
    row = "NAME      READY   STATUS    RESTARTS   AGE\nvault-2   0/1     Pending   0          31m\n"
    assert [said.pod for said in found_messages(f"{row}\n  Warning  FailedScheduling  31s  default-scheduler  {TAINT}")] == [
        "default/vault-2"
    ]
    assert [said.pod for said in found_messages(f"{row}vault-3   0/1     Pending   0   31m\n\n{TAINT}")] == [""]


def test_the_newest_of_equal_lines_of_a_log_gives_the_time() -> None:
    line = 'I1123 10:0{}:00.000000 1 schedule_one.go:1] "Unable to schedule pod; no fit; waiting" pod="shop/web-1" err="{}"'
    assert [said.at for said in found_messages(f"{line.format(1, TAINT)}\n{line.format(2, TAINT)}")] == ["11-23 10:02:00"]


ALERTED = "0/9 nodes are available: 9 Insufficient cpu."


@pytest.mark.parametrize(
    "text",
    [
        f"description = Pod identity/keycloak-2 cannot be scheduled: {ALERTED}",
        f'{{"details": "Labels:\\n - namespace = identity\\n - pod = keycloak-2\\nAnnotations:\\n - description = it waits: {ALERTED}"}}',
        f'KubePodNotScheduled{{namespace="identity", pod="keycloak-2"}} {ALERTED}',
        f"exported_namespace: identity\nexported_pod: keycloak-2\nmessage: {ALERTED}",
        f'{{"namespace":"identity","pod":"keycloak-2","text":"{ALERTED}"}}',
    ],
)
def test_an_alert_names_its_pod_in_a_sentence_or_in_labels(text: str) -> None:
    assert [(each.pod, each.message) for each in found_messages(text)] == [("identity/keycloak-2", ALERTED)]


@pytest.mark.parametrize(
    "text",
    [
        f'pod="a" waits, pod="b" runs: {ALERTED}',
        f"The pod of shop/web waits: {ALERTED}",
        f'{{pod="web"}} 0/2 nodes are available: 2 Insufficient cpu.\n\nAbout another pod:\n{ALERTED}',
    ],
)
def test_a_text_that_names_no_pod_or_several_before_its_message_leaves_the_pod_open(text: str) -> None:
    assert found_messages(text)[-1].pod == ""


class CountedText(str):
    """A text that counts the characters through which it is searched for lines."""

    __slots__ = ()

    searched = 0

    def find(self, sub: str, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        found = super().find(sub, start, end)
        CountedText.searched += (found if found >= 0 else len(self) if end is None else end) - start
        return found

    def rfind(self, sub: str, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        found = super().rfind(sub, start, end)
        CountedText.searched += (len(self) if end is None else end) - max(found, start)
        return found


@pytest.mark.parametrize(
    "part", ["Error scheduling a/b: x; retrying ", "0/1 nodes are available: 1 x. ", "pod didn't trigger scale-up: x. "]
)
def test_a_long_line_is_not_searched_from_its_ends_for_each_message(part: str) -> None:
    found = []
    for repeats in (2_000, 4_000):
        CountedText.searched = 0
        text = CountedText(part * repeats)
        list(pasted_text._messages_with_heads(text, ArgoLog(text)))
        found.append(CountedText.searched)

    assert found[1] < 3 * found[0], "quadratic time would be four times as much"


def test_many_described_pods_and_commands_take_linear_time() -> None:
    def steps(repeats: int) -> int:
        text = "Name: x\n" * repeats + "kubectl describe pod a\n0/1 nodes are available: 1 x.\n" * repeats
        count = 0

        def trace(_frame: object, event: str, _argument: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(trace)
        try:
            found_messages(text)
        finally:
            sys.setprofile(None)
        return count

    assert steps(400) < 3 * steps(200)


def test_consecutive_empty_lines_are_read_as_one() -> None:
    text = "\n" * 1000 + "NAME   READY   STATUS    RESTARTS   AGE\nweb    0/1     Pending   0          5m\n" + " \n\t\n\n" * 1000

    assert len(kubectl_tables._lines(text)) < 10
    assert kubectl_tables.command_for(text) == "kubectl describe pod web"


@pytest.mark.parametrize(
    ("text", "pod"),
    [
        ('{"level":"ERROR","message":"Could not schedule pod, incompatible with nodepool \\"default\\", key zone","commit":"17d6c05","pod":"zookeeper-0"}', "default/zookeeper-0"),
        ('2023-07-03T21:13:23Z\tERROR\tcontroller.provisioner\tCould not schedule pod, incompatible with provisioner "default", no{"commit": "6", "pod": "web"}', "default/web"),
        ('{"message":"could not schedule pod","Pod":{"name":"inflate"},"error":"all available instance types exceed limits for nodepool: \\"a\\""}', "default/inflate"),
        (f'I1220 04:51:22.3 1 schedule_one.go:1055] "Unable to schedule pod; no fit; waiting" pod="sts-0" err="{CPU}"', "default/sts-0"),
    ],
)  # fmt: skip
def test_a_name_without_a_namespace_is_a_name(text: str, pod: str) -> None:
    assert [said.pod for said in found_messages(text)] == [pod]


def test_asterisks_in_the_name_of_a_pod_are_kept() -> None:
    [nominated] = found_messages(
        "0s   Normal   Nominated   pod/web-**-1   Pod should schedule on: nodeclaim/a-**, node/ip-**-**-29.ec2.internal (1a)\n"
    )
    assert (nominated.pod, nominated.message) == (
        "default/web-**-1",
        "Pod should schedule on: nodeclaim/a-**, node/ip-**-**-29.ec2.internal (1a)",
    )


def test_the_messages_of_old_releases_name_their_pod() -> None:
    failed = "pod (mongo-1) failed to fit in any node\nfit failure summary on nodes : NoVolumeZoneConflict (3)"
    for before, pod in (
        ("  3m  3m  2  {default-scheduler }  Warning  FailedScheduling  ", "default/mongo-1"),
        ("E0912 21:15:18.306924       5 factory.go:583] Error scheduling db mongo-1: ", "db/mongo-1"),
        (
            "I0912 21:15:18.306917       5 scheduler.go:97] Failed to schedule pod: db/mongo-1\nE0912 21:15:18.306924       5 x] ",
            "db/mongo-1",
        ),
    ):
        assert pod in [said.pod for said in found_messages(before + failed)]
        assert "" not in [said.pod for said in found_messages(before + failed)]


def test_prose_about_a_command_and_placeholders_name_no_pod() -> None:
    said = "Warning  FailedScheduling  37m  default-scheduler  0/2 nodes are available: 2 Insufficient cpu."
    for line in ("kubectl describe pod <server pod> will show the following", "kubectl describe pod then shows me the following events"):
        assert [message.pod for message in found_messages(f"{line}\n\nEvents:\n  {said}\n")] == [""]


def test_a_message_of_the_autoscaler_may_begin_with_a_capital() -> None:
    said = "Pod didn't trigger scale-up: 3 in backoff after failed scale-up"
    assert [message.message for message in found_messages(f"> {said}\n")] == [said]


def test_a_reason_without_its_message_is_one_if_the_text_has_no_other() -> None:
    reason = "1 node(s) had volume node affinity conflict"
    assert [message.message for message in found_messages(f"why?\n{reason} minikube\n\nthanks")] == [f"{reason} minikube"]
    assert [message.message for message in found_messages(f"0/1 nodes are available: 1 Insufficient cpu.\n\nBefore: {reason}")] == [
        "0/1 nodes are available: 1 Insufficient cpu."
    ]
    assert found_messages("3 node(s) were upgraded today, 2 nodes were not") == []
    assert found_messages("the 3 node(s) of the pool") == []


def test_a_description_of_a_volume_or_a_node_names_no_pod() -> None:
    said = "  Warning  FailedScheduling  2m  default-scheduler  0/1 nodes are available: 1 Insufficient cpu.\n"
    for line in ("Reclaim Policy:  Retain", "Roles:  <none>"):
        assert [message.pod for message in found_messages(f"Name:   thing-1\n{line}\n{said}")] == [""]


def test_coscheduling_that_fails_before_the_filters_is_a_message() -> None:
    line = 'E1116 08:24:00.746178       1 coscheduling.go:133] "PreFilter failed" err="pod with pgName: a/b last failed in 3s, deny" pod="a/b-1"'
    assert [(message.pod, message.message) for message in found_messages(line)] == [
        ("a/b-1", "pod with pgName: a/b last failed in 3s, deny")
    ]


EVENTS = (
    "Events:\n  Type     Reason            Age  From               Message\n  ----     ------            ---  ----               -------\n"
    "  Warning  FailedScheduling  34s  default-scheduler  0/3 nodes are available: 3 Insufficient cpu.\n"
    "{others}  Normal   Scheduled         19s  default-scheduler  Successfully assigned shop/web-1 to node-a\n"
)


def test_events_without_the_head_of_a_description_belong_to_the_pod_that_they_place() -> None:
    assert [message.pod for message in found_messages(EVENTS.format(others=""))] == ["shop/web-1"]
    others = "  Normal   Scheduled         20s  default-scheduler  Successfully assigned shop/web-2 to node-b\n"
    assert [message.pod for message in found_messages(EVENTS.format(others=others))] == [""]
    apart = f"0/2 nodes are available: 2 Insufficient memory.\n\n{EVENTS.format(others='')}"
    assert [message.pod for message in found_messages(apart)] == ["", "shop/web-1"]


def test_headings_name_the_pod_of_the_events_below_them() -> None:
    said = "  Warning  FailedScheduling  2m  default-scheduler  0/3 nodes are available: {reason}.\n"
    text = (
        "NAME       READY   STATUS             RESTARTS   AGE\nagent-x    0/2     CrashLoopBackOff   4          4m\n"
        "indexer-0  0/1     Pending            0          2m\n"
        f"--- Description for agent-x ---\n{said.format(reason='3 Insufficient memory')}"
        f"--- Description for indexer-0 ---\n{said.format(reason='3 Insufficient cpu')}"
    )
    assert [message.pod for message in found_messages(text)] == ["default/agent-x", "default/indexer-0"]


def test_a_spawner_and_the_fields_of_a_tool_name_the_pod() -> None:
    said = "0/3 nodes are available: 3 Insufficient memory."
    assert (
        found_messages(f"2026-02-08 [Warning] {said}\nSpawn failed: pod hub/jupyter-a did not start in 600 seconds!")[0].pod
        == "hub/jupyter-a"
    )
    fields = f'"pod_name": "web-1",\n"namespace": "shop",\n"message": "{said}"'
    assert found_messages(f"{{\n{fields}\n}}")[0].pod == "shop/web-1"
    # The pod that wrote a log line is not the one that it is about.
    collected = fields.replace('"namespace"', '"namespace_name"')
    assert found_messages(f"{{\n{collected}\n}}")[0].pod == ""


def test_a_line_of_karpenters_log_that_is_cut_off_has_the_reasons_before_its_end() -> None:
    first = 'incompatible with nodepool \\"x\\", label \\"team\\" does not have known values'
    line = f'{{"level":"ERROR","message":"could not schedule pod","Pod":{{"name":"web","namespace":"shop"}},"error":"{first}'
    said = 'could not schedule pod, incompatible with nodepool "x", label "team" does not have known values'
    table = "NAME   READY   STATUS    RESTARTS   AGE\nweb    0/1     Pending   0          17m\n\n"

    [whole] = found_messages(f'{table}{line}"}}\n')
    assert (whole.pod, whole.message) == ("shop/web", said)
    [cut] = found_messages(f'{table}{line}; incompatible with nodepool \\"y\\", did not tol\n')
    assert (cut.pod, cut.message) == ("shop/web", f"{said}; …")


def test_what_preemption_alone_logs_is_no_message_beside_that_of_the_attempt() -> None:
    status = (
        'I1026 16:21:00.461886  801139 scheduler.go:464] "Status after running PostFilter plugins for pod" pod="shop/web" status=&{code:2 '
        "reasons:[0/1 nodes are available: 1 Preemption is not helpful for scheduling.] err:<nil> failedPlugin:}\n"
    )
    failed = (
        'I1026 16:21:00.461918  801139 factory.go:209] "Unable to schedule pod; no fit; waiting" pod="shop/web" '
        'err="0/1 nodes are available: 1 node(s) did not have enough free storage."\n'
    )
    assert [each.message for each in found_messages(status + failed)] == [
        "0/1 nodes are available: 1 node(s) did not have enough free storage."
    ]
    [alone] = found_messages(status)
    assert alone.pod == "shop/web"


def test_a_runner_of_jobs_names_the_pod_that_it_waits_for() -> None:
    text = (
        '\tUnschedulable: "0/1 nodes are available: 1 Insufficient cpu."\nWaiting for pod ci/runner-a1 to be running, status is Pending\n'
    )
    assert [said.pod for said in found_messages(text)] == ["ci/runner-a1"]


def test_a_claim_that_is_not_bound_needs_no_number_of_nodes() -> None:
    [said] = found_messages("The pod stays pending: pod has unbound immediate PersistentVolumeClaims.")
    assert said.message == "pod has unbound immediate PersistentVolumeClaims."


def test_the_reason_in_the_console_of_gke_is_found() -> None:
    [said] = found_messages("PodUnschedulable Cannot schedule pods: Insufficient memory.")
    assert said.message == "Insufficient memory."


SHORT = "0/2 nodes are available: 2 Insufficient cpu."


@pytest.mark.parametrize(
    ("text", "pod"),
    [
        (f"Warning  FailedScheduling  11m  controller  Reissued from pod/nb-0: {SHORT}\n", "default/nb-0"),
        (f" - deployment/app: {SHORT}\n    - pod/app-1-x: {SHORT}\n", "default/app-1-x"),
        (f"Event log\n[Warning] {SHORT}\nSpawn failed: pod/jupyter-a did not start in 30 seconds!\n", "default/jupyter-a"),
        (
            'Warning  FailedScheduling  9m  s  error while running "VolumeBinding" prebind plugin for pod "db-0": timed out waiting\n',
            "default/db-0",
        ),
        (f"Warning  FailedScheduling  9m  s  {SHORT}, reject the pod task-0 even after PostFilter.\n", "default/task-0"),
        (
            (
                ' "{"level":"ERROR","message":"Could not schedule pod, incompatible with nodepool \\"a\\", label \\"b\\" does not have known '
                'values","commit":"1","pod":"team/web-1"}"\n'
            ),
            "team/web-1",
        ),
    ],
)
def test_the_pod_is_read_from_the_words_around_its_message(text: str, pod: str) -> None:
    assert [said.pod for said in found_messages(text)] == [pod]


def test_of_what_a_runner_of_jobs_repeats_the_last_message_counts() -> None:
    wait = "Waiting for pod ci/runner-1 to be running, status is Pending\n"
    text = f'{wait}\tUnschedulable: "{SHORT}"\n{wait}\tUnschedulable: "0/3 nodes are available: 3 Insufficient memory."\n{wait}'
    assert [(said.pod, said.message) for said in found_messages(text)] == [
        ("ci/runner-1", "0/3 nodes are available: 3 Insufficient memory.")
    ]


@pytest.mark.parametrize(
    ("begin", "at"),
    [
        ("[2025-08-26, 17:14:4{second} PDT] {{pod.py:1027}} ERROR - ", "2025-08-26 17:14:46 PDT"),
        ("[2025-08-26T17:14:4{second}.123+0000] {{pod.py:961}} INFO - ", "2025-08-26 17:14:46 +0000"),
        ("2025-08-26 17:14:4{second},061 WARNING ", "2025-08-26 17:14:46"),
    ],
)
def test_of_the_lines_of_a_program_in_python_the_last_is_the_newest(begin: str, at: str) -> None:
    # https://github.com/apache/airflow/issues/54964
    messages = [f"0/14 nodes are available: {reason}." for reason in ("14 Insufficient cpu", "5 node(s) had untolerated taint {team: a}")]
    log = "".join(f"{begin.format(second=second)}Pod Event: FailedScheduling - {message}\n" for second, message in enumerate(messages, 5))
    found = found_messages(log)
    assert [(each.message, each.at) for each in found][1] == (messages[1], at)
    assert seconds_of_age(found[1].at) < seconds_of_age(found[0].at)
    assert seconds_of_age("2025-13-45 99:99:99") == float("inf")
