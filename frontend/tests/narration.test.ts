import { expect, it } from "vitest";

import type { CycleView, PodGroupCycleView } from "../src/model/generated";
import type { Scope } from "../src/store/scope.svelte";
import { narrationOf } from "../src/views/narration";

/** What is narrated of a scope in steps of whole cycles. */
function narrated(cycle: Partial<CycleView>, podGroup: Partial<PodGroupCycleView> | null = null): string {
  return narrationOf({ reading: { cycle: { cycle: 7, pod: "default/p", ...cycle }, podGroup }, playback: { unit: "cycle" }, lastEvent: null } as unknown as Scope);
}

it("counts the nodes that rejected a pod, and says if there are none", () => {
  const outcome = "unschedulable";

  expect(narrated({ outcome, allNodes: 4 })).toBe("Cycle 7: p is unschedulable: all 4 nodes were rejected");
  expect(narrated({ outcome, allNodes: 1 })).toBe("Cycle 7: p is unschedulable: the only node was rejected");
  expect(narrated({ outcome, allNodes: 0 })).toBe("Cycle 7: p is unschedulable, because there are no nodes");
});

it("tells what became of a pod group instead of its last pod", () => {
  const pods = [{ pod: "default/a", node: "n1" }, { pod: "default/b" }];

  expect(narrated({}, { group: "default/g", pods })).toBe("Pod group g: 1 of 2 pods have a node so far");
  expect(narrated({}, { group: "default/g", pods, outcome: "unschedulable" })).toBe("Pod group g is unschedulable: only 1 of 2 pods found a node");
  expect(narrated({}, { group: "default/g", pods: [pods[0]!], outcome: "scheduled" })).toBe("Pod group g is scheduled: 1 of 1 pods have a node");
});
