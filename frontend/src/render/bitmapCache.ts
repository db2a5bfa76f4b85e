/** A bitmap, one number per pixel. */
export interface Pixels {
  readonly w: number;
  readonly h: number;
  readonly data: Uint32Array;
}

/** Small bitmaps that are painted once and copied to many places. */
export class BitmapCache {
  private readonly context = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
  /** By size, then by number: a combined key would not be a small integer, and would be allocated for each of thousands of cells. */
  private readonly known = new Map<number, Map<number, Pixels>>();

  clear(): void {
    this.known.clear();
  }

  /** The bitmap of a number; undefined: not painted yet. Sizes are in pixels, below 1,024. */
  get(style: number, w: number, h: number): Pixels | undefined {
    return this.known.get(w * 1024 + h)?.get(style);
  }

  /** Paint the bitmap of a number, at the origin. */
  paint(style: number, w: number, h: number, paint: (context: CanvasRenderingContext2D) => void): Pixels {
    const { context } = this;
    // Resizing a canvas clears it and resets its state.
    context.canvas.width = w;
    context.canvas.height = h;
    paint(context);
    const stamp = { w, h, data: new Uint32Array(context.getImageData(0, 0, w, h).data.buffer) };
    const size = w * 1024 + h;
    const ofSize = this.known.get(size);
    if (ofSize) ofSize.set(style, stamp);
    else this.known.set(size, new Map([[style, stamp]]));
    return stamp;
  }
}

/** Copies a bitmap into another, clipped to it. */
export function copyInto(picture: Pixels, stamp: Pixels, x: number, y: number): void {
  const left = Math.max(0, -x);
  const right = Math.min(stamp.w, picture.w - x);
  for (let line = Math.max(0, -y); line < Math.min(stamp.h, picture.h - y); line++) {
    const from = line * stamp.w;
    const to = (y + line) * picture.w + x;
    for (let column = left; column < right; column++) picture.data[to + column] = stamp.data[from + column]!;
  }
}
