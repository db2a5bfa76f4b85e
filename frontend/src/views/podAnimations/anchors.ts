import type { Station } from "../../model/timeline/podMovements";
import type { ViewOptions } from "../../store/page/viewOptions.svelte";

export interface Point {
  x: number;
  y: number;
}

/** The distance of a pod from the text beside which it stops: it covers no heading. */
const BESIDE = 12;

/** The position of a station in pixels of the window; null: not visible. Measures the layout, so do not call it in every frame. */
export function pointOf(station: Station, pod: string, viewOptions: ViewOptions): Point | null {
  switch (station.at) {
    case "queue":
      return inQueue(station.name, pod);
    case "cycle":
      return beside("[data-cycle] .pod") ?? beside("#cycle-title");
    case "node":
      return viewOptions.positionOfNode(station.name) ?? beside("#cache-title");
    case "api":
      return leftOf("[data-lane]");
    case "informers":
      return rightOf("[data-lane]");
  }
}

/** The pod's row if it is visible; else the head of the queue, where the next pod leaves. */
function inQueue(name: string, pod: string): Point | null {
  const section = document.querySelector(`[data-queue="${CSS.escape(name)}"]`);
  if (!section) return null;
  const room = section.getBoundingClientRect();
  const row = section.querySelector(`[data-pod="${CSS.escape(pod)}"]`)?.getBoundingClientRect();
  if (row && row.top >= room.top && row.bottom <= room.bottom) return { x: row.left, y: row.top + row.height / 2 };
  const picture = section.querySelector("canvas")?.getBoundingClientRect();
  if (picture && picture.height > 0) return { x: picture.left + picture.width / 2 - 24, y: picture.top + 12 };
  return { x: room.left + 8, y: room.top + Math.min(16, room.height / 2) };
}

function leftOf(selector: string): Point | null {
  const box = document.querySelector(selector)?.getBoundingClientRect();
  return box && box.height > 0 ? { x: box.left, y: box.top + box.height / 2 } : null;
}

function beside(selector: string): Point | null {
  const end = rightOf(selector);
  return end && { x: end.x + BESIDE, y: end.y };
}

function rightOf(selector: string): Point | null {
  const box = document.querySelector(selector)?.getBoundingClientRect();
  return box && box.width > 0 ? { x: box.right, y: box.top + box.height / 2 } : null;
}
