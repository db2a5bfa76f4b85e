import { describe, expect, it } from "vitest";

import { copyInto, type Pixels } from "../../src/render/bitmapCache";

const blank = (): Pixels => ({ w: 4, h: 3, data: new Uint32Array(12) });
const stamp: Pixels = { w: 2, h: 2, data: Uint32Array.of(1, 2, 3, 4) };
const lines = ({ w, data }: Pixels): number[][] => [...Array<unknown>(data.length / w)].map((_, line) => [...data.subarray(line * w, (line + 1) * w)]);

describe("copyInto", () => {
  it("copies a bitmap to its position and changes no other pixel", () => {
    const picture = blank();
    copyInto(picture, stamp, 1, 1);
    expect(lines(picture)).toEqual([
      [0, 0, 0, 0],
      [0, 1, 2, 0],
      [0, 3, 4, 0],
    ]);
  });

  it.each([
    [-1, -1, [[4, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]],
    [3, 2, [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]],
    [9, -7, [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]],
  ])("at %i, %i cuts the bitmap at the edges of the picture", (x, y, expected) => {
    const picture = blank();
    copyInto(picture, stamp, x, y);
    expect(lines(picture)).toEqual(expected);
  });
});
