import type { AnyEvent, CachePod, PodState } from "./generated";

/** The states of a pod in the cache. Upstream: internal/cache/interface.go, the diagram above Cache. */
export const POD_STATES = ["Initial", "Assumed", "Added", "Expired", "Deleted"] as const;
export type LifeState = (typeof POD_STATES)[number];

/** What leads from one state to another, as the diagram has it. */
export interface Passage {
  event: number;
  atSeconds: number;
  op: CachePod["op"];
  from: LifeState;
  to: LifeState;
}

/** Where each operation leads. FinishBinding leads nowhere: it lets the deadline run. */
const LEADS: Record<CachePod["op"], LifeState | null> = {
  assume: "Assumed",
  finishBinding: null,
  forget: "Initial",
  expire: "Expired",
  add: "Added",
  update: "Added",
  remove: "Deleted",
};

/** Where operations can come from, when nobody saw the one before. */
const COMES_FROM: Record<CachePod["op"], LifeState> = {
  assume: "Initial",
  finishBinding: "Assumed",
  forget: "Assumed",
  expire: "Assumed",
  add: "Initial",
  update: "Added",
  remove: "Added",
};

/** The way of a pod through the diagram, oldest first, from the events that are known of it. */
export function pathOf(events: Iterable<AnyEvent>, pod: string): Passage[] {
  const path: Passage[] = [];
  for (const event of events) {
    if (event.t === "restarted") path.length = 0;
    if (event.t !== "cachePod" || event.pod !== pod) continue;
    const from = path[path.length - 1]?.to ?? COMES_FROM[event.op];
    // A pod that is deleted and made anew begins again.
    const begins = from === "Deleted" ? "Initial" : from;
    path.push({ event: event.event, atSeconds: event.at, op: event.op, from: begins, to: LEADS[event.op] ?? begins });
  }
  return path;
}

/** The state that the cache has a pod in, whatever is known of its way there; null: the cache does not have it. */
export function lifeStateOf(state: PodState | undefined): LifeState | null {
  if (!state) return null;
  return state.assumed ? "Assumed" : "Added";
}
