import { expect, it } from "vitest";

import { printValue } from "../../../src/model/text/printValue";
import { contributing, scoreDifference } from "../../../src/model/compare/scoreDifference";

it("a missing score counts as 0, and plugins without a difference are left out", () => {
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

it("the values of settings are printed without JSON syntax", () => {
  expect(printValue({ profiles: ["a", "b"], seed: null })).toBe("profiles a, b · seed –");
  expect(printValue([])).toBe("–");
});
