/** Means of a few numbers with their 95 % intervals, as in schedviz/experiments/results/statistics.py. */

/** A mean with its 95 % interval; without a margin there is only one number. */
export interface Interval {
  mean: number;
  margin: number | null;
  count: number;
}

/** 97.5 % quantiles of Student's t, by degrees of freedom from 1. */
const T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08,
  2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];
const Z = 1.959964;
/** Sums of floats: below this, a difference is 0. */
const NOTHING = 1e-9;

/** Null without numbers. */
export function interval(numbers: ArrayLike<number>, count = numbers.length): Interval | null {
  if (count === 0) return null;
  let sum = 0;
  for (let place = 0; place < count; place++) sum += numbers[place]!;
  const mean = sum / count;
  if (count === 1) return { mean, margin: null, count };
  let squares = 0;
  for (let place = 0; place < count; place++) squares += (numbers[place]! - mean) ** 2;
  const variance = squares / (count - 1);
  return { mean: clean(mean), margin: clean(quantile(count - 1) * Math.sqrt(variance / count)), count };
}

function clean(value: number): number {
  return Math.abs(value) < NOTHING ? 0 : value;
}

function quantile(freedom: number): number {
  return T[freedom - 1] ?? Z + (Z ** 3 + Z) / (4 * freedom) + (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / (96 * freedom ** 2);
}

/** Whether a difference is beyond chance. Without seeds every difference counts: runs repeat exactly. */
export function isSure({ mean, margin }: Interval): boolean {
  return mean !== 0 && (margin === null || Math.abs(mean) > margin);
}

/** Better or worse beyond chance; "": neither. */
export type Verdict = "good" | "bad" | "";

/** Whether a difference is beyond chance, and for the better. */
export function verdict(difference: Interval, better: "lower" | "higher" | ""): Verdict {
  if (!better || !isSure(difference)) return "";
  return difference.mean > 0 === (better === "higher") ? "good" : "bad";
}
