import type { Box } from "../layout/boxes";
import type { HeapLayout } from "../layout/heapTree";
import { splitKey } from "../model/names";
import type { Queued } from "../model/state";
import { cut, outline } from "./canvas";
import type { Motion } from "./motion";
import type { Palette } from "./palette";

export interface HeapScene {
  pods: readonly Queued[];
  layout: HeapLayout;
  motion: Motion;
  palette: Palette;
  now: number;
  selectedPod: string | null;
  hoveredPlace: number;
}

/** Draws activeQ's array as a tree. Returns true while an animation is running. */
export function drawHeap(context: CanvasRenderingContext2D, scene: HeapScene): boolean {
  const { layout, pods, motion, now } = scene;
  const named = layout.boxes.slice(0, layout.dotsFrom);
  named.forEach((box, place) => {
    motion.place(pods[place]!.pod, box, now, true);
  });
  drawBranches(context, scene);
  drawDots(context, scene);
  const boxes: NamedBox[] = named.map((box, place) => ({ place, at: motion.where(pods[place]!.pod, now) ?? box, flies: motion.isMoving(pods[place]!.pod) }));
  drawNamed(context, scene, boxes.filter(({ flies }) => !flies));
  // Moving items are drawn above the others.
  for (const box of boxes) if (box.flies) drawNamed(context, scene, [box]);
  return motion.moving;
}

interface NamedBox {
  place: number;
  at: Box;
  flies: boolean;
}

/** Draws boxes that do not overlap: backgrounds, then edges, then names, so that colours and fonts are set once. One by one, 31 boxes took 0.7 ms. */
function drawNamed(context: CanvasRenderingContext2D, { pods, palette, selectedPod, hoveredPlace }: HeapScene, boxes: readonly NamedBox[]): void {
  const isSelected = (place: number): boolean => pods[place]!.pod === selectedPod;
  for (const { place, at } of boxes) {
    context.fillStyle = isSelected(place) ? palette.selectedBack : place === hoveredPlace ? palette.hover : palette.paper;
    context.fillRect(at.x, at.y, at.w, at.h);
  }
  context.lineWidth = 1;
  for (const { place, at } of boxes) {
    context.strokeStyle = isSelected(place) ? palette.selected : place === 0 ? palette.ink2 : palette.lineStrong;
    context.strokeRect(Math.round(at.x) + 0.5, Math.round(at.y) + 0.5, Math.round(at.w) - 1, Math.round(at.h) - 1);
  }
  const [strong, plain] = [`600 12px ${palette.font}`, `400 12px ${palette.font}`];
  context.textAlign = "center";
  context.fillStyle = palette.ink;
  boxes.forEach(({ place, at }, i) => {
    const font = place === 0 ? strong : plain;
    if (i === 0 || place === 1) context.font = font;
    context.fillText(cut(context, font, splitKey(pods[place]!.pod).name, at.w - 8), at.x + at.w / 2, at.y + at.h / 2 + 4);
  });
  context.textAlign = "left";
}

/** Dots are not animated: a thousand are drawn at their places, one colour after the other. */
function drawDots(context: CanvasRenderingContext2D, { layout, pods, palette, selectedPod, hoveredPlace }: HeapScene): void {
  const { boxes, dotsFrom } = layout;
  for (const [tried, colour] of [
    [false, palette.fill],
    [true, palette.assumed],
  ] as const) {
    context.fillStyle = colour;
    for (let place = dotsFrom; place < boxes.length; place++) {
      const { x, y, w, h } = boxes[place]!;
      if (pods[place]!.attempts > 0 === tried) context.fillRect(x, y, w, h);
    }
  }
  for (let place = dotsFrom; place < boxes.length; place++) {
    const selected = pods[place]!.pod === selectedPod;
    if (!selected && place !== hoveredPlace) continue;
    const { x, y, w, h } = boxes[place]!;
    if (selected) {
      context.fillStyle = palette.selected;
      context.fillRect(x, y, w, h);
    }
    outline(context, { x: x - 2, y: y - 2, w: w + 4, h: h + 4 }, palette.selected);
  }
}

function drawBranches(context: CanvasRenderingContext2D, scene: HeapScene): void {
  const { boxes } = scene.layout;
  context.strokeStyle = scene.palette.line;
  context.lineWidth = 1;
  context.beginPath();
  for (let place = 1; place < boxes.length; place++) {
    const child = boxes[place]!;
    const parent = boxes[(place - 1) >> 1]!;
    const middle = Math.round((parent.y + parent.h + child.y) / 2) + 0.5;
    const from = Math.round(parent.x + parent.w / 2) + 0.5;
    const to = Math.round(child.x + child.w / 2) + 0.5;
    context.moveTo(from, parent.y + parent.h);
    context.lineTo(from, middle);
    context.lineTo(to, middle);
    context.lineTo(to, child.y);
  }
  context.stroke();
}
