import { describe, expect, it } from "vitest";

import { answerInWords } from "../../../src/views/lessons/answerInWords";

const options = [
  { id: "yes", words: { en: "yes, <code>a &lt; b</code>", "zh-CN": "是" } },
  { id: "no", words: { en: "no", "zh-CN": "否" } },
];

describe("answerInWords", () => {
  it("gives the text of the chosen option in the page's language, not its id", () => {
    expect(answerInWords({ options }, "yes", "en")).toBe("yes, a < b");
    expect(answerInWords({ options }, "yes", "zh-CN")).toBe("是");
  });

  it("gives the names or the number if the question has no options", () => {
    expect(answerInWords({ options: [] }, ["node-1", "node-2"], "en")).toBe("node-1, node-2");
    expect(answerInWords({ options: [] }, 4, "en")).toBe("4");
    expect(answerInWords(null, null, "en")).toBe("");
  });
});
