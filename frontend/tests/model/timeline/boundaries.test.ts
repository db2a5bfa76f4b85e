import { describe, expect, it } from "vitest";

import { boundaryAfter, boundaryBefore } from "../../../src/model/timeline/boundaries";
import type { AnyEvent } from "../../../src/model/generated";

const event = (t: string, more: object = {}): AnyEvent => ({ t, event: 1, at: 0, ...more }) as unknown as AnyEvent;
const pop = event("queueMoved", { cause: "Pop", moves: [{ pod: "a", popped: true }] });
const events = [
  pop,
  event("cycleStarted"),
  event("stageEnded"),
  event("cachePod"),
  event("cycleEnded"),
  event("bindingStarted"),
  event("bindingEnded", { outcome: "confirmed" }),
  event("commandDone"),
  pop,
  event("cycleStarted"),
];

describe("a step forward", () => {
  it("by mutation ends after one event and the invisible events that follow it", () => {
    expect(boundaryAfter(events, 0, "mutation")).toBe(1);
    expect(boundaryAfter(events, 6, "mutation")).toBe(8);
  });

  it("by stage ends after the next stageEnded or cycleEnded", () => {
    expect(boundaryAfter(events, 0, "stage")).toBe(3);
    expect(boundaryAfter(events, 3, "stage")).toBe(5);
  });

  it("by stage ends where the watch event confirms a binding, and not where a binding fails after its last stage", () => {
    expect(boundaryAfter(events, 5, "stage")).toBe(8);
    const failed = [...events.slice(0, 6), event("bindingEnded", { outcome: "failed" }), ...events.slice(7)];
    expect(boundaryAfter(failed, 5, "stage")).toBeNull();
  });

  it("by cycle ends before the next pod is popped", () => {
    expect(boundaryAfter(events, 0, "cycle")).toBe(8);
    expect(boundaryAfter(events, 5, "cycle")).toBe(8);
  });

  it("has no end if the buffered events contain no boundary", () => {
    expect(boundaryAfter(events, 8, "stage")).toBeNull();
    expect(boundaryAfter(events, 8, "cycle")).toBeNull();
    expect(boundaryAfter([], 0, "mutation")).toBeNull();
  });
});

describe("a step back", () => {
  it("ends where a step forward from the previous boundary would end", () => {
    for (const unit of ["mutation", "stage", "cycle"] as const) {
      const ends: number[] = [];
      for (let end = boundaryAfter(events, 0, unit); end !== null; end = boundaryAfter(events, end, unit)) ends.push(end);
      const starts: number[] = [];
      for (let start = boundaryBefore(events, events.length + 1, unit); start !== null; start = boundaryBefore(events, start, unit)) starts.push(start);
      expect(starts.reverse()).toEqual(ends);
    }
  });
});
