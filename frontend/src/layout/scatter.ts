/** Many points of a scatter plot: dots as few paths, and one label for those at one place. */
import { stacked } from "./axis";

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

/** The points with a label each, of which none covers another; labels that would lie above `top` are below their point. */
export function labelled<P extends Point>(points: readonly P[], top: number): { group: P[]; x: number; y: number }[] {
  const groups = new Map<string, P[]>();
  for (const point of points) {
    const key = `${Math.round(point.x / NEAR)} ${Math.round(point.y / NEAR)}`;
    groups.set(key, [...(groups.get(key) ?? []), point]);
  }
  const all = [...groups.values()];
  const heights = stacked(all.map(([first]) => ({ x: first!.x, y: first!.y - 12 })));
  return all.map((group, place) => ({ group, x: group[0]!.x, y: heights[place]! < top ? group[0]!.y + 20 : heights[place]! }));
}
