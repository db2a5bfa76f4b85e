import { describe, expect, it } from "vitest";

import { tieRule } from "../../../src/views/cycle/tieRule";

describe("the rule of a tie", () => {
  it("is the top of the heap in v1.36, and a random choice in v1.27.1", () => {
    expect(tieRule("v1.36")).toMatch(/^\. In a tie, v1\.36 takes the node at the top of its heap, which/);
    expect(tieRule("v1.27.1")).toMatch(/^\. In a tie, v1\.27\.1 picks .* at random; schedviz picks the same one/);
  });
});
