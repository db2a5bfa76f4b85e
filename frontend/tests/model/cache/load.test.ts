import { describe, expect, it } from "vitest";

import { LOAD_CLASSES, loadClass, loadOf } from "../../../src/model/cache/load";
import { NOTHING } from "../../../src/model/state/nodeList";
import { amountTexts } from "../../../src/model/text/quantity";
import { itemOf } from "../../../src/model/state/state";
import { STATUS_CODES } from "../../../src/model/cycle/statuses";
import { cellLook } from "../../../src/render/cells";

const marks = { assumed: false, ahead: false, pale: false, verdict: null };
const withCpu = (milliCPU: number) =>
  itemOf({ name: "n", hasNode: true, requested: { ...NOTHING, milliCPU }, allocatable: { ...NOTHING, milliCPU: 1000, allowedPodNumber: 110 } });

describe("the load of a node", () => {
  it.each([
    [0, 0],
    [0.001, 1],
    [0.25, 1],
    [0.26, 2],
    [0.75, 3],
    [0.9, 4],
    [0.91, 5],
    [1, 5],
  ])("%d has class %d", (part, expected) => {
    expect(loadClass(part)).toBe(expected);
    expect(expected).toBeLessThan(LOAD_CLASSES);
  });

  it("is the largest requested share of a resource, extended resources included", () => {
    expect(loadOf(withCpu(400))).toBe(0.4);
    const gpus = itemOf({
      name: "n",
      hasNode: true,
      requested: { ...NOTHING, milliCPU: 100, scalar: { "example.com/gpu": 7 } },
      allocatable: { ...NOTHING, milliCPU: 1000, allowedPodNumber: 110, scalar: { "example.com/gpu": 8 } },
    });
    expect(loadOf(gpus)).toBe(7 / 8);
  });

  it("changes the look of a cell with every load class", () => {
    expect(cellLook(withCpu(250), marks)).not.toBe(cellLook(withCpu(300), marks));
    expect(cellLook(withCpu(0), marks)).not.toBe(cellLook(withCpu(1), marks));
  });

  it("does not hide the Filter result: each status code has a distinct look", () => {
    const looks = STATUS_CODES.map((verdict) => cellLook(withCpu(250), { ...marks, verdict }));
    expect(new Set(looks).size).toBe(STATUS_CODES.length);
  });
});

describe("the texts of an amount", () => {
  it("drop a repeated unit first, then become a percentage", () => {
    expect(amountTexts("≈315Gi", "384Gi", 0.82)).toEqual(["≈315Gi / 384Gi", "≈315 / 384Gi", "82%"]);
    expect(amountTexts("1792Mi", "32Gi", 0.05)).toEqual(["1792Mi / 32Gi", "5%"]);
    expect(amountTexts("11", "110", 0.1)).toEqual(["11 / 110", "10%"]);
  });
});
