import { describe, expect, it } from "vitest";

import { KeyedHeap } from "../../../src/model/state/heap";

interface Entry {
  key: string;
  rank: number;
}

const heapOf = (ranks: number[]): KeyedHeap<Entry> => {
  const heap = new KeyedHeap<Entry>(
    (entry) => entry.key,
    (a, b) => a.rank < b.rank,
  );
  ranks.forEach((rank, i) => {
    heap.add({ key: `k${i}`, rank });
  });
  return heap;
};

describe("the heap", () => {
  it("lays out its array as container/heap does", () => {
    expect(heapOf([5, 3, 4, 1, 2]).array.map((entry) => entry.rank)).toEqual([1, 2, 4, 5, 3]);
  });

  it("returns its items in pop order without changing", () => {
    const heap = heapOf([5, 3, 4, 1, 2]);
    expect(heap.inPopOrder().map((entry) => entry.rank)).toEqual([1, 2, 3, 4, 5]);
    expect(heap.inPopOrder(2).map((entry) => entry.rank)).toEqual([1, 2]);
    expect(heap.size).toBe(5);
  });

  it("keeps its order when an item is removed from the middle", () => {
    const heap = heapOf([1, 5, 2, 9, 6, 3, 4]);
    expect(heap.remove("k3")?.rank).toBe(9);
    expect(heap.remove("k3")).toBeUndefined();
    expect(heap.inPopOrder().map((entry) => entry.rank)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("moves an item that is added again with another rank", () => {
    const heap = heapOf([1, 2, 3]);
    heap.add({ key: "k2", rank: 0 });
    expect(heap.size).toBe(3);
    expect(heap.pop()).toEqual({ key: "k2", rank: 0 });
  });
});
