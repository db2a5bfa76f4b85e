import { expect, it } from "vitest";

import { Notices } from "../../../src/store/session/notices.svelte";

it("a hint replaces the hint before, and no error", () => {
  const notices = new Notices();
  notices.show("info", "Added node added-1");
  notices.show("error", "The server cannot be reached");
  notices.show("info", "All details are shown");

  expect(notices.visible.map(({ text }) => text)).toEqual(["The server cannot be reached", "All details are shown"]);
});

it("the three newest errors are visible", () => {
  const notices = new Notices();
  for (const text of ["a", "b", "c", "d"]) notices.show("error", text);

  expect(notices.visible.map(({ text }) => text)).toEqual(["b", "c", "d"]);
});
