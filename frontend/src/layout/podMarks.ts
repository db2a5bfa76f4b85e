import { contains, type Box } from "./boxes";

/** The levels of detail of a list item, by the room that it has. */
export type Detail = "large" | "box" | "slip" | "cell";

export function detailOf(box: Box): Detail {
  if (box.w >= 150 && box.h >= 120) return "large";
  if (box.w >= 104 && box.h >= 72) return "box";
  if (box.w >= 56 && box.h >= 24) return "slip";
  return "cell";
}

/** The positions of an item's pods: squares in a line, or squares with names below each other. */
export interface PodMarks {
  /** The first pod that is drawn. The newest pods are at the end of NodeInfo.Pods: if not all fit, those are drawn. */
  first: number;
  /** A square for each drawn pod, and its clickable area. */
  squares: Box[];
  areas: Box[];
  hidden: number;
  /** Whether the pods have their names beside their squares. */
  named: boolean;
}

export const PAD = 8;
const POD = 7;
const PITCH = 9;
/** The width that a pod's name needs at least, where names are in columns. */
const NAME = 96;
/** The bars of cpu, memory and pods. */
export const BARS = 3;

/** The sizes of what a box shows: the taller it is, the larger are its name, bars and pods. Distances are from the upper edge of the box. */
interface BoxSizes {
  minHeight: number;
  /** Font sizes of the name and of everything else. */
  name: number;
  text: number;
  nameBaseline: number;
  /** The center of the first bar, and the distance from bar to bar. */
  firstBar: number;
  barPitch: number;
  barHeight: number;
  /** The first pod below three bars, the distance from pod to pod, and the side of a pod's square. */
  firstPod: number;
  podPitch: number;
  pod: number;
}

const SIZES: readonly BoxSizes[] = [
  { minHeight: 184, name: 15, text: 13, nameBaseline: 23, firstBar: 46, barPitch: 26, barHeight: 10, firstPod: 118, podPitch: 20, pod: 9 },
  { minHeight: 140, name: 13, text: 12, nameBaseline: 17, firstBar: 32, barPitch: 20, barHeight: 8, firstPod: 86, podPitch: 16, pod: POD },
  { minHeight: 0, name: 13, text: 12, nameBaseline: 15, firstBar: 29, barPitch: 16, barHeight: 4, firstPod: 70, podPitch: 16, pod: POD },
];
export const sizesOf = (box: Pick<Box, "h">): BoxSizes => SIZES.find(({ minHeight }) => box.h >= minHeight)!;

/** Below the last pod. */
const FOOT = 6;
/** The height of a box that names `pods` pods below each other, in the sizes of a box that is `height` high. */
export function heightForPods(pods: number, height: number): number {
  const { firstPod, podPitch } = sizesOf({ h: height });
  return firstPod + pods * podPitch + FOOT;
}

/** The distance of the bars, which become closer where a box has little room for them. */
export const barStep = (box: Box, bars: number): number => Math.min(sizesOf(box).barPitch, (box.h - 44) / bars);
/** Below the heading and the bars. */
export function rowsFrom(box: Box, bars = BARS): number {
  const { firstPod, barPitch } = sizesOf(box);
  return firstPod + (bars - BARS) * barPitch;
}

/** How far below its upper edge a box with `count` pods has them. */
export function podsBelow(box: Box, count: number, bars = BARS): number {
  const detail = detailOf(box);
  if (detail === "slip" || detail === "cell") return box.h / 2;
  return podMarks(box, count, bars).named ? rowsFrom(box, bars) + sizesOf(box).podPitch / 2 : box.h - 11;
}

/** `bars`: the number of bars above the pods. */
export function podMarks(box: Box, count: number, bars = BARS): PodMarks {
  const detail = detailOf(box);
  if (detail === "slip" || detail === "cell") return { first: count, squares: [], areas: [], hidden: count, named: false };
  const from = rowsFrom(box, bars);
  const lines = Math.floor((box.h - from - 2) / sizesOf(box).podPitch);
  // Names in columns, where they do not fit below each other.
  const columns = Math.max(1, Math.min(Math.floor((box.w - 2 * PAD) / NAME), Math.ceil(count / Math.max(1, lines))));
  return detail === "large" || (lines > 0 && count <= lines * columns) ? rows(box, count, from, Math.max(1, lines), columns) : line(box, count);
}

function rows(box: Box, count: number, from: number, lines: number, columns: number): PodMarks {
  const drawn = count > lines * columns ? (lines - 1) * columns : count;
  const width = (box.w - 2 * PAD) / columns;
  const { podPitch, pod } = sizesOf(box);
  const squares: Box[] = [];
  const areas: Box[] = [];
  for (let i = 0; i < drawn; i++) {
    const x = box.x + PAD + (i % columns) * width;
    const y = box.y + from + Math.floor(i / columns) * podPitch;
    squares.push({ x, y: y + Math.floor((podPitch - pod) / 2), w: pod, h: pod });
    areas.push({ x: x - 4, y, w: width + (columns === 1 ? 8 : 0), h: podPitch });
  }
  return { first: count - drawn, squares, areas, hidden: count - drawn, named: true };
}

function line(box: Box, count: number): PodMarks {
  const width = box.w - 2 * PAD;
  const all = Math.floor(width / PITCH);
  const drawn = count > all ? Math.floor((width - 30) / PITCH) : count;
  const squares: Box[] = [];
  for (let i = 0; i < drawn; i++) squares.push({ x: box.x + PAD + i * PITCH, y: box.y + box.h - 14, w: POD, h: POD });
  const areas = squares.map((square) => ({ x: square.x - 1, y: square.y - 3, w: PITCH, h: POD + 6 }));
  return { first: count - drawn, squares, areas, hidden: count - drawn, named: false };
}

/** The index of the pod under a point; -1: none. */
export function podAt(box: Box, count: number, x: number, y: number, bars = BARS): number {
  const marks = podMarks(box, count, bars);
  const index = marks.areas.findIndex((area) => contains(area, x, y));
  return index < 0 ? -1 : marks.first + index;
}
