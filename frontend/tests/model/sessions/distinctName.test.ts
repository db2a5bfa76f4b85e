import { expect, it } from "vitest";
import { distinctName, isNumbered, withoutNumber, withoutRepeats } from "../../../src/model/sessions/distinctName";

it("distinctName appends the first free number to a name that is taken", () => {
  expect(distinctName("Four nodes", [])).toBe("Four nodes");
  expect(distinctName("Four nodes", ["Five nodes", "Four nodes and more"])).toBe("Four nodes");
  expect(distinctName("Four nodes", ["Four nodes", "Four nodes 2", "Four nodes 4"])).toBe("Four nodes 3");
});

it("isNumbered accepts a name with a number behind it, and no other name that begins with it", () => {
  expect(["A pod waits", "A pod waits 12"].every((one) => isNumbered(one, "A pod waits"))).toBe(true);
  expect(["A pod waits for a node", "A pod waits 2 s", "Why a pod waits"].some((one) => isNumbered(one, "A pod waits"))).toBe(false);
});

it("withoutRepeats keeps the first session of each example, and every other session", () => {
  const sessions = ["Four nodes 3", "prod 2", "Four nodes from event 9", "Four nodes 2", "prod", "Four nodes"].map((name) => ({ name }));
  expect(withoutRepeats(sessions, ["Four nodes", "A large cluster"]).map(({ name }) => name)).toEqual(["Four nodes 3", "prod 2", "Four nodes from event 9", "prod"]);
});

it("withoutNumber removes only a number at the end", () => {
  expect(["One pod, end to end 3", "One pod, end to end", "v1.36 and 2 pods", "prod2"].map(withoutNumber)).toEqual(["One pod, end to end", "One pod, end to end", "v1.36 and 2 pods", "prod2"]);
});
