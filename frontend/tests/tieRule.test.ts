import { describe, expect, it } from "vitest";

import { tieRule } from "../src/views/cycle/tieRule";

describe("the rule of a tie", () => {
  it("is the top of the heap in v1.36, and a random choice in v1.27.1", () => {
    expect(tieRule("v1.36")).toMatch(/^\. kube-scheduler takes the one at the top of its heap/);
    expect(tieRule("v1.27.1")).toMatch(/^\. kube-scheduler picks .* at random; schedviz uses a fixed rule\.$/);
  });
});
