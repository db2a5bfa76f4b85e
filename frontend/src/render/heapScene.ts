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

/** Draws activeQ's array as the tree that it is. Returns true while something still moves. */
export function drawHeap(context: CanvasRenderingContext2D, scene: HeapScene): boolean {
  const { layout, pods, motion, now, palette } = scene;
  const named = layout.boxes.slice(0, layout.dotsFrom);
  named.forEach((box, place) => {
    motion.place(pods[place]!.pod, box, now, true);
  });
  drawBranches(context, scene);
  drawDots(context, scene);
  // A font is set once for all that have it: of 31 names each, that was half a millisecond.
  const [strong, plain] = [`600 11px ${palette.font}`, `400 11px ${palette.font}`];
  context.textAlign = "center";
  named.forEach((box, place) => {
    const pod = pods[place]!;
    const at = motion.where(pod.pod, now) ?? box;
    const selected = pod.pod === scene.selectedPod;
    const hovered = place === scene.hoveredPlace;
    context.fillStyle = selected ? palette.selectedBack : hovered ? palette.hover : palette.paper;
    context.fillRect(at.x, at.y, at.w, at.h);
    outline(context, at, selected ? palette.selected : place === 0 ? palette.ink2 : palette.lineStrong);
    const font = place === 0 ? strong : plain;
    if (place < 2) context.font = font;
    context.fillStyle = palette.ink;
    context.fillText(cut(context, font, splitKey(pod.pod).name, at.w - 8), at.x + at.w / 2, at.y + at.h / 2 + 4);
  });
  context.textAlign = "left";
  return motion.moving;
}

/** Of a thousand dots nobody sees one fly: they are where they belong, a colour after the other. */
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
