import type { Box } from "../layout/boxes";
import { isSeen, seenBox, type BandView, type CacheLayout } from "../layout/cacheList";
import { sweptWaterline, type Path } from "../layout/waterline";
import type { Item } from "../model/nodeList";
import { drawItem, type ItemMarks } from "./nodeItem";
import type { BandPicture } from "./bandPicture";
import type { Motion } from "./motion";
import type { Palette } from "./palette";

export interface CacheScene {
  items: readonly Item[];
  layout: CacheLayout;
  view: BandView;
  motion: Motion;
  /** The cells as they were drawn last. */
  band: BandPicture;
  palette: Palette;
  now: number;
  assumed: ReadonlySet<string>;
  /** Pods that are still on their way to their node, or that the API server has not told of yet. */
  travelling: ReadonlyMap<string, "away" | "assumed">;
  snapshotGeneration: number;
  /** The last place that UpdateSnapshot visited, between two while the line moves; -1: it visited nothing; null: not known yet. */
  waterlineAfter: number | null;
  selectedNode: string | null;
  selectedPod: string | null;
  hoveredPlace: number;
  /** Nodes that another panel speaks of at the moment. */
  lit: ReadonlySet<string>;
  winner: string | null;
  /** Nodes that a filter keeps; the others are pale. Null: there is no filter. */
  found: ReadonlySet<string> | null;
  /** What Filter said of each node in the cycle that is shown, as a Status code, when items are drawn by their verdicts; "": it never looked. */
  verdicts: ReadonlyMap<string, string> | null;
}

/** Draws the linked list. Returns true while something still moves. */
export function drawCache(context: CanvasRenderingContext2D, scene: CacheScene): boolean {
  const { layout } = scene;
  placeAll(scene);
  const bandIsZoomed = scene.view.scale > 1;
  if (scene.waterlineAfter !== null && !bandIsZoomed) drawUntouched(context, scene, scene.waterlineAfter);
  drawLinks(context, scene);
  if (layout.band) {
    const { x, y, w, h } = layout.band;
    scene.band.draw(context, { x: x - 2, y: y - 2, w: w + 4, h: h + 4 }, bandKey(scene), (own) => {
      drawItems(own, scene, layout.slipCount, layout.boxes.length);
    });
  }
  drawItems(context, scene, 0, layout.slipCount);
  if (scene.waterlineAfter !== null && !(bandIsZoomed && scene.waterlineAfter >= layout.slipCount))
    drawWaterline(context, scene, scene.waterlineAfter);
  return scene.motion.moving;
}

/** What the cells look like depends on nothing else: a change of the state makes a new array of items. */
function bandKey(scene: CacheScene): unknown[] {
  const { items, layout, view, palette, selectedNode, selectedPod, hoveredPlace, lit, found, verdicts } = scene;
  const hoveredCell = hoveredPlace >= layout.slipCount ? hoveredPlace : -1;
  return [items, layout, view, palette, selectedNode, selectedPod, hoveredCell, lit, found, verdicts];
}

function placeAll(scene: CacheScene): void {
  const { items, layout, motion, now } = scene;
  const last = scene.band.isOf(bandKey(scene)) ? layout.slipCount : items.length;
  for (let place = 0; place < Math.min(last, items.length); place++) {
    const to = seenBox(layout, scene.view, place);
    // A cell that only makes room would fly across the whole band when its line wraps: it is simply there.
    motion.place(items[place]!.name, to, now, place < layout.slipCount);
  }
}

function drawItems(context: CanvasRenderingContext2D, scene: CacheScene, from: number, to: number): void {
  const { items, layout, motion, now, palette } = scene;
  const flying: [Item, Box, ItemMarks][] = [];
  for (let place = from; place < Math.min(to, items.length); place++) {
    const item = items[place]!;
    const box = motion.where(item.name, now) ?? seenBox(layout, scene.view, place);
    if (!isSeen(layout, place, box)) continue;
    const marks = marksOf(scene, item, place);
    if (place === 0 && motion.isFlying(item.name)) flying.push([item, box, marks]);
    else drawItem(context, item, box, marks, palette);
  }
  // What flies to the head flies above the others.
  for (const [item, box, marks] of flying) drawItem(context, item, box, marks, palette);
}

function marksOf(scene: CacheScene, item: Item, place: number): ItemMarks {
  return {
    assumed: scene.assumed,
    travelling: scene.travelling,
    selectedPod: scene.selectedPod,
    selected: item.name === scene.selectedNode,
    hovered: place === scene.hoveredPlace || scene.lit.has(item.name),
    winner: item.name === scene.winner,
    ahead: scene.snapshotGeneration > 0 && item.generation > scene.snapshotGeneration,
    pale: scene.found !== null && !scene.found.has(item.name),
    verdict: scene.verdicts ? (scene.verdicts.get(item.name) ?? "") : null,
  };
}

/** next and prev, drawn where there is room: two hairs between neighbours, a hook at the end of a line. */
function drawLinks(context: CanvasRenderingContext2D, scene: CacheScene): void {
  const { layout, palette } = scene;
  const { boxes } = layout;
  context.strokeStyle = palette.lineStrong;
  context.lineWidth = 1;
  context.beginPath();
  for (let place = 0; place + 1 < Math.min(layout.slipCount, scene.items.length); place++) {
    const a = boxes[place]!;
    const b = boxes[place + 1]!;
    const tall = place < layout.boxCount;
    const y = Math.round(a.y + a.h / 2) + 0.5;
    if (a.y === b.y) {
      const from = a.x + a.w;
      drawArrow(context, from + 2, b.x - 2, y - (tall ? 3 : 0), tall ? 3 : 0);
      if (tall) drawArrow(context, b.x - 2, from + 2, y + 3, 3);
    } else {
      const turn = Math.round((a.y + a.h + b.y) / 2) + 0.5;
      const end = Math.round(b.x + 12) + 0.5;
      const start = Math.round(a.x + a.w - 12) + 0.5;
      context.moveTo(start, a.y + a.h);
      context.lineTo(start, turn);
      context.lineTo(end, turn);
      context.lineTo(end, b.y);
    }
  }
  context.stroke();
}

function drawArrow(context: CanvasRenderingContext2D, from: number, to: number, y: number, head: number): void {
  context.moveTo(from, y);
  context.lineTo(to, y);
  if (!head) return;
  const back = Math.sign(from - to) * head;
  context.moveTo(to + back, y - head + 0.5);
  context.lineTo(to, y);
  context.lineTo(to + back, y + head - 0.5);
}

/** Everything below the waterline lies under a wash: UpdateSnapshot did not even look at it. */
function drawUntouched(context: CanvasRenderingContext2D, scene: CacheScene, after: number): void {
  const { layout, palette } = scene;
  const path: Path = sweptWaterline(layout.boxes, after, layout.width);
  const last = layout.boxes[scene.items.length - 1];
  if (!last || after >= scene.items.length - 1) return;
  context.fillStyle = palette.waterlineWash;
  context.beginPath();
  path.forEach(({ x, y }, i) => {
    if (i === 0) context.moveTo(-8, y);
    else context.lineTo(i === path.length - 1 ? x + 8 : x, y);
  });
  const bottom = last.y + last.h + 8;
  context.lineTo(layout.width + 8, bottom);
  context.lineTo(-8, bottom);
  context.fill();
}

function drawWaterline(context: CanvasRenderingContext2D, scene: CacheScene, after: number): void {
  const path = sweptWaterline(scene.layout.boxes, after, scene.layout.width);
  context.strokeStyle = scene.palette.waterline;
  context.lineWidth = 2;
  context.lineJoin = "round";
  context.beginPath();
  path.forEach(({ x, y }, i) => {
    if (i === 0) context.moveTo(-8, y);
    else context.lineTo(i === path.length - 1 ? x + 8 : x, y);
  });
  context.stroke();
}
