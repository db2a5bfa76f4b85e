/** A linear axis with round ticks. */
export interface Axis {
  at: (value: number) => number;
  ticks: number[];
}

const MOST_TICKS = 7;

/** An axis over the values, with a margin, from one pixel to another. */
export function axisOf(values: readonly number[], from: number, to: number, mostTicks = MOST_TICKS): Axis {
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

const LABEL_WIDTH = 130;
const LABEL_HEIGHT = 15;

/** The heights of labels at these places, of which each that would lie on an earlier one is moved up. */
export function stacked(points: readonly { x: number; y: number }[]): number[] {
  const taken: { x: number; y: number }[] = [];
  return points.map(({ x, y }) => {
    let top = y;
    while (taken.some((other) => Math.abs(other.x - x) < LABEL_WIDTH && Math.abs(other.y - top) < LABEL_HEIGHT)) top -= LABEL_HEIGHT;
    taken.push({ x, y: top });
    return top;
  });
}
