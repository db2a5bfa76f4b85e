import { describe, expect, it } from "vitest";
import { SPEEDS, speedInWords } from "../../../src/views/transport/speeds";

describe("speedInWords", () => {
  it("prints multiples of one cycle per second, and cycles per second for high speeds", () => {
    expect(SPEEDS.slice(0, 6).map((rate) => [rate, speedInWords(rate)])).toEqual([
      [0.5, "0.5×"],
      [1, "1×"],
      [2, "2×"],
      [4, "4×"],
      [12, "12×"],
      [50, "50 cycles/s"],
    ]);
  });
});
