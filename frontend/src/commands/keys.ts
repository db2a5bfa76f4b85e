import type { Command } from "./command";

const PRESSED = "button, a, summary, [role=button]";

/** Whether a key types text or operates the focused element; `clicked`: the element got the focus by a click. */
function isTaken(target: EventTarget | null, key: string, clicked: Element | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("input, textarea, select, [contenteditable]:not([contenteditable=false])")) return key !== "Escape";
  const pressed = target.closest(PRESSED);
  // After a click the focus is on the clicked element, but users do not expect Space to press it again: Space plays.
  return pressed !== null && (key === "Enter" || (key === " " && pressed !== clicked));
}

/** Runs commands by their keys until the returned function is called. */
export function listenForKeys(commands: readonly Command[], isOff: () => boolean): () => void {
  const byKey = new Map(commands.flatMap((command) => command.keys.map((key) => [key, command] as const)));
  // `:focus-visible` does not help: browsers match it for a clicked element as soon as a key is pressed.
  let clicked: Element | null = null;
  const point = ({ target }: Event): void => {
    clicked = target instanceof Element ? target.closest(PRESSED) : null;
  };
  const focus = ({ target }: Event): void => {
    if (target !== clicked) clicked = null;
  };
  const listen = (event: KeyboardEvent): void => {
    if (event.defaultPrevented) return;
    // Dialogs close themselves.
    if (event.key === "Escape" && document.querySelector("dialog[open]")) return;
    const chord = (event.ctrlKey || event.metaKey) && !event.altKey;
    if (event.altKey || (chord && event.key !== "k") || (!chord && isTaken(event.composedPath()[0] ?? event.target, event.key, clicked))) return;
    const command = byKey.get(chord ? `Mod+${event.key}` : event.key);
    if (!command || (isOff() && command.id !== "page.dismiss" && command.id !== "page.help")) return;
    event.preventDefault();
    // Some browsers press the button when the key is released.
    if (event.key === " " && event.target instanceof HTMLButtonElement) event.target.blur();
    command.run();
  };
  addEventListener("keydown", listen);
  addEventListener("pointerdown", point, true);
  addEventListener("focusin", focus);
  return () => {
    removeEventListener("keydown", listen);
    removeEventListener("pointerdown", point, true);
    removeEventListener("focusin", focus);
  };
}

const SHOWN: Record<string, string> = {
  " ": "Space",
  ArrowRight: "→",
  ArrowLeft: "←",
  ArrowUp: "↑",
  ArrowDown: "↓",
  PageUp: "PgUp",
  PageDown: "PgDn",
  "-": "−",
  Escape: "Esc",
};

/** A key as it is written on the user's keyboard; `Mod+` is Command on Apple's, Ctrl on others. */
export function printKey(key: string, platform: string = navigator.platform): string {
  if (!key.startsWith("Mod+")) return SHOWN[key] ?? key;
  const other = key === "Mod+Enter" ? "↵" : key.slice(4).toUpperCase();
  return /^(Mac|iP)/.test(platform) ? `⌘${other}` : `Ctrl ${other}`;
}
