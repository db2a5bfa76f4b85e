"""The heap's array equals container/heap's."""

from hypothesis import given
from hypothesis import strategies as st

from schedviz.trace.heap import Heap


def heap_of(*ranks: int) -> Heap[tuple[str, int]]:
    """Items named by their order of insertion, with these priorities."""
    heap: Heap[tuple[str, int]] = Heap(lambda item: item[0], lambda first, second: first[1] < second[1])
    for number, rank in enumerate(ranks):
        heap.add((str(number), rank))
    return heap


def ranks(heap: Heap[tuple[str, int]]) -> list[int]:
    return [rank for _, rank in heap]


def test_a_push_sifts_up() -> None:
    assert ranks(heap_of(5, 4, 3, 2, 1)) == [1, 2, 4, 5, 3]


def test_a_pop_swaps_the_last_to_the_root_and_sifts_down() -> None:
    heap = heap_of(5, 4, 3, 2, 1)

    assert heap.pop() == ("4", 1)
    assert ranks(heap) == [2, 3, 4, 5]


def test_equal_ranks_are_popped_in_the_order_of_container_heap_and_not_of_arrival() -> None:
    heap = heap_of(0, 0, 0, 0)

    assert [heap.pop()[0] for _ in range(4)] == ["0", "3", "2", "1"]


def test_a_removal_from_the_middle_may_sift_up() -> None:
    heap = heap_of()
    heap.load([("a", 1), ("b", 10), ("c", 2), ("d", 11), ("e", 12), ("f", 3), ("g", 4)])

    heap.delete("d")

    assert list(heap) == [("a", 1), ("g", 4), ("c", 2), ("b", 10), ("e", 12), ("f", 3)]


def test_adding_a_key_again_replaces_the_item_in_its_place() -> None:
    heap = heap_of(1, 2, 3)

    heap.add(("2", 0))

    assert list(heap) == [("2", 0), ("1", 2), ("0", 1)]
    assert heap.get("2") == ("2", 0)


def test_a_missing_key_is_not_found() -> None:
    heap = heap_of()

    assert heap.peek() is None
    assert heap.get("x") is None
    assert heap.delete("x") is None
    assert "x" not in heap


@given(st.lists(st.tuples(st.sampled_from(["add", "pop", "delete"]), st.integers(0, 9), st.integers(0, 5))))
def test_random_operations_preserve_the_heap_property(calls: list[tuple[str, int, int]]) -> None:
    heap = heap_of()
    for call, key, rank in calls:
        if call == "add":
            heap.add((str(key), rank))
        elif call == "delete":
            heap.delete(str(key))
        elif len(heap):
            least = min(ranks(heap))
            assert heap.pop()[1] == least
        array = list(heap)
        assert all(array[(place - 1) // 2][1] <= array[place][1] for place in range(1, len(array)))
        assert all(heap.get(key) == (key, rank) for key, rank in array)
        assert [rank for _, rank in heap.in_pop_order()] == sorted(ranks(heap))
