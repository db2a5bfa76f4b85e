import { expect, it } from "vitest";
import { distinctName } from "../src/model/distinctName";

it("is the name itself, or the name with the next free number", () => {
  expect(distinctName("Four nodes", [])).toBe("Four nodes");
  expect(distinctName("Four nodes", ["Five nodes", "Four nodes and more"])).toBe("Four nodes");
  expect(distinctName("Four nodes", ["Four nodes", "Four nodes 2", "Four nodes 4"])).toBe("Four nodes 3");
});
