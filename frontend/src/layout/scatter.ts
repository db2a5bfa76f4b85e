/** Many points of a scatter plot: dots as few paths, and one label for those at one place. */

export interface Point {
  x: number;
  y: number;
}

/** The dots of each color as one path of zero-length lines, which round caps make dots: 10,000 circles would be slow. */
export function dotPaths(points: readonly (Point & { color: string })[]): { color: string; path: string }[] {
  const found = new Map<string, string[]>();
  for (const { x, y, color } of points) {
    let parts = found.get(color);
    if (!parts) found.set(color, (parts = []));
    parts.push(`M${x.toFixed(1)} ${y.toFixed(1)}h0`);
  }
  return [...found].map(([color, parts]) => ({ color, path: parts.join("") }));
}

/** Points nearer than this, in pixels, share a label. */
const NEAR = 6;
/** The width of a character and the height of a line, roughly. */
const [CHARACTER, LINE] = [6.6, 15];
/** Where a label is tried: its base line above or below its point. */
const OFFSETS = [-12, 22, -27, 37, -42, 52];

export interface Label<P> {
  group: P[];
  text: string;
  x: number;
  y: number;
  anchor: "start" | "middle" | "end";
}

/** The radius of a mark, and how far a text reaches above its base line and below it, roughly. */
const [MARK, ASCENT, DESCENT] = [6, 10, 3];
/** With more marks than this, labels cover some of them. */
const MAX_CLEAR = 200;

/**
 * A label for each place with points, inside the box; those that would cover an earlier one are moved up or down. If there is a place where a
 * label covers none of the points and `others`, it is there.
 */
export function labelsOf<P extends Point>(
  points: readonly P[],
  textOf: (group: P[]) => string,
  box: { left: number; right: number; top: number; bottom: number },
  others: readonly Point[] = [],
): Label<P>[] {
  const groups: P[][] = [];
  for (const point of points) {
    const near = groups.find(([first]) => Math.abs(first!.x - point.x) < NEAR && Math.abs(first!.y - point.y) < NEAR);
    if (near) near.push(point);
    else groups.push([point]);
  }
  const all: readonly Point[] = [...points, ...others];
  const marks = all.length <= MAX_CLEAR ? all : [];
  const taken: { left: number; right: number; y: number }[] = [];
  return groups.map((group) => {
    const { x, y } = group[0]!;
    const text = textOf(group);
    const width = text.length * CHARACTER;
    const anchor = x - width / 2 < box.left ? "start" : x + width / 2 > box.right ? "end" : "middle";
    const left = anchor === "start" ? x : anchor === "end" ? x - width : x - width / 2;
    const isFree = (at: number): boolean =>
      at > box.top && at < box.bottom && !taken.some((other) => left < other.right && left + width > other.left && Math.abs(other.y - at) < LINE);
    const isClear = (at: number): boolean =>
      !marks.some((mark) => mark.x > left - MARK && mark.x < left + width + MARK && mark.y > at - ASCENT - MARK && mark.y < at + DESCENT + MARK && !(mark.x === x && mark.y === y));
    const free = OFFSETS.filter((offset) => isFree(y + offset));
    const at = y + (free.find((offset) => isClear(y + offset)) ?? free[0] ?? OFFSETS[0]!);
    taken.push({ left, right: left + width, y: at });
    return { group, text, x, y: at, anchor };
  });
}
