import { describe, expect, it } from "vitest";
import { joinedAnswers } from "../src/model/joinedAnswers";

const phrase = (template: string) => ({ template, values: {} });

describe("the answers about several texts", () => {
  it("are one answer, in the order of the texts", () => {
    const joined = joinedAnswers([
      { messages: ["a"], answers: ["of a"], others: phrase("one"), more: false, command: "" },
      { messages: [], others: null, command: "kubectl describe pod b" },
      { messages: ["c"], answers: ["of c"], others: phrase("two"), more: true, command: "kubectl describe pod d" },
    ]);
    expect(joined).toEqual({
      messages: ["a", "c"],
      answers: ["of a", "of c"],
      others: { template: "{first}; {next}", values: { first: phrase("one"), next: phrase("two") } },
      more: true,
      command: "kubectl describe pod b",
    });
  });

  it("of one text is the answer itself", () => {
    const only = { messages: ["a"] };
    expect(joinedAnswers([only])).toBe(only);
  });
});
