import type { Box } from "./boxes";

/** A path between two adjacent items of the list: below the item before it, above the item after it. */
export type Path = { x: number; y: number }[];

/**
 * The waterline after item `index`: it enters from the left below the item's line, rises beside the item and leaves to the right above its line.
 * Everything above and left of it was visited.
 */
export function waterline(boxes: readonly Box[], index: number, width: number): Path {
  if (index < 0) return level(-5, width);
  const item = boxes[index];
  if (!item) return [];
  const next = boxes[index + 1];
  const top = item.y - gapAbove(boxes, index) / 2;
  if (!next) return level(item.y + item.h + 6, width);
  const sameLine = next.y === item.y;
  const bottom = sameLine ? bottomOfLine(boxes, index) : (item.y + item.h + next.y) / 2;
  if (!sameLine) return level(bottom, width);
  const x = (item.x + item.w + next.x) / 2;
  return [
    { x: 0, y: bottom },
    { x, y: bottom },
    { x, y: top },
    { x: width, y: top },
  ];
}

/** An interpolated waterline: `index` 2.5 is halfway between after item 2 and after item 3. */
export function sweptWaterline(boxes: readonly Box[], index: number, width: number): Path {
  const ahead = Math.ceil(index);
  const item = boxes[ahead];
  if (ahead === index || ahead < 0 || !item) return waterline(boxes, Math.floor(index), width);
  const to = waterline(boxes, ahead, width);
  const before = boxes[ahead - 1];
  const from = before?.y === item.y ? (before.x + before.w + item.x) / 2 : 0;
  const end = to.length > 2 ? to[1]!.x : width;
  const x = from + (end - from) * (index - ahead + 1);
  const bottom = to[0]!.y;
  const top = item.y - gapAbove(boxes, ahead) / 2;
  return [
    { x: 0, y: bottom },
    { x, y: bottom },
    { x, y: top },
    { x: width, y: top },
  ];
}

function level(y: number, width: number): Path {
  return [
    { x: 0, y },
    { x: width, y },
  ];
}

function gapAbove(boxes: readonly Box[], index: number): number {
  const item = boxes[index]!;
  for (let i = index - 1; i >= 0; i--) {
    const above = boxes[i]!;
    if (above.y < item.y) return item.y - (above.y + above.h);
  }
  return 6;
}

function bottomOfLine(boxes: readonly Box[], index: number): number {
  const item = boxes[index]!;
  for (let i = index + 1; i < boxes.length; i++) {
    const below = boxes[i]!;
    if (below.y > item.y) return (item.y + item.h + below.y) / 2;
  }
  return item.y + item.h + 6;
}
