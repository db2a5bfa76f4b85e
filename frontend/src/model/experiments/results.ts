/** The results of an experiment, column by column: `?as=columns` over REST, and what is inside a report (schedviz/experiments/results/columnar.py). */
export interface Results {
  schedviz: string;
  name: string;
  question: string;
  plan: string;
  /** The name of the plan's baseline. */
  baseline: string;
  nodes: number;
  pods: number;
  columns: Column[];
  variants: Variant[];
  trials: Trials;
  moves: Moves | null;
  /** What `at` of the time series counts. */
  coursesAxis: "seconds" | "pods" | "";
  /** The variants' time series: their keys in `courses`, titles and units. */
  series: { key: string; title: string; unit: Column["unit"] }[];
  /** What a search found: sentences, and the best candidate in YAML ("": none is better). Only in the report of a search. */
  search?: { sentences: string[]; best: string };
}

export interface Column {
  /** `measure`, or `measure.part`. */
  key: string;
  measure: string;
  title: string;
  unit: "pods" | "nodes" | "count" | "share" | "seconds" | "price";
  better: "lower" | "higher" | "";
  isVolatile: boolean;
}

export interface Variant {
  name: string;
  note?: string;
  /** Resource → requested shares of the nodes at the end, the largest first. */
  nodeShares?: Record<string, number[]>;
  /** Key of a series → its numbers over time. */
  courses?: Record<string, TimeSeries>;
}

/** A number over time: the mean over seeds, the least and the largest. REST calls it Course. */
export interface TimeSeries {
  at: number[];
  mean: number[];
  low: number[];
  high: number[];
}

/** The lists have a place for each trial. */
export interface Trials {
  numbers: number[];
  /** Place in `variants`. */
  variants: number[];
  seeds: (number | null)[];
  cycles: number[];
  /** For each column, the numbers of the trials. */
  values: (number | null)[][];
  /** Number of a trial that failed → why. */
  errors: Record<string, string>;
}

/** Pods placed on a different node, by the places of two variants. */
export interface Moves {
  variants: string[];
  counts: (number | null)[][];
}
