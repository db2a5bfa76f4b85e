import { expect, it } from "vitest";

import { becauseInWords } from "../../../src/views/cycle/becauseInWords";
import type { CycleView, View } from "../../../src/model/generated";

/** A cycle that chose n3 before n1, by the weighted scores of both. */
function cycle(scores: Record<string, [number, number]>): CycleView {
  const scored = (node: string, which: 0 | 1): NonNullable<CycleView["winner"]> => ({
    node,
    total: Object.values(scores).reduce((sum, pair) => sum + pair[which], 0),
    scores: Object.entries(scores).map(([plugin, pair]) => ({ plugin, raw: 0, normalized: 0, weight: 1, weighted: pair[which] })),
  });
  return { cycle: 1, pod: "default/p", node: "n3", winner: scored("n3", 0), runnerUp: scored("n1", 1) };
}

const FIT = { NodeResourcesFit: [81, 68], ImageLocality: [3, 0] } as Record<string, [number, number]>;
const packing: View["config"] = { profiles: [{ pluginConfig: [{ name: "NodeResourcesFit", args: { scoringStrategy: { type: "MostAllocated" } } }] }] };

it("explains the plugin with the largest lead, with both scores", () => {
  expect(becauseInWords(cycle(FIT), null)).toBe(", mainly because n3 has a larger share of its CPU and memory free (NodeResourcesFit: 81 vs. 68).");
  expect(becauseInWords(cycle({ ...FIT, ImageLocality: [40, 0] }), null)).toContain("n3 already has more of the pod’s images (ImageLocality: 40 vs. 0)");
});

it("follows the configured scoring strategy", () => {
  expect(becauseInWords(cycle(FIT), packing)).toContain("n3 has a larger share of its CPU and memory in use");
});

it("names custom plugins without an explanation", () => {
  expect(becauseInWords(cycle({ MyScore: [9, 1] }), null)).toBe(", because of MyScore.");
  expect(becauseInWords(cycle({ MyScore: [9, 1], ImageLocality: [8, 0] }), null)).toBe(", because of MyScore, ImageLocality.");
  expect(becauseInWords(cycle({ TaintToleration: [9, 9] }), null)).toBe(".");
});

it("explains all plugins with the largest lead, and says “mainly” only if others contribute", () => {
  expect(becauseInWords(cycle({ TaintToleration: [9, 1], NodeAffinity: [8, 0], ImageLocality: [5, 5] }), null)).toBe(
    ", because n3 has fewer PreferNoSchedule taints that the pod does not tolerate (TaintToleration: 9 vs. 1), and n3 matches the pod’s preferred node affinity better (NodeAffinity: 8 vs. 0).",
  );
  expect(becauseInWords(cycle({ TaintToleration: [9, 1], ImageLocality: [4, 5] }), null)).toContain(", mainly because n3 has fewer");
});
