import { interval, type Interval } from "./interval";
import type { Column, Results } from "./results";

/** By what rows are sorted. */
export interface Order {
  column: number;
  /** The value, or the difference to the baseline. */
  by: "value" | "difference";
  descending: boolean;
}

/**
 * The numbers of an experiment's variants. Variants, columns and trials are named by their places in the results.
 * A column is calculated when it is first asked for: sorting 10,000 variants takes milliseconds.
 */
export class Figures {
  /** The distinct seeds of the trials that are compared, in the order of the trials. */
  readonly seeds: readonly (number | null)[];
  /** By variant and seed: the place of the trial, or -1. */
  private readonly rows: Int32Array;
  private readonly values = new Map<number, (Interval | null)[]>();
  private readonly differences = new Map<number, (Interval | null)[]>();
  private readonly reaches = new Map<number, number>();
  private readonly places = new Map<string, number>();

  constructor(
    readonly results: Results,
    /** The place of the variant with which the others are compared. */
    readonly baseline: number,
  ) {
    const { trials, variants, columns } = results;
    const isCompared = comparable(results, baseline);
    this.seeds = [...new Set(trials.seeds.filter((seed, row) => isCompared(trials.variants[row]!, seed)))];
    const seedPlace = new Map(this.seeds.map((seed, place) => [seed, place]));
    this.rows = new Int32Array(variants.length * this.seeds.length).fill(-1);
    trials.variants.forEach((variant, row) => {
      const seed = trials.seeds[row] ?? null;
      if (isCompared(variant, seed)) this.rows[variant * this.seeds.length + seedPlace.get(seed)!] = row;
    });
    columns.forEach(({ key }, place) => this.places.set(key, place));
  }

  /** The place of a column; undefined: the results do not have it. */
  columnOf(key: string): number | undefined {
    return this.places.get(key);
  }

  column(place: number): Column {
    return this.results.columns[place]!;
  }

  /** The places of a variant's trials, by seed. */
  trialsOf(variant: number): number[] {
    const found: number[] = [];
    for (let seed = 0; seed < this.seeds.length; seed++) {
      const row = this.rows[variant * this.seeds.length + seed]!;
      if (row >= 0) found.push(row);
    }
    return found;
  }

  /** The trial of another variant with the same seed as this trial, or that variant's first trial. */
  partner(trial: number, variant: number): number | undefined {
    const { seeds } = this.results.trials;
    const all = this.trialsOf(variant);
    return all.find((other) => seeds[other] === seeds[trial]) ?? all[0];
  }

  failed(variant: number): number {
    const { errors, numbers } = this.results.trials;
    return Object.keys(errors).length ? this.trialsOf(variant).filter((row) => errors[String(numbers[row])]).length : 0;
  }

  value(variant: number, column: number): Interval | null {
    return this.valuesOf(column)[variant] ?? null;
  }

  /** The difference to the baseline, paired by seed; null for the baseline itself. */
  difference(variant: number, column: number): Interval | null {
    return this.differencesOf(column)[variant] ?? null;
  }

  /** The mean of `a` minus `b` over their common seeds. */
  between(a: number, b: number, column: number): Interval | null {
    return interval(this.pairs(a, b, column));
  }

  /** The differences of `a` to `b`, seed by seed. */
  pairs(a: number, b: number, column: number): number[] {
    const numbers = this.results.trials.values[column]!;
    const count = this.seeds.length;
    const found: number[] = [];
    for (let seed = 0; seed < count; seed++) {
      const [first, second] = [this.rows[a * count + seed]!, this.rows[b * count + seed]!];
      if (first < 0 || second < 0) continue;
      const [own, other] = [numbers[first], numbers[second]];
      if (own != null && other != null) found.push(own - other);
    }
    return found;
  }

  /** Whether a column is 0 in every trial. */
  isNothing(column: number): boolean {
    return !this.results.trials.values[column]!.some((value) => value !== 0 && value !== null);
  }

  valuesOf(column: number): readonly (Interval | null)[] {
    let found = this.values.get(column);
    if (!found) {
      const numbers = this.results.trials.values[column]!;
      const count = this.seeds.length;
      const own = new Float64Array(count);
      found = this.results.variants.map((_, variant) => {
        let filled = 0;
        for (let seed = 0; seed < count; seed++) {
          const row = this.rows[variant * count + seed]!;
          const number = row < 0 ? null : numbers[row];
          if (number != null) own[filled++] = number;
        }
        return interval(own, filled);
      });
      this.values.set(column, found);
    }
    return found;
  }

  differencesOf(column: number): readonly (Interval | null)[] {
    let found = this.differences.get(column);
    if (!found) {
      found = this.results.variants.map((_, variant) => (variant === this.baseline ? null : this.between(variant, this.baseline, column)));
      this.differences.set(column, found);
    }
    return found;
  }

  /** The largest distance of a difference's interval from 0: the scale of a column's bars. */
  reach(column: number): number {
    let most = this.reaches.get(column);
    if (most === undefined) {
      most = 0;
      for (const each of this.differencesOf(column)) if (each) most = Math.max(most, Math.abs(each.mean) + (each.margin ?? 0));
      this.reaches.set(column, most);
    }
    return most;
  }

  /** The variants in an order; those without a number are last. Without an order, as in the plan. */
  sorted(order: Order | null): number[] {
    const places = this.results.variants.map((_, place) => place);
    if (!order) return places;
    const found = order.by === "value" ? this.valuesOf(order.column) : this.differencesOf(order.column);
    const keys = Float64Array.from(places, (place) => {
      const mean = order.by === "difference" && place === this.baseline ? 0 : found[place]?.mean;
      return mean === undefined ? Infinity : order.descending ? -mean : mean;
    });
    return places.sort((a, b) => (keys[a]! < keys[b]! ? -1 : keys[a]! > keys[b]! ? 1 : a - b));
  }

  /** The variants that no other one beats in both columns, from left to right. Empty if a column has no better direction. */
  front(x: number, y: number): number[] {
    const [across, up] = [this.column(x), this.column(y)];
    if (!across.better || !up.better || x === y) return [];
    const points = this.results.variants.flatMap((_, variant) => {
      const [first, second] = [this.value(variant, x), this.value(variant, y)];
      return first && second ? [{ variant, left: first.mean, x: cost(first.mean, across), y: cost(second.mean, up) }] : [];
    });
    points.sort((a, b) => a.x - b.x || a.y - b.y);
    const found: typeof points = [];
    for (const point of points) {
      const last = found.at(-1);
      if (!last || point.y < last.y || (point.y === last.y && point.x === last.x)) found.push(point);
    }
    return found.sort((a, b) => a.left - b.left).map(({ variant }) => variant);
  }
}

/**
 * Whether a trial can be compared while others are missing, so that all means are over the same seeds: those of the variants that have all
 * seeds; if no variant but the baseline has, those of the seeds that all started variants share. As in schedviz/experiments/results/choice.py.
 */
function comparable({ trials, variants }: Results, baseline: number): (variant: number, seed: number | null) => boolean {
  const started = new Map<number, Set<number | null>>();
  trials.variants.forEach((variant, row) => {
    let own = started.get(variant);
    if (!own) started.set(variant, (own = new Set()));
    own.add(trials.seeds[row] ?? null);
  });
  const seeds = new Set(trials.seeds);
  const complete = new Set([...started].filter(([, own]) => own.size === seeds.size).map(([variant]) => variant));
  if (complete.size === variants.length) return () => true;
  if (complete.has(baseline) && complete.size > 1) return (variant) => complete.has(variant);
  const shared = new Set([...seeds].filter((seed) => [...started.values()].every((own) => own.has(seed))));
  return shared.size ? (_, seed) => shared.has(seed) : (variant) => variant === baseline;
}

function cost(value: number, { better }: Column): number {
  return better === "lower" ? value : -value;
}
