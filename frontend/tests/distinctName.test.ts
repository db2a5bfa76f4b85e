import { expect, it } from "vitest";
import { distinctName } from "../src/model/distinctName";

it("distinctName appends the first free number to a name that is taken", () => {
  expect(distinctName("Four nodes", [])).toBe("Four nodes");
  expect(distinctName("Four nodes", ["Five nodes", "Four nodes and more"])).toBe("Four nodes");
  expect(distinctName("Four nodes", ["Four nodes", "Four nodes 2", "Four nodes 4"])).toBe("Four nodes 3");
});
