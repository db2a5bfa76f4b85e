import type { Box } from "../layout/boxes";

/**
 * What was drawn in a box, kept until one of the things that it depends on is another one: thousands of cells cost one copy a frame.
 * What is drawn once is not kept: while cycles rush by, no picture is needed twice.
 */
export class BandPicture {
  private readonly canvas = document.createElement("canvas");
  private key: readonly unknown[] = [];
  private drawn: readonly unknown[] = [];

  /** Whether the picture of this key is at hand. */
  isOf(key: readonly unknown[]): boolean {
    return same(key, this.key);
  }

  draw(context: CanvasRenderingContext2D, box: Box, key: readonly unknown[], paint: (context: CanvasRenderingContext2D) => void): void {
    const ratio = context.getTransform().a;
    const w = Math.max(1, Math.ceil(box.w * ratio));
    const h = Math.max(1, Math.ceil(box.h * ratio));
    const kept = this.isOf(key) && this.canvas.width === w && this.canvas.height === h;
    if (!kept && !same(key, this.drawn)) {
      this.drawn = key;
      paintIn(context, box, paint);
      return;
    }
    if (!kept) {
      this.canvas.width = w;
      this.canvas.height = h;
      const own = this.canvas.getContext("2d")!;
      own.setTransform(ratio, 0, 0, ratio, -box.x * ratio, -box.y * ratio);
      paint(own);
      this.key = key;
    }
    context.drawImage(this.canvas, box.x, box.y, w / ratio, h / ratio);
  }
}

function paintIn(context: CanvasRenderingContext2D, box: Box, paint: (context: CanvasRenderingContext2D) => void): void {
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.w, box.h);
  context.clip();
  paint(context);
  context.restore();
}

function same(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((part, i) => part === b[i]);
}
