import { LANES, type Lane, type Mark } from "../model/history";
import type { Box } from "./boxes";

/** The stretch of events that is seen. Events are as far apart as each other, so idle time takes no room. */
export interface Window {
  first: number;
  last: number;
}

export interface TimelineLayout {
  width: number;
  laneHeight: number;
  lanes: Record<Lane, Box>;
  window: Window;
}

export function layoutTimeline(width: number, height: number, left: number, window: Window): TimelineLayout {
  const laneHeight = height / LANES.length;
  const lanes = {} as Record<Lane, Box>;
  LANES.forEach((lane, i) => {
    lanes[lane] = { x: left, y: i * laneHeight, w: width - left, h: laneHeight };
  });
  return { width, laneHeight, lanes, window };
}

export function xOf(layout: TimelineLayout, event: number): number {
  const { x, w } = layout.lanes.cycles;
  const { first, last } = layout.window;
  return x + ((event - first) / Math.max(1, last - first)) * (w - 4) + 2;
}

export function eventAt(layout: TimelineLayout, x: number): number {
  const lane = layout.lanes.cycles;
  const { first, last } = layout.window;
  return Math.round(first + ((x - lane.x - 2) / (lane.w - 4)) * Math.max(1, last - first));
}

/** The mark nearest to a point, within a few pixels. Marks are in order of event. */
export function markAt(layout: TimelineLayout, marks: readonly Mark[], x: number, y: number): Mark | null {
  const lane = LANES[Math.floor(y / layout.laneHeight)];
  let found: Mark | null = null;
  let nearest = 6;
  for (let i = firstMark(marks, eventAt(layout, x - nearest)); i < marks.length; i++) {
    const mark = marks[i]!;
    const distance = Math.abs(xOf(layout, mark.event) - x);
    if (xOf(layout, mark.event) > x + 6) break;
    if (mark.lane === lane && distance < nearest) {
      nearest = distance;
      found = mark;
    }
  }
  return found;
}

/** The first mark at or after an event. */
export function firstMark(marks: readonly Mark[], event: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (marks[middle]!.event < event) low = middle + 1;
    else high = middle;
  }
  return low;
}
