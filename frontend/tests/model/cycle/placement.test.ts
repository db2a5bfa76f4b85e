import { expect, it } from "vitest";

import type { CycleView } from "../../../src/model/generated";
import { placementWithoutCycle, rejectionsOf, type Origin } from "../../../src/model/cycle/placement";

const origin: Origin = { isClusterImport: false, isFollowing: false, isFromStart: true, firstEvent: 0 };

it.each([
  ["dump", { isClusterImport: true }],
  ["start", {}],
  ["cluster", { isFollowing: true, isClusterImport: true }],
  ["nodeName", { isFromStart: false, isClusterImport: true }],
  ["deletedHistory", { firstEvent: 12 }],
] as const)("a pod that no recorded cycle placed came to its node by: %s", (by, known) => {
  expect(placementWithoutCycle({ ...origin, ...known })).toEqual({ by });
});

it("rejectionsOf sums the rejections of each Filter plugin, the largest first", () => {
  const rejection = (plugin: string, nodes: number) => ({ plugin, code: "Unschedulable", reasons: ["no"], nodes, first: [] });
  const cycle = { cycle: 1, pod: "a/b", stages: [{ stage: "Filter", rejections: [rejection("A", 1), rejection("B", 2)] }, { stage: "Filter", rejections: [rejection("A", 3)] }] };

  expect(rejectionsOf(cycle as CycleView).map(({ plugin, nodes }) => [plugin, nodes])).toEqual([["A", 4], ["B", 2]]);
});
