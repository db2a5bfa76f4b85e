import { expect, it } from "vitest";

import { oneFullStop } from "../../../src/model/text/oneFullStop";

it("shows one of the two full stops of kube-scheduler 1.27", () => {
  expect(["No victims found.", "No victims found..", "and so on...", "no stop"].map(oneFullStop)).toEqual([
    "No victims found.",
    "No victims found.",
    "and so on...",
    "no stop",
  ]);
});
