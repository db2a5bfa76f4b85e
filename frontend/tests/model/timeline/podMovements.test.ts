import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

import type { AnyEvent } from "../../../src/model/generated";
import { appearanceOf, movementsOf, paceOf, type Leg } from "../../../src/model/timeline/podMovements";

const say = (leg: Leg): string =>
  [leg.from, leg.to].map((station) => ("name" in station ? station.name : station.at)).join(" → ") + ` (${leg.style})`;
const popped: AnyEvent = { t: "queueMoved", event: 1, at: 0, cause: "Pop", moves: [{ pod: "default/a", source: "activeQ", popped: true }] };
const assumed: AnyEvent = { t: "cachePod", event: 2, at: 0, op: "assume", pod: "default/a", uid: "a", nodes: [{ node: "node-1", generation: 5 }] };
const bound: AnyEvent = {
  t: "apiWritten", event: 3, at: 0, verb: "create", resource: "pods", kind: "Pod", key: "default/a", subresource: "binding", detail: "node-1", byScheduler: true,
};
const added: AnyEvent = { t: "cachePod", event: 4, at: 0, op: "add", pod: "default/a", uid: "a", nodes: [{ node: "node-1", generation: 6 }] };

describe("the movement of a pod", () => {
  it("leads from the queue through the cycle to its node and the API server, and from the informers back to the node", () => {
    const [movement, ...others] = movementsOf([popped, assumed, bound, added], false);

    expect(others).toEqual([]);
    expect(movement!.legs.map(say)).toEqual([
      "activeQ → cycle (queued)",
      "cycle → node-1 (assumed)",
      "node-1 → api (assumed)",
      "informers → node-1 (added)",
    ]);
  });

  it("is reversed when events are undone", () => {
    expect(movementsOf([assumed, popped], true)[0]!.legs.map(say)).toEqual(["node-1 → cycle (assumed)", "cycle → activeQ (queued)"]);
  });

  it("leads to a queue after a failure, from the cycle or, if the binding failed, from the node", () => {
    const failed: AnyEvent = { t: "queueMoved", event: 5, at: 0, cause: "ScheduleAttemptFailure", moves: [{ pod: "default/a", target: "backoffQ" }] };

    expect(movementsOf([popped, failed], false)[0]!.legs.map(say)[1]).toBe("cycle → backoffQ (failed)");
    expect(movementsOf([assumed, failed], false)[0]!.legs.map(say)[1]).toBe("node-1 → backoffQ (failed)");
  });

  it("does not lead to the API server if it refused the binding", () => {
    expect(movementsOf([{ ...bound, error: "conflict" }], false)).toEqual([]);
  });

  it("is shared by all pods that were moved by one event", () => {
    const moves = ["default/a", "default/b", "default/c"].map((pod) => ({ pod, source: "unschedulable" as const, target: "activeQ" as const }));

    const movements = movementsOf([{ t: "queueMoved", event: 1, at: 0, cause: "NodeAdd", moves }], false);

    expect(movements.map(({ pod, count }) => [pod, count])).toEqual([["default/a", 3]]);
  });

  it("shows the pod on its node as assumed, and as added after the watch event", () => {
    const [movement] = movementsOf([popped, assumed, bound, added], false);

    expect([0, 1, 2, 3, 4].map((done) => appearanceOf(movement!.legs, done))).toEqual(["away", "away", "assumed", "assumed", null]);
    expect(appearanceOf(movementsOf([popped], false)[0]!.legs, 0)).toBeNull();
  });

  it("has legs that join, except where a watch event begins", () => {
    const recording = JSON.parse(readFileSync(new URL("../../recordings/everyday.json", import.meta.url), "utf8")) as { events: AnyEvent[] };

    const movements = movementsOf(recording.events, false);

    expect(movements.length).toBeGreaterThan(3);
    for (const { legs } of movements)
      for (let i = 1; i < legs.length; i++) {
        const { from } = legs[i]!;
        if (from.at !== "informers") expect(from).toEqual(legs[i - 1]!.to);
      }
  });
});

describe("paceOf", () => {
  it("shortens the legs to the available time, then drops legs", () => {
    expect(paceOf(4, 220, Infinity)).toEqual({ legs: 4, millis: 220 });
    expect(paceOf(4, 220, 400)).toEqual({ legs: 4, millis: 100 });
    expect(paceOf(4, 220, 200)).toEqual({ legs: 2, millis: 100 });
    expect(paceOf(4, 220, 50)).toEqual({ legs: 0, millis: 0 });
    expect(paceOf(4, 0, 400)).toEqual({ legs: 0, millis: 0 });
  });
});
