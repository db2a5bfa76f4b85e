/** The results of an experiment: means over seeds, differences to a baseline, and the Pareto front of two measures. */

/** The results document of REST. */
export interface Results {
  name: string;
  question: string;
  plan: string;
  baseline: string;
  columns: Column[];
  variants: { name: string; note: string; failed: number; error: string }[];
  trials: Trial[];
}

export interface Column {
  /** `measure`, or `measure.part`. */
  key: string;
  measure: string;
  title: string;
  unit: "pods" | "nodes" | "count" | "share" | "seconds";
  better: "lower" | "higher" | "";
}

export interface Trial {
  number: number;
  variant: string;
  seed: number | null;
  values: Record<string, number>;
  error: string;
  cycles: number;
}

/** A mean with its 95 % interval; without a margin there is only one number. */
export interface Interval {
  mean: number;
  margin: number | null;
  count: number;
}

/** 97.5 % quantiles of Student's t, as in schedviz/experiments/statistics.py. */
const T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08,
  2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];
const Z = 1.959964;

/** Null without numbers. */
export function interval(numbers: readonly number[]): Interval | null {
  const count = numbers.length;
  if (count === 0) return null;
  const mean = numbers.reduce((sum, value) => sum + value, 0) / count;
  if (count === 1) return { mean, margin: null, count };
  const variance = numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  return { mean, margin: quantile(count - 1) * Math.sqrt(variance / count), count };
}

function quantile(freedom: number): number {
  return T[freedom - 1] ?? Z + (Z ** 3 + Z) / (4 * freedom) + (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / (96 * freedom ** 2);
}

/** The numbers of all variants, by variant and column. Calculated once for each baseline. */
export class Figures {
  private readonly trials = new Map<string, Trial[]>();

  constructor(
    private readonly results: Results,
    readonly baseline: string,
  ) {
    for (const { name } of results.variants) this.trials.set(name, []);
    for (const trial of results.trials) this.trials.get(trial.variant)?.push(trial);
  }

  trialsOf(variant: string): readonly Trial[] {
    return this.trials.get(variant) ?? [];
  }

  value(variant: string, key: string): Interval | null {
    return interval(this.trialsOf(variant).flatMap(({ values }) => values[key] ?? []));
  }

  /** The difference to the baseline, paired by seed; null for the baseline itself. */
  difference(variant: string, key: string): Interval | null {
    if (variant === this.baseline) return null;
    const others = new Map(this.trialsOf(this.baseline).map(({ seed, values }) => [seed, values[key]]));
    const pairs = this.trialsOf(variant).flatMap(({ seed, values }) => {
      const [own, other] = [values[key], others.get(seed)];
      return own === undefined || other === undefined ? [] : own - other;
    });
    return interval(pairs);
  }

  /** The variants by a column; those without a number are last. Without a column, in the order of the plan. */
  sorted(column: Column | null, descending: boolean): string[] {
    const names = this.results.variants.map(({ name }) => name);
    if (!column) return names;
    const means = new Map(names.map((name) => [name, this.value(name, column.key)?.mean]));
    return names.sort((a, b) => {
      const [first, second] = [means.get(a), means.get(b)];
      if (first === undefined || second === undefined) return Number(first === undefined) - Number(second === undefined);
      return descending ? second - first : first - second;
    });
  }

  /** The variants that no other one beats in both columns, from left to right. Empty if a column has no better direction. */
  front(x: Column, y: Column): string[] {
    if (!x.better || !y.better || x.key === y.key) return [];
    const points = this.results.variants.flatMap(({ name }) => {
      const [across, up] = [this.value(name, x.key), this.value(name, y.key)];
      return across && up ? [{ name, x: across.mean, y: up.mean, costs: [cost(across.mean, x), cost(up.mean, y)] as const }] : [];
    });
    const beaten = (a: (typeof points)[number]): boolean =>
      points.some((b) => b.costs[0] <= a.costs[0] && b.costs[1] <= a.costs[1] && (b.costs[0] < a.costs[0] || b.costs[1] < a.costs[1]));
    return points
      .filter((point) => !beaten(point))
      .sort((a, b) => a.x - b.x)
      .map(({ name }) => name);
  }
}

function cost(value: number, { better }: Column): number {
  return better === "lower" ? value : -value;
}

/** Whether a difference is beyond chance, and for the better. Without seeds every difference counts: runs repeat exactly. */
export function verdict({ mean, margin }: Interval, better: Column["better"]): "good" | "bad" | "" {
  const isSure = margin === null ? mean !== 0 : Math.abs(mean) > margin;
  if (!better || !isSure || mean === 0) return "";
  return mean > 0 === (better === "higher") ? "good" : "bad";
}

/** `nodesUsed` → `nodes used`, `utilization.cpu` → `utilization · cpu`. */
export function label({ key, measure }: Column): string {
  const words = measure.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return key.length > measure.length ? `${words} · ${key.slice(measure.length + 1)}` : words;
}

export function printValue(value: number, unit: Column["unit"]): string {
  if (unit === "share") return `${(100 * value).toFixed(1)} %`;
  const digits = unit === "seconds" ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: Number.isInteger(value) ? 0 : 1 };
  return value.toLocaleString("en", digits) + (unit === "seconds" ? " s" : "");
}

/** With sign and margin. Shares differ by percentage points. */
export function printDifference({ mean, margin }: Interval, unit: Column["unit"]): string {
  const sign = mean >= 0 ? "+" : "−";
  if (unit === "share") return `${sign}${(100 * Math.abs(mean)).toFixed(1)}${margin === null ? "" : ` ± ${(100 * margin).toFixed(1)}`} pp`;
  return `${sign}${printValue(Math.abs(mean), unit)}${margin === null ? "" : ` ± ${printValue(margin, unit)}`}`;
}
