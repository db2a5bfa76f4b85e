/**
 * A glyph for each Status code, in a 12 × 12 box with a stroke. Together with the color of the same name it represents
 * the code on every panel, so that color is never the only cue.
 */
export const GLYPHS: Record<string, string> = {
  Success: "M2.5 6.5 L5 9 L9.5 3.5",
  Error: "M6 2 L6 7 M6 9.2 L6 9.8",
  Unschedulable: "M3 3 L9 9 M9 3 L3 9",
  UnschedulableAndUnresolvable: "M2 6 A4 4 0 1 0 10 6 A4 4 0 1 0 2 6 M3.2 8.8 L8.8 3.2",
  Wait: "M4.2 3 L4.2 9 M7.8 3 L7.8 9",
  Skip: "M2.5 3.5 L6 6 L2.5 8.5 M8.5 3 L8.5 9",
  Pending: "M3 2 H9 L3 10 H9 Z",
};

