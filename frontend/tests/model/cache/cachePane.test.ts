import { describe, expect, it } from "vitest";

import type { CachePod } from "../../../src/model/generated";
import { memberValues, podValues } from "../../../src/model/cache/nodeDifferences";
import { nodeFilter } from "../../../src/model/cache/nodeFilter";
import { transitionsOf } from "../../../src/model/cache/podTransitions";
import { itemOf, State } from "../../../src/model/state/state";
import { listView } from "../../../src/views/cache/cacheView";

const operation = (event: number, op: CachePod["op"]): CachePod => ({ t: "cachePod", event, at: event, op, pod: "default/p", uid: "u" });

describe("transitionsOf", () => {
  it("leads from Initial through Assumed to Added, and FinishBinding does not change the state", () => {
    const path = transitionsOf([operation(1, "assume"), operation(2, "finishBinding"), operation(3, "add"), operation(4, "remove")], "default/p");
    expect(path.map(({ from, to }) => `${from}>${to}`)).toEqual(["Initial>Assumed", "Assumed>Assumed", "Assumed>Added", "Added>Deleted"]);
  });

  it("infers the first state from the first known operation", () => {
    expect(transitionsOf([operation(7, "forget")], "default/p")).toMatchObject([{ from: "Assumed", to: "Initial" }]);
  });

  it("starts again at Initial after a deletion", () => {
    expect(transitionsOf([operation(1, "remove"), operation(2, "assume")], "default/p")[1]).toMatchObject({ from: "Initial", to: "Assumed" });
  });
});

describe("a NodeInfo in cache and snapshot", () => {
  const snapshot = itemOf({ name: "n", generation: 4, hasNode: true, podOrder: ["default/a"] });
  const cache = itemOf({ name: "n", generation: 5, hasNode: true, podOrder: ["default/a", "default/b"] });

  it("has its differing members and pods marked", () => {
    const differing = memberValues(cache, snapshot).filter((member) => member.differs);
    expect(differing.map((member) => member.name)).toEqual(["Generation", "Pods"]);
    expect(podValues(cache, snapshot)).toContainEqual({ pod: "default/b", inCache: true, inSnapshot: false });
  });

  it("has no snapshot values if the snapshot lacks the node", () => {
    expect(memberValues(cache, null).every((member) => member.snapshot === null && member.differs)).toBe(true);
  });
});

describe("the node filter", () => {
  const node = itemOf({ name: "node-7", hasNode: true, taints: ["gpu:NoSchedule"], zone: "region-1:\u0000:zone-b", podOrder: ["default/web-1"] });
  const ghost = itemOf({ name: "gone", podOrder: ["default/api-1"] });
  const facts = {
    selectedBy: (selector: string) => (selector === "tier=web" ? new Set(["gone"]) : undefined),
    pluginOf: (name: string) => (name === "node-7" ? "TaintToleration" : undefined),
  };
  const passes = (text: string): string[] => [node, ghost].filter(nodeFilter(text, facts) ?? (() => true)).map((item) => item.name);

  it.each([
    ["zone:zone-b", ["node-7"]],
    ["pod:web", ["node-7"]],
    ["label:tier=web", ["gone"]],
    ["label:unknown", []],
    ["plugin:taint", ["node-7"]],
    ["is:deleted", ["gone"]],
    ["is:ghost", ["gone"]],
    ["is:tainted", ["node-7"]],
    ["node zone:b", ["node-7"]],
    ["NODE", ["node-7"]],
    ["is:nothing", []],
    ["  ", ["node-7", "gone"]],
  ])("%j keeps %j", (text, kept) => {
    expect(passes(text)).toEqual(kept);
  });
});

describe("the counts of ahead, visited and untouched items", () => {
  const stateOf = (visited: string[], items: [string, number][], generation: number): State => {
    const state = new State();
    state.list.load(items.map(([name, at]) => itemOf({ name, generation: at, hasNode: true })));
    state.snapshot.generation = generation;
    state.lastWalk = { event: 1, visited: new Set(visited), cloned: new Set() };
    return state;
  };

  it.each([
    ["a visited item that has changed since counts once, as ahead", ["a"], [["a", 5], ["b", 2], ["c", 1]], { ahead: 1, visited: 0, untouched: 2, waterlineAfter: 0 }],
    ["another item that has changed since", ["b"], [["a", 5], ["b", 4], ["c", 1]], { ahead: 1, visited: 1, untouched: 1, waterlineAfter: 1 }],
    ["a visited item that was removed since", ["gone", "b"], [["b", 4], ["c", 1]], { ahead: 0, visited: 1, untouched: 1, waterlineAfter: 0 }],
    ["nothing visited", [], [["a", 2], ["b", 1]], { ahead: 0, visited: 0, untouched: 2, waterlineAfter: -1 }],
  ] as const)("add up to the length of the list: %s", (_, visited, items, expected) => {
    const list = listView(stateOf([...visited], items.map(([name, at]): [string, number] => [name, at]), 4));
    expect(list).toMatchObject(expected);
    expect(list.ahead + list.visited + list.untouched).toBe(items.length);
  });
});
