import numpy as np
import pytest

from schedviz.engine.framework.fit_error import Diagnosis, FitError, NodeToStatusMap
from schedviz.engine.framework.status import SUCCESS, Code, unresolvable, unschedulable
from schedviz.engine.framework.verdicts import Verdicts


def test_reasons_are_counted_and_sorted_as_strings():
    cpu, both = unschedulable("Insufficient cpu"), unschedulable("Insufficient cpu", "Too many pods")
    statuses = {f"n{number}": cpu for number in range(9)} | {"m1": both, "m2": unresolvable("node(s) were unschedulable")}

    message = FitError("default/p", 11, Diagnosis(NodeToStatusMap(statuses))).message

    assert message == "0/11 nodes are available: 1 Too many pods, 1 node(s) were unschedulable, 10 Insufficient cpu."


def test_messages_of_prefilter_and_postfilter_surround_the_reasons():
    diagnosis = Diagnosis(NodeToStatusMap({"n1": unschedulable("Insufficient cpu")}), pre_filter_msg="before", post_filter_msg="after.")

    assert FitError("default/p", 1, diagnosis).message == "0/1 nodes are available: before. 1 Insufficient cpu. after.."


def test_without_any_reason_the_message_ends_at_the_colon():
    assert FitError("default/p", 3, Diagnosis()).message == "0/3 nodes are available:"


CPU, TAINT = unschedulable("Insufficient cpu"), unresolvable("node(s) had untolerated taint")


@pytest.fixture
def searched(world):
    """Five nodes, of which a search of four in the order n3, n4, n0, n1 rejected three."""
    for number in range(5):
        world.node(f"n{number}")
    world.update()
    rows = world.snapshot.rows()
    verdicts = Verdicts(np.array([1, 0, 2, 1], np.int16), (SUCCESS, CPU, TAINT))
    return rows, NodeToStatusMap.of(rows.take(np.array([3, 4, 0, 1, 2])), verdicts)


def test_the_rejections_of_a_search_can_be_counted_and_looked_up(searched):
    _, statuses = searched

    assert len(statuses) == 3
    assert statuses.counts() == [(CPU, 2), (TAINT, 1)]
    assert dict(statuses) == {"n3": CPU, "n0": TAINT, "n1": CPU}
    assert statuses.get("n4") is None
    assert statuses.counts() == [(CPU, 2), (TAINT, 1)], "counted from names after they were read"


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("absent", [False, True])
def test_a_mask_has_the_rows_whose_status_meets_a_condition(searched, by_name, absent):
    rows, statuses = searched
    if by_name:
        statuses = NodeToStatusMap(dict(statuses))

    mask = statuses.mask(rows, lambda status: status.code is Code.UNSCHEDULABLE, absent=absent)

    assert mask.tolist() == [False, True, absent, True, absent]


def test_a_second_search_is_added_to_the_first(searched):
    rows, statuses = searched

    statuses.add(rows, Verdicts(np.array([1, 0, 1, 0, 0], np.int16), (SUCCESS, CPU)))

    assert dict(statuses) == {"n3": CPU, "n0": CPU, "n1": CPU, "n2": CPU}


def test_a_status_can_replace_one_of_a_search(searched):
    _, statuses = searched

    statuses["n0"] = CPU

    assert statuses.counts() == [(CPU, 3)]
