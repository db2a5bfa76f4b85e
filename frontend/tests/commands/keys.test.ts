import { expect, it } from "vitest";

import { printKey } from "../../src/commands/keys";
import { actionCommands, type ActionPanels } from "../../src/commands/actionCommands";
import { lessonCommands } from "../../src/commands/lessonCommands";
import { queryCommands, type QueryActions } from "../../src/commands/queryCommands";
import type { SessionStore } from "../../src/store/session/sessionStore.svelte";

it("printKey names modifiers as on the user's keyboard", () => {
  expect(printKey("Mod+k", "MacIntel")).toBe("⌘K");
  expect(printKey("Mod+k", "Linux x86_64")).toBe("Ctrl K");
  expect(printKey("Mod+k", "Win32")).toBe("Ctrl K");
  expect(printKey("Mod+Enter", "Win32")).toBe("Ctrl ↵");
});

it("printKey names single keys alike on every platform", () => {
  for (const platform of ["MacIntel", "Win32"]) expect(["ArrowLeft", "?", " "].map((key) => printKey(key, platform))).toEqual(["←", "?", "Space"]);
});

it("each key of a session's page belongs to one command", () => {
  const page = new Proxy({}, { get: () => () => undefined }) as ActionPanels & QueryActions;
  const keys = [...actionCommands({} as SessionStore, page), ...queryCommands(page), ...lessonCommands({ next: () => undefined, back: () => undefined })].flatMap((command) => command.keys);

  expect(keys.length).toBeGreaterThan(12);
  expect(keys.filter((key, place) => keys.indexOf(key) < place)).toEqual([]);
});
