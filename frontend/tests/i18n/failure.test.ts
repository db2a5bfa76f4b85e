import { afterEach, describe, expect, it } from "vitest";

import { ApiError, errorOf } from "../../src/api/call";
import { failureOf } from "../../src/i18n/failure";
import { ENGLISH, setVocabularySource, vocabularyOf } from "../../src/i18n/translate";

const QUOTA = "You have 20 sessions; 20 are allowed (SCHEDVIZ_USER_SESSIONS).";
const refused = (): ApiError => errorOf(409, JSON.stringify({ title: "Quota reached", code: "quota_reached", detail: QUOTA }));

afterEach(() => {
  setVocabularySource(() => ENGLISH);
});

describe("failureOf", () => {
  it("gives the server's message in English", () => {
    expect(failureOf(refused())).toBe(QUOTA);
  });

  it("puts the translated title before the message in other languages", async () => {
    const chinese = await vocabularyOf("zh-CN");
    setVocabularySource(() => chinese);

    expect(failureOf(refused())).toBe(`配额已用完：${QUOTA}`);
    expect(failureOf(new Error("a mistake"))).toBe("a mistake");
    expect(failureOf(new ApiError(0, ""))).toBe("无法连接服务器。请检查 schedviz 是否在运行。");
  });
});
