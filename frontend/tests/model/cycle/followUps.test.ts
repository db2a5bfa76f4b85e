import { expect, it } from "vitest";

import { followUpsOf } from "../../../src/model/cycle/followUps";

const entry = (event: number, t: string, cycle = 0): { event: number; cycle: number; t: string } => ({ event, cycle, t });
const HISTORY = [
  entry(3, "cycleStarted", 1),
  entry(5, "apiWritten", 1),
  entry(8, "requeueConsidered"),
  entry(9, "queueMoved"),
  entry(11, "cycleStarted", 2),
  entry(12, "apiCallChanged"),
].reverse();

it("the follow-ups of a cycle are its API calls and hints up to the pod's next cycle", () => {
  const first = followUpsOf(HISTORY, 1);
  expect(first.apiCalls.map(({ event }) => event)).toEqual([5]);
  expect(first.hints.map(({ event }) => event)).toEqual([8]);

  const second = followUpsOf(HISTORY, 2);
  expect(second.apiCalls.map(({ event }) => event)).toEqual([12]);
  expect(second.hints).toEqual([]);
});

it("a cycle that is not in the history has no follow-ups", () => {
  expect(followUpsOf(HISTORY, 7)).toEqual({ apiCalls: [], hints: [] });
});
