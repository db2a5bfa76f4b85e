import { afterEach, describe, expect, it } from "vitest";

import { say } from "../../src/i18n/phrase";
import { ENGLISH, setVocabularySource, vocabularyOf } from "../../src/i18n/translate";

const PENDING = {
  template: "{state}: {why}. {outlook}",
  values: {
    state: { template: "{pod} is pending", values: { pod: "default/web" } },
    why: { template: "{whole} ({clauses}{more})", values: { whole: { template: "none of the {count} nodes can run the pod", values: { count: 5_000 } }, clauses: "5000 Insufficient cpu", more: "" } },
    outlook: { template: "Other pods have to leave first.", values: {} },
  },
};
const ENGLISH_TEXT = "default/web is pending: none of the 5,000 nodes can run the pod (5000 Insufficient cpu). Other pods have to leave first.";

afterEach(() => {
  setVocabularySource(() => ENGLISH);
});

describe("say", () => {
  it("gives the server's own sentence in English", () => {
    expect(say(PENDING, ENGLISH_TEXT)).toEqual({ text: ENGLISH_TEXT, lang: "en" });
  });

  it("translates a sentence with its parts, and keeps the scheduler's messages in English", async () => {
    const chinese = await vocabularyOf("zh-CN");
    setVocabularySource(() => chinese);
    expect(say(PENDING, ENGLISH_TEXT)).toEqual({ text: "default/web 在等待：5,000 个节点都放不下该 Pod（5000 Insufficient cpu）。必须先有其他 Pod 离开。", lang: "zh-CN" });
    expect(say(null, "there are more replicas than nodes or zones to spread them over")).toEqual({ text: "副本多于可供分布的节点或可用区", lang: "zh-CN" });
  });

  it("falls back to English if there is no translation", async () => {
    const chinese = await vocabularyOf("zh-CN");
    setVocabularySource(() => chinese);
    expect(say({ template: "something new about {pod}", values: { pod: "a" } }, "something new about a")).toEqual({ text: "something new about a", lang: "en" });
  });
});
