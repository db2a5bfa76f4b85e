import { describe, expect, it } from "vitest";

import type { AnyEvent } from "../src/model/generated";
import { revealed } from "../src/model/reveal";

const event = (t: string, more: object = {}): AnyEvent => ({ t, event: 1, at: 0, ...more }) as unknown as AnyEvent;
const pop = event("queueMoved", { cause: "Pop", moves: [{ pod: "a", popped: true }] });
const waiting = [
  pop,
  event("cycleStarted"),
  event("stageEnded"),
  event("cachePod"),
  event("cycleEnded"),
  event("bindingStarted"),
  event("bindingEnded"),
  event("commandDone"),
  pop,
  event("cycleStarted"),
];

describe("a step of the view", () => {
  it("by mutation shows one event, with the silent ones behind it", () => {
    expect(revealed(waiting, "mutation")).toBe(1);
    expect(revealed(waiting.slice(6), "mutation")).toBe(2);
  });

  it("by stage shows everything up to the end of a stage", () => {
    expect(revealed(waiting, "stage")).toBe(3);
  });

  it("by cycle goes on to the next pod", () => {
    expect(revealed(waiting, "cycle")).toBe(8);
    expect(revealed(waiting.slice(0, 7), "cycle")).toBe(7);
  });

  it("shows all that waits where there is no boundary", () => {
    expect(revealed([event("cycleStarted"), event("cachePod")], "stage")).toBe(2);
    expect(revealed([], "mutation")).toBe(0);
  });
});
