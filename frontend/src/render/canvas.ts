import type { Box } from "../layout/boxes";

/** The CSS zoom of an element, as on a projector. */
export function zoomOf(element: Element): number {
  // Browsers from before 2024 do not have it, and draw with less resolution.
  return (element as Partial<Element>).currentCSSZoom ?? 1;
}

/** The position of a pointer in an element, in the element's own CSS pixels. */
export function pointIn(element: Element, { clientX, clientY }: MouseEvent): { x: number; y: number } {
  const box = element.getBoundingClientRect();
  const zoom = zoomOf(element);
  return { x: (clientX - box.left) / zoom, y: (clientY - box.top) / zoom };
}

/** Scale a canvas to the screen's resolution and return its context in CSS pixels. */
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = (window.devicePixelRatio || 1) * zoomOf(canvas);
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** The maximum number of texts in each cache. */
const MAX_CACHED_TEXTS = 20_000;
const widths = new Map<string, number>();
const fitted = new Map<string, string>();

/** Forget what was measured with the substitute of a font that has loaded since. */
export function forgetTextWidths(): void {
  widths.clear();
  fitted.clear();
}

/** The width of a text. `font` is the context's font: reading it from the context costs more than measuring. */
export function widthOf(context: CanvasRenderingContext2D, font: string, text: string): number {
  return remembered(widths, `${font}|${text}`, () => context.measureText(text).width);
}

/** The text shortened to a width with an ellipsis in the middle, because long names differ at their ends. */
export function cut(context: CanvasRenderingContext2D, font: string, text: string, width: number): string {
  return remembered(fitted, `${font}|${Math.floor(width)}|${text}`, () => fit(context, text, width));
}

/** The first of these texts that fits into a width; the last one is shortened if none does. */
export function fitting(context: CanvasRenderingContext2D, font: string, texts: readonly string[], width: number): string {
  return texts.find((text) => widthOf(context, font, text) <= width) ?? cut(context, font, texts[texts.length - 1] ?? "", width);
}

function remembered<T>(cache: Map<string, T>, key: string, find: () => T): T {
  let value = cache.get(key);
  if (value === undefined) {
    if (cache.size >= MAX_CACHED_TEXTS) cache.clear();
    cache.set(key, (value = find()));
  }
  return value;
}

function fit(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  for (let length = text.length - 1; length > 1; length--) {
    const head = Math.ceil(length * 0.3);
    const shorter = `${text.slice(0, head)}…${text.slice(text.length - (length - head))}`;
    if (context.measureText(shorter).width <= width) return shorter;
  }
  return "";
}

/** A line aligned to whole pixels. */
export function outline(context: CanvasRenderingContext2D, box: Box, color: string, width = 1, dash: number[] = []): void {
  context.strokeStyle = color;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.strokeRect(Math.round(box.x) + 0.5, Math.round(box.y) + 0.5, Math.round(box.w) - 1, Math.round(box.h) - 1);
  context.setLineDash([]);
}
