import type { Box } from "../layout/boxes";

/** What was drawn in a box, kept until one of the things that it depends on is another one: thousands of cells cost one copy a frame. */
export class BandPicture {
  private readonly canvas = document.createElement("canvas");
  private key: readonly unknown[] = [];

  isOf(key: readonly unknown[]): boolean {
    return key.length === this.key.length && key.every((part, i) => part === this.key[i]);
  }

  draw(context: CanvasRenderingContext2D, box: Box, key: readonly unknown[], paint: (context: CanvasRenderingContext2D) => void): void {
    const ratio = context.getTransform().a;
    const w = Math.max(1, Math.ceil(box.w * ratio));
    const h = Math.max(1, Math.ceil(box.h * ratio));
    if (!this.isOf(key) || this.canvas.width !== w || this.canvas.height !== h) {
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
