import { describe, expect, it } from "vitest";

import { placeOf, searchOf } from "../src/model/permalink";

describe("a permalink", () => {
  it("says where the page is, and is read back as the same place", () => {
    const place = { at: 1204, select: { kind: "pod", name: "team-a/web-7" }, tab: "history" } as const;
    const search = searchOf(place);
    expect(search).toBe("?at=1204&select=pod:team-a/web-7&tab=history");
    expect(placeOf(search)).toEqual(place);
  });

  it("says nothing of what is as always", () => {
    expect(searchOf({})).toBe("");
    expect(placeOf("")).toEqual({});
  });

  it("keeps what others have in the address", () => {
    expect(searchOf({ at: 7 }, "?panel=queue&at=3&select=node:n1")).toBe("?panel=queue&at=7");
  });

  it("reads names with unusual letters, and passes by what is no place", () => {
    expect(placeOf(searchOf({ select: { kind: "node", name: "ip-10-0-0-1.eu:x&y" } }))).toEqual({ select: { kind: "node", name: "ip-10-0-0-1.eu:x&y" } });
    expect(placeOf("?at=-3&cycle=4.5&select=cat:tom")).toEqual({});
    expect(placeOf("?cycle=42")).toEqual({ cycle: 42 });
  });
});
