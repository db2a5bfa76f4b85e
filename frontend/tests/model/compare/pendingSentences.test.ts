import { describe, expect, it } from "vitest";

import { sameReasons, sentencesByPod, sentencesOf } from "../../../src/model/compare/pendingSentences";

const overview = {
  reasons: [
    { groups: [{ pods: ["default/a", "default/b"], headline: "too large" }, { pods: ["default/c"], headline: "no room" }] },
    { groups: [{ pods: ["default/d"], headline: "" }] },
  ],
};
const said = sentencesByPod(overview, ({ headline }) => ({ text: headline }));

describe("the sentences for a message in a comparison", () => {
  it("are those of the pods with the message, each once", () => {
    expect(sentencesOf({ a: ["default/a"], b: ["default/a", "default/b"] }, { a: said, b: said })).toEqual([{ text: "too large" }]);
    expect(sentencesOf({ a: ["default/a", "default/c"], b: [] }, { a: said, b: said }).map(({ text }) => text)).toEqual(["too large", "no room"]);
  });

  it("are left out if a pod has none, or if they are many", () => {
    expect(sentencesOf({ a: ["default/a", "default/d"], b: [] }, { a: said, b: said })).toEqual([]);
    expect(sentencesOf({ a: ["default/a"], b: ["default/a"] }, { a: said, b: new Map() })).toEqual([]);
    const many = new Map(Array.from({ length: 4 }, (_, i) => [`default/p${i}`, { text: `sentence ${i}` }]));
    expect(sentencesOf({ a: [...many.keys()], b: [] }, { a: many, b: many })).toEqual([]);
  });
});

it("messages with the same sentence are one reason, also if each release words it otherwise", () => {
  const reason = (text: string, a: string[], b: string[]) => ({ reason: text, a, b, countA: a.length, countB: b.length });
  const reasons = [reason("2 Insufficient cpu.", ["default/a"], []), reason("not tried", ["default/d"], ["default/d"]), reason("2 Insufficient cpu. preemption: no", [], ["default/a"])];
  const merged = sameReasons(reasons, { a: said, b: said });
  expect(merged.map(({ messages, countA, countB }) => [messages.map((one) => one.reason), countA, countB])).toEqual([
    [["2 Insufficient cpu.", "2 Insufficient cpu. preemption: no"], 1, 1],
    [["not tried"], 1, 1],
  ]);
});

it("the message of A is before that of B", () => {
  const reason = (text: string, a: string[], b: string[]) => ({ reason: text, a, b, countA: a.length, countB: b.length });
  const [merged] = sameReasons([reason("in B", [], ["default/a"]), reason("in A", ["default/a"], [])], { a: said, b: said });
  expect(merged!.messages.map((one) => one.reason)).toEqual(["in A", "in B"]);
});
