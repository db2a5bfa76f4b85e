import type { Box } from "../layout/boxes";
import { isSeen, seenBox, type BandView, type CacheLayout } from "../layout/cacheList";
import { sweptWaterline, type Path } from "../layout/waterline";
import type { NodeInfo } from "../model/state/nodeList";
import { detailOf } from "../layout/podMarks";
import type { BandBitmap } from "./bandBitmap";
import { outline } from "./canvas";
import { cellBox, cellLook, drawCell } from "./cells";
import { commonDomain } from "../model/names";
import { drawItem, type ItemMarks } from "./nodeItem";
import type { Motion } from "./motion";
import type { Palette } from "./palette";

export interface CacheScene {
  items: readonly NodeInfo[];
  /** The items of the last drawing: an item that moves to the head starts from its old position. */
  before: readonly NodeInfo[];
  layout: CacheLayout;
  view: BandView;
  motion: Motion;
  /** The cells of the last drawing. */
  band: BandBitmap;
  palette: Palette;
  now: number;
  assumed: ReadonlySet<string>;
  /** The nodes of these pods. */
  nodesOfAssumed: ReadonlySet<string>;
  /** Pods that are moving to their node, or that the API server has not confirmed yet. */
  movingPods: ReadonlyMap<string, "away" | "assumed">;
  snapshotGeneration: number;
  /** Only the nodes are drawn, without the links of the list and without generations. */
  simple: boolean;
  /** What keeps pods off a node in words, the longest first. */
  statesOf(item: NodeInfo): readonly string[];
  /** The last item that UpdateSnapshot visited, fractional while the line moves; -1: none; null: unknown. */
  waterlineAfter: number | null;
  selectedNode: string | null;
  selectedPod: string | null;
  /** The extended resource that the selected pod requests; "": none. */
  resource: string;
  hoveredIndex: number;
  /** Nodes that another panel highlights. */
  highlighted: ReadonlySet<string>;
  winner: string | null;
  /** Nodes that match the filter; others are dimmed. Null: there is no filter. */
  found: ReadonlySet<string> | null;
  /** Each node's Filter result in the shown cycle, as a Status code, if items are colored by it; "": not evaluated. */
  verdicts: ReadonlyMap<string, string> | null;
}

/** Draws the linked list. Returns true while an animation is running. */
export function drawCache(context: CanvasRenderingContext2D, scene: CacheScene): boolean {
  const { layout } = scene;
  placeAll(scene);
  const bandIsZoomed = scene.view.scale > 1;
  if (scene.waterlineAfter !== null && !bandIsZoomed) drawUntouched(context, scene, scene.waterlineAfter);
  if (!scene.simple) drawLinks(context, scene);
  if (layout.band) drawBand(context, scene, layout.band);
  drawItems(context, scene, 0, layout.slipCount);
  if (scene.waterlineAfter !== null && !(bandIsZoomed && scene.waterlineAfter >= layout.slipCount))
    drawWaterline(context, scene, scene.waterlineAfter);
  return scene.motion.moving;
}

/** Only items near headNode are animated: a cell that makes room would fly across the whole band when its line wraps. */
function placeAll({ items, before, layout, view, motion, now }: CacheScene): void {
  const near = Math.min(layout.slipCount, items.length);
  for (let index = 0; index < near; index++) {
    const { name } = items[index]!;
    const was = motion.has(name) ? -1 : before.findIndex((item) => item.name === name);
    if (was >= layout.slipCount) motion.place(name, seenBox(layout, view, was), now, false);
    motion.place(name, seenBox(layout, view, index), now, true);
  }
  if (before !== items) motion.keepOnly(new Set(items.slice(0, near).map((item) => item.name)));
}

/** Draws cells, of which only changed ones are painted; zoomed in far enough, items. */
function drawBand(context: CanvasRenderingContext2D, scene: CacheScene, area: Box): void {
  const { items, layout, view, palette, verdicts } = scene;
  const from = layout.slipCount;
  const room = { x: area.x - 2, y: area.y - 2, w: area.w + 4, h: area.h + 4 };
  context.save();
  context.beginPath();
  context.rect(room.x, room.y, room.w, room.h);
  context.clip();
  if (detailOf(seenBox(layout, view, from)) !== "cell") drawItems(context, scene, from, items.length);
  else {
    const boxOf = (index: number): Box | null => {
      const box = seenBox(layout, view, index);
      return isSeen(layout, index, box) ? cellBox(box) : null;
    };
    scene.band.draw(context, room, [layout, view, palette], {
      of: [items, scene.nodesOfAssumed, scene.snapshotGeneration, scene.found, verdicts],
      from,
      to: items.length,
      styleOf(place) {
        const item = items[place]!;
        return cellLook(item, {
          assumed: scene.nodesOfAssumed.has(item.name),
          ahead: scene.snapshotGeneration > 0 && item.generation > scene.snapshotGeneration,
          pale: scene.found !== null && !scene.found.has(item.name),
          verdict: verdicts ? (verdicts.get(item.name) ?? "") : null,
        });
      },
      boxOf,
      paint(own, look, box) {
        drawCell(own, look, box, palette);
      },
    });
    markCells(context, scene, boxOf);
  }
  context.restore();
}

/** Draws the few highlighted cells: the winner, the selected one, the one under the pointer. */
function markCells(context: CanvasRenderingContext2D, scene: CacheScene, boxOf: (place: number) => Box | null): void {
  const { items, layout, palette, selectedNode, winner, hoveredIndex, highlighted } = scene;
  const named = new Set(highlighted);
  for (const name of [selectedNode, winner]) if (name !== null) named.add(name);
  // The winner is usually at the head, so the names of thousands of cells need not be compared, which took 0.2 ms.
  for (let index = 0; index < Math.min(layout.slipCount, items.length); index++) named.delete(items[index]!.name);
  const indices: number[] = [];
  for (let place = layout.slipCount; named.size > indices.length && place < items.length; place++) if (named.has(items[place]!.name)) indices.push(place);
  if (hoveredIndex >= layout.slipCount) indices.push(hoveredIndex);
  for (const place of indices) {
    const { name } = items[place]!;
    const selected = name === selectedNode;
    const hovered = place === hoveredIndex || highlighted.has(name);
    const box = boxOf(place);
    if (!box) continue;
    const around = { x: box.x - 1, y: box.y - 1, w: box.w + 2, h: box.h + 2 };
    if (name === winner) outline(context, around, palette.success, 2);
    if (selected || hovered) outline(context, around, palette.selected, selected ? 2 : 1);
  }
}

function drawItems(context: CanvasRenderingContext2D, scene: CacheScene, from: number, to: number): void {
  const { items, layout, motion, now, palette } = scene;
  const flying: [NodeInfo, Box, ItemMarks][] = [];
  const domain = domainOf(items);
  for (let index = from; index < Math.min(to, items.length); index++) {
    const item = items[index]!;
    const box = motion.where(item.name, now) ?? seenBox(layout, scene.view, index);
    if (!isSeen(layout, index, box)) continue;
    const marks = marksOf(scene, item, index, domain);
    if (index === 0 && motion.isMoving(item.name)) flying.push([item, box, marks]);
    else drawItem(context, item, box, marks, palette);
  }
  // Items that move to the head are drawn above the others.
  for (const [item, box, marks] of flying) drawItem(context, item, box, marks, palette);
}

const domains = new WeakMap<readonly NodeInfo[], string>();

/** Once for each list: frames of an animation share it. */
function domainOf(items: readonly NodeInfo[]): string {
  let domain = domains.get(items);
  if (domain === undefined) domains.set(items, (domain = commonDomain(items.map((item) => item.name))));
  return domain;
}

function marksOf(scene: CacheScene, item: NodeInfo, index: number, domain: string): ItemMarks {
  return {
    domain,
    states: scene.statesOf(item),
    simple: scene.simple,
    resource: scene.resource,
    assumed: scene.assumed,
    movingPods: scene.movingPods,
    selectedPod: scene.selectedPod,
    selected: item.name === scene.selectedNode,
    hovered: index === scene.hoveredIndex || scene.highlighted.has(item.name),
    winner: item.name === scene.winner,
    ahead: scene.snapshotGeneration > 0 && item.generation > scene.snapshotGeneration,
    pale: scene.found !== null && !scene.found.has(item.name),
    verdict: scene.verdicts ? (scene.verdicts.get(item.name) ?? "") : null,
  };
}

/** The next and prev pointers, if there is room: two thin lines between neighbors, a hook at the end of a line. */
function drawLinks(context: CanvasRenderingContext2D, scene: CacheScene): void {
  const { layout, palette } = scene;
  const { boxes } = layout;
  context.strokeStyle = palette.lineStrong;
  context.lineWidth = 1;
  context.beginPath();
  for (let index = 0; index + 1 < Math.min(layout.slipCount, scene.items.length); index++) {
    const a = boxes[index]!;
    const b = boxes[index + 1]!;
    const tall = index < layout.boxCount;
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

/** Everything below the waterline is tinted: UpdateSnapshot did not visit it. */
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
