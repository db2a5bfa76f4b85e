import { expect, it } from "vitest";
import { distinctName, isNumbered } from "../src/model/distinctName";

it("distinctName appends the first free number to a name that is taken", () => {
  expect(distinctName("Four nodes", [])).toBe("Four nodes");
  expect(distinctName("Four nodes", ["Five nodes", "Four nodes and more"])).toBe("Four nodes");
  expect(distinctName("Four nodes", ["Four nodes", "Four nodes 2", "Four nodes 4"])).toBe("Four nodes 3");
});

it("isNumbered accepts a name with a number behind it, and no other name that begins with it", () => {
  expect(["A pod waits", "A pod waits 12"].every((one) => isNumbered(one, "A pod waits"))).toBe(true);
  expect(["A pod waits for a node", "A pod waits 2 s", "Why a pod waits"].some((one) => isNumbered(one, "A pod waits"))).toBe(false);
});
