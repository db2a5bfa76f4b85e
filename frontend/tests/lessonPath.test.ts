import { describe, expect, it } from "vitest";
import { isRight, placeAt, standing } from "../src/model/lessonPath";

const STOPS = [
  { id: "look", arrived: 0, revealed: 0 },
  { id: "guess", arrived: 0, revealed: 2 },
  { id: "create", arrived: 6, revealed: 24 },
];

describe("where a session is on the path of its lesson", () => {
  it("begins at the first stop", () => {
    expect(placeAt(STOPS, 0)).toBe(0);
    expect(placeAt(STOPS, 2)).toBe(1);
    expect(placeAt(STOPS, 6)).toBe(2);
    expect(placeAt(STOPS, 99)).toBe(2);
  });

  it("stands to a stop as its events say", () => {
    expect(standing(STOPS, 1, 0)).toBe("there");
    expect(standing(STOPS, 1, 2)).toBe("revealed");
    expect(standing(STOPS, 1, 6)).toBe("past");
    expect(standing(STOPS, 2, 2)).toBe("ahead");
  });

  it("was left where the engine is at an event that is not the lesson's", () => {
    expect(standing(STOPS, 1, 1)).toBe("left");
    expect(standing(STOPS, 2, 25)).toBe("left");
  });
});

describe("an answer", () => {
  it("is right by value, names in any order", () => {
    expect(isRight(4, 4)).toBe(true);
    expect(isRight("yes", "yes")).toBe(true);
    expect(isRight(["b", "a"], ["a", "b"])).toBe(true);
  });

  it("is wrong where a name is missing or too many", () => {
    expect(isRight(["a"], ["a", "b"])).toBe(false);
    expect(isRight(["a", "b"], ["a"])).toBe(false);
    expect(isRight(3, 4)).toBe(false);
  });
});
