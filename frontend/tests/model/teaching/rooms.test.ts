import { describe, expect, it } from "vitest";

import { answerText } from "../../../src/api/rooms";
import type { RoomMoment, RoomQuestion } from "../../../src/model/teaching/room";
import { isAtMoment, selectionText } from "../../../src/model/teaching/roomMoment";
import { printCode, sameAnswer, tallyLines } from "../../../src/model/teaching/roomTally";
import { layoutCacheList, shareOf, viewOfShare, WHOLE_BAND } from "../../../src/layout/cacheList";

const moment: RoomMoment = { session: "s", at: 12, select: "pod:default/web", tab: "why", panel: "", zoom: null, x: null, y: null, stop: "", page: {} };
const question: RoomQuestion = {
  n: 1, stop: "", text: "Which?", kind: "choice", options: ["a", "b", "c"], open: true, revealed: false, askedAt: "", answered: 3, right: null,
  tally: [{ value: "b", count: 2 }, { value: "a", count: 1 }],
};

describe("a participant's position", () => {
  it("equals the teacher's if event, selection and tab are equal", () => {
    const here = { at: 12, select: { kind: "pod", name: "default/web" } as const, tab: "why" };
    expect(isAtMoment(here, moment)).toBe(true);
    expect(isAtMoment({ ...here, at: null }, moment)).toBe(false);
    expect(isAtMoment({ ...here, tab: "summary" }, moment)).toBe(false);
    expect(isAtMoment({ ...here, select: null }, moment)).toBe(false);
    expect(isAtMoment({ at: null, select: null, tab: "why" }, { ...moment, at: null, select: "", tab: "" })).toBe(true);
  });

  it("has its selection in the form of permalinks", () => {
    expect(selectionText({ kind: "pod", name: "default/web" })).toBe("pod:default/web");
    expect(selectionText(null)).toBe("");
  });
});

describe("a tally", () => {
  it("has every option in order, with its share of the answers", () => {
    expect(tallyLines(question).map(({ value, count, share }) => [value, count, share])).toEqual([["a", 1, 1 / 3], ["b", 2, 2 / 3], ["c", 0, 0]]);
  });

  it("marks the right answer once it is known", () => {
    expect(tallyLines(question).map(({ right }) => right)).toEqual([null, null, null]);
    expect(tallyLines({ ...question, right: "b" }).map(({ right }) => right)).toEqual([false, true, false]);
  });

  it("compares names in any order and numbers by value", () => {
    expect(sameAnswer("node-b,node-a", "node-a, node-b")).toBe(true);
    expect(sameAnswer("4.0", "4")).toBe(true);
    expect(sameAnswer("", "0")).toBe(false);
    expect(answerText(["node-b", "node-a"])).toBe("node-a,node-b");
  });

  it("printCode groups the characters of a room code", () => {
    expect(printCode("K7MR2XWD")).toBe("K7MR-2XWD");
  });
});

describe("the shared zoom of the cache", () => {
  it("is the same on a page of another size", () => {
    const [here, there] = [layoutCacheList(5000, 700, 600), layoutCacheList(5000, 400, 500)];
    const share = { zoom: 4, x: 0.5, y: 0.25 };
    const again = shareOf(here, viewOfShare(here, share));
    expect(again.zoom).toBe(4);
    expect(again.x).toBeCloseTo(0.5);
    expect(again.y).toBeCloseTo(0.25);
    expect(shareOf(there, viewOfShare(there, share)).x).toBeCloseTo(0.5);
    expect(viewOfShare(here, { zoom: 1, x: 0.5, y: 0.5 })).toBe(WHOLE_BAND);
  });
});
