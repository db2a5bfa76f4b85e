import type { AnyEvent, CachePod, PodState } from "../generated";

/** The states of a pod in the cache. Upstream: internal/cache/interface.go, the diagram above Cache. */
export const POD_STATES = ["Initial", "Assumed", "Added", "Expired", "Deleted"] as const;
export type LifeState = (typeof POD_STATES)[number];

/** A transition of the diagram. */
export interface PodTransition {
  event: number;
  atSeconds: number;
  op: CachePod["op"];
  from: LifeState;
  to: LifeState;
}

/** The state after each operation. FinishBinding does not change the state: it starts the expiry deadline. */
const STATE_AFTER: Record<CachePod["op"], LifeState | null> = {
  assume: "Assumed",
  finishBinding: null,
  forget: "Initial",
  expire: "Expired",
  add: "Added",
  update: "Added",
  remove: "Deleted",
};

/** The state before each operation, if no earlier operation is known. */
const STATE_BEFORE: Record<CachePod["op"], LifeState> = {
  assume: "Initial",
  finishBinding: "Assumed",
  forget: "Assumed",
  expire: "Assumed",
  add: "Initial",
  update: "Added",
  remove: "Added",
};

/** The transitions of a pod, oldest first, from the events that are known. */
export function transitionsOf(events: Iterable<AnyEvent>, pod: string): PodTransition[] {
  const path: PodTransition[] = [];
  for (const event of events) {
    if (event.t === "restarted") path.length = 0;
    if (event.t !== "cachePod" || event.pod !== pod) continue;
    const from = path[path.length - 1]?.to ?? STATE_BEFORE[event.op];
    // A pod that was deleted and created again starts over.
    const begins = from === "Deleted" ? "Initial" : from;
    path.push({ event: event.event, atSeconds: event.at, op: event.op, from: begins, to: STATE_AFTER[event.op] ?? begins });
  }
  return path;
}

/** The pod's state in the cache, whatever is known of its past; null: the cache does not have the pod. */
export function lifeStateOf(state: PodState | undefined): LifeState | null {
  if (!state) return null;
  return state.assumed ? "Assumed" : "Added";
}
