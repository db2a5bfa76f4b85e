import type { AnyCommand } from "../model/generated";
import type { MessageKey } from "../i18n/translate";
import { splitKey } from "../model/names";
import type { Selection } from "../model/permalink";
import type { SessionStore } from "../store/session/sessionStore.svelte";
import type { Command } from "./command";

export type ActionTab = "object" | "cluster" | "faults" | "configuration";

/** Opens the dialogs of commands that need more input. */
export interface ActionPanels {
  openActions(tab: ActionTab): void;
  edit(object: Selection): void;
  openShare(): void;
  toggleLanguage(): void;
  openSessions(): void;
}

export function actionCommands(store: SessionStore, page: ActionPanels): Command[] {
  const open = (tab: ActionTab, keys: string[]): Command => ({
    id: `do.${tab}`,
    title: `command.do.${tab}`,
    keys,
    group: "do",
    changes: "session",
    run() {
      page.openActions(tab);
    },
  });
  const send = (id: string, title: MessageKey, command: AnyCommand): Command => ({
    id,
    title,
    keys: [],
    group: "do",
    changes: "session",
    run() {
      store.connection.send(command);
    },
  });
  return [
    open("object", ["n"]),
    open("cluster", ["m"]),
    open("faults", ["x"]),
    open("configuration", ["g"]),
    send("do.schedule", "command.do.schedule", { op: "schedule" }),
    send("do.bind", "command.do.bind", { op: "bind" }),
    send("do.bindFail", "command.do.bindFail", { op: "bind_fail" }),
    send("do.advance", "command.do.advance", { op: "advance", to: "next" }),
    send("do.restart", "command.do.restart", { op: "restart" }),
    send("do.reset", "command.do.reset", { op: "reset" }),
    {
      id: "page.share",
      title: "command.share",
      keys: ["s"],
      group: "page",
      changes: "rights",
      run() {
        page.openShare();
      },
    },
    {
      id: "page.language",
      title: "command.language",
      keys: [],
      group: "page",
      run() {
        page.toggleLanguage();
      },
    },
    {
      id: "page.sessions",
      title: "command.sessions",
      keys: [],
      group: "page",
      run() {
        page.openSessions();
      },
    },
  ];
}

/** An action on one node or one pod. */
export interface ObjectAction {
  id: string;
  title: MessageKey;
  kinds: readonly Selection["kind"][];
  run(store: SessionStore, object: Selection, page: ActionPanels): void;
}

export const OBJECT_ACTIONS: readonly ObjectAction[] = [
  {
    id: "edit",
    title: "verb.edit",
    kinds: ["node", "pod"],
    run(_scope, object, page) {
      page.edit(object);
    },
  },
  {
    id: "cordon",
    title: "verb.cordon",
    kinds: ["node"],
    run(store, { name }) {
      store.connection.send({ op: "cordon", node: name });
    },
  },
  {
    id: "uncordon",
    title: "verb.uncordon",
    kinds: ["node"],
    run(store, { name }) {
      store.connection.send({ op: "cordon", node: name, on: false });
    },
  },
  {
    id: "drain",
    title: "verb.drain",
    kinds: ["node"],
    run(store, { name }) {
      store.connection.send({ op: "drain", node: name });
    },
  },
  {
    id: "evict",
    title: "verb.evict",
    kinds: ["pod"],
    run(store, { name }) {
      store.connection.send({ op: "evict", pod: name });
    },
  },
  {
    id: "bindFail",
    title: "verb.bindFail",
    kinds: ["pod"],
    run(store, { name }) {
      store.connection.send({ op: "bind_fail", pod: name });
    },
  },
  {
    id: "delete",
    title: "verb.delete",
    kinds: ["node", "pod"],
    run(store, object) {
      const { namespace, name } = splitKey(object.name);
      store.connection.send(object.kind === "node" ? { op: "delete", kind: "Node", name, namespace: "" } : { op: "delete", kind: "Pod", name, namespace });
    },
  },
];
