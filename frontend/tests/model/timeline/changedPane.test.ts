import { describe, expect, it } from "vitest";
import { changedPane } from "../../../src/model/timeline/changedPane";
import type { AnyEvent } from "../../../src/model/generated";

describe("the pane that an event changed", () => {
  it.each([
    ["queueMoved", "queue"],
    ["stageEnded", "cycle"],
    ["cachePod", "cache"],
    ["apiWritten", ""],
  ])("of %s is %j", (t, pane) => {
    expect(changedPane({ t, event: 1 } as AnyEvent)).toBe(pane);
  });
});
