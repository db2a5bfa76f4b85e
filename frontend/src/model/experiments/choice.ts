/** Which variant to choose, and why: the same rule as schedviz/experiments/results/choice.py. */
import type { Figures } from "./figures";
import { isSure, verdict, type Interval, type Verdict } from "./interval";

/** Columns that decide, the most important first. A plan with none of them is decided by its own measures in their order. */
const GOALS = ["placed", "pdbViolations", "victims", "cost.used", "nodesUsed", "fragmentation.cpu", "fragmentation.memory"];

export interface Choice {
  /** The chosen variant: the baseline if nothing is better. */
  variant: number;
  /** The baseline remains, because no other variant is better. */
  isBaseline: boolean;
  /** Variants that are as good in every measure that decides. */
  ties: number[];
  /** The columns that decide, in order. */
  goals: number[];
  /** The columns in which the chosen variant is better than the baseline beyond chance. */
  gains: number[];
  /** Other measures in which it is worse than the baseline beyond chance; one column of each measure. */
  costs: number[];
  /** The other variants, with the column in which each is worse than the best one of those that were left. */
  dropped: { variant: number; column: number; best: number; difference: Interval }[];
  /** Trade-offs: what to choose instead, if another measure counts most. */
  alternatives: Alternative[];
}

/** A variant that is better than the chosen one in some measures, beyond chance: the best one in each of them. */
export interface Alternative {
  variant: number;
  /** The columns in which it is the best one. */
  gains: number[];
  /** The most important column in which it is worse than the chosen one, beyond chance. */
  cost: number | undefined;
}

/** The columns that decide; `first` is put in front, after the placed pods. */
export function goalsOf(figures: Figures, first?: number): number[] {
  const { columns } = figures.results;
  let found = GOALS.flatMap((key) => figures.columnOf(key) ?? []);
  if (!found.length) {
    found = columns.flatMap(({ better, measure, isVolatile }, place) =>
      better && !isVolatile && columns.findIndex((each) => each.measure === measure && each.better) === place ? place : [],
    );
  }
  if (first === undefined) return found;
  const placed = figures.columnOf("placed");
  const front = placed === undefined || placed === first ? [first] : [placed, first];
  return [...front, ...found.filter((place) => !front.includes(place))];
}

/**
 * Goal by goal, drop the variants that are worse than the best one beyond chance. Null without two variants that have numbers.
 */
export function choose(figures: Figures, goals: readonly number[]): Choice | null {
  const { baseline } = figures;
  const able = figures.results.variants.map((_, place) => place).filter((place) => !figures.failed(place) && figures.trialsOf(place).length);
  let left = able;
  if (left.length < 2 || !left.includes(baseline)) return null;
  const dropped: Choice["dropped"] = [];
  let decided = -1;
  for (const column of goals) {
    const best = bestOf(figures, left, column);
    if (best === undefined) continue;
    const better = figures.column(column).better;
    const kept = left.filter((variant) => {
      const difference = variant === best ? null : figures.between(variant, best, column);
      const isWorse = difference !== null && verdict(difference, better) === "bad";
      if (isWorse) dropped.push({ variant, column, best, difference });
      return !isWorse;
    });
    if (kept.length < left.length) decided = column;
    left = kept;
  }
  const isBaseline = left.includes(baseline);
  const variant = isBaseline ? baseline : ((decided < 0 ? undefined : bestOf(figures, left, decided)) ?? left[0]!);
  const compared = (column: number): Verdict => verdictBetween(figures, variant, baseline, column);
  const found = isBaseline ? [] : [...goals, ...otherColumns(figures, goals)].filter((column) => compared(column) === "bad");
  const costs = found.filter((column, index) => found.findIndex((each) => figures.column(each).measure === figures.column(column).measure) === index);
  return {
    variant,
    isBaseline,
    ties: left.filter((place) => place !== variant),
    goals: [...goals],
    gains: isBaseline ? [] : goals.filter((column) => compared(column) === "good"),
    costs,
    dropped,
    alternatives: alternatives(figures, variant, able, [...new Set([...goals, ...costs])]),
  };
}

/** The columns that do not decide, without volatile ones. */
export function otherColumns(figures: Figures, goals: readonly number[]): number[] {
  return figures.results.columns.map((_, place) => place).filter((place) => !goals.includes(place) && !figures.column(place).isVolatile);
}

/** Whether `a` is better than `b` in a column, beyond chance. */
export function verdictBetween(figures: Figures, a: number, b: number, column: number): Verdict {
  const difference = figures.between(a, b, column);
  return difference ? verdict(difference, figures.column(column).better) : "";
}

function alternatives(figures: Figures, chosen: number, variants: readonly number[], columns: readonly number[]): Alternative[] {
  const gains = new Map<number, number[]>();
  for (const column of columns) {
    const best = bestOf(figures, variants, column);
    if (best !== undefined && verdictBetween(figures, best, chosen, column) === "good") gains.set(best, [...(gains.get(best) ?? []), column]);
  }
  return [...gains].map(([variant, better]) => ({
    variant,
    gains: better,
    cost: columns.find((column) => verdictBetween(figures, variant, chosen, column) === "bad"),
  }));
}

function bestOf(figures: Figures, variants: readonly number[], column: number): number | undefined {
  const { better } = figures.column(column);
  let best: number | undefined;
  for (const variant of variants) {
    const mean = figures.value(variant, column)?.mean;
    const known = best === undefined ? undefined : figures.value(best, column)?.mean;
    if (mean !== undefined && (known === undefined || (better === "higher" ? mean > known : mean < known))) best = variant;
  }
  return best;
}

/** Whether a variant has the numbers of the baseline in every trial of these columns. */
export function isEqual(figures: Figures, variant: number, columns: readonly number[]): boolean {
  return columns.every((column) => figures.pairs(variant, figures.baseline, column).every((difference) => difference === 0));
}

/** How sure a difference is. */
export interface Certainty {
  /** `exact`: one deterministic run; `strong`: all seeds agree and the margin is less than half; `fair`: beyond chance; `none`. */
  level: "exact" | "strong" | "fair" | "none";
  /** Seeds in which the difference has the sign of the mean, of all. */
  agreeing: number;
  seeds: number;
}

export function certainty(figures: Figures, a: number, b: number, column: number): Certainty {
  const pairs = figures.pairs(a, b, column);
  const difference = figures.between(a, b, column);
  const agreeing = pairs.filter((each) => difference && Math.sign(each) === Math.sign(difference.mean)).length;
  const seeds = pairs.length;
  if (!difference || !isSure(difference)) return { level: "none", agreeing, seeds };
  if (difference.margin === null) return { level: "exact", agreeing, seeds };
  return { level: agreeing === seeds && Math.abs(difference.mean) > 2 * difference.margin ? "strong" : "fair", agreeing, seeds };
}
