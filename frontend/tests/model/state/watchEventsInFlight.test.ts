import { describe, expect, it } from "vitest";

import { watchEventsInFlight, kindOf, latencyStep, LATENCY_STEPS } from "../../../src/model/state/watchEventsInFlight";
import type { WatchInFlight } from "../../../src/model/generated";

const sent = (id: number, resource: string, dueSeconds: number): WatchInFlight => ({ id, verb: "MODIFIED", resource, key: "default/p", dueSeconds });

describe("watch events in flight", () => {
  it("have progressed with the virtual clock, and are listed by arrival", () => {
    const inFlight = watchEventsInFlight([sent(1, "pods", 12), sent(2, "pods", 10.5)], new Map([["Pod", 2]]), 10);
    expect(inFlight.map(({ sent: { id }, progress, leftSeconds }) => [id, progress, leftSeconds])).toEqual([
      [2, 0.75, 0.5],
      [1, 0, 2],
    ]);
  });

  it("have arrived when they are due", () => {
    expect(watchEventsInFlight([sent(1, "nodes", 3)], new Map(), 4)).toMatchObject([{ progress: 1, leftSeconds: 0 }]);
  });

  it("have the kind of their resource", () => {
    expect(kindOf("storageclasses", ["Pod", "StorageClass"])).toBe("StorageClass");
    expect(kindOf("csistoragecapacities", ["CSIStorageCapacity"])).toBe("CSIStorageCapacity");
    expect(kindOf("widgets", ["Pod"])).toBeNull();
  });
});

describe("the latency slider", () => {
  it("snaps to the nearest step", () => {
    expect(LATENCY_STEPS[latencyStep(2.2)]).toBe(2);
    expect(latencyStep(0)).toBe(0);
    expect(LATENCY_STEPS[latencyStep(9_999)]).toBe(300);
  });
});
