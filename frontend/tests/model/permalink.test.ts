import { describe, expect, it } from "vitest";

import { parsePermalink, printPermalink, SHOW_ANSWER, SHOW_OVERVIEW, showsAnswer, showsOverview, withoutShow } from "../../src/model/permalink";

describe("a permalink", () => {
  it("is parsed back to the same place", () => {
    const place = { at: 1204, select: { kind: "pod", name: "team-a/web-7" }, tab: "history" } as const;
    const search = printPermalink(place);
    expect(search).toBe("?at=1204&select=pod:team-a/web-7&tab=history");
    expect(parsePermalink(search)).toEqual(place);
  });

  it("has no parameter for defaults", () => {
    expect(printPermalink({})).toBe("");
    expect(parsePermalink("")).toEqual({});
  });

  it("keeps the other parameters of the address", () => {
    expect(printPermalink({ at: 7 }, "?panel=queue&at=3&select=node:n1")).toBe("?panel=queue&at=7");
  });

  it("escapes names, and ignores invalid parameters", () => {
    expect(parsePermalink(printPermalink({ select: { kind: "node", name: "ip-10-0-0-1.eu:x&y" } }))).toEqual({ select: { kind: "node", name: "ip-10-0-0-1.eu:x&y" } });
    expect(parsePermalink("?at=-3&cycle=4.5&select=cat:tom")).toEqual({});
    expect(parsePermalink("?cycle=42")).toEqual({ cycle: 42 });
  });

  it("opens the overview, or the answer about the only pending pod, until its parameter is removed", () => {
    expect([SHOW_OVERVIEW, SHOW_ANSWER, "?show=cache", ""].map(showsOverview)).toEqual([true, true, false, false]);
    expect([SHOW_OVERVIEW, SHOW_ANSWER].map(showsAnswer)).toEqual([false, true]);
    expect(withoutShow(`${SHOW_ANSWER}&at=3`)).toBe("?at=3");
  });
});
