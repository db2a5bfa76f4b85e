import { LANES, type Lane, type Mark } from "../model/timeline/marks";
import type { EventRange } from "../model/timeline/eventRange";
import type { Box } from "./boxes";

/** Events have equal distances, so idle time takes no room. */
export interface TimelineLayout {
  height: number;
  /** The drawn area, without the lane names at the left. */
  area: Box;
  /** A folded lane has no height. */
  lanes: Record<Lane, Box>;
  /** The strip with the clock. */
  clock: Box;
  /** The strip with the whole session; without height while the lanes show the same. */
  overview: Box;
  window: EventRange;
  whole: EventRange;
}

/** Lanes are higher while the strip with the whole session has no height. */
const LANE_HEIGHT = 16;
/** The handle of the playhead, and the labels below it. */
const CLOCK_HEIGHT = 20;
const OVERVIEW_HEIGHT = 18;
const GAP = 4;
/** The minimum number of events in a window. */
export const MIN_WINDOW_EVENTS = 20;

/** Lanes that are shown only once something has happened on them; the others have marks in every session. */
const RARE_LANES = ["preemption", "nodes"] as const;

/**
 * The lanes on which nothing has happened in the whole session. `marks`: all of its marks, if they are few enough to be known; otherwise its
 * tallies say it, once they are loaded.
 */
export function emptyLanes(marks: readonly { lane: Lane }[] | null, tallies: readonly { preempted: number; nodeChanges: number }[]): ReadonlySet<Lane> {
  if (!marks && !tallies.length) return new Set();
  const countOf = { preemption: (tally: (typeof tallies)[number]) => tally.preempted, nodes: (tally: (typeof tallies)[number]) => tally.nodeChanges };
  return new Set(RARE_LANES.filter((lane) => (marks ? !marks.some((mark) => mark.lane === lane) : !tallies.some(countOf[lane]))));
}

/** `folded`: the lanes that have no height, of which the others get a part. */
export function layoutTimeline(width: number, left: number, window: EventRange, range: EventRange, folded: ReadonlySet<Lane> = new Set()): TimelineLayout {
  const shown = LANES.length - folded.size;
  const height = OVERVIEW_HEIGHT + GAP + shown * LANE_HEIGHT + CLOCK_HEIGHT;
  const w = Math.max(1, width - left);
  const isWhole = window.first <= range.first && window.last >= range.last;
  const top = isWhole ? 0 : OVERVIEW_HEIGHT + GAP;
  const clockTop = height - CLOCK_HEIGHT;
  const laneHeight = Math.floor((clockTop - top) / shown);
  const lanes = {} as Record<Lane, Box>;
  let y = top;
  for (const lane of LANES) {
    const h = folded.has(lane) ? 0 : laneHeight;
    lanes[lane] = { x: left, y, w, h };
    y += h;
  }
  return {
    height,
    area: { x: left, y: top, w, h: shown * laneHeight },
    lanes,
    clock: { x: left, y: clockTop, w, h: CLOCK_HEIGHT },
    overview: { x: left, y: 0, w, h: isWhole ? 0 : OVERVIEW_HEIGHT },
    window,
    whole: range,
  };
}

/** The moment after an event is at the event's right edge; `window.first` is the moment before the first visible event. */
export function xIn(box: Box, window: EventRange, event: number): number {
  return box.x + ((event - window.first) / Math.max(1, window.last - window.first)) * box.w;
}

export function xOf(layout: TimelineLayout, event: number): number {
  return xIn(layout.area, layout.window, event);
}

/** The event at a position of a strip; fractions are rounded. */
export function eventIn(box: Box, window: EventRange, x: number): number {
  const event = window.first + ((x - box.x) / box.w) * (window.last - window.first);
  return Math.round(Math.max(window.first, Math.min(window.last, event)));
}

export function eventAt(layout: TimelineLayout, x: number): number {
  return eventIn(layout.area, layout.window, x);
}

export function laneAt(layout: TimelineLayout, y: number): Lane | null {
  return LANES.find((lane) => y >= layout.lanes[lane].y && y < layout.lanes[lane].y + layout.lanes[lane].h) ?? null;
}

/** The playhead can be taken this far beside its line. */
const GRIP = 7;

/** Whether a point is on the playhead, or on the clock's strip, where it can be taken anywhere. */
export function isOnPlayhead(layout: TimelineLayout, shown: number, x: number, y: number): boolean {
  const { area, clock } = layout;
  if (x < area.x - GRIP || y < area.y - GRIP || y > clock.y + clock.h) return false;
  return y >= clock.y || Math.abs(xOf(layout, shown) - x) <= GRIP;
}

/** The nearest mark on a lane, within a few pixels. Marks are in the order of their events. */
export function markAt(layout: TimelineLayout, marks: readonly Mark[], x: number, y: number): Mark | null {
  const lane = laneAt(layout, y);
  let found: Mark | null = null;
  let nearest = 6;
  for (const mark of marks) {
    const distance = Math.abs(xOf(layout, mark.event) - x);
    if (mark.lane !== lane || distance >= nearest) continue;
    nearest = distance;
    found = mark;
  }
  return found;
}

/** The window zoomed in (`factor` < 1) or out; the event at `around` keeps its place. */
export function zoomed(window: EventRange, range: EventRange, factor: number, around: number): EventRange {
  const length = window.last - window.first;
  const most = Math.max(MIN_WINDOW_EVENTS, range.last - range.first);
  const target = Math.max(MIN_WINDOW_EVENTS, Math.min(most, length * factor));
  const share = length > 0 ? (around - window.first) / length : 0.5;
  return clamped({ first: Math.round(around - target * share), last: Math.round(around + target * (1 - share)) }, range);
}

export function panned(window: EventRange, range: EventRange, events: number): EventRange {
  return clamped({ first: window.first + events, last: window.last + events }, range);
}

/** The window between two events of a brush. */
export function brushed(from: number, to: number, range: EventRange): EventRange {
  const [first, last] = from < to ? [from, to] : [to, from];
  const lacking = Math.max(0, MIN_WINDOW_EVENTS - (last - first));
  return clamped({ first: Math.floor(first - lacking / 2), last: Math.ceil(last + lacking / 2) }, range);
}

/** The window moved, not shortened, into the whole range; the whole range if it is shorter than the window. */
export function clamped(window: EventRange, range: EventRange): EventRange {
  const length = Math.min(window.last - window.first, Math.max(MIN_WINDOW_EVENTS, range.last - range.first));
  const first = Math.max(range.first, Math.min(window.first, range.last - length));
  return { first, last: first + length };
}

/** A time label on the clock's strip. */
export interface ClockTick {
  x: number;
  seconds: number;
  /** The idle virtual time just before it; 0: none. */
  idleSeconds: number;
  /** The label is to the left of its mark: at the right edge it would be cut off otherwise. */
  isBefore: boolean;
}

const TICK_GAP = 96;
/** Labels of idle time are longer: "31.0170 s (idle 31 s)". */
const FOLD_GAP = 184;
const MIN_IDLE_SECONDS = 1;

/**
 * The positions of the clock's labels: at folded idle time, and between those at regular distances. `times` are events with the
 * clock after them, in order.
 */
export function clockTicks(layout: TimelineLayout, times: readonly { event: number; seconds: number; exact: boolean }[]): ClockTick[] {
  const { area, window } = layout;
  const seen = times.filter(({ event }) => event >= window.first && event <= window.last);
  const folds: ClockTick[] = [];
  const right = area.x + area.w;
  const widthOf = ({ idleSeconds }: ClockTick): number => (idleSeconds > 0 ? FOLD_GAP : TICK_GAP);
  const leftOf = (tick: ClockTick): number => (tick.isBefore ? tick.x - widthOf(tick) : tick.x);
  const tickAt = (x: number, seconds: number, idleSeconds: number): ClockTick => ({ x, seconds, idleSeconds, isBefore: idleSeconds > 0 && x + FOLD_GAP > right });
  for (let i = 1; i < seen.length; i++) {
    const idleSeconds = seen[i]!.seconds - seen[i - 1]!.seconds;
    if (seen[i]!.exact && idleSeconds >= MIN_IDLE_SECONDS) folds.push(tickAt(xOf(layout, seen[i]!.event - 1), seen[i]!.seconds, idleSeconds));
  }
  // If there is not enough room, the longest idle times get labels first.
  const ticks: ClockTick[] = [];
  const isFree = (one: ClockTick): boolean =>
    (one.isBefore || one.x <= right - TICK_GAP / 2) && ticks.every((tick) => leftOf(tick) + widthOf(tick) <= leftOf(one) || leftOf(one) + widthOf(one) <= leftOf(tick));
  for (const fold of folds.sort((a, b) => b.idleSeconds - a.idleSeconds)) if (isFree(fold)) ticks.push(fold);
  for (const { event, seconds } of seen) {
    const tick = tickAt(xOf(layout, event), seconds, 0);
    if (isFree(tick)) ticks.push(tick);
  }
  // Two moments at the same time need one label.
  return ticks.sort((a, b) => a.x - b.x).filter((tick, i, all) => tick.idleSeconds > 0 || tick.seconds !== all[i - 1]?.seconds);
}

/** The number of decimals that distinguishes the times on the clock's strip, and rounds none of them by a millisecond, as the clock shows it. */
export function clockDigits(ticks: readonly ClockTick[]): number {
  const times = [...new Set(ticks.map(({ seconds }) => seconds.toFixed(MAX_DIGITS)))].map(Number);
  if (times.length < 2) return 3;
  const isExact = (time: number, digits: number): boolean => time >= MINUTE_SECONDS || Math.abs(Number(time.toFixed(digits)) - time) < MILLISECOND / 2;
  for (let digits = 1; digits < MAX_DIGITS; digits++)
    if (times.every((time) => isExact(time, digits)) && new Set(times.map((time) => time.toFixed(digits))).size === times.length) return digits;
  return MAX_DIGITS;
}

const MAX_DIGITS = 6;
const MILLISECOND = 0.001;
/** From a minute on, times have no decimals. */
const MINUTE_SECONDS = 60;
