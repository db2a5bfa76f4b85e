import { expect, it } from "vitest";

import { scoringInWords } from "../src/i18n/scoring";

it("says what each Score plugin of kube-scheduler gives points for", () => {
  expect(scoringInWords("NodeResourcesFit")).toContain("more free cpu and memory give more points");
});

it("says nothing about plugins of one's own", () => {
  expect(scoringInWords("MyScore")).toBeUndefined();
});
