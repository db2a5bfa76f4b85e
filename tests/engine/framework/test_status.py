from schedviz.engine.framework.status import SUCCESS, Code, Status, StatusError, as_status, unresolvable, unschedulable, wrapped


def test_message_joins_reasons_and_the_error_comes_first():
    status = Status(Code.ERROR, ("second", "third"), StatusError("first"))

    assert status.reasons == ("first", "second", "third")
    assert status.message == "first, second, third"


def test_success_wait_and_skip_are_no_errors():
    for code in (Code.SUCCESS, Code.WAIT, Code.SKIP):
        assert Status(code, ("why",)).as_error() is None
    assert unschedulable("a", "b").as_error() == StatusError("a, b")


def test_unschedulable_covers_both_codes():
    assert unschedulable("a").is_unschedulable
    assert unresolvable("a").is_unschedulable
    assert not as_status("a").is_unschedulable
    assert not SUCCESS.is_unschedulable


def test_wrapping_keeps_the_missing_object():
    status = wrapped("running Reserve plugin", as_status(StatusError('nodes "n1" not found', "nodes", "n1")))

    assert status.message == 'running Reserve plugin: nodes "n1" not found'
    assert status.error is not None
    assert (status.error.not_found_kind, status.error.not_found_name) == ("nodes", "n1")


def test_codes_are_written_as_upstream_writes_them():
    assert [code.value for code in Code] == ["Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip", "Pending"]
