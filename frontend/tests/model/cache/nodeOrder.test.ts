import { describe, expect, it } from "vitest";

import { NodeOrder } from "../../../src/model/cache/nodeOrder";

const nodes = (...names: string[]): { name: string }[] => names.map((name) => ({ name }));
const namesOf = (sorted: { name: string }[]): string => sorted.map(({ name }) => name).join(" ");

describe("the order of nodes on a page", () => {
  it("is that of their names, with nodes that the page added at the end", () => {
    expect(namesOf(new NodeOrder().sorted(nodes("node-10", "added-1", "node-2")))).toBe("node-2 node-10 added-1");
  });

  it("does not change when a node comes, goes and comes back", () => {
    const order = new NodeOrder();
    order.sorted(nodes("node-1", "node-2"));
    expect(namesOf(order.sorted(nodes("a-late-one", "node-1", "node-2")))).toBe("node-1 node-2 a-late-one");
    expect(namesOf(order.sorted(nodes("node-2", "a-late-one")))).toBe("node-2 a-late-one");
    expect(namesOf(order.sorted(nodes("node-2", "node-1", "a-late-one")))).toBe("node-1 node-2 a-late-one");
  });
});
