import { describe, expect, it } from "vitest";

import { itemOf, State } from "../../../src/model/state/state";
import { NodeOrder } from "../../../src/model/cache/nodeOrder";
import { simpleView } from "../../../src/views/cache/cacheView";
import { shortStatesOf, statesOf } from "../../../src/views/cache/nodeStates";

const node = (taints: string[], unschedulable = false): ReturnType<typeof itemOf> => itemOf({ name: "n", hasNode: true, taints, unschedulable });

describe("the states of a node", () => {
  it("are its taints in full, and whether it is a ghost", () => {
    expect(statesOf(node(["dedicated=gpu:NoSchedule", "old:PreferNoSchedule"]))).toEqual(["dedicated=gpu:NoSchedule", "old:PreferNoSchedule"]);
    expect(statesOf(itemOf({ name: "n" }))).toEqual(["deleted, pods remain"]);
    expect(statesOf(node([]))).toEqual([]);
  });

  it("of a cordoned node leave out the taint that cordoning adds", () => {
    expect(statesOf(node(["node.kubernetes.io/unschedulable:NoSchedule"], true))).toEqual(["cordoned"]);
  });
});

describe("the states on a card", () => {
  it.each([
    [["dedicated=gpu:NoSchedule"], false, ["dedicated=gpu", "tainted"]],
    [["example.com/team=db:NoExecute"], false, ["team=db", "tainted"]],
    [["node.kubernetes.io/not-ready:NoExecute"], false, ["not ready", "tainted"]],
    [["a:NoSchedule", "b:NoSchedule"], false, ["a +1", "tainted"]],
    [["node.kubernetes.io/unschedulable:NoSchedule"], true, ["cordoned", "cordoned"]],
    [["dedicated=gpu:NoSchedule"], true, ["cordoned +1", "cordoned"]],
    [["slow:PreferNoSchedule"], false, []],
    [[], false, []],
  ])("of %j, cordoned: %s", (taints, cordoned, words) => {
    expect(shortStatesOf(node(taints, cordoned))).toEqual(words);
  });
});

it("the simple view lists nodes by name, without the waterline", () => {
  const state = new State();
  state.list.load(["node-10", "node-2", "gpu-1"].map((name) => itemOf({ name, generation: 1, hasNode: true })));

  expect(simpleView(state, new NodeOrder())).toMatchObject({ items: [{ name: "gpu-1" }, { name: "node-2" }, { name: "node-10" }], waterlineAfter: null, ahead: 0 });
});
