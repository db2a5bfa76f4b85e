import { expect, it } from "vitest";
import { extendedResourceOf } from "../../../src/model/cache/extendedResource";

it("the extended resource of a pod is the first that is neither cpu, memory nor storage", () => {
  const gpu = { resources: { requests: { cpu: "1", "nvidia.com/gpu": "1" } } };

  expect(extendedResourceOf({ spec: { containers: [{}, gpu] } })).toBe("nvidia.com/gpu");
  expect(extendedResourceOf({ spec: { containers: [{ resources: { limits: { "hugepages-2Mi": "4Mi" } } }] } })).toBe("hugepages-2Mi");
  expect(extendedResourceOf({ spec: { containers: [{ resources: { requests: { cpu: "1", "ephemeral-storage": "1Gi" } } }] } })).toBe("");
  expect(extendedResourceOf({})).toBe("");
});
