import { describe, expect, it } from "vitest";

import { nominationsIn } from "../../../src/model/queue/nominations";
import { decisionBetween, secondOf } from "../../../src/model/queue/popOrder";
import { MoveReader } from "../../../src/model/queue/queueMoves";
import { queuedOf } from "../../../src/model/state/state";
import { requeueEventsOf } from "../../../src/model/queue/requeueEvents";

describe("the decision between the first two pods of activeQ", () => {
  const pod = (priority: number, timestampSeconds: number) => queuedOf({ pod: "default/p", priority, timestampSeconds });

  it.each([
    [pod(10, 5), pod(0, 1), { by: "priority", margin: 10 }],
    [pod(0, 1), pod(0, 3), { by: "timestamp", margin: 2 }],
    [pod(0, 1), pod(0, 1), { by: "heap", margin: 0 }],
  ])("is made as expected in case %#", (first, second, decision) => {
    expect(decisionBetween(first, second)).toEqual(decision);
  });

  it("compares the head with the better of its children", () => {
    const [head, low, high] = [pod(10, 0), pod(0, 1), pod(5, 2)];
    expect(secondOf([head, low, high])).toBe(high);
    expect(secondOf([head, low])).toBe(low);
    expect(secondOf([head])).toBeNull();
  });
});

describe("requeueEventsOf", () => {
  it("merges the events that the plugins registered for", () => {
    expect(requeueEventsOf(["TaintToleration", "NodeUnschedulable", "NodeResourcesFit"])).toEqual(["Node add, update", "Pod delete"]);
  });

  it("uses the registrations of the release", () => {
    expect(requeueEventsOf(["TaintToleration", "NodeResourcesFit"], "v1.36")).toEqual([
      "Node add, taint, allocatable",
      "Pod toleration, delete, scale down",
      "DeviceClass add, update",
    ]);
  });

  it("is null, which means every event, without plugins and for custom plugins", () => {
    expect(requeueEventsOf([])).toBeNull();
    expect(requeueEventsOf(["Mine", "NodeName"])).toBeNull();
  });
});

describe("nominations", () => {
  it("leave out pods under the empty node name", () => {
    expect(nominationsIn(new Map([["node-1", ["default/a", "default/b"]], ["", ["default/c"]]]))).toEqual([
      { node: "node-1", pod: "default/a" },
      { node: "node-1", pod: "default/b" },
    ]);
  });
});

describe("moves between the queues", () => {
  const event = {
    t: "queueMoved" as const,
    event: 7,
    at: 1.5,
    cause: "NodeAdd",
    moves: [
      { pod: "default/a", source: "unschedulable" as const, target: "activeQ" as const },
      { pod: "default/b", source: "unschedulable" as const, target: "backoffQ" as const },
      { pod: "default/c", source: "unschedulable" as const, target: "activeQ" as const },
      { pod: "default/d", source: "activeQ" as const, target: "activeQ" as const },
    ],
  };

  it("are grouped by source and target, without changes in place", () => {
    expect(new MoveReader().linesOf([event]).map(({ from, to, count, pods }) => ({ from, to, count, pods }))).toEqual([
      { from: "unschedulablePods", to: "activeQ", count: 2, pods: ["default/a", "default/c"] },
      { from: "unschedulablePods", to: "backoffQ", count: 1, pods: ["default/b"] },
    ]);
  });

  it("can be limited to one pod", () => {
    expect(new MoveReader().linesOf([event], "default/b")).toHaveLength(1);
  });

  const considered = {
    t: "requeueConsidered" as const,
    event: 6,
    at: 1.5,
    eventLabel: "NodeAdd",
    new: "Node node-9",
    movesAll: true,
    decisions: [
      { pods: ["default/a", "default/c"], hints: [{ plugin: "NodeResourcesFit", on: "Node", hint: "Queue" as const }], strategy: "afterBackoff" as const, queue: "activeQ" as const },
      { pods: ["default/e", "default/f"], hints: [{ plugin: "TaintToleration", on: "Node", hint: "QueueSkip" as const }], strategy: "skip" as const },
      { pods: ["default/gated"], gated: true },
    ],
  };

  it("have the results of the hints, also for pods that stayed", () => {
    expect(new MoveReader().linesOf([considered, event]).map(({ stays, count, requeue }) => [stays, count, requeue?.answers.map(({ hint }) => hint) ?? null])).toEqual([
      [true, 2, ["QueueSkip"]],
      [false, 2, ["Queue"]],
      [false, 1, null],
    ]);
  });

  it("do not say that a pod stays if it missed a later event of its cycle, too", () => {
    const missed = { ...considered, movesAll: false, decisions: [considered.decisions[1]!] };
    expect(new MoveReader().linesOf([missed]).map(({ stays, superseded, requeue }) => [stays, superseded, requeue?.inFlight])).toEqual([[false, true, true]]);
    expect(new MoveReader().linesOf([{ ...missed, eventLabel: "UnschedulableTimeout" }]).map(({ stays, superseded }) => [stays, superseded])).toEqual([[true, false]]);
  });

  it("mention a gated pod only if they are limited to it", () => {
    const [line] = new MoveReader().linesOf([considered], "default/gated");
    expect(line?.requeue).toEqual({ label: "NodeAdd", object: "Node node-9", answers: [], strategy: null, inFlight: false, gated: true });
    expect(new MoveReader().linesOf([considered], "default/a")).toEqual([]);
  });
});
