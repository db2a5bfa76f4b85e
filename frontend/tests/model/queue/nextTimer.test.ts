import { expect, it } from "vitest";

import { isOnlyIdle, nextTimerIn } from "../../../src/model/queue/nextTimer";

it("is read from the engine's sentence", () => {
  expect(nextTimerIn("activeQ is empty; the next timer is a backoff of default/p in 3.2 s: advance to it")).toEqual({
    what: "a backoff of default/p",
    seconds: 3.2,
    isFlush: false,
  });
  const flush = "activeQ is empty; the next timer is the flush of a pod that has been in unschedulablePods for long";
  expect(nextTimerIn(`${flush} in 299.995 s: advance to it`)).toMatchObject({ seconds: 299.995, isFlush: true });
  expect(nextTimerIn(`${flush}, which has ended: advance to it`)).toMatchObject({ seconds: 0, isFlush: true });
});

it("is missing where the engine waits for something else", () => {
  expect(nextTimerIn("activeQ is empty; 1 binding is held: bind to go on")).toBeNull();
  expect(isOnlyIdle("activeQ is empty; 1 binding is held: bind to go on")).toBe(false);
  expect(isOnlyIdle("activeQ is empty; 2 pods are waiting in unschedulablePods for a change of the cluster")).toBe(true);
  expect(isOnlyIdle("activeQ is empty; 1 pod is waiting in unschedulablePods for a change in the cluster; 2 pods are gated until the PreEnqueue plugins admit them")).toBe(true);
  expect(isOnlyIdle("activeQ is empty; 1 pod is gated until the PreEnqueue plugins admit it")).toBe(true);
  expect(isOnlyIdle("activeQ is empty")).toBe(true);
});
