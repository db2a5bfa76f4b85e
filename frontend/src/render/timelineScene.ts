import { firstMark, xOf, type TimelineLayout } from "../layout/timeline";
import { LANES, type Mark } from "../model/history";
import type { Palette } from "./palette";

export interface TimelineScene {
  marks: readonly Mark[];
  layout: TimelineLayout;
  palette: Palette;
  /** The event that is shown, and the last that is known. */
  shown: number;
  head: number;
  /** Events at or before this one happened before the page came. */
  since: number;
  subject: string | null;
  hovered: Mark | null;
}

export function drawTimeline(context: CanvasRenderingContext2D, scene: TimelineScene): void {
  const { layout, palette, marks } = scene;
  const area = layout.lanes.cycles;
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  context.beginPath();
  for (const lane of LANES) {
    const y = Math.round(layout.lanes[lane].y + layout.laneHeight) - 0.5;
    context.moveTo(area.x, y);
    context.lineTo(layout.width, y);
  }
  context.stroke();

  const waitingFrom = xOf(layout, scene.shown);
  for (let i = firstMark(marks, layout.window.first); i < marks.length; i++) {
    const mark = marks[i]!;
    if (mark.event > layout.window.last) break;
    const x = Math.round(xOf(layout, mark.event));
    const box = layout.lanes[mark.lane];
    const about = scene.subject !== null && mark.subject === scene.subject;
    context.globalAlpha = mark.event > scene.shown ? 0.35 : 1;
    context.fillStyle = colourOf(mark, palette);
    const tall = heightOf(mark);
    context.fillRect(x - 1, box.y + box.h - 2 - tall * (box.h - 5), 2, tall * (box.h - 5));
    if (about) {
      context.fillStyle = palette.selected;
      context.fillRect(x - 1, box.y + 1, 3, 3);
    }
  }
  context.globalAlpha = 1;
  if (scene.hovered) {
    const x = Math.round(xOf(layout, scene.hovered.event));
    context.fillStyle = palette.selected;
    context.fillRect(x - 1, layout.lanes[scene.hovered.lane].y + 2, 2, layout.laneHeight - 4);
  }
  const x = Math.round(waitingFrom) + 0.5;
  context.strokeStyle = palette.ink;
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, layout.laneHeight * LANES.length);
  context.stroke();
  context.fillStyle = palette.ink;
  context.beginPath();
  context.moveTo(x - 4, 0);
  context.lineTo(x + 4, 0);
  context.lineTo(x, 5);
  context.fill();
}

function heightOf(mark: Mark): number {
  if (mark.lane === "queue") return QUEUE_HEIGHTS[mark.kind] ?? 0.5;
  return mark.lane === "cycles" ? 1 : 0.7;
}

/** Higher is nearer to being scheduled. */
const QUEUE_HEIGHTS: Record<string, number> = { Pop: 1, activeQ: 0.75, backoffQ: 0.5, unschedulable: 0.3, left: 0.15 };

function colourOf(mark: Mark, palette: Palette): string {
  switch (mark.kind) {
    case "scheduled":
      return palette.success;
    case "unschedulable":
      return palette.unschedulable;
    case "error":
      return palette.error;
    case "skipped":
      return palette.skip;
    case "assume":
      return palette.assumed;
    case "Pop":
      return palette.ink2;
    case "forget":
    case "expire":
      return palette.error;
    default:
      return palette.fill;
  }
}
