import { expect, it } from "vitest";

import { printKey } from "../src/commands/keys";

it("names the key of a chord as it is on the user's keyboard", () => {
  expect(printKey("Mod+k", "MacIntel")).toBe("⌘K");
  expect(printKey("Mod+k", "Linux x86_64")).toBe("Ctrl K");
  expect(printKey("Mod+k", "Win32")).toBe("Ctrl K");
  expect(printKey("Mod+Enter", "Win32")).toBe("Ctrl ↵");
});

it("names single keys in the same way on every keyboard", () => {
  for (const platform of ["MacIntel", "Win32"]) expect(["ArrowLeft", "?", " "].map((key) => printKey(key, platform))).toEqual(["←", "?", "Space"]);
});
