import type { BandShare } from "../model/cache/bandShare";
import { contains, overlaps, type Box } from "./boxes";
import { heightForPods } from "./podMarks";

/**
 * The position of each item of the linked list. The list is laid out like text, in lines from the left, with less detail farther
 * from headNode: first boxes, then slips, then a band of cells. Items move near the head, where they are large.
 */
export interface CacheLayout {
  width: number;
  height: number;
  /** One box for each item. */
  boxes: Box[];
  /** How many of the items are boxes, and how many boxes or slips; the others are cells of the band. */
  boxCount: number;
  slipCount: number;
  /** Whether all of them have room for the names of their pods. */
  large: boolean;
  /** The area of the cells, and their pitch; null without cells. */
  band: (Box & { pitch: number; columns: number }) | null;
}

/** The zoom of the band: `scale` 1 shows all of it. Offsets are in scaled pixels. */
export interface BandView {
  scale: number;
  x: number;
  y: number;
}

export const WHOLE_BAND: BandView = { scale: 1, x: 0, y: 0 };

/**
 * `height` is the minimum: if there is more room and nothing but boxes, they grow to `fewHeight`, which has room for three pods, so that
 * boxes keep their size while the first pods are placed. For more pods they grow as far as the fullest of them needs, up to `maxHeight`:
 * an empty part of a box says nothing.
 */
const LARGE = { minWidth: 196, maxWidth: 372, height: 120, fewHeight: 184, maxHeight: 256, gapX: 24, gapY: 14 };
const BOX = { minWidth: 144, maxWidth: 208, height: 90, gapX: 22, gapY: 14 };
/** Boxes of a list without slips and cells, which are as low as their three bars and their pods allow. */
const ONLY_BOX = { ...BOX, maxWidth: 300, height: 88, fewHeight: 124, maxHeight: 150, gapY: 10 };
const SLIP = { minWidth: 108, maxWidth: 144, height: 34, gapX: 10, gapY: 6 };
const CELL = { minWidth: 4, maxWidth: 30 };
const BAND_GAP = 10;
/** The maximum width of a cell when zoomed in: an item with the names of its pods. */
const MAX_CELL_WIDTH = 216;

interface Tier {
  minWidth: number;
  maxWidth: number;
  height: number;
  fewHeight?: number;
  maxHeight?: number;
  gapX: number;
  gapY: number;
}

function columnsOf(tier: Tier, width: number): number {
  return Math.max(1, Math.floor((width + tier.gapX) / (tier.minWidth + tier.gapX)));
}

/** A list of boxes only has lines of equal length if that takes no more lines: four nodes as two and two, not three and one. */
function evenColumns(tier: Tier, count: number, width: number): number {
  const columns = columnsOf(tier, width);
  return tier.maxHeight === undefined ? columns : Math.ceil(count / Math.ceil(count / columns));
}

function heightOf(tier: Tier, count: number, columns: number): number {
  return Math.ceil(count / columns) * (tier.height + tier.gapY);
}

/** The number of pods on the node that has the most. */
export const maxPods = (items: readonly { podOrder: readonly string[] }[]): number => items.reduce((most, { podOrder }) => Math.max(most, podOrder.length), 0);

/** `pods`: the most pods that a node has. */
export function layoutCacheList(count: number, width: number, height: number, pods = Infinity): CacheLayout {
  const plan = planTiers(count, width, height);
  const boxes: Box[] = [];
  const tier = plan.large ? stretched(LARGE, count, width, height, pods) : plan.boxCount === count ? stretched(ONLY_BOX, count, width, height, pods) : BOX;
  let top = writeTier(tier, boxes, plan.boxCount, width, 0);
  top = writeTier(SLIP, boxes, plan.slipCount - plan.boxCount, width, top);
  const cells = count - plan.slipCount;
  const band = cells > 0 ? writeBand(boxes, cells, width, top + (top > 0 ? BAND_GAP : 0), height) : null;
  return { width, height, boxes, boxCount: plan.boxCount, slipCount: plan.slipCount, large: plan.large, band };
}

/** Boxes as tall as their lines allow and their pods need. */
function stretched(tier: Tier & { fewHeight: number; maxHeight: number }, count: number, width: number, height: number, pods: number): Tier {
  const lines = Math.ceil(count / columnsOf(tier, width));
  const room = Math.floor((height + tier.gapY) / lines) - tier.gapY;
  return { ...tier, height: Math.min(tallest(tier, pods), Math.max(tier.height, room)) };
}

function tallest({ fewHeight, maxHeight }: { fewHeight: number; maxHeight: number }, pods: number): number {
  return Math.min(maxHeight, Math.max(fewHeight, heightForPods(pods, fewHeight)));
}

/** The heights of large boxes above other content, which needs the room that they could grow into. */
const ABOVE_OTHERS = { fewHeight: 140, maxHeight: 180 };

/** The preferred height of a canvas of this width; more would stay empty. Infinity: all available height. `isAlone`: nothing else needs the room. */
export function wantedHeight(count: number, width: number, pods = Infinity, { isAlone = false } = {}): number {
  const lines = Math.ceil(count / columnsOf(LARGE, width));
  const height = tallest(isAlone && lines <= 2 ? LARGE : ABOVE_OTHERS, pods);
  // Where large boxes would be in one column, smaller ones beside each other need less room.
  const boxLines = Math.ceil(count / columnsOf(ONLY_BOX, width));
  if (!isAlone && lines > 2 && boxLines < lines && boxLines <= 4) return boxLines * (tallest(ONLY_BOX, pods) + ONLY_BOX.gapY) - ONLY_BOX.gapY;
  return lines <= 4 ? lines * (height + LARGE.gapY) - LARGE.gapY : Infinity;
}

/** The maxWidth items that stay boxes where there is no room for all of them, so that the list scrolls. */
const MAX_SCROLLED = 16;

/** The height of a canvas on which a short list consists of boxes only; a longer list fits any height. */
export function minHeight(count: number, width: number): number {
  return count <= MAX_SCROLLED ? heightOf(ONLY_BOX, count, columnsOf(ONLY_BOX, width)) - ONLY_BOX.gapY : 0;
}

interface Plan {
  boxCount: number;
  slipCount: number;
  large: boolean;
}

function planTiers(count: number, width: number, height: number): Plan {
  if (heightOf(LARGE, count, columnsOf(LARGE, width)) - LARGE.gapY <= height) return { boxCount: count, slipCount: count, large: true };
  const boxColumns = columnsOf(BOX, width);
  const slipColumns = columnsOf(SLIP, width);
  if (heightOf(ONLY_BOX, count, boxColumns) - ONLY_BOX.gapY <= height) return { boxCount: count, slipCount: count, large: false };
  // As many lines of boxes as leave room for the other items as slips.
  for (let lines = Math.floor(height / (BOX.height + BOX.gapY)); lines > 0; lines--) {
    const boxCount = lines * boxColumns;
    const used = heightOf(BOX, boxCount, boxColumns) + heightOf(SLIP, count - boxCount, slipColumns);
    if (used <= height) return { boxCount, slipCount: count, large: false };
  }
  const boxLines = Math.max(1, Math.floor((height * 0.36) / (BOX.height + BOX.gapY)));
  let slipLines = Math.max(1, Math.floor((height * 0.16) / (SLIP.height + SLIP.gapY)));
  const boxCount = Math.min(count, boxLines * boxColumns);
  // Cells that are as large as they get leave room for more lines of slips.
  const withSlips = (lines: number): number => {
    const cells = Math.max(0, count - boxCount - lines * slipColumns);
    const cellLines = Math.ceil(cells / Math.max(1, Math.floor(width / CELL.maxWidth)));
    return heightOf(BOX, boxCount, boxColumns) + lines * (SLIP.height + SLIP.gapY) + BAND_GAP + cellLines * CELL.maxWidth;
  };
  while (boxCount + slipLines * slipColumns < count && withSlips(slipLines + 1) <= height) slipLines++;
  return { boxCount, slipCount: Math.min(count, boxCount + slipLines * slipColumns), large: false };
}

function writeTier(tier: Tier, boxes: Box[], count: number, width: number, top: number): number {
  if (count <= 0) return top;
  const columns = evenColumns(tier, count, width);
  const w = Math.min(tier.maxWidth, Math.floor((width - tier.gapX * (columns - 1)) / columns));
  for (let i = 0; i < count; i++) {
    const line = Math.floor(i / columns);
    boxes.push({ x: (i % columns) * (w + tier.gapX), y: top + line * (tier.height + tier.gapY), w, h: tier.height });
  }
  return top + heightOf(tier, count, columns);
}

function writeBand(boxes: Box[], count: number, width: number, top: number, height: number): CacheLayout["band"] {
  const room = Math.max(40, height - top);
  let pitch = CELL.maxWidth;
  while (pitch > CELL.minWidth && Math.floor(width / pitch) * Math.floor(room / pitch) < count) pitch -= pitch > 12 ? 1 : 0.5;
  const columns = Math.max(1, Math.floor(width / pitch));
  const gap = pitch >= 12 ? 2 : 1;
  for (let i = 0; i < count; i++) {
    boxes.push({ x: (i % columns) * pitch, y: top + Math.floor(i / columns) * pitch, w: pitch - gap, h: pitch - gap });
  }
  return { x: 0, y: top, w: width, h: Math.min(room, Math.ceil(count / columns) * pitch), pitch, columns };
}

/** The visible box of an item: cells are transformed by the zoom of the band. */
export function seenBox(layout: CacheLayout, view: BandView, index: number): Box {
  const box = layout.boxes[index]!;
  const { band } = layout;
  if (!band || index < layout.slipCount || view.scale === 1) return box;
  return {
    x: band.x + (box.x - band.x) * view.scale - view.x,
    y: band.y + (box.y - band.y) * view.scale - view.y,
    w: box.w * view.scale,
    h: box.h * view.scale,
  };
}

/** The item under a point; -1: none. */
export function indexAt(layout: CacheLayout, view: BandView, x: number, y: number): number {
  const { band } = layout;
  if (band && contains(band, x, y)) {
    const column = Math.floor((x - band.x + view.x) / view.scale / band.pitch);
    const line = Math.floor((y - band.y + view.y) / view.scale / band.pitch);
    const index = layout.slipCount + line * band.columns + column;
    return column < band.columns && index < layout.boxes.length ? index : -1;
  }
  for (let place = 0; place < layout.slipCount; place++) if (contains(layout.boxes[place]!, x, y)) return place;
  return -1;
}

/** Zoom the band; the point under the pointer keeps its place. */
export function zoomBand(layout: CacheLayout, view: BandView, factor: number, x: number, y: number): BandView {
  const { band } = layout;
  if (!band) return WHOLE_BAND;
  const scale = Math.min(MAX_CELL_WIDTH / band.pitch, Math.max(1, view.scale * factor));
  const ratio = scale / view.scale;
  return clampBand(layout, {
    scale,
    x: (x - band.x + view.x) * ratio - (x - band.x),
    y: (y - band.y + view.y) * ratio - (y - band.y),
  });
}

export function clampBand(layout: CacheLayout, view: BandView): BandView {
  const { band } = layout;
  if (!band || view.scale <= 1) return WHOLE_BAND;
  return {
    scale: view.scale,
    x: Math.min(Math.max(0, view.x), band.w * (view.scale - 1)),
    y: Math.min(Math.max(0, view.y), band.h * (view.scale - 1)),
  };
}

export function shareOf(layout: CacheLayout, view: BandView): BandShare {
  const { band } = layout;
  if (!band || view.scale <= 1) return { zoom: 1, x: 0.5, y: 0.5 };
  return { zoom: view.scale, x: (view.x + band.w / 2) / (band.w * view.scale), y: (view.y + band.h / 2) / (band.h * view.scale) };
}

export function viewOfShare(layout: CacheLayout, { zoom, x, y }: BandShare): BandView {
  const { band } = layout;
  if (!band || zoom <= 1) return WHOLE_BAND;
  const scale = Math.min(MAX_CELL_WIDTH / band.pitch, zoom);
  return clampBand(layout, { scale, x: x * band.w * scale - band.w / 2, y: y * band.h * scale - band.h / 2 });
}

/** Whether an item is visible. */
export function isSeen(layout: CacheLayout, index: number, box: Box): boolean {
  return index < layout.slipCount || layout.band === null || overlaps(box, layout.band);
}
