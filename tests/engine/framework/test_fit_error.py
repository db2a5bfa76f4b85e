from schedviz.engine.framework.fit_error import Diagnosis, FitError
from schedviz.engine.framework.status import unresolvable, unschedulable


def test_reasons_are_counted_and_sorted_as_strings():
    cpu, both = unschedulable("Insufficient cpu"), unschedulable("Insufficient cpu", "Too many pods")
    statuses = {f"n{number}": cpu for number in range(9)} | {"m1": both, "m2": unresolvable("node(s) were unschedulable")}

    message = FitError("default/p", 11, Diagnosis(statuses)).message

    assert message == "0/11 nodes are available: 1 Too many pods, 1 node(s) were unschedulable, 10 Insufficient cpu."


def test_messages_of_prefilter_and_postfilter_surround_the_reasons():
    diagnosis = Diagnosis({"n1": unschedulable("Insufficient cpu")}, pre_filter_msg="before", post_filter_msg="after.")

    assert FitError("default/p", 1, diagnosis).message == "0/1 nodes are available: before. 1 Insufficient cpu. after.."


def test_without_any_reason_the_message_ends_at_the_colon():
    assert FitError("default/p", 3, Diagnosis()).message == "0/3 nodes are available:"
