"""The pods about which a text says the same are one group, with their newest messages and the earlier ones."""

from __future__ import annotations

from schedviz.explain.messages.message import parse_message
from schedviz.explain.messages.parsed_message import ParsedMessage
from schedviz.explain.pasted.pod_answer import PodAnswer
from schedviz.explain.pasted.pod_groups import PodGroup, pod_groups, pods_alike
from schedviz.explain.pasted.text_reading import TextReading
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.trace.phrase import phrase

CPU = "0/9 nodes are available: 9 Insufficient cpu."
MEMORY = "0/9 nodes are available: 9 Insufficient memory."
KUBELET = 'MountVolume.SetUp failed for volume "config": configmap "settings" not found'
KUEUE = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, 2 more needed"
NO_SCALE_UP = "pod didn't trigger scale-up: 1 max node group size reached"


def said(pod: str, at: str, text: str) -> ParsedMessage:
    return ParsedMessage(pod, at, text, parse_message(text))


def groups_of(*messages: ParsedMessage, answers: tuple[PodAnswer, ...] = ()) -> tuple[PodGroup, ...]:
    return pod_groups(TextReading(messages, answers), seconds_of_age)


def places(group: PodGroup) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    return group.latest, group.beside, group.earlier


def test_the_newest_message_of_a_pod_leads_whatever_the_order_and_the_form_of_the_times() -> None:
    for times in (
        ("30m ago", "29m ago", "4d16h ago"),
        ("2026-03-10T10:00:00Z", "2026-03-10T10:12:00Z", "2026-03-09T23:00:00Z"),
        ("11-26 02:51:07", "11-26 02:51:08", "11-25 23:00:00"),
        ("2026-03-10 23:24:22 PDT", "2026-03-10 23:24:23 PDT", "2026-03-09 23:59:59 PDT"),
    ):
        messages = [said("shop/web", at, f"0/{nodes} nodes are available: {nodes} Insufficient cpu.") for nodes, at in enumerate(times, 7)]
        [group] = groups_of(*messages)
        assert (group.pods, places(group)) == (("shop/web",), (1, (), (0, 2)))


def test_the_messages_of_other_writers_are_beside_the_schedulers_newest() -> None:
    for other, writer in ((NO_SCALE_UP, "cluster-autoscaler"), (KUBELET, "kubelet"), (KUEUE, "kueue")):
        messages = (
            said("a/b", "20m ago", MEMORY),
            said("a/b", "9m ago", f"{other}, 5 others"),
            said("a/b", "7m ago", CPU),
            said("a/b", "2m ago", other),
        )
        assert messages[3].writer == writer
        [group] = groups_of(*messages)
        assert places(group) == (2, (3,), (1, 0))


def test_the_message_of_a_scheduler_of_groups_leads_like_the_schedulers() -> None:
    gang = "3/3 tasks in gang unschedulable: pod group is not ready, 3 minAvailable, 3 Pending; Pending: 3 Unschedulable"
    refused = PodAnswer.of("a/b", "pending", phrase("The cluster autoscaler did not add a node."))
    [group] = groups_of(said("a/b", "3m ago", gang), said("a/b", "2m ago", NO_SCALE_UP), answers=(refused,))
    assert (places(group), group.quoted) == ((0, (1,), ()), (1,))


def test_a_message_of_another_writer_leads_if_the_scheduler_has_none() -> None:
    [group] = groups_of(said("a/b", "2m ago", NO_SCALE_UP))
    assert places(group) == (0, (), ())


def test_pods_with_equal_newest_messages_are_one_group_unless_one_of_them_has_a_node() -> None:
    messages = (said("a/one", "2m ago", CPU), said("a/two", "9h ago", CPU), said("a/three", "", MEMORY))
    placed = PodAnswer.of("a/two", "scheduled", phrase("The pod is already scheduled to `{node}`.", node="n1"))

    assert [group.pods for group in groups_of(*messages)] == [("a/one", "a/two"), ("a/three",)]
    groups = groups_of(*messages, answers=(placed,))
    assert [(group.pods, group.is_over) for group in groups] == [(("a/one",), False), (("a/two",), True), (("a/three",), False)]


def test_pods_of_a_replica_set_are_one_group_if_their_messages_have_the_same_reasons() -> None:
    names = ("a/web-5f8b56c8fc-6296k", "a/web-5f8b56c8fc-x9zqw", "a/web-5f8b56c8fc-b4d7m", "a/api-77d9c6b5f4-2bcdf")
    texts = (CPU, CPU.replace("9", "8"), MEMORY, CPU.replace("9", "7"))
    groups = groups_of(*(said(name, "", text) for name, text in zip(names, texts, strict=True)))

    assert [group.pods for group in groups] == [names[:2], names[2:3], names[3:]]
    assert [group.others for group in groups] == [(1,), (), ()]
    assert pods_alike(names[1], groups) == [names[1], names[0]]
    assert pods_alike("", groups) == []


def test_the_generated_names_in_an_autoscalers_reasons_do_not_separate_the_pods_of_a_replica_set() -> None:
    texts = [f"Pod should schedule on: nodeclaim/default-{end}" for end in ("x7k2p", "b4d7m")]
    [group] = groups_of(*(said(f"a/web-5f8b56c8fc-{end}", "", text) for end, text in zip(("6296k", "x9zqw"), texts, strict=True)))
    assert (len(group.pods), group.others) == (2, (1,))


def test_node_claims_are_not_grouped_like_the_pods_of_a_replica_set() -> None:
    text = "NodeClaim gpu-g5-4-{}: insufficient capacity, all requested instance types were unavailable during launch"
    assert len(groups_of(*(said(f"nodeclaim/gpu-g5-4-{end}", "", text.format(end)) for end in ("kpxk7", "5rnc5")))) == 2


def test_equal_earlier_messages_are_listed_once() -> None:
    messages = [said(pod, at, text) for pod in ("a/one", "a/two") for at, text in (("1m ago", CPU), ("5m ago", MEMORY))]
    [group] = groups_of(*messages)
    assert places(group) == (0, (), (1,))


def test_messages_that_name_no_pod_are_of_one_pod_if_they_have_ages_or_different_writers() -> None:
    assert len(groups_of(said("", "30m ago", CPU), said("", "29m ago", MEMORY))) == 1
    assert len(groups_of(said("", "", CPU), said("", "", MEMORY))) == 2
    [group] = groups_of(said("", "", CPU), said("", "", NO_SCALE_UP))
    assert (group.pods, places(group)) == ((), (0, (1,), ()))
    assert len(groups_of(said("", "", CPU), said("", "", MEMORY), said("", "", NO_SCALE_UP))) == 3


def test_an_answer_about_messages_that_name_no_pod_is_given_once() -> None:
    answer = PodAnswer.of("", "pending", phrase("The pod is waiting."))
    assert [group.answer for group in groups_of(said("", "", CPU), said("", "", MEMORY), answers=(answer,))] == [0, None]


def test_messages_whose_meaning_the_answer_says_and_those_that_no_longer_apply_are_quoted() -> None:
    messages = (said("a/b", "2m ago", CPU), said("a/b", "1m ago", NO_SCALE_UP))
    silent = PodAnswer.of("a/b", "pending", None)
    refused = PodAnswer.of("a/b", "pending", phrase("The cluster autoscaler did not add a node."))
    over = PodAnswer.of("a/b", "deleted", phrase("The pod was deleted."))

    found = [groups_of(*messages, answers=answers)[0] for answers in ((), (silent,), (silent, refused), (over,))]

    assert [(group.answer, group.is_over, places(group), group.quoted) for group in found] == [
        (None, False, (0, (1,), ()), ()),
        (0, False, (0, (1,), ()), ()),
        (1, False, (0, (1,), ()), (1,)),
        (0, True, (0, (), (1,)), (0,)),
    ]
