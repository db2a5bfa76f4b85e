import { preferences } from "../store/page/preferences.svelte";
import type { Command } from "./command";

/** The command of every page. */
export const themeCommand: Command = {
  id: "page.theme",
  title: "command.theme",
  keys: ["t"],
  group: "page",
  run() {
    preferences.toggleTheme();
  },
};
