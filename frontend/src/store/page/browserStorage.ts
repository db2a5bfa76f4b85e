/** JSON values in this browser's localStorage. The user may have disabled it: then nothing is stored, and the page works without. */

/** The stored value; null: none is stored, or it cannot be read. Another version of the page may have written it. */
export function readStored(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

export function writeStored(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Disabled, or full.
  }
}
