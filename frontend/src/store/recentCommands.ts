/** The commands that were used last in this browser, newest first. */
const KEY = "schedviz.recent";
const KEPT = 6;

export const recent = {
  list(): string[] {
    try {
      const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
      return Array.isArray(stored) ? stored.filter((id) => typeof id === "string") : [];
    } catch {
      return [];
    }
  },

  add(id: string): void {
    try {
      localStorage.setItem(KEY, JSON.stringify([id, ...this.list().filter((other) => other !== id)].slice(0, KEPT)));
    } catch {
      // Storage may be disabled by the user.
    }
  },
};
