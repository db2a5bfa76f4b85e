/** The agreement between a followed cluster's scheduler and the simulated one. */
import { call } from "./call";

/** The real cluster that a session follows; `detached`: the session was forked from one that follows it. */
export interface Follows {
  source: string;
  detached: boolean;
}

export const VERDICTS = ["agrees", "notBest", "infeasible", "undecided", "unjudged"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** `rate`: the share of judged bindings that agree; null: none was judged. */
export type Counts = Record<Verdict, number> & { rate: number | null };

/** Why a binding does not agree. */
export type Cause = "order" | "release" | "sampling" | "configuration" | "unexplained";

/** What the simulated scheduler would have chosen: one of `tied` nodes, the first of which are in `best`; if there is none, the message. */
export interface Choice {
  nodes: number;
  feasible: number;
  best: string[];
  tied: number;
  total: number;
  message: string;
}

/** A real binding. `event`: the moment just before it. */
export interface Binding {
  pod: string;
  uid: string;
  node: string;
  verdict: Verdict;
  event: number;
  judgement: {
    choice: Choice | null;
    total: number;
    shares: { plugin: string; best: number; taken: number }[];
    plugin: string;
    reasons: string[];
    cause: Cause | null;
    /** For the cause `configuration`: the plugins without any one of which the node would be chosen. */
    without: string[];
    /** The number of bindings in flight at the same time. */
    inFlight: number;
  };
  arrivedEvent: number | null;
  arrival: Choice | null;
}

/** The newest bindings in intervals and by profile; those that do not agree by plugin and cause. */
export interface Breakdown {
  bindings: number;
  /** The length of an interval. */
  seconds: number;
  overTime: { begins: string; counts: Counts }[];
  profiles: Record<string, Counts>;
  plugins: Record<string, number>;
  causes: Partial<Record<Cause, number>>;
}

export const PLACES = ["active", "nominated", "unschedulable", "gated"] as const;

export interface Agreement {
  source: string | null;
  detached: boolean;
  all: Counts;
  recent: Counts;
  /** The number of newest bindings that `recent` covers. */
  of: number;
  waiting: number;
  /** The waiting pods by the place in the cluster's queue that their conditions imply. */
  queue: Partial<Record<(typeof PLACES)[number], { count: number; pods: string[] }>>;
  breakdown: Breakdown | null;
  bindings: Binding[];
  next: number | null;
}

/** The counts, and a page of bindings with these verdicts (none: all), newest first. */
export function getAgreement(id: string, page: { verdicts?: readonly Verdict[]; before?: number; limit: number }, signal?: AbortSignal): Promise<Agreement> {
  const query = new URLSearchParams({ limit: String(page.limit) });
  if (page.verdicts?.length) query.set("verdict", page.verdicts.join(","));
  if (page.before !== undefined) query.set("before", String(page.before));
  return call("GET", `sessions/${id}/agreement/?${query}`, { signal });
}
