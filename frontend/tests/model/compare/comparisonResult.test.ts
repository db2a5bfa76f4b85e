import { describe, expect, it } from "vitest";

import { resultOf } from "../../../src/model/compare/comparisonResult";

const on = (node: string) => ({ node });
const counts = { first: "default/batch-3", moved: 0, leftOut: 0 };

describe("the result of a comparison", () => {
  it("names the pod of the first cycle that differs, and counts the others", () => {
    const pods = [
      { pod: "default/a", a: on("node-1"), b: on("node-2") },
      { pod: "default/batch-3", a: on(""), b: on("node-4") },
      { pod: "default/c", a: on("node-1"), b: on("node-3") },
    ];
    expect(resultOf(pods, { ...counts, moved: 2 })).toEqual({ pod: "default/batch-3", kind: "placed", from: "", to: "node-4", others: 2, othersMove: true, alike: null });
    expect(resultOf(pods, { ...counts, moved: 2, leftOut: 5 })).toMatchObject({ others: 7, othersMove: false });
  });

  it.each([
    [{ a: on("x"), b: on("y") }, "moved"],
    [{ a: on("x"), b: on("") }, "pending"],
    [{ a: null, b: on("y") }, "added"],
    [{ a: on("x"), b: null }, "gone"],
  ] as const)("%j is %s", (places, kind) => {
    expect(resultOf([{ pod: "default/p", ...places }], { ...counts, moved: 1 })?.kind).toBe(kind);
  });

  it("counts pods that are all scheduled only in B, or only in A, and names the node that all of them have", () => {
    const placed = ["batch-2", "batch-3", "web-4"].map((pod) => ({ pod, a: on(""), b: on("added-1") }));
    expect(resultOf(placed, counts)?.alike).toEqual({ kind: "placed", count: 3, node: "added-1" });
    expect(resultOf([...placed, { pod: "web-5", a: on(""), b: on("node-1") }], counts)?.alike).toEqual({ kind: "placed", count: 4, node: "" });
    expect(resultOf(placed.map(({ pod, a, b }) => ({ pod, a: b, b: a })), counts)?.alike).toEqual({ kind: "pending", count: 3, node: "added-1" });
    expect(resultOf([...placed, { pod: "web-5", a: on("node-2"), b: on("node-1") }], { ...counts, moved: 1 })?.alike).toBeNull();
    expect(resultOf(placed, { ...counts, leftOut: 1 })?.alike).toBeNull();
    expect(resultOf(placed.slice(0, 1), counts)?.alike).toBeNull();
  });

  it("is null if every pod has the same placement", () => {
    expect(resultOf([], counts)).toBeNull();
  });
});
