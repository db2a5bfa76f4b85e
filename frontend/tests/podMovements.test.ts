import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

import type { AnyEvent } from "../src/model/generated";
import { appearanceOf, movementsOf, paceOf, type Leg } from "../src/model/podMovements";

const say = (leg: Leg): string =>
  [leg.from, leg.to].map((station) => ("name" in station ? station.name : station.at)).join(" → ") + ` (${leg.look})`;
const popped: AnyEvent = { t: "queueMoved", event: 1, at: 0, cause: "Pop", moves: [{ pod: "default/a", source: "activeQ", popped: true }] };
const assumed: AnyEvent = { t: "cachePod", event: 2, at: 0, op: "assume", pod: "default/a", uid: "a", nodes: [{ node: "node-1", generation: 5 }] };
const bound: AnyEvent = {
  t: "apiWritten", event: 3, at: 0, verb: "create", resource: "pods", kind: "Pod", key: "default/a", subresource: "binding", detail: "node-1", byScheduler: true,
};
const added: AnyEvent = { t: "cachePod", event: 4, at: 0, op: "add", pod: "default/a", uid: "a", nodes: [{ node: "node-1", generation: 6 }] };

describe("the way of a pod", () => {
  it("goes from the queue through the cycle to its node, to the API server, and back as what was bound", () => {
    const [movement, ...others] = movementsOf([popped, assumed, bound, added], false);

    expect(others).toEqual([]);
    expect(movement!.legs.map(say)).toEqual([
      "activeQ → cycle (queued)",
      "cycle → node-1 (assumed)",
      "node-1 → api (assumed)",
      "informers → node-1 (added)",
    ]);
  });

  it("goes the other way when the events are taken back", () => {
    expect(movementsOf([assumed, popped], true)[0]!.legs.map(say)).toEqual(["node-1 → cycle (assumed)", "cycle → activeQ (queued)"]);
  });

  it("leads from the cycle to a queue when it failed, and from the node when its binding did", () => {
    const failed: AnyEvent = { t: "queueMoved", event: 5, at: 0, cause: "ScheduleAttemptFailure", moves: [{ pod: "default/a", target: "backoffQ" }] };

    expect(movementsOf([popped, failed], false)[0]!.legs.map(say)[1]).toBe("cycle → backoffQ (failed)");
    expect(movementsOf([assumed, failed], false)[0]!.legs.map(say)[1]).toBe("node-1 → backoffQ (failed)");
  });

  it("does not lead to the API server when that refused the binding", () => {
    expect(movementsOf([{ ...bound, error: "conflict" }], false)).toEqual([]);
  });

  it("is one for all pods that were moved together", () => {
    const moves = ["default/a", "default/b", "default/c"].map((pod) => ({ pod, source: "unschedulable" as const, target: "activeQ" as const }));

    const movements = movementsOf([{ t: "queueMoved", event: 1, at: 0, cause: "NodeAdd", moves }], false);

    expect(movements.map(({ pod, count }) => [pod, count])).toEqual([["default/a", 3]]);
  });

  it("is drawn on its node when it has come there: as assumed, and as added when the API server has told of it", () => {
    const [movement] = movementsOf([popped, assumed, bound, added], false);

    expect([0, 1, 2, 3, 4].map((done) => appearanceOf(movement!.legs, done))).toEqual(["away", "away", "assumed", "assumed", null]);
    expect(appearanceOf(movementsOf([popped], false)[0]!.legs, 0)).toBeNull();
  });

  it("hangs together in everything that was recorded, but for where a watch takes over", () => {
    const recording = JSON.parse(readFileSync(new URL("recordings/everyday.json", import.meta.url), "utf8")) as { events: AnyEvent[] };

    const movements = movementsOf(recording.events, false);

    expect(movements.length).toBeGreaterThan(3);
    for (const { legs } of movements)
      for (let i = 1; i < legs.length; i++) {
        const { from } = legs[i]!;
        if (from.at !== "informers") expect(from).toEqual(legs[i - 1]!.to);
      }
  });
});

describe("the pace of a journey", () => {
  it("gives each leg its time, or fewer legs, or none", () => {
    expect(paceOf(4, 220, Infinity)).toEqual({ legs: 4, millis: 220 });
    expect(paceOf(4, 220, 400)).toEqual({ legs: 4, millis: 100 });
    expect(paceOf(4, 220, 200)).toEqual({ legs: 2, millis: 100 });
    expect(paceOf(4, 220, 50)).toEqual({ legs: 0, millis: 0 });
    expect(paceOf(4, 0, 400)).toEqual({ legs: 0, millis: 0 });
  });
});
