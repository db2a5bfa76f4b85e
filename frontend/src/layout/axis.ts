/** A linear axis with round ticks. */
export interface Axis {
  at: (value: number) => number;
  ticks: number[];
}

const MAX_TICKS = 7;

/** An axis over the values, with a margin, from one pixel to another. */
export function axisOf(values: readonly number[], from: number, to: number, maxTicks = MAX_TICKS): Axis {
  let [min, max] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  const margin = (max - min || Math.abs(max) || 1) * 0.08;
  // Counts and shares have no values below 0, and neither has their axis.
  const [low, high] = [min >= 0 ? Math.max(min - margin, 0) : min - margin, max + margin];
  const power = 10 ** Math.floor(Math.log10((high - low) / Math.max(maxTicks - 2, 2)));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => (high - low) / each <= maxTicks) ?? 10 * power;
  const ticks: number[] = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) ticks.push(Number(tick.toPrecision(12)));
  return { at: (value) => from + ((value - low) / (high - low)) * (to - from), ticks };
}
