"""A keyed heap whose array equals that of Go's container/heap.

Python's `heapq` sifts differently, so pods of equal priority would leave in another order, and the array on the page would differ.

Upstream: internal/heap/heap.go Heap, over container/heap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Heap(Generic[T]):
    """A heap of objects with keys; `less(a, b)`: a leaves before b."""

    def __init__(self, key: Callable[[T], str], less: Callable[[T, T], bool]) -> None:
        self._key = key
        #: Whether the first object leaves before the second.
        self.less = less
        #: The heap's array. The first leaves next.
        self._array: list[T] = []
        #: Key -> position in the array.
        self._index: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._array)

    def __contains__(self, key: str) -> bool:
        return key in self._index

    def __iter__(self) -> Iterator[T]:
        """The objects in the order of the array."""
        return iter(self._array)

    @property
    def is_in_order(self) -> bool:
        """Whether every object is ordered after its parent in the array."""
        array = self._array
        return not any(self.less(array[index], array[(index - 1) // 2]) for index in range(1, len(array)))

    def load(self, array: Iterable[T]) -> None:
        """Load the array of another heap with the same order."""
        self._array = list(array)
        self._index = {self._key(item): index for index, item in enumerate(self._array)}

    def get(self, key: str) -> T | None:
        """The object with this key."""
        index = self._index.get(key)
        return None if index is None else self._array[index]

    def peek(self) -> T | None:
        """The object that leaves next; it stays in the heap."""
        return self._array[0] if self._array else None

    def add(self, item: T) -> None:
        """Insert an object, or replace the one with its key and restore the order."""
        key = self._key(item)
        index = self._index.get(key)
        if index is None:
            self._index[key] = len(self._array)
            self._array.append(item)
            self._up(len(self._array) - 1)
        else:
            self._array[index] = item
            self._fix(index)

    def pop(self) -> T:
        """Remove and return the object that leaves next. Raises IndexError if the heap is empty."""
        if not self._array:
            raise IndexError("pop from an empty heap")
        last = len(self._array) - 1
        self._swap(0, last)
        self._down(0, last)
        return self._drop_last()

    def delete(self, key: str) -> T | None:
        """Remove and return the object with this key; None: there is none."""
        index = self._index.get(key)
        if index is None:
            return None
        last = len(self._array) - 1
        if last != index:
            self._swap(index, last)
            if not self._down(index, last):
                self._up(index)
        return self._drop_last()

    def in_pop_order(self) -> list[T]:
        """The objects in the order in which they would leave. The heap does not change."""
        copy: Heap[T] = Heap(self._key, self.less)
        copy.load(self._array)
        return [copy.pop() for _ in range(len(copy))]

    def _drop_last(self) -> T:
        item = self._array.pop()
        del self._index[self._key(item)]
        return item

    def _swap(self, i: int, j: int) -> None:
        array = self._array
        array[i], array[j] = array[j], array[i]
        self._index[self._key(array[i])] = i
        self._index[self._key(array[j])] = j

    def _fix(self, index: int) -> None:
        if not self._down(index, len(self._array)):
            self._up(index)

    def _up(self, index: int) -> None:
        array, less = self._array, self.less
        while index > 0:
            parent = (index - 1) // 2
            if not less(array[index], array[parent]):
                break
            self._swap(parent, index)
            index = parent

    def _down(self, start: int, end: int) -> bool:
        """Sink the object at `start` within array[:end]. True: it moved.

        Go swaps at each level. Moving the others up and placing this one at the end gives the same array with half of the writes.
        """
        array, index, key, less = self._array, self._index, self._key, self.less
        place, item = start, array[start]
        while (left := 2 * place + 1) < end:
            child = left
            if (right := left + 1) < end and less(array[right], array[left]):
                child = right
            other = array[child]
            if not less(other, item):
                break
            array[place] = other
            index[key(other)] = place
            place = child
        if place == start:
            return False
        array[place] = item
        index[key(item)] = place
        return True
