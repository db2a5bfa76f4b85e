import type { Box } from "./boxes";

/** A heap's array as a tree: the children of i are 2i+1 and 2i+2. Deep levels are dots; deeper ones are only counted. */
export interface HeapLayout {
  boxes: Box[];
  /** The first index that is drawn as a dot. */
  dotsFrom: number;
  height: number;
  hidden: number;
}

const LABEL = { height: 20, step: 32, minWidth: 56 };
const DOT = { size: 6, minWidth: 2 };

export function layoutHeap(count: number, width: number, maxHeight: number): HeapLayout {
  const boxes: Box[] = [];
  let y = 2;
  let dotsFrom = count;
  for (let level = 0; ; level++) {
    const first = 2 ** level - 1;
    if (first >= count) break;
    const slot = width / 2 ** level;
    const hasLabels = slot >= LABEL.minWidth;
    const dot = Math.min(DOT.size, slot - (slot > 4 ? 2 : 0.5));
    const step = hasLabels ? LABEL.step : dot + 8;
    if (slot < DOT.minWidth || y + (hasLabels ? LABEL.height : dot) > maxHeight) break;
    if (!hasLabels) dotsFrom = Math.min(dotsFrom, first);
    const w = hasLabels ? Math.min(slot - 6, 160) : dot;
    const h = hasLabels ? LABEL.height : Math.max(3, dot);
    for (let i = first; i < Math.min(count, 2 * first + 1); i++) {
      boxes.push({ x: (i - first + 0.5) * slot - w / 2, y, w, h });
    }
    y += step;
  }
  return { boxes, dotsFrom, height: y, hidden: count - boxes.length };
}
