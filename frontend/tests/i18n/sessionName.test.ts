import { afterEach, expect, it } from "vitest";
import { sessionName } from "../../src/i18n/sessionName";
import { ENGLISH, setVocabularySource, vocabularyOf } from "../../src/i18n/translate";

afterEach(() => {
  setVocabularySource(() => ENGLISH);
});

it("sessionName translates the names of cases, lessons and samples, also of later ones and of forks", async () => {
  const chinese = await vocabularyOf("zh-CN");
  setVocabularySource(() => chinese);

  expect(sessionName("The pod lacks a toleration")).toBe("忘记添加容忍度");
  expect(sessionName("Four nodes, step by step 2")).toBe("四个节点，逐步观察 2");
  expect(sessionName("Four nodes, step by step @ 255 v1.27.1")).toBe("四个节点，逐步观察 @ 255 v1.27.1");
  expect(sessionName("One pod, end to end 3 @ 12 @ 30")).toBe("一个 Pod 的全程 3 @ 12 @ 30");
});

it("sessionName keeps names that users gave, and English names on an English page", async () => {
  expect(sessionName("The pod lacks a toleration")).toBe("The pod lacks a toleration");
  const chinese = await vocabularyOf("zh-CN");
  setVocabularySource(() => chinese);
  expect(sessionName("production 3 @ 12")).toBe("production 3 @ 12");
  expect(sessionName("")).toBe("");
});
