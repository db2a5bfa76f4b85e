import { describe, expect, it } from "vitest";

import { NodeList } from "../../../src/model/state/nodeList";
import { itemOf } from "../../../src/model/state/state";

const names = (list: NodeList): string[] => list.toArray().map((item) => item.name);
const listOf = (...order: string[]): NodeList => {
  const list = new NodeList();
  list.load(order.map((name) => itemOf({ name })));
  return list;
};

describe("the linked list", () => {
  it("begins with headNode", () => {
    const list = listOf("a", "b", "c");
    expect(names(list)).toEqual(["a", "b", "c"]);
    expect(list.headNode?.name).toBe("a");
  });

  it("moves a changed item to the head, from anywhere", () => {
    const list = listOf("a", "b", "c");
    list.toHead(itemOf({ name: "c", generation: 9 }));
    list.toHead(itemOf({ name: "b", generation: 10 }));
    list.toHead(itemOf({ name: "b", generation: 11 }));
    expect(names(list)).toEqual(["b", "c", "a"]);
    expect(list.get("b")?.generation).toBe(11);
  });

  it("gets new items at the head and loses removed ones", () => {
    const list = listOf("a", "b");
    list.toHead(itemOf({ name: "new" }));
    list.remove("a");
    list.remove("nobody");
    expect(names(list)).toEqual(["new", "b"]);
    list.remove("new");
    list.remove("b");
    expect(list.headNode).toBeNull();
  });

  it("has each of 5,000 nodes once after many moves, the last one moved first", () => {
    const list = listOf(...Array.from({ length: 5000 }, (_, i) => `node-${i}`));
    for (let i = 0; i < 50_000; i++) list.toHead(itemOf({ name: `node-${(i * 7919) % 5000}` }));
    expect(list.size).toBe(5000);
    expect(new Set(names(list)).size).toBe(5000);
    expect(names(list)[0]).toBe(`node-${(49_999 * 7919) % 5000}`);
  });
});
