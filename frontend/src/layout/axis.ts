/** A linear axis with round ticks. */
export interface Axis {
  at: (value: number) => number;
  ticks: number[];
}

const MAX_TICKS = 7;

/** An axis over the values, with a margin, from one pixel to another. */
export function axisOf(values: readonly number[], from: number, to: number, mostTicks = MAX_TICKS): Axis {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  const margin = (most - least || Math.abs(most) || 1) * 0.08;
  const [low, high] = [least - margin, most + margin];
  const power = 10 ** Math.floor(Math.log10((high - low) / Math.max(mostTicks - 2, 2)));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => (high - low) / each <= mostTicks) ?? 10 * power;
  const ticks: number[] = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) ticks.push(Number(tick.toPrecision(12)));
  return { at: (value) => from + ((value - low) / (high - low)) * (to - from), ticks };
}
