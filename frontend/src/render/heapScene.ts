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
  layout.boxes.forEach((box, place) => {
    motion.place(pods[place]!.pod, box, now, true);
  });
  drawBranches(context, scene);
  layout.boxes.forEach((box, place) => {
    const pod = pods[place]!;
    const at = motion.where(pod.pod, now) ?? box;
    const selected = pod.pod === scene.selectedPod;
    const hovered = place === scene.hoveredPlace;
    if (place >= layout.dotsFrom) {
      context.fillStyle = selected ? palette.selected : pod.attempts > 0 ? palette.assumed : palette.fill;
      context.fillRect(at.x, at.y, at.w, at.h);
      if (hovered || selected) outline(context, { x: at.x - 2, y: at.y - 2, w: at.w + 4, h: at.h + 4 }, palette.selected);
      return;
    }
    context.fillStyle = selected ? palette.selectedBack : hovered ? palette.hover : palette.paper;
    context.fillRect(at.x, at.y, at.w, at.h);
    outline(context, at, selected ? palette.selected : place === 0 ? palette.ink2 : palette.lineStrong);
    context.font = `${place === 0 ? 600 : 400} 11px ${palette.font}`;
    context.textAlign = "center";
    context.fillStyle = palette.ink;
    context.fillText(cut(context, splitKey(pod.pod).name, at.w - 8), at.x + at.w / 2, at.y + at.h / 2 + 4);
    context.textAlign = "left";
  });
  return motion.moving;
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
