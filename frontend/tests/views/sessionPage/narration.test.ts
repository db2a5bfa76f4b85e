import { beforeAll, expect, it } from "vitest";

import type { CycleView, PodGroupCycleView } from "../../../src/model/generated";
import type { SessionStore } from "../../../src/store/session/sessionStore.svelte";
import { loadStageSentences, narrationOf } from "../../../src/views/sessionPage/narration.svelte";

/** What is narrated of a store in steps of whole cycles. */
function narrated(cycle: Partial<CycleView>, podGroup: Partial<PodGroupCycleView> | null = null): string {
  const reading = { cycle: { cycle: 7, pod: "default/p", ...cycle }, podGroup, bindings: [], podState: () => undefined };
  return narrationOf({ reading, playback: { unit: "cycle" }, connection: { lastResult: "" }, lastEvent: null } as unknown as SessionStore);
}

beforeAll(loadStageSentences);

it("the narration of an unschedulable pod counts the nodes, or says that there are none", () => {
  const outcome = "unschedulable";

  expect(narrated({ outcome, allNodes: 4 })).toBe("Cycle 7 · p is unschedulable: none of the 4 nodes can run it");
  expect(narrated({ outcome, allNodes: 1 })).toBe("Cycle 7 · p is unschedulable: the only node was rejected");
  expect(narrated({ outcome, allNodes: 0 })).toBe("Cycle 7 · p is unschedulable, because there are no nodes");
});

it("the narration names the nominated node if no other was evaluated", () => {
  const placed = { outcome: "scheduled", node: "n1", feasibleNodes: 1, allNodes: 2 };
  const hint = { stage: "NominatedNode", facts: { node: "n1", fits: true, hint: true } };

  expect(narrated({ ...placed, evaluatedNodes: 1 })).toBe("Cycle 7 · p goes to n1, its nominated node");
  expect(narrated({ ...placed, evaluatedNodes: 2 })).toBe("Cycle 7 · p goes to n1, the only feasible node");
  expect(narrated({ ...placed, evaluatedNodes: 1, stages: [hint] })).toBe("Cycle 7 · p goes to n1, the only feasible node");
});

it("the narration of a lesson follows the binding: accepted, then confirmed by the watch event", () => {
  const cycle = { cycle: 7, pod: "default/p", node: "n1", outcome: "scheduled", feasibleNodes: 2 };
  const after = (ended: string[], nextStage: string, isConfirmation = false): string => {
    const binding = { pod: "default/p", cycle: 7, node: "n1", stages: ended.map((stage) => ({ stage })), nextStage };
    const reading = { cycle, podGroup: null, bindings: nextStage ? [binding] : [], podState: () => ({ node: "n1", assumed: nextStage !== "" }) };
    return narrationOf({ reading, playback: { unit: "cycle" }, connection: { lastResult: "" }, lastEvent: null } as unknown as SessionStore, isConfirmation);
  };
  const chosen = "Cycle 7 · p goes to n1, chosen from 2 feasible nodes";

  expect(after([], "WaitOnPermit")).toBe(chosen);
  expect(after(["WaitOnPermit", "PreBind", "Bind"], "Confirm")).toBe("The API server has accepted the binding of p to n1");
  expect(after([], "", true)).toBe("The watch event has arrived: p is bound to n1");
  expect(after([], "")).toBe(chosen);
});

it("the narration of steps by stage ends a binding with the watch event that confirms it", () => {
  const lastEvent = { t: "bindingEnded", event: 9, at: 0, pod: "default/p", node: "n1", outcome: "confirmed" };
  const reading = { cycle: { cycle: 7, pod: "default/p", node: "n1", outcome: "scheduled" }, podGroup: null, bindings: [], podState: () => ({ node: "n1", assumed: false }) };
  expect(narrationOf({ reading, playback: { unit: "stage" }, connection: { lastResult: "" }, lastEvent } as unknown as SessionStore)).toBe(
    "Binding of p: the watch event confirms that it is bound to n1, so it is no longer assumed",
  );
});

it("the narration of a pod group is about the group, not about its last pod", () => {
  const pods = [{ pod: "default/a", node: "n1" }, { pod: "default/b" }];

  expect(narrated({}, { group: "default/g", pods })).toBe("Pod group g: 1 of 2 pods have a node so far");
  expect(narrated({}, { group: "default/g", pods, outcome: "unschedulable" })).toBe("Pod group g is unschedulable: only 1 of 2 pods found a node");
  expect(narrated({}, { group: "default/g", pods: [pods[0]!], outcome: "scheduled" })).toBe("Pod group g is scheduled: 1 of 1 pods have a node");
});

it("the narration of a running cycle gives the result of its last stage", () => {
  const filter = { stage: "Filter", facts: { evaluated: 4, feasible: 3 } };
  const chosen = { stage: "SelectHost", facts: { node: "n2", total: 678 } };
  const after = (...stages: CycleView["stages"] & object): string => narrated({ stages, allNodes: 4 });

  expect(after({ stage: "Pop" })).toBe("Cycle 7 · p leaves the queue, and its scheduling cycle begins");
  expect(after({ stage: "Pop" }, { stage: "SkipPodSchedule" })).toBe("Cycle 7 · p is neither being deleted nor already assumed, so its cycle continues");
  expect(after(filter)).toBe("Cycle 7 · 3 of 4 nodes can run p");
  expect(after({ stage: "Filter", facts: { evaluated: 4, feasible: 0 } })).toBe("Cycle 7 · none of the 4 nodes can run p");
  expect(after(filter, chosen)).toBe("Cycle 7 · n2 has the highest total and is chosen for p");
  expect(after(filter, chosen, { stage: "Assume", facts: { node: "n2" } })).toBe("Cycle 7 · p is assumed on n2: the scheduler counts it there, but the API server does not know about it yet");
  expect(after({ stage: "ExtenderBind" })).toBe("Cycle 7 · p");
});

/** What is narrated after a step that found nothing to schedule, at 10 s: pods in backoffQ by the ends of their backoff, and others. */
function idle(ends: number[], unschedulable: number, gated = 0): string {
  const queue = {
    activeQ: { size: 0 },
    backoffQ: { size: ends.length, array: ends.map((backoffExpirySeconds) => ({ backoffExpirySeconds })) },
    errorBackoffQ: { size: 0, array: [] },
    unschedulable: new Map([...Array(unschedulable + gated).keys()].map((i) => [String(i), { gated: i < gated }])),
  };
  const reading = { cycle: null, podGroup: null, bindings: [], queue, clockSeconds: 10 };
  return narrationOf({ reading, running: false, playback: { unit: "cycle" }, connection: { lastResult: "activeQ is empty" }, lastEvent: null } as unknown as SessionStore);
}

it("the narration says that nothing is left to schedule when a step did nothing", () => {
  expect(idle([], 3)).toBe("Nothing to schedule now: 3 pods are waiting for the cluster to change");
  expect(idle([], 0)).toBe("Nothing to schedule: every pod has a node");
  expect(idle([], 0, 1)).toBe("Nothing to schedule now: 1 pod is gated");
  expect(idle([], 3, 1)).toBe("Nothing to schedule now: 3 pods are waiting for the cluster to change, 1 gated");
});

it("the narration counts pods in backoff and pods that wait for a change, with the time to the end of the backoffs", () => {
  expect(idle([10.98, 11.02, 14], 2)).toBe("3 pods wait for their backoff (1.02 s), 2 for a change in the cluster");
  expect(idle([10.98], 0)).toBe("1 pod waits for its backoff (0.98 s)");
});

it("the narration says that a pod whose backoff has ended waits for the flush", () => {
  expect(idle([9.9], 0)).toBe("A backoff has ended; 1 pod stays in backoffQ until the next flush");
});

it("the narration of a flush of backoffQ names the next pod", () => {
  const pods = [{ pod: "default/a" }, { pod: "default/b" }];
  const reading = { cycle: null, podGroup: null, bindings: [], queue: { activeQ: { size: 2, array: pods } } };
  const lastEvent = { t: "queueMoved", cause: "BackoffComplete", event: 1, at: 10 };
  const store = { reading, running: false, playback: { unit: "cycle" }, connection: { lastResult: "" }, lastEvent } as unknown as SessionStore;

  expect(narrationOf(store)).toBe("Backoffs have ended: 2 pods are in activeQ again, and a is next");
});
