import { xIn, xOf, type ClockTick, type TimelineLayout } from "../layout/timeline";
import { isFailure, type Failure } from "../model/timeline/failures";
import { LANES, type Lane, type Mark } from "../model/timeline/marks";
import type { Tally } from "../model/timeline/tallies";
import type { Palette } from "./palette";

/** What does not depend on the shown moment: drawn again for new data or another window. */
export interface LanesScene {
  layout: TimelineLayout;
  palette: Palette;
  /** The whole session, and its marks if there are few enough for all to be known. */
  whole: readonly Tally[];
  wholeMarks: readonly Mark[] | null;
  /** The content of the window: single marks, or ranges if there are too many. */
  marks: readonly Mark[] | null;
  tallies: readonly Tally[];
  hiddenLanes: ReadonlySet<Lane>;
  ticks: readonly ClockTick[];
  clockText(tick: ClockTick): string;
  /** A pod or node whose marks are highlighted. */
  subject: string | null;
}

/** What depends on the moment: the shown moment, the window in the overview, a brush, the highlighted mark. */
export interface OverlayScene {
  layout: TimelineLayout;
  palette: Palette;
  shown: number;
  head: number;
  hovered: Mark | null;
  hoveredEvent: number | null;
  brush: { from: number; to: number } | null;
  /** The failures of the whole session, which the overview shows at any scale. */
  failures: readonly Failure[];
  /** The pointer is on the playhead, or moves it. */
  held: boolean;
}

export function drawLanes(context: CanvasRenderingContext2D, scene: LanesScene): void {
  drawOverview(context, scene);
  drawGrid(context, scene);
  if (scene.marks) drawMarks(context, scene, scene.marks);
  else drawTallies(context, scene);
  drawClock(context, scene);
}

function drawGrid(context: CanvasRenderingContext2D, { layout, palette }: LanesScene): void {
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  context.beginPath();
  for (const lane of LANES) {
    const box = layout.lanes[lane];
    if (!box.h) continue;
    const y = Math.round(box.y + box.h) - 0.5;
    context.moveTo(box.x, y);
    context.lineTo(box.x + box.w, y);
  }
  context.stroke();
}

/** The minimum width of what failed, and the minimum height of its part of a bar. */
const FAILURE_WIDTH = 3;
const FAILURE_HEIGHT = 5;

/** Failures are drawn last, so that nothing covers them. */
function drawMarks(context: CanvasRenderingContext2D, scene: LanesScene, marks: readonly Mark[]): void {
  drawKinds(context, scene, marks, false);
  drawKinds(context, scene, marks, true);
}

/** At most one mark of a kind is drawn per pixel column. */
function drawKinds(context: CanvasRenderingContext2D, { layout, palette, subject, hiddenLanes }: LanesScene, marks: readonly Mark[], failed: boolean): void {
  const span = layout.window.last - layout.window.first;
  const width = Math.max(failed ? FAILURE_WIDTH : 2, Math.min(6, layout.area.w / Math.max(1, span) - 1));
  /** The position of the last mark of each kind. */
  const drawnAt = new Map(LANES.map((lane) => [lane, new Map<string, number>()]));
  for (const mark of marks) {
    if (hiddenLanes.has(mark.lane) || isFailure(mark) !== failed) continue;
    const box = layout.lanes[mark.lane];
    // A mark is just before the moment that it led to.
    const x = Math.round(xOf(layout, mark.event) - width);
    const isAbout = subject !== null && mark.subject === subject;
    const ofLane = drawnAt.get(mark.lane)!;
    if (ofLane.get(mark.kind) === x && !isAbout) continue;
    ofLane.set(mark.kind, x);
    const height = failed ? box.h - 1 : heightOf(mark) * (box.h - 3);
    context.fillStyle = colorOf(mark, palette);
    context.globalAlpha = subject === null || isAbout || failed ? 1 : 0.45;
    context.fillRect(x, box.y + box.h - 1 - height, width, height);
    if (isAbout) {
      context.fillStyle = palette.selected;
      context.fillRect(x, box.y, width, 2);
    }
  }
  context.globalAlpha = 1;
}

function drawTallies(context: CanvasRenderingContext2D, { layout, palette, tallies, hiddenLanes }: LanesScene): void {
  const lanes: [Lane, (tally: Tally) => number, string][] = [
    ["preemption", (tally) => tally.preempted, palette.unresolvable],
    ["queue", (tally) => tally.podMoves, palette.fill],
    ["binding", (tally) => tally.bound, palette.success],
    ["nodes", (tally) => tally.nodeChanges, palette.fill],
  ];
  const bars = (lane: Lane, count: (tally: Tally) => number, draw: (tally: Tally, x: number, w: number, share: number) => void): void => {
    if (hiddenLanes.has(lane)) return;
    let highest = 0;
    for (const tally of tallies) highest = Math.max(highest, perEvent(tally, count));
    if (highest === 0) return;
    for (const tally of tallies) {
      if (!count(tally)) continue;
      const x = Math.max(layout.area.x, xOf(layout, tally.firstEvent - 1));
      const right = Math.min(layout.area.x + layout.area.w, xOf(layout, tally.event));
      draw(tally, x, Math.max(1, right - x - 0.5), Math.max(0.15, Math.sqrt(perEvent(tally, count) / highest)));
    }
  };
  bars("cycles", cyclesOf, (tally, x, w, share) => {
    stack(context, tally, palette, x, layout.lanes.cycles.y + layout.lanes.cycles.h - 1, w, share * (layout.lanes.cycles.h - 2));
  });
  for (const [lane, count, color] of lanes) {
    const box = layout.lanes[lane];
    bars(lane, count, (_, x, w, share) => {
      context.fillStyle = color;
      context.fillRect(x, box.y + box.h - 1 - share * (box.h - 3), w, share * (box.h - 3));
    });
  }
}

/** The whole session in one strip: the number of cycles and their outcomes. */
function drawOverview(context: CanvasRenderingContext2D, { layout, palette, whole, wholeMarks }: LanesScene): void {
  const { overview: box } = layout;
  if (box.h === 0) return;
  context.fillStyle = palette.fillBack;
  context.fillRect(box.x, box.y, box.w, box.h);
  if (wholeMarks) {
    const width = Math.max(1, Math.min(4, box.w / (layout.whole.last - layout.whole.first)));
    for (const mark of wholeMarks) {
      if (mark.lane !== "cycles") continue;
      context.fillStyle = colorOf(mark, palette);
      context.fillRect(Math.round(xIn(box, layout.whole, mark.event) - width), box.y + 5, width, box.h - 5);
    }
    return;
  }
  let highest = 0;
  for (const tally of whole) highest = Math.max(highest, perEvent(tally, cyclesOf));
  if (highest === 0) return;
  for (const tally of whole) {
    if (!tally.cycles) continue;
    const x = xIn(box, layout.whole, tally.firstEvent - 1);
    const right = xIn(box, layout.whole, tally.event);
    const share = Math.sqrt(perEvent(tally, cyclesOf) / highest);
    stack(context, tally, palette, x, box.y + box.h, Math.max(1, right - x), share * (box.h - 2));
  }
}

const cyclesOf = (tally: Tally): number => tally.cycles;

/** The cycles of a range by outcome, failures on top: they have a minimum size, because a few among thousands would be thinner than a pixel. */
function stack(context: CanvasRenderingContext2D, tally: Tally, palette: Palette, x: number, bottom: number, w: number, height: number): void {
  const { cycles, scheduled, unschedulable, errors } = tally;
  const failed = unschedulable + errors;
  const failedHeight = failed > 0 ? Math.max(FAILURE_HEIGHT, (failed / cycles) * height) : 0;
  const perCycle = failed < cycles ? Math.max(0, height - failedHeight) / (cycles - failed) : 0;
  let y = bottom;
  // Eight hundred of these are drawn per frame, so no list is allocated for any.
  const put = (h: number, width: number, color: string): void => {
    if (h <= 0) return;
    y -= h;
    context.fillStyle = color;
    context.fillRect(x, y, width, h);
  };
  put(scheduled * perCycle, w, palette.success);
  put((cycles - scheduled - failed) * perCycle, w, palette.skip);
  if (failed === 0) return;
  const wide = Math.max(FAILURE_WIDTH, w);
  put((unschedulable / failed) * failedHeight, wide, palette.unschedulable);
  put((errors / failed) * failedHeight, wide, palette.error);
}

function perEvent(tally: Tally, count: (tally: Tally) => number): number {
  return count(tally) / Math.max(1, tally.event - tally.firstEvent + 1);
}

function drawClock(context: CanvasRenderingContext2D, { layout, palette, ticks, clockText }: LanesScene): void {
  const { clock, area } = layout;
  context.font = `12px ${palette.font}`;
  context.textBaseline = "alphabetic";
  for (const tick of ticks) {
    const x = Math.round(tick.x) + 0.5;
    context.strokeStyle = tick.idleSeconds ? palette.ink3 : palette.line;
    context.beginPath();
    if (tick.idleSeconds) {
      // Two strokes through the lanes mark folded idle time, like a break on an axis.
      for (const dx of [-1.5, 1.5]) {
        context.moveTo(x + dx - 2, clock.y + 4);
        context.lineTo(x + dx + 2, clock.y - 4);
      }
      context.moveTo(x, area.y);
      context.lineTo(x, clock.y - 4);
    } else {
      context.moveTo(x, clock.y);
      context.lineTo(x, clock.y + 3);
    }
    context.stroke();
    context.fillStyle = palette.ink3;
    context.textAlign = tick.isBefore ? "right" : "left";
    context.fillText(clockText(tick), tick.isBefore ? x - 4 : x + 4, clock.y + clock.h - 2);
  }
  context.textAlign = "left";
}

export function drawOverlay(context: CanvasRenderingContext2D, scene: OverlayScene): void {
  const { layout, palette } = scene;
  const { area, clock } = layout;
  veilAhead(context, scene);
  if (scene.hovered) {
    const box = layout.lanes[scene.hovered.lane];
    context.strokeStyle = palette.selected;
    context.strokeRect(Math.round(xOf(layout, scene.hovered.event)) - 4.5, box.y + 0.5, 6, box.h - 2);
  } else if (scene.hoveredEvent !== null) line(context, xOf(layout, scene.hoveredEvent), area.y, clock.y, palette.lineStrong);
  if (scene.brush) {
    const [from, to] = [xOf(layout, scene.brush.from), xOf(layout, scene.brush.to)];
    context.globalAlpha = 0.35;
    context.fillStyle = palette.selectedBack;
    context.fillRect(Math.min(from, to), area.y, Math.abs(to - from), area.h);
    context.globalAlpha = 1;
    line(context, from, area.y, clock.y, palette.ink2);
    line(context, to, area.y, clock.y, palette.ink2);
  }
  drawWindow(context, scene);
  drawPlayhead(context, scene);
}

/** The line of the shown moment, with a grip at its foot by which it can be moved. */
function drawPlayhead(context: CanvasRenderingContext2D, { layout, palette, shown, held }: OverlayScene): void {
  const { area, clock } = layout;
  const right = area.x + area.w;
  const at = xOf(layout, shown);
  if (at < area.x - 1 || at > right + 1) return;
  const x = Math.round(Math.min(at, right - 1));
  context.fillStyle = held ? palette.waterline : palette.ink;
  context.fillRect(x, area.y - 3, held ? 2 : 1, clock.y - area.y + 4);
  const left = x - 4;
  context.beginPath();
  context.moveTo(x + 0.5, clock.y - 3);
  context.lineTo(left + 9, clock.y + 2);
  context.lineTo(left + 9, clock.y + 8);
  context.lineTo(left, clock.y + 8);
  context.lineTo(left, clock.y + 2);
  context.fill();
}

/** Dims the events after the shown moment: they have happened, but are not part of it. */
function veilAhead(context: CanvasRenderingContext2D, { layout, palette, shown, head }: OverlayScene): void {
  if (shown >= head) return;
  const x = Math.max(layout.area.x, xOf(layout, shown) + 1);
  context.globalAlpha = 0.6;
  context.fillStyle = palette.paper;
  context.fillRect(x, layout.area.y, layout.area.x + layout.area.w - x, layout.area.h - 1);
  context.globalAlpha = 1;
}

/** The window in the overview; failures are marked above everything that dims it. */
function drawWindow(context: CanvasRenderingContext2D, { layout, palette, shown, failures }: OverlayScene): void {
  const { overview: box, whole, window } = layout;
  if (box.h === 0) return;
  const left = Math.round(xIn(box, whole, Math.max(whole.first, window.first)));
  const right = Math.max(left + 6, Math.round(xIn(box, whole, Math.min(whole.last, window.last))));
  context.globalAlpha = 0.55;
  context.fillStyle = palette.paper;
  context.fillRect(box.x, box.y, left - box.x, box.h);
  context.fillRect(right, box.y, box.x + box.w - right, box.h);
  context.globalAlpha = 1;
  context.strokeStyle = palette.ink3;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, box.y + 0.5, Math.min(right, box.x + box.w) - left - 1, box.h - 1);
  for (const { event, isError } of failures) {
    context.fillStyle = isError ? palette.error : palette.unschedulable;
    context.fillRect(Math.round(Math.min(xIn(box, whole, event), box.x + box.w - 1) - 2), box.y, FAILURE_WIDTH, FAILURE_HEIGHT);
  }
  line(context, Math.min(xIn(box, whole, shown), box.x + box.w - 1), box.y, box.y + box.h, palette.ink);
}

function line(context: CanvasRenderingContext2D, x: number, top: number, bottom: number, color: string): void {
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, top);
  context.lineTo(Math.round(x) + 0.5, bottom);
  context.stroke();
}

function heightOf(mark: Mark): number {
  if (mark.lane === "queue") return QUEUE_HEIGHTS[mark.kind] ?? 0.5;
  return mark.lane === "cycles" ? 1 : 0.8;
}

/** Higher is nearer to being scheduled. */
const QUEUE_HEIGHTS: Record<string, number> = { Pop: 1, activeQ: 0.75, backoffQ: 0.5, errorBackoffQ: 0.5, unschedulable: 0.3, left: 0.2 };

function colorOf(mark: Mark, palette: Palette): string {
  switch (mark.kind) {
    case "scheduled":
    case "confirmed":
      return palette.success;
    case "unschedulable":
      return palette.unschedulable;
    case "error":
    case "failed":
    case "lost":
    case "remove":
      return palette.error;
    case "skipped":
      return palette.skip;
    case "nominated":
    case "victim":
      return palette.unresolvable;
    case "Pop":
      return palette.ink2;
    case "backoffQ":
    case "errorBackoffQ":
      return palette.wait;
    default:
      return palette.fill;
  }
}
