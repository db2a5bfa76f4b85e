import { describe, expect, it } from "vitest";
import type { Claim, Pool } from "../../../src/api/devices";
import { textFilter } from "../../../src/model/text/textFilter";
import { requestText, searchTextOfClaim, devicesFound, summedCounters } from "../../../src/views/devices/deviceText";

const POOL: Pool = {
  driver: "gpu.example.com",
  pool: "node-1",
  node: "node-1",
  generation: 1,
  slices: ["node-1-gpu"],
  devices: [
    { name: "gpu-0", state: "allocated", claims: ["default/train-1"], attributes: { model: "a100" } },
    { name: "gpu-1", taints: ["bad:NoSchedule"], tainted: true },
  ],
};
const CLAIM: Claim = {
  claim: "default/train-1",
  state: "allocated",
  requests: [{ name: "gpus", deviceClass: "gpu.example.com", count: 2 }],
  devices: [{ request: "gpus", driver: "gpu.example.com", pool: "node-1", device: "gpu-0" }],
  pods: ["default/train-1"],
};

const WORDS = { all: "all", or: "or" };

describe("the filter of the devices panel", () => {
  it("matches all words, and excludes those with a leading minus", () => {
    expect(textFilter("")("anything")).toBe(true);
    expect(textFilter("a100 Train")("train-1 a100")).toBe(true);
    expect(textFilter("a100 -train")("train-1 a100")).toBe(false);
  });

  it("finds devices by their pool, state, taints, claims and attributes", () => {
    const found = (words: string): string[] => devicesFound(POOL, textFilter(words)).map(({ name }) => name);
    expect(found("node-1")).toEqual(["gpu-0", "gpu-1"]);
    for (const words of ["allocated", "train-1", "node-1 model=a100"]) expect(found(words), words).toEqual(["gpu-0"]);
    for (const words of ["free", "bad:NoSchedule", "node-1 -a100"]) expect(found(words), words).toEqual(["gpu-1"]);
    expect(found("free a100")).toEqual([]);
  });

  it("finds claims by device, class, state and pod", () => {
    for (const words of ["node-1/gpu-0", "gpu.example.com allocated"]) expect(textFilter(words)(searchTextOfClaim(CLAIM)), words).toBe(true);
    expect(textFilter("pending")(searchTextOfClaim(CLAIM))).toBe(false);
  });
});

describe("requests and counters", () => {
  it("are printed as count and class, joined by “or” for alternatives", () => {
    expect(requestText(CLAIM.requests, WORDS)).toBe("2 × gpu.example.com");
    const alternatives = [
      { name: "gpu/part", deviceClass: "part", count: 1 },
      { name: "gpu/whole", deviceClass: "whole", count: 0 },
    ];
    expect(requestText(alternatives, WORDS)).toBe("1 × part or all × whole");
  });

  it("counters with the same name are summed", () => {
    const counter = { counter: "memory", text: "80Gi", total: 80 };
    expect(summedCounters([{ ...counter, counterSet: "gpu-0", used: 80 }, { ...counter, counterSet: "gpu-1", used: 10 }])).toEqual([
      { counter: "memory", used: 90, total: 160, sets: 2 },
    ]);
  });
});
