import { describe, expect, it } from "vitest";
import { isRight, stopIndexAt, stopState } from "../../../src/model/teaching/lessonPath";

const STOPS = [
  { id: "look", arrived: 0, revealed: 0 },
  { id: "guess", arrived: 0, revealed: 2 },
  { id: "create", arrived: 6, revealed: 24 },
];

describe("the position of a session on the path of its lesson", () => {
  it("is the last stop at which it has arrived", () => {
    expect(stopIndexAt(STOPS, 0)).toBe(0);
    expect(stopIndexAt(STOPS, 2)).toBe(1);
    expect(stopIndexAt(STOPS, 6)).toBe(2);
    expect(stopIndexAt(STOPS, 99)).toBe(2);
  });

  it("relative to a stop follows from the events of the stop", () => {
    expect(stopState(STOPS, 1, 0)).toBe("there");
    expect(stopState(STOPS, 1, 2)).toBe("revealed");
    expect(stopState(STOPS, 1, 6)).toBe("past");
    expect(stopState(STOPS, 2, 2)).toBe("ahead");
  });

  it("is off the path if its last event is not one of the lesson's", () => {
    expect(stopState(STOPS, 1, 1)).toBe("left");
    expect(stopState(STOPS, 2, 25)).toBe("left");
  });
});

describe("an answer", () => {
  it("is right if it has the right value, or the right names in any order", () => {
    expect(isRight(4, 4)).toBe(true);
    expect(isRight("yes", "yes")).toBe(true);
    expect(isRight(["b", "a"], ["a", "b"])).toBe(true);
  });

  it("is wrong if a name is missing or superfluous", () => {
    expect(isRight(["a"], ["a", "b"])).toBe(false);
    expect(isRight(["a", "b"], ["a"])).toBe(false);
    expect(isRight(3, 4)).toBe(false);
  });
});
