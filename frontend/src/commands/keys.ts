import type { Command } from "./command";

/** Where a key is text, or works the thing that has the focus. */
function isTaken(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("input, textarea, select, [contenteditable]:not([contenteditable=false])")) return key !== "Escape";
  // After a click the focus is on what was clicked, and not seen: Space is the page's then, which plays.
  const seen = key === "Enter" || target.matches(":focus-visible");
  return (key === " " || key === "Enter") && seen && target.closest("button, a, summary, [role=button]") !== null;
}

/** Runs commands by their keys until the returned function is called. */
export function listenForKeys(commands: readonly Command[], isOff: () => boolean): () => void {
  const byKey = new Map(commands.flatMap((command) => command.keys.map((key) => [key, command] as const)));
  const listen = (event: KeyboardEvent): void => {
    if (event.defaultPrevented) return;
    // A dialog closes by itself, whoever has opened it.
    if (event.key === "Escape" && document.querySelector("dialog[open]")) return;
    const chord = (event.ctrlKey || event.metaKey) && !event.altKey;
    if (event.altKey || (chord && event.key !== "k") || (!chord && isTaken(event.composedPath()[0] ?? event.target, event.key))) return;
    const command = byKey.get(chord ? `Mod+${event.key}` : event.key);
    if (!command || (isOff() && command.id !== "page.dismiss" && command.id !== "page.help")) return;
    event.preventDefault();
    // Some browsers press the button all the same, as the key goes up.
    if (event.key === " " && event.target instanceof HTMLButtonElement) event.target.blur();
    command.run();
  };
  addEventListener("keydown", listen);
  return () => {
    removeEventListener("keydown", listen);
  };
}

const SHOWN: Record<string, string> = { " ": "Space", ArrowRight: "→", ArrowLeft: "←", Escape: "Esc", "Mod+k": "⌘K" };

export function printKey(key: string): string {
  return SHOWN[key] ?? key;
}
