import { UNITS, type Unit } from "../model/timeline/boundaries";
import { queryCommands, type QueryActions } from "./queryCommands";
import type { Command } from "./command";
import { themeCommand } from "./themeCommand";
import { actionCommands, type ActionPanels } from "./actionCommands";
import { preferences } from "../store/page/preferences.svelte";
import type { SessionStore } from "../store/session/sessionStore.svelte";

export type { Command } from "./command";

export interface PageActions extends ActionPanels, QueryActions {
  toggleHelp(): void;
  openFiles(): void;
  openSearch(): void;
  dismiss(): void;
}

export function commandsOf(store: SessionStore, page: PageActions): Command[] {
  const choose = (unit: Unit, key: string): Command => ({
    id: `transport.unit.${unit}`,
    title: `command.unit.${unit}`,
    keys: [key],
    group: "transport",
    run() {
      store.playback.setUnit(unit);
    },
  });
  return [
    {
      id: "transport.play",
      title: "command.play",
      keys: [" "],
      group: "transport",
      run() {
        store.controls.togglePlay();
      },
    },
    {
      id: "transport.step",
      title: "command.step",
      keys: ["ArrowRight"],
      group: "transport",
      run() {
        store.controls.step();
      },
    },
    {
      id: "transport.back",
      title: "command.back",
      keys: ["ArrowLeft"],
      group: "transport",
      run() {
        store.controls.stepBack();
      },
    },
    {
      id: "transport.start",
      title: "command.start",
      keys: ["Home"],
      group: "transport",
      run() {
        void store.playback.seek(store.playback.firstEvent);
      },
    },
    ...UNITS.map((unit, i) => choose(unit, String(i + 1))),
    {
      id: "transport.live",
      title: "command.live",
      keys: ["l"],
      group: "transport",
      run() {
        if (store.playback.following) store.playback.hold();
        else store.playback.follow();
      },
    },
    {
      id: "transport.head",
      title: "transport.head",
      keys: ["End"],
      group: "transport",
      run() {
        store.playback.follow();
      },
    },
    ...queryCommands(page),
    ...actionCommands(store, page),
    themeCommand,
    {
      id: "page.queue",
      title: "command.queue",
      keys: ["q"],
      group: "page",
      run() {
        preferences.queueAs = preferences.queueAs === "heap" ? "order" : "heap";
        preferences.save();
      },
    },
    {
      id: "page.cache",
      title: "command.cache",
      keys: ["c"],
      group: "page",
      run() {
        preferences.cacheAs = preferences.cacheAs === "list" ? "table" : "list";
        preferences.save();
      },
    },
    {
      id: "page.internals",
      title: "command.internals",
      keys: ["v"],
      group: "page",
      run: preferences.toggleInternals,
    },
    {
      id: "page.import",
      title: "command.import",
      keys: ["i"],
      group: "page",
      changes: "server",
      leaves: true,
      run() {
        page.openFiles();
      },
    },
    {
      id: "page.search",
      title: "command.search",
      keys: ["/", "Mod+k"],
      group: "page",
      run() {
        page.openSearch();
      },
    },
    {
      id: "page.help",
      title: "command.help",
      keys: ["?"],
      group: "page",
      run() {
        page.toggleHelp();
      },
    },
    {
      id: "page.dismiss",
      title: "command.dismiss",
      keys: ["Escape"],
      group: "page",
      run() {
        page.dismiss();
      },
    },
  ];
}
