import type { Box } from "../layout/boxes";

/** What is painted into a band. */
export interface Cells {
  /** What looks are made of: while all of it is the same as when it was drawn last, no cell is asked for its look. */
  of: readonly unknown[];
  /** The first place and the one after the last. */
  from: number;
  to: number;
  /** Everything that its cell shows, as one number. */
  lookOf(place: number): number;
  /** Where the cell is drawn, in whole pixels; null: outside of the band. */
  boxOf(place: number): Box | null;
  paint(context: CanvasRenderingContext2D, look: number, box: Box): void;
}

/**
 * Thousands of cells, kept as one picture: of it those are painted anew that show something else than before. When a NodeInfo goes to the head
 * all cells before it move on by one, and most look like their neighbours.
 */
export class BandPicture {
  private readonly canvas = document.createElement("canvas");
  private frame: readonly unknown[] = [];
  private looks = new Int32Array(0);
  private of: readonly unknown[] = [];

  /** `frame`: what else the picture depends on, where a cell is for one. When one of these is another thing, all is painted. */
  draw(context: CanvasRenderingContext2D, box: Box, frame: readonly unknown[], cells: Cells): void {
    const ratio = context.getTransform().a;
    const w = Math.max(1, Math.ceil(box.w * ratio));
    const h = Math.max(1, Math.ceil(box.h * ratio));
    const own = this.canvas.getContext("2d")!;
    const known = same(frame, this.frame) && this.canvas.width === w && this.canvas.height === h;
    if (!known) {
      this.canvas.width = w;
      this.canvas.height = h;
      own.setTransform(ratio, 0, 0, ratio, -box.x * ratio, -box.y * ratio);
      this.frame = frame;
      this.looks = new Int32Array(0);
    }
    if (!known || !same(cells.of, this.of)) this.update(own, cells);
    this.of = cells.of;
    context.drawImage(this.canvas, box.x, box.y, w / ratio, h / ratio);
  }

  private update(own: CanvasRenderingContext2D, cells: Cells): void {
    const count = cells.to - cells.from;
    const { looks } = this;
    const now = looks.length === count ? looks : new Int32Array(count).fill(UNSEEN);
    if (now !== looks) now.set(looks.subarray(0, count));
    for (let i = 0; i < count; i++) {
      const look = cells.lookOf(cells.from + i);
      if (now[i] === look) continue;
      const box = cells.boxOf(cells.from + i);
      if (box) {
        if (now[i] !== UNSEEN) clear(own, box);
        cells.paint(own, look, box);
      }
      now[i] = look;
    }
    for (let i = count; i < looks.length; i++) {
      const box = cells.boxOf(cells.from + i);
      if (box) clear(own, box);
    }
    this.looks = now;
  }
}

/** Looks are not negative. */
const UNSEEN = -1;

/** Lines that are not straight leave a trace outside of their cell. */
function clear(context: CanvasRenderingContext2D, { x, y, w, h }: Box): void {
  context.clearRect(x - 0.5, y - 0.5, w + 1, h + 1);
}

function same(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((part, i) => part === b[i]);
}
