import type { Box } from "../layout/boxes";
import { loadClass } from "../model/cache/load";
import type { NodeInfo } from "../model/state/nodeList";
import { amountTexts, printBytes, printBytesOf, printCores, printCount, share, shares } from "../model/text/quantity";
import { splitKey, withoutDomain } from "../model/names";
import { BARS, barStep, detailOf, PAD, podMarks, rowsFrom, sizesOf, type Detail } from "../layout/podMarks";
import { GLYPHS } from "../theme/glyphs";
import { cut, fitting, outline, widthOf } from "./canvas";
import { cellBox, cellLook, drawCell, drawSlash, PALE } from "./cells";
import { statusColor, type Palette } from "./palette";

/** What an item's style depends on besides the item. */
export interface ItemMarks {
  assumed: ReadonlySet<string>;
  /** Pods that are still moving to it. */
  movingPods: ReadonlyMap<string, "away" | "assumed">;
  selectedPod: string | null;
  selected: boolean;
  hovered: boolean;
  /** The cycle's chosen node. */
  winner: boolean;
  /** The domain of all nodes, which their names lose where there is little room. */
  domain: string;
  /** What keeps pods off it in words, the longest first; empty: nothing. */
  states: readonly string[];
  /** The extended resource that the selected pod requests, which has a bar of its own; "": none. */
  resource: string;
  /** Only the node is drawn, without its NodeInfo's generation. */
  simple: boolean;
  /** Changed since the snapshot was taken: the next UpdateSnapshot visits it. */
  ahead: boolean;
  /** The filter excludes it. */
  pale: boolean;
  /** Its Filter result as a Status code; "": not evaluated; null: items are not colored by it. */
  verdict: string | null;
}

/** Draws an item of the list at the level of detail that its box allows. */
export function drawItem(context: CanvasRenderingContext2D, item: NodeInfo, box: Box, marks: ItemMarks, palette: Palette): void {
  const detail = detailOf(box);
  if (marks.pale) context.globalAlpha = PALE;
  if (detail === "cell") drawCell(context, cellLook(item, { ...marks, assumed: item.podOrder.some((pod) => marks.assumed.has(pod)) }), cellBox(box), palette);
  else if (detail === "slip") drawSlip(context, item, box, marks, palette);
  else drawBox(context, item, box, marks, palette);
  if (marks.verdict && detail !== "cell") drawVerdict(context, marks.verdict, box, palette);
  context.globalAlpha = 1;
}

const GLYPH = 12;
const paths = new Map<string, Path2D>();

/** The code's glyph, in the lower right corner of an item. */
function drawVerdict(context: CanvasRenderingContext2D, code: string, box: Box, palette: Palette): void {
  let path = paths.get(code);
  if (!path) paths.set(code, (path = new Path2D(GLYPHS[code])));
  context.save();
  context.translate(box.x + box.w - GLYPH - 3, box.y + box.h - GLYPH - 3);
  context.fillStyle = palette.paper;
  context.fillRect(-1, -1, GLYPH + 2, GLYPH + 2);
  context.strokeStyle = statusColor(code, palette);
  context.lineWidth = 1.6;
  context.lineCap = "round";
  context.stroke(path);
  context.restore();
}

function drawBox(context: CanvasRenderingContext2D, item: NodeInfo, box: Box, marks: ItemMarks, palette: Palette): void {
  drawFrame(context, item, box, marks, palette);
  const left = box.x + PAD;
  const right = box.x + box.w - PAD;
  const sizes = sizesOf(box);
  drawHeading(context, item, left, right, box.y + sizes.nameBaseline, detailOf(box), marks, palette, sizes.name);
  const used = shares(item.requested, item.allocatable, item.podOrder.length);
  const { requested, allocatable } = item;
  const bars: [string, number, string[]][] = [
    ["cpu", used.cpu, amountTexts(printCores(requested.milliCPU), printCores(allocatable.milliCPU), used.cpu)],
    ["mem", used.memory, amountTexts(printBytesOf(requested.memory, allocatable.memory), printBytes(allocatable.memory), used.memory)],
    ["pods", used.pods, amountTexts(String(item.podOrder.length), String(allocatable.allowedPodNumber), used.pods)],
  ];
  if (marks.resource) bars.push(barOf(item, marks.resource));
  const font = (context.font = `400 ${sizes.text}px ${palette.font}`);
  const labelWidth = LABEL + (sizes.text - 12) * 3;
  const step = barStep(box, bars.length);
  bars.forEach(([label, part, amounts], i) => {
    const y = box.y + sizes.firstBar + i * step;
    context.textAlign = "left";
    context.fillStyle = palette.ink3;
    context.fillText(cut(context, font, label, labelWidth), left, y + 4);
    context.textAlign = "right";
    context.fillStyle = palette.ink2;
    const text = fitting(context, font, amounts, right - left - labelWidth - 26);
    context.fillText(text, right, y + 4);
    const from = left + labelWidth + 2;
    const width = Math.max(16, right - from - Math.max(74, widthOf(context, font, text) + 8));
    drawBar(context, { x: from, y: y - sizes.barHeight / 2, w: width, h: sizes.barHeight }, part, marks, palette);
  });
  context.textAlign = "left";
  drawPods(context, item, box, marks, palette);
}

/** The width of the labels of bars, in type of 12 px. */
const LABEL = 32;

/** The bar of an extended resource, without the domain in its name. */
function barOf({ requested, allocatable }: NodeInfo, resource: string): [string, number, string[]] {
  const [of, whole] = [requested.scalar[resource] ?? 0, allocatable.scalar[resource] ?? 0];
  const part = share(of, whole);
  // A node without the resource has no amount of it.
  if (!of && !whole) return [resource.slice(resource.lastIndexOf("/") + 1), 0, ["–"]];
  return [resource.slice(resource.lastIndexOf("/") + 1), part, amountTexts(printCount(of), printCount(whole), part)];
}

function drawSlip(context: CanvasRenderingContext2D, item: NodeInfo, box: Box, marks: ItemMarks, palette: Palette): void {
  drawFrame(context, item, box, marks, palette);
  const left = box.x + 6;
  const right = box.x + box.w - 6;
  const middle = box.h >= 48 ? box.h / 2 - 12 : 0;
  drawHeading(context, item, left, right, box.y + 13 + middle, "slip", marks, palette);
  const used = shares(item.requested, item.allocatable, item.podOrder.length);
  const width = right - left;
  [used.cpu, used.memory, used.pods].forEach((part, i) => {
    drawBar(context, { x: left, y: box.y + 18 + middle + i * 4, w: width, h: 3 }, part, marks, palette);
  });
}

function drawFrame(context: CanvasRenderingContext2D, item: NodeInfo, box: Box, marks: ItemMarks, palette: Palette): void {
  context.fillStyle = marks.selected ? palette.selectedBack : marks.hovered ? palette.hover : palette.paperRaised;
  context.fillRect(box.x, box.y, box.w, box.h);
  const edge = marks.selected ? palette.selected : marks.winner ? palette.success : marks.hovered ? palette.ink2 : palette.lineStrong;
  outline(context, box, edge, 1, item.hasNode ? [] : [4, 3]);
  if (marks.ahead) {
    context.fillStyle = palette.waterline;
    context.fillRect(Math.round(box.x), Math.round(box.y), Math.round(box.w), 2);
  }
}

const GAP = 8;
/** A struck square and its gap: there is no room for a word. */
const MARK = 14;

/** The name, what keeps pods off the node, and the generation at the right, for which a slip has no room beside a state. */
function drawHeading(
  context: CanvasRenderingContext2D,
  item: NodeInfo,
  left: number,
  right: number,
  baseline: number,
  detail: Detail,
  marks: ItemMarks,
  palette: Palette,
  size = 12,
): void {
  const regular = `400 12px ${palette.font}`;
  const strong = `600 ${size}px ${palette.font}`;
  const { states } = marks;
  const hasGeneration = !marks.simple && (detail !== "slip" || states.length === 0);
  const label = detail === "large" ? "gen " : "";
  const generation = hasGeneration ? String(item.generation) : "";
  context.font = regular;
  const labelEnd = right - widthOf(context, regular, generation);
  const end = generation ? labelEnd - (label ? widthOf(context, regular, label) : 0) - GAP : right;
  const shortest = states[states.length - 1] ?? "";
  const shortestWidth = states.length ? widthOf(context, regular, shortest) + GAP : 0;
  if (generation) {
    context.textAlign = "right";
    context.fillStyle = marks.ahead ? palette.waterline : palette.ink3;
    context.fillText(generation, right, baseline);
    if (label) context.fillText(label, labelEnd, baseline);
    context.textAlign = "left";
  }
  context.font = strong;
  context.fillStyle = item.hasNode ? palette.ink : palette.ink3;
  const names = [item.name, withoutDomain(item.name, marks.domain)];
  const isNamedBeside = names.some((name) => widthOf(context, strong, name) <= end - left - shortestWidth);
  const name = fitting(context, strong, names, end - left - (isNamedBeside ? shortestWidth : MARK));
  context.fillText(name, left, baseline);
  if (!states.length) return;
  const from = left + widthOf(context, strong, name) + GAP;
  context.font = regular;
  if (isNamedBeside) {
    context.fillStyle = palette.unschedulable;
    context.fillText(states.find((state) => widthOf(context, regular, state) <= end - from) ?? shortest, from, baseline);
  } else {
    const mark = { x: from - 4, y: baseline - 8, w: 8, h: 8 };
    drawSlash(context, mark, palette.unschedulable);
    outline(context, mark, palette.unschedulable);
  }
}

function drawBar(context: CanvasRenderingContext2D, { x, y, w, h }: Box, part: number, marks: ItemMarks, palette: Palette): void {
  // The background of a selected item has almost the color of the track.
  context.fillStyle = marks.selected ? palette.paper : palette.fillBack;
  context.fillRect(x, y, w, h);
  context.fillStyle = palette.load[loadClass(part)]!;
  context.fillRect(x, y, part > 0 ? Math.max(1, w * part) : 0, h);
}

/** How many bars a box has. */
export const barsOf = ({ resource }: { resource: string }): number => BARS + (resource ? 1 : 0);

/** A square for each pod: solid if added, dashed if assumed, with its name if there is room. Pods that do not fit are counted. */
function drawPods(context: CanvasRenderingContext2D, item: NodeInfo, box: Box, marks: ItemMarks, palette: Palette): void {
  const bars = barsOf(marks);
  const placed = podMarks(box, item.podOrder.length, bars);
  const { named } = placed;
  const sizes = sizesOf(box);
  const font = (context.font = `400 ${sizes.text}px ${palette.font}`);
  placed.squares.forEach((square, i) => {
    const pod = item.podOrder[placed.first + i]!;
    const selected = pod === marks.selectedPod;
    const way = marks.movingPods.get(pod);
    const assumed = way === "assumed" || marks.assumed.has(pod);
    const area = placed.areas[i]!;
    if (named && selected) {
      context.fillStyle = palette.paper;
      context.fillRect(area.x, area.y, area.w, area.h);
    }
    if (way === "away") outline(context, square, palette.lineStrong);
    else if (assumed) outline(context, square, palette.assumed, 1, [2, 1]);
    else {
      context.fillStyle = palette.fill;
      context.fillRect(square.x, square.y, square.w, square.h);
    }
    if (selected) outline(context, { x: square.x - 2, y: square.y - 2, w: square.w + 4, h: square.h + 4 }, palette.selected);
    if (!named || way === "away") return;
    context.fillStyle = assumed ? palette.assumed : palette.ink2;
    context.fillText(cut(context, font, splitKey(pod).name, area.w - 24), square.x + sizes.pod + 7, area.y + sizes.podPitch / 2 + 4);
  });
  context.fillStyle = palette.ink3;
  const last = placed.areas[placed.areas.length - 1];
  if (placed.hidden > 0) {
    if (named) context.fillText(`+${placed.hidden}`, box.x + PAD + sizes.pod + 7, (last ? last.y + last.h : box.y + rowsFrom(box, bars)) + sizes.podPitch / 2 + 4);
    else if (last) context.fillText(`+${placed.hidden}`, last.x + last.w + 4, box.y + box.h - 7);
  }
  if (!item.hasNode) {
    context.textAlign = "right";
    context.fillText("node is nil", box.x + box.w - PAD, box.y + box.h - 7);
    context.textAlign = "left";
  }
}
