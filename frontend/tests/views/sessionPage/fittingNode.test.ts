import { expect, it } from "vitest";

import { State } from "../../../src/model/state/state";
import { labelsFor, podsInNeed, roomFor, type Wanted } from "../../../src/views/sessionPage/fittingNode";

it("a fitting node has room for the sum of all requests, in whole CPUs and GiB", () => {
  const requests = [{ milliCPU: 6000, memory: 2 ** 30 }, { milliCPU: 500, memory: 2 ** 29, scalar: { "nvidia.com/gpu": 2 } }];

  expect(roomFor(requests)).toEqual({ cpu: "7", memory: "2Gi", extended: { "nvidia.com/gpu": "2" } });
  expect(roomFor([{}])).toEqual({ cpu: "1", memory: "1Gi", extended: {} });
});

it("a fitting node has the labels that the pods select; for conflicting values the first pod's", () => {
  const wanted: Wanted[] = [
    { requests: {}, selector: { disk: "nvme" } },
    { requests: {}, selector: { disk: "ssd", zone: "a" } },
  ];

  expect(labelsFor(wanted)).toEqual({ disk: "nvme", zone: "a" });
});

it("a fitting node is made for pods that were tried and are not gated", () => {
  const state = new State();
  const queued = { attempts: 1, gated: false } as Parameters<typeof state.queue.unschedulable.set>[1];
  state.queue.unschedulable.set("default/tried", { ...queued, pod: "default/tried" });
  state.queue.unschedulable.set("default/gated", { ...queued, pod: "default/gated", gated: true });
  state.queue.unschedulable.set("default/new", { ...queued, pod: "default/new", attempts: 0 });

  expect(podsInNeed(state).map(({ pod }) => pod)).toEqual(["default/tried"]);
});
