import type { Command } from "./command";

/** Panels that open over the page to query the session. */
export type Panel = "breakpoints" | "pending" | "devices" | "agreement" | "export";

/** Actions that open another session, or a panel about this one. */
export interface QueryActions {
  openPanel(panel: Panel): void;
  forkHere(): void;
  /** Asks whether to fork to the other release of kube-scheduler. */
  askForOtherRelease(): void;
  /** Runs both releases of kube-scheduler on forks and compares them. */
  compareReleases(): void;
  undoHere(): void;
  openCompare(): void;
  /** Opens the page of experiments with this session as the base of the plans. */
  openExperiment(): void;
}

export function queryCommands(page: QueryActions): Command[] {
  const open = (panel: Panel, key: string): Command => ({
    id: `ask.${panel}`,
    title: `command.ask.${panel}`,
    keys: [key],
    group: "ask",
    run() {
      page.openPanel(panel);
    },
  });
  return [
    {
      id: "ask.fork",
      title: "command.ask.fork",
      keys: ["f"],
      group: "ask",
      changes: "server",
      leaves: true,
      run() {
        page.forkHere();
      },
    },
    {
      id: "ask.otherRelease",
      title: "command.ask.otherRelease",
      keys: ["F"],
      group: "ask",
      changes: "server",
      leaves: true,
      run() {
        page.askForOtherRelease();
      },
    },
    {
      id: "ask.compareReleases",
      title: "command.ask.compareReleases",
      keys: ["D"],
      group: "ask",
      changes: "server",
      leaves: true,
      run() {
        page.compareReleases();
      },
    },
    {
      id: "ask.undo",
      title: "command.ask.undo",
      keys: ["u"],
      group: "ask",
      changes: "server",
      leaves: true,
      run() {
        page.undoHere();
      },
    },
    {
      id: "ask.compare",
      title: "command.ask.compare",
      leaves: true,
      keys: ["d"],
      group: "ask",
      run() {
        page.openCompare();
      },
    },
    {
      id: "ask.experiment",
      title: "command.ask.experiment",
      leaves: true,
      keys: ["E"],
      group: "ask",
      run() {
        page.openExperiment();
      },
    },
    open("pending", "w"),
    open("devices", "G"),
    open("agreement", "a"),
    { ...open("breakpoints", "b"), changes: "session" },
    { ...open("export", "e"), leaves: true },
  ];
}
