import { expect, it } from "vitest";

import { printValue } from "../src/model/printValue";
import { contributing, scoreDifference } from "../src/model/scoreDifference";

it("counts a plugin that did not score a node as nothing, and leaves out what does not contribute", () => {
  const pairs = [
    { plugin: "VolumeBinding", a: 0, b: null },
    { plugin: "NodeResourcesBalancedAllocation", a: 93, b: 71 },
    { plugin: "PodTopologySpread", a: 200, b: null },
  ];

  expect(contributing(pairs).map((pair) => [pair.plugin, scoreDifference(pair)])).toEqual([
    ["PodTopologySpread", -200],
    ["NodeResourcesBalancedAllocation", -22],
  ]);
});

it("prints values of settings without JSON", () => {
  expect(printValue({ profiles: ["a", "b"], seed: null })).toBe("profiles a, b · seed –");
  expect(printValue([])).toBe("–");
});
