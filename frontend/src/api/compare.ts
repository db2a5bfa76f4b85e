import { BASE, call } from "./call";

/** One side: a session at the moment that is compared. */
export interface SideShown {
  session: string;
  name: string;
  event: number;
  clockSeconds: number;
  cycles: number;
  pods: number;
  nodes: number;
}

export interface Difference {
  path: string;
  a: unknown;
  b: unknown;
}

export interface Place {
  state: string;
  node: string;
}

export interface PodPlaces {
  pod: string;
  a: Place | null;
  b: Place | null;
}

export interface CycleShown {
  cycle: number;
  pod: string;
  outcome: string;
  node: string;
  message: string;
  firstEvent: number;
  lastEvent: number;
}

interface EventShown {
  event: number;
  cycle: number;
  body: Record<string, unknown>;
}

export interface First<Shown> {
  a: Shown | null;
  b: Shown | null;
  what: Difference[];
}

export interface Divergence {
  text: string;
  event: First<EventShown> | null;
  cycle: First<CycleShown> | null;
}

export interface ScoreTotal {
  node: string;
  a: number | null;
  b: number | null;
}

export interface ScorePair {
  plugin: string;
  node: string;
  a: number | null;
  b: number | null;
}

interface Amount {
  requested: number;
  allocatable: number;
}

export interface Use {
  cpu: Amount;
  memory: Amount;
  pods: Amount;
}

export interface NodeUse {
  node: string;
  a: Use | null;
  b: Use | null;
}

export interface Reason {
  reason: string;
  a: string[];
  b: string[];
  countA: number;
  countB: number;
}

export interface Comparison {
  same: boolean;
  a: SideShown;
  b: SideShown;
  /** The last event that both histories share; 0: none. */
  sharedEvent: number;
  /** Both are forks that descend from one session; older servers do not send it. */
  sharedOrigin?: boolean;
  settings: Difference[];
  placements: {
    same: number;
    moved: number;
    placedOnlyInA: number;
    placedOnlyInB: number;
    onlyInA: number;
    onlyInB: number;
    pods: PodPlaces[];
    leftOut: number;
    /** Of `same`, those that are pending in both; older servers do not send it. */
    pendingInBoth?: number;
  };
  divergence: Divergence | null;
  scores: { pod: string; complete: boolean; totals: ScoreTotal[]; plugins: ScorePair[] } | null;
  utilisation: { a: Use; b: Use; emptyA: number; emptyB: number; nodes: NodeUse[]; leftOut: number };
  pending: Reason[];
}

/** Each is a session's id, or `<id>@<event>`. */
export function compare(a: string, b: string, signal: AbortSignal): Promise<Comparison> {
  return call("GET", `compare/?${queryOf(a, b)}`, { signal });
}

/** The address of the comparison as one HTML file. */
export function reportAddress(a: string, b: string): string {
  return `${BASE}compare/report/?${queryOf(a, b)}`;
}

function queryOf(a: string, b: string): string {
  return new URLSearchParams({ a, b }).toString();
}
