/** A session that follows a real cluster, and how often that cluster's scheduler did what this one would have done. */
import { call } from "./call";

/** The real cluster that a session shadows; `detached`: it was forked from one that does. */
export interface Follows {
  source: string;
  detached: boolean;
}

export const VERDICTS = ["agrees", "notBest", "infeasible", "unjudged"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** `rate`: the share that agrees of those that could be judged; null: none was. */
export type Counts = Record<Verdict, number> & { rate: number | null };

/** What this scheduler would have chosen: one of `tied` nodes, of which `best` are the first; without any, the message. */
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
  };
  arrivedEvent: number | null;
  arrival: Choice | null;
}

export interface Agreement {
  source: string | null;
  detached: boolean;
  all: Counts;
  recent: Counts;
  /** Of how many of the newest bindings `recent` is. */
  of: number;
  waiting: number;
  bindings: Binding[];
  next: number | null;
}

/** The counts, and a page of bindings with these verdicts (none: all), the newest first. */
export function getAgreement(id: string, page: { verdicts?: readonly Verdict[]; before?: number; limit: number }, signal?: AbortSignal): Promise<Agreement> {
  const query = new URLSearchParams({ limit: String(page.limit) });
  if (page.verdicts?.length) query.set("verdict", page.verdicts.join(","));
  if (page.before !== undefined) query.set("before", String(page.before));
  return call("GET", `sessions/${id}/agreement/?${query}`, { signal });
}
