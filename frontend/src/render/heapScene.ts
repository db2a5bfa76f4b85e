import type { Box } from "../layout/boxes";
import type { HeapLayout } from "../layout/heapTree";
import { splitKey } from "../model/names";
import type { Queued } from "../model/state/state";
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
  hoveredIndex: number;
}

/** Draws activeQ's array as a tree. Returns true while an animation is running. */
export function drawHeap(context: CanvasRenderingContext2D, scene: HeapScene): boolean {
  const { layout, pods, motion, now } = scene;
  const named = layout.boxes.slice(0, layout.dotsFrom);
  named.forEach((box, index) => {
    motion.place(pods[index]!.pod, box, now, true);
  });
  drawBranches(context, scene);
  drawDots(context, scene);
  const boxes: NamedBox[] = named.map((box, index) => ({ index, at: motion.where(pods[index]!.pod, now) ?? box, flies: motion.isMoving(pods[index]!.pod) }));
  drawNamed(context, scene, boxes.filter(({ flies }) => !flies));
  // Moving items are drawn above the others.
  for (const box of boxes) if (box.flies) drawNamed(context, scene, [box]);
  return motion.moving;
}

interface NamedBox {
  index: number;
  at: Box;
  flies: boolean;
}

/** Draws boxes that do not overlap: backgrounds, then edges, then names, so that colors and fonts are set once. One by one, 31 boxes took 0.7 ms. */
function drawNamed(context: CanvasRenderingContext2D, { pods, palette, selectedPod, hoveredIndex }: HeapScene, boxes: readonly NamedBox[]): void {
  const isSelected = (index: number): boolean => pods[index]!.pod === selectedPod;
  for (const { index, at } of boxes) {
    context.fillStyle = isSelected(index) ? palette.selectedBack : index === hoveredIndex ? palette.hover : palette.paper;
    context.fillRect(at.x, at.y, at.w, at.h);
  }
  context.lineWidth = 1;
  for (const { index, at } of boxes) {
    context.strokeStyle = isSelected(index) ? palette.selected : index === 0 ? palette.ink2 : palette.lineStrong;
    context.strokeRect(Math.round(at.x) + 0.5, Math.round(at.y) + 0.5, Math.round(at.w) - 1, Math.round(at.h) - 1);
  }
  const [strong, plain] = [`600 12px ${palette.font}`, `400 12px ${palette.font}`];
  context.textAlign = "center";
  context.fillStyle = palette.ink;
  boxes.forEach(({ index, at }, i) => {
    const font = index === 0 ? strong : plain;
    if (i === 0 || index === 1) context.font = font;
    context.fillText(cut(context, font, splitKey(pods[index]!.pod).name, at.w - 8), at.x + at.w / 2, at.y + at.h / 2 + 4);
  });
  context.textAlign = "left";
}

/** Dots are not animated: a thousand are drawn at their places, one color after the other. */
function drawDots(context: CanvasRenderingContext2D, { layout, pods, palette, selectedPod, hoveredIndex }: HeapScene): void {
  const { boxes, dotsFrom } = layout;
  for (const [tried, color] of [
    [false, palette.fill],
    [true, palette.assumed],
  ] as const) {
    context.fillStyle = color;
    for (let index = dotsFrom; index < boxes.length; index++) {
      const { x, y, w, h } = boxes[index]!;
      if (pods[index]!.attempts > 0 === tried) context.fillRect(x, y, w, h);
    }
  }
  for (let index = dotsFrom; index < boxes.length; index++) {
    const selected = pods[index]!.pod === selectedPod;
    if (!selected && index !== hoveredIndex) continue;
    const { x, y, w, h } = boxes[index]!;
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
  for (let index = 1; index < boxes.length; index++) {
    const child = boxes[index]!;
    const parent = boxes[(index - 1) >> 1]!;
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
