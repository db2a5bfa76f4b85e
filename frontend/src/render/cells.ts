import type { Box } from "../layout/boxes";
import type { NodeInfo } from "../model/state/nodeList";
import { loadClass, loadOf } from "../model/cache/load";
import { STATUS_CODES } from "../model/cycle/statuses";
import { outline } from "./canvas";
import { statusColor, type Palette } from "./palette";

/** What a cell's style depends on besides its item. */
export interface CellMarks {
  /** A pod on it is assumed. */
  assumed: boolean;
  /** Changed since the snapshot was taken. */
  ahead: boolean;
  /** The filter excludes it. */
  pale: boolean;
  /** Its Filter result as a Status code; "": not evaluated; null: cells are not colored by it. */
  verdict: string | null;
}

/** Cells of this height, in pixels, show the load as a level, too. */
const LEVEL_FROM = 11;
/** The number of distinguishable levels. The limits of the load classes are multiples of it. */
const STEPS = 100;
export const PALE = 0.2;

const LEVEL = 0x7f;
const ASSUMED = 1 << 7;
const GHOST = 1 << 8;
const CORDONED = 1 << 9;
const AHEAD = 1 << 10;
const IS_PALE = 1 << 11;
const VERDICT = 12;

/** Rounded up, so that a level is in the class of its load. */
function levelOf(item: NodeInfo): number {
  return Math.ceil(loadOf(item) * STEPS - 1e-9);
}

/** Everything that a cell shows as one number: cells with equal numbers look the same. */
export function cellLook(item: NodeInfo, { assumed, ahead, pale, verdict }: CellMarks): number {
  let style = levelOf(item);
  if (assumed) style |= ASSUMED;
  if (!item.hasNode) style |= GHOST;
  if (item.unschedulable) style |= CORDONED;
  if (ahead) style |= AHEAD;
  if (pale) style |= IS_PALE;
  // 0: colored by utilization; 1: not evaluated; then the codes.
  const verdictBits = verdict === null ? 0 : verdict === "" ? 1 : 2 + Math.max(0, (STATUS_CODES as readonly string[]).indexOf(verdict));
  return style | (verdictBits << VERDICT);
}

/** The cell's rectangle in whole pixels. */
export function cellBox(box: Box): Box {
  const x = Math.round(box.x);
  const y = Math.round(box.y);
  return { x, y, w: Math.max(2, Math.round(box.x + box.w) - x), h: Math.max(2, Math.round(box.y + box.h) - y) };
}

/** Draws a cell into its rectangle; nothing is drawn outside of it. */
export function drawCell(context: CanvasRenderingContext2D, style: number, { x, y, w, h }: Box, palette: Palette): void {
  if (style & IS_PALE) context.globalAlpha = PALE;
  context.fillStyle = palette.fillBack;
  context.fillRect(x, y, w, h);
  const verdictBits = style >> VERDICT;
  if (verdictBits === 0) drawLoad(context, (style & LEVEL) / STEPS, { x, y, w, h }, palette);
  else if (verdictBits > 1) drawVerdict(context, STATUS_CODES[verdictBits - 2]!, { x, y, w, h }, palette);
  if (style & ASSUMED) {
    const size = Math.max(2, Math.min(5, w / 2));
    context.fillStyle = palette.assumed;
    context.fillRect(x + w - size, y, size, size);
  }
  if (style & GHOST) outline(context, { x, y, w, h }, palette.ink3, 1, [2, 2]);
  if (style & CORDONED) drawSlash(context, { x, y, w, h }, palette.ink2);
  if (style & AHEAD) {
    context.fillStyle = palette.waterline;
    context.fillRect(x, y, w, Math.max(1, Math.min(2, h / 5)));
  }
  context.globalAlpha = 1;
}

/** The load: by the color of its class, and as a level if there is room. */
function drawLoad(context: CanvasRenderingContext2D, full: number, { x, y, w, h }: Box, palette: Palette): void {
  if (full <= 0) return;
  context.fillStyle = palette.load[loadClass(full)]!;
  const filled = h >= LEVEL_FROM ? Math.max(1, Math.round(h * full)) : h;
  context.fillRect(x, y + h - filled, w, filled);
}

/** A feasible node fills its cell, a rejected one half of it: the shape distinguishes them without color. */
function drawVerdict(context: CanvasRenderingContext2D, code: string, { x, y, w, h }: Box, palette: Palette): void {
  const tall = code === "Success" ? h : Math.max(1, Math.round(h / 2));
  context.fillStyle = statusColor(code, palette);
  context.fillRect(x, y + h - tall, w, tall);
}

/** A cordoned node is crossed out. */
export function drawSlash(context: CanvasRenderingContext2D, box: Box, color: string): void {
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(box.x, box.y + box.h);
  context.lineTo(box.x + box.w, box.y);
  context.stroke();
}
