import { expect, it } from "vitest";

import { printWait } from "../src/model/quantity";

it("prints waits below a second in milliseconds, and longer ones as seconds, minutes and hours", () => {
  expect([0, 0.0014, 0.4, 4.24, 245, 7380].map(printWait)).toEqual(["0 ms", "1 ms", "400 ms", "4.2 s", "4m 05s", "2h 03m"]);
});
