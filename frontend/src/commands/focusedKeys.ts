import type { MessageKey } from "../i18n/translate";

/** Keys that a part of the page handles while it has the focus, for the list of keys in the help. */
interface FocusedKeys {
  part: MessageKey;
  keys: readonly (readonly [keys: readonly string[], title: MessageKey])[];
}

export const FOCUSED_KEYS: readonly FocusedKeys[] = [
  {
    part: "help.focus.timeline",
    keys: [
      [["ArrowUp", "ArrowDown"], "help.focus.marks"],
      [["PageUp", "PageDown"], "help.focus.tenth"],
      [["+", "-"], "timeline.zoom"],
      [["0"], "timeline.all.help"],
      [["Enter"], "help.focus.here"],
    ],
  },
  {
    part: "help.focus.cache",
    keys: [
      [["ArrowLeft", "ArrowRight"], "help.focus.nodes"],
      [["Home", "End"], "help.focus.ends"],
      [["Enter"], "help.focus.drawer"],
      [["+", "-"], "timeline.zoom"],
    ],
  },
];
