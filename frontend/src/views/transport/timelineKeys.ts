import type { Mark } from "../../model/timeline/marks";
import type { SessionStore } from "../../store/session/sessionStore.svelte";
import type { TimelineWindow } from "./timelineWindow.svelte";

/** The action of a key on the focused timeline; undefined: the key has none. `marks`: the visible marks, in order. */
export function timelineKeyAction(key: string, store: SessionStore, range: TimelineWindow, marks: readonly Mark[]): (() => void) | undefined {
  const { event, playback } = store;
  const seek = (to: number | undefined): void => {
    if (to !== undefined) void playback.seek(to);
  };
  const page = Math.round(range.length / 10);
  const actions: Record<string, () => void> = {
    "+": () => { range.zoom(0.5); },
    "=": () => { range.zoom(0.5); },
    "-": () => { range.zoom(2); },
    "0": () => { range.showWhole(); },
    PageUp: () => { seek(event - page); },
    PageDown: () => { seek(event + page); },
    ArrowUp: () => { seek(marks.findLast((mark) => mark.event < event)?.event); },
    ArrowDown: () => { seek(marks.find((mark) => mark.event > event)?.event); },
    Enter: () => { range.reset(); },
  };
  return actions[key];
}
