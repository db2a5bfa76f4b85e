import msgspec
import pytest

from schedviz.engine.framework.cycle_state import CycleState, NotFoundError, StateKey


class Counter(msgspec.Struct):
    count: int = 0

    def clone(self) -> "Counter":
        return Counter(self.count)


COUNTER = StateKey("TestCounter", Counter)


def test_reading_an_unwritten_key_raises_not_found():
    with pytest.raises(NotFoundError, match=r"^not found$"):
        CycleState().read(COUNTER)


def test_a_clone_changes_independently():
    state = CycleState()
    state.write(COUNTER, Counter(1))
    state.skip_filter_plugins = frozenset({"A"})

    copy = state.clone()
    copy.read(COUNTER).count = 2

    assert state.read(COUNTER).count == 1
    assert copy.skip_filter_plugins == {"A"}


def test_a_state_survives_a_checkpoint():
    state = CycleState()
    state.write(COUNTER, Counter(7))
    state.skip_filter_plugins = frozenset({"B", "A"})

    again = CycleState.from_state(msgspec.msgpack.decode(msgspec.msgpack.encode(state.to_state())))

    assert again.read(COUNTER) == Counter(7)
    assert again.skip_filter_plugins == {"A", "B"}
    assert COUNTER in again


def test_two_kinds_of_state_cannot_share_a_name():
    with pytest.raises(ValueError, match="TestCounter"):
        StateKey("TestCounter", Counter)
