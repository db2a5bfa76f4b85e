import { readStored, writeStored } from "./browserStorage";

/** The commands that were used last in this browser, newest first. */
const KEY = "schedviz.recent";
const MAX_RECENT = 6;

export const recent = {
  list(): string[] {
    const stored = readStored(KEY);
    return Array.isArray(stored) ? stored.filter((id) => typeof id === "string") : [];
  },

  add(id: string): void {
    writeStored(KEY, [id, ...this.list().filter((other) => other !== id)].slice(0, MAX_RECENT));
  },
};
